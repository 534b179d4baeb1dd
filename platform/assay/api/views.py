"""Endpoints. Each action names the capability it needs and calls one service."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from assay.accounts import roles
from assay.api import serializers as s
from assay.bots import services as bots
from assay.bots.models import Bot
from assay.packs import services as packs
from assay.packs import verifying
from assay.packs.models import Pack, PackVersion, TaskEntry, Verification
from assay.reports.services import render_report
from assay.runs import services as runs
from assay.runs.failures import alike, of_pack
from assay.runs.history import as_json as state_as_json
from assay.runs.history import state_of
from assay.runs.models import Regrade, RegradedTrial, Run, Trial
from assay.runs.regrading import plan_regrade
from assay.runs.rewards import reward_lines

REFUSED = {422: s.ProblemsSerializer}
MOST_UPLOAD = 55 * 1024 * 1024  # a pack is at most 50 MB; the rest of the bounds are the loader's


class PackViewSet(viewsets.ReadOnlyModelViewSet[Pack]):
    """Domain packs and their versions."""

    queryset = Pack.objects.prefetch_related("versions__pack")
    serializer_class = s.PackSerializer
    capability = roles.EDIT_PACKS

    @extend_schema(request=s.PackUploadSerializer, responses={201: s.PackVersionSerializer, **REFUSED})
    @action(detail=False, methods=["post"], parser_classes=[MultiPartParser])
    def upload(self, request: Request) -> Response:
        """Upload a pack as a zip. The same content again gives the version that is there."""
        form = s.PackUploadSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        file = form.validated_data["file"]
        if file.size > MOST_UPLOAD:
            return Response(
                {"detail": f"The file has {file.size} bytes; the most is {MOST_UPLOAD}."}, status=422
            )
        version = packs.upload_pack(file.read(), by=request.user)
        return Response(s.PackVersionSerializer(version).data, status=201)

    @extend_schema(responses={200: s.DistinctSerializer(many=True)}, filters=False)
    @action(detail=True, pagination_class=None)
    def failures(self, request: Request, pk: str) -> Response:
        """The distinct failures in all runs of the pack, at most 100, the most frequent first."""
        return Response(s.DistinctSerializer(of_pack(self.get_object()), many=True).data)


class PackVersionViewSet(viewsets.ReadOnlyModelViewSet[PackVersion]):
    queryset = PackVersion.objects.select_related("pack").defer("bundle")
    serializer_class = s.PackVersionSerializer
    capability = roles.EDIT_PACKS

    @extend_schema(responses=s.VerificationSerializer)
    @action(detail=True)
    def verification(self, request: Request, pk: str) -> Response:
        """What the verifier found; 404 when the version was never verified."""
        found = Verification.objects.filter(pack_version=self.get_object()).first()
        if found is None:
            raise NotFound("This version has not been verified: POST to verify/.")
        return Response(s.VerificationSerializer(found).data)

    @extend_schema(request=None, responses={202: s.VerificationSerializer})
    @action(detail=True, methods=["post"])
    def verify(self, request: Request, pk: str) -> Response:
        """Verify the version again, by a worker."""
        found = verifying.verify_again(self.get_object(), by=request.user)
        return Response(s.VerificationSerializer(found).data, status=202)


class TaskViewSet(viewsets.ReadOnlyModelViewSet[TaskEntry]):
    """The tasks of pack versions."""

    serializer_class = s.TaskSerializer
    queryset = TaskEntry.objects.select_related("pack_version__pack").defer("pack_version__bundle")
    filterset_fields = ["pack_version", "task_id", "group", "enabled"]
    search_fields = ["task_id", "title", "trap"]
    capability = roles.EDIT_PACKS

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def enable(self, request: Request, pk: str) -> Response:
        return Response(s.TaskSerializer(packs.set_enabled(self.get_object(), True, by=request.user)).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def disable(self, request: Request, pk: str) -> Response:
        return Response(s.TaskSerializer(packs.set_enabled(self.get_object(), False, by=request.user)).data)

    @extend_schema(request=s.TaskEditSerializer, responses={201: s.PackVersionSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def edit(self, request: Request, pk: str) -> Response:
        """Make a new pack version in which this task reads as given."""
        form = s.TaskEditSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        entry = self.get_object()
        version = packs.edit_task(
            entry.pack_version, entry.task_id, form.validated_data["yaml"], by=request.user
        )
        return Response(s.PackVersionSerializer(version).data, status=201)


class BotViewSet(viewsets.ReadOnlyModelViewSet[Bot]):
    queryset = Bot.objects.prefetch_related("versions")
    serializer_class = s.BotSerializer
    capability = roles.EDIT_BOTS

    @extend_schema(request=s.NewBotSerializer, responses={201: s.BotVersionSerializer, **REFUSED})
    def create(self, request: Request) -> Response:
        form = s.NewBotSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        fields: dict[str, Any] = dict(form.validated_data)
        version = bots.create_bot(fields.pop("name"), by=request.user, **fields)
        return Response(s.BotVersionSerializer(version).data, status=201)

    @extend_schema(request=s.NewBotVersionSerializer, responses={201: s.BotVersionSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def versions(self, request: Request, pk: str) -> Response:
        """Add a version: another configuration of the bot."""
        form = s.NewBotVersionSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        version = bots.add_version(self.get_object(), by=request.user, **form.validated_data)
        return Response(s.BotVersionSerializer(version).data, status=201)


class RunViewSet(viewsets.ReadOnlyModelViewSet[Run]):
    queryset = Run.objects.select_related("pack_version__pack", "bot_version__bot").defer(
        "pack_version__bundle"
    )
    serializer_class = s.RunSerializer
    capability = roles.RUN

    @extend_schema(request=s.NewRunSerializer, responses={201: s.RunSerializer, **REFUSED})
    def create(self, request: Request) -> Response:
        """Plan a run; workers begin at once."""
        form = s.NewRunSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        fields: dict[str, Any] = dict(form.validated_data)
        seed = fields.pop("seed")
        run = runs.plan_run(
            fields.pop("pack_version"),
            fields.pop("bot_version"),
            seed=None if seed is None else int(seed),
            by=request.user,
            **fields,
        )
        return Response(s.RunSerializer(run).data, status=201)

    @extend_schema(responses=s.ProgressSerializer)
    @action(detail=True)
    def progress(self, request: Request, pk: str) -> Response:
        return Response(runs.progress(self.get_object()).as_json())

    @extend_schema(request=None, responses={200: s.RunSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        return Response(s.RunSerializer(runs.pause_run(self.get_object(), by=request.user)).data)

    @extend_schema(request=None, responses={200: s.RunSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        return Response(s.RunSerializer(runs.resume_run(self.get_object(), by=request.user)).data)

    @extend_schema(request=None, responses={200: s.RunSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        return Response(s.RunSerializer(runs.cancel_run(self.get_object(), by=request.user)).data)

    @extend_schema(request=s.NewRegradeSerializer, responses={202: s.RegradeSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def regrade(self, request: Request, pk: str) -> Response:
        """Judge the run again by another version of its pack, by a worker and without the bot."""
        form = s.NewRegradeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        made = plan_regrade(self.get_object(), form.validated_data["pack_version"], by=request.user)
        return Response(s.RegradeSerializer(made).data, status=202)

    @extend_schema(responses={200: OpenApiTypes.OBJECT})
    @action(detail=True)
    def summary(self, request: Request, pk: str) -> Response:
        """The statistics of a finished run, with intervals. 404 while it is not finished."""
        run = self.get_object()
        if run.summary is None:
            raise NotFound(f"The run has no summary: it is {run.get_status_display().lower()}.")
        return Response(run.summary)

    @extend_schema(responses={(200, "text/html"): OpenApiTypes.STR})
    @action(detail=True)
    def report(self, request: Request, pk: str) -> HttpResponse:
        """The report as one HTML file that opens without a network."""
        run = self.get_object()
        if run.summary is None:
            raise NotFound(f"The run has no report: it is {run.get_status_display().lower()}.")
        return HttpResponse(render_report(run))

    @extend_schema(
        parameters=[s.RewardsSerializer], responses={(200, "application/x-ndjson"): OpenApiTypes.STR}
    )
    @action(detail=True)
    def rewards(self, request: Request, pk: str) -> StreamingHttpResponse:
        """The trials that are over as JSON lines, one at a time: each check's reward, and the conversation in the
        OpenAI chat format. The first line has what they share, with the tools' schemas."""
        form = s.RewardsSerializer(data=request.query_params)
        form.is_valid(raise_exception=True)
        lines = reward_lines(self.get_object(), **form.validated_data)
        response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
        response.headers["Content-Disposition"] = f'attachment; filename="run-{pk}-rewards.jsonl"'
        return response


class TrialViewSet(viewsets.ReadOnlyModelViewSet[Trial]):
    """The trials of runs; one by one with their evidence: transcript, changes, verdict."""

    queryset = Trial.objects.order_by("id")
    serializer_class = s.TrialSerializer
    filterset_fields = ["run", "task_id", "group", "status", "category", "void_cause", "fingerprint"]

    def get_queryset(self) -> QuerySet[Trial]:
        found = super().get_queryset()
        if self.action in ("state", "alike"):
            runs = found.select_related("run__pack_version__pack", "run__bot_version__bot")
            return runs.defer("run__pack_version__bundle", "run__summary", "run__manifest")
        return found.select_related("evidence") if self.action == "retrieve" else found

    def get_serializer_class(self) -> type[s.TrialSerializer]:
        return s.TrialDetailSerializer if self.action == "retrieve" else s.TrialSerializer

    @extend_schema(parameters=[s.MomentSerializer], responses={200: s.StateSerializer, **REFUSED})
    @action(detail=True)
    def state(self, request: Request, pk: str) -> Response:
        """The database as it was after one call: the rows changed by then, and the rows of a table if asked for."""
        form = s.MomentSerializer(data=request.query_params)
        form.is_valid(raise_exception=True)
        asked = form.validated_data
        found = state_of(self.get_object(), asked["call"], table=asked["table"], key=asked["key"])
        return Response(state_as_json(found))

    @extend_schema(responses={200: s.AlikeSerializer(many=True)}, filters=False)
    @action(detail=True, pagination_class=None)
    def alike(self, request: Request, pk: str) -> Response:
        """The same failure in all runs of the pack, this run first, then the newest."""
        return Response(s.AlikeSerializer(alike(self.get_object()), many=True).data)


class RegradeViewSet(viewsets.ReadOnlyModelViewSet[Regrade]):
    """Runs judged again by another version of their pack; POST to runs/{id}/regrade/ makes one."""

    queryset = Regrade.objects.select_related("pack_version__pack").defer("pack_version__bundle")
    serializer_class = s.RegradeSerializer
    filterset_fields = ["run", "pack_version", "status"]


class RegradedTrialViewSet(viewsets.ReadOnlyModelViewSet[RegradedTrial]):
    """Old and new verdict of each trial of a regrade, side by side, with what is judged otherwise."""

    queryset = RegradedTrial.objects.select_related("trial").order_by("id")
    serializer_class = s.RegradedTrialSerializer
    filterset_fields = ["regrade", "trial", "status", "changed"]
