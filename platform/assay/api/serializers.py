"""The shapes of what goes in and out. No logic: input is handed to services, output read from rows."""

from __future__ import annotations

import json

from rest_framework import serializers

from assay.bots.models import Bot, BotVersion
from assay.packs.models import Pack, PackVersion, TaskEntry, Verification
from assay.runs.models import Regrade, RegradedTrial, Run, Trial

SEED = "From 0 to 2^63 - 1, as text, because JavaScript cannot hold it."


class ProblemSerializer(serializers.Serializer[object]):
    path = serializers.CharField(help_text="File in the pack")
    line = serializers.IntegerField(help_text="From 1; 0 when it is about the whole file")
    message = serializers.CharField()
    code = serializers.CharField()
    task = serializers.CharField(allow_null=True)


class ProblemsSerializer(serializers.Serializer[object]):
    detail = serializers.CharField()
    problems = ProblemSerializer(many=True, required=False)


class PackVersionSerializer(serializers.ModelSerializer[PackVersion]):
    pack = serializers.CharField(source="pack.name", read_only=True)

    class Meta:
        model = PackVersion
        fields = [
            "id", "pack", "version", "title", "content_hash", "locale",
            "task_count", "tool_count", "clause_count", "article_count", "edited_from", "created_at",
        ]  # fmt: skip
        read_only_fields = fields


class VerificationSerializer(serializers.ModelSerializer[Verification]):
    report = serializers.JSONField(
        read_only=True, allow_null=True, help_text="As `assay pack verify --json` prints it"
    )

    class Meta:
        model = Verification
        fields = ["pack_version", "status", "problem_count", "finished_at", "note", "report"]
        read_only_fields = fields


class PackSerializer(serializers.ModelSerializer[Pack]):
    versions = PackVersionSerializer(many=True, read_only=True)

    class Meta:
        model = Pack
        fields = ["id", "name", "title", "created_at", "versions"]
        read_only_fields = fields


class PackUploadSerializer(serializers.Serializer[object]):
    file = serializers.FileField(help_text="The pack as a zip")


class TaskSerializer(serializers.ModelSerializer[TaskEntry]):
    clauses = serializers.ListField(child=serializers.CharField(), read_only=True)
    hardness = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = TaskEntry
        fields = [
            "id", "pack_version", "task_id", "title", "group", "clauses", "hardness", "trap",
            "source_path", "source_line", "yaml", "enabled",
        ]  # fmt: skip
        read_only_fields = [f for f in fields if f != "enabled"]


class TaskEditSerializer(serializers.Serializer[object]):
    yaml = serializers.CharField(
        help_text="The task as an item of a task file: '- id: ...'", trim_whitespace=False
    )


class BotVersionSerializer(serializers.ModelSerializer[BotVersion]):
    options = serializers.DictField(read_only=True)

    class Meta:
        model = BotVersion
        fields = ["id", "bot", "number", "spec", "options", "synthetic", "created_at"]
        read_only_fields = fields


class BotSerializer(serializers.ModelSerializer[Bot]):
    versions = BotVersionSerializer(many=True, read_only=True)

    class Meta:
        model = Bot
        fields = ["id", "name", "description", "created_at", "versions"]
        read_only_fields = fields


class NewBotVersionSerializer(serializers.Serializer[object]):
    spec = serializers.CharField(max_length=200, help_text="CONNECTOR:TARGET, e.g. litellm:openai/my-model")
    options = serializers.DictField(
        required=False, default=dict, help_text="Secrets by reference: 'secret:NAME'"
    )


class NewBotSerializer(NewBotVersionSerializer):
    name = serializers.CharField(max_length=100)
    description = serializers.CharField(required=False, default="", allow_blank=True)


class RunSerializer(serializers.ModelSerializer[Run]):
    pack_version_name = serializers.CharField(source="pack_version.__str__", read_only=True)
    bot_version_name = serializers.CharField(source="bot_version.__str__", read_only=True)
    seed = serializers.CharField(read_only=True, help_text=SEED)
    task_ids = serializers.ListField(child=serializers.CharField(), read_only=True)
    gate = serializers.DictField(read_only=True, allow_null=True)
    gate_answer = serializers.DictField(read_only=True, allow_null=True)
    manifest = serializers.DictField(read_only=True)
    checkers = serializers.ListField(child=serializers.DictField(), read_only=True)
    user_options = serializers.DictField(read_only=True)
    fault_options = serializers.DictField(read_only=True)
    judge_options = serializers.DictField(read_only=True)

    class Meta:
        model = Run
        fields = [
            "id", "pack_version", "pack_version_name", "bot_version", "bot_version_name", "status", "task_ids",
            "trials_per_task", "trial_count", "seed", "persona", "user", "user_options", "faults",
            "fault_options", "judge", "judge_options", "judge_votes", "checkers", "gate", "gate_answer", "manifest",
            "created_at", "started_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class NewRunSerializer(serializers.Serializer[object]):
    pack_version = serializers.PrimaryKeyRelatedField(queryset=PackVersion.objects.all())
    bot_version = serializers.PrimaryKeyRelatedField(queryset=BotVersion.objects.all())
    trials = serializers.IntegerField(default=20, min_value=1)
    tasks = serializers.CharField(
        required=False, allow_null=True, default=None, help_text="A pattern: RET-RMA-*"
    )
    seed = serializers.RegexField(
        r"^\d{1,19}$", required=False, allow_null=True, default=None, help_text=SEED
    )
    persona = serializers.CharField(required=False, default="", allow_blank=True)
    user = serializers.CharField(
        required=False,
        default="scripted",
        max_length=300,
        help_text="Who plays the customer: scripted, or a model, NAME:MODEL",
    )
    user_options = serializers.DictField(
        required=False,
        default=dict,
        help_text="Options of that model, secrets as secret:NAME; and tries, audit_model, audit_options",
    )
    faults = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="The profile by which tool calls go wrong on purpose",
    )
    fault_options = serializers.DictField(required=False, default=dict)
    judge = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=300,
        help_text="The model that judges reply rules which need one, NAME:MODEL; without it they void the trial",
    )
    judge_options = serializers.DictField(
        required=False, default=dict, help_text="Options of that model, secrets as secret:NAME"
    )
    judge_votes = serializers.IntegerField(default=3, min_value=1, max_value=15)
    checkers = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        default=list,
        max_length=50,
        help_text="Checks of plugins: {name, options, required}; those not required are reported only",
    )
    gate = serializers.DictField(required=False, allow_null=True, default=None)


class RewardsSerializer(serializers.Serializer[object]):
    void = serializers.BooleanField(
        default=False, help_text="Trials that stayed void too, as far as they came"
    )
    tools = serializers.BooleanField(default=False, help_text="The tools' schemas in every line")


class ProgressSerializer(serializers.Serializer[object]):
    status = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    queued = serializers.IntegerField()
    running = serializers.IntegerField()
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    void = serializers.IntegerField()
    void_attempts = serializers.DictField(child=serializers.IntegerField())
    per_second = serializers.FloatField()
    seconds_left = serializers.FloatField(allow_null=True)


class TrialSerializer(serializers.ModelSerializer[Trial]):
    seed = serializers.CharField(read_only=True, help_text=SEED)

    class Meta:
        model = Trial
        fields = [
            "id", "run", "task_id", "group", "index", "attempt", "seed", "status", "void_cause", "termination",
            "category", "s1", "s2", "s3", "fingerprint", "explanation", "turns", "tool_calls", "seconds",
            "started_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class EvidenceSerializer(serializers.Serializer[object]):
    transcript = serializers.DictField()
    changes = serializers.ListField(child=serializers.DictField())
    verdict = serializers.DictField(allow_null=True)
    notes = serializers.DictField()
    versions = serializers.DictField()
    plugin_failures = serializers.ListField(
        child=serializers.DictField(), help_text="Part and sentence of each plugin that failed"
    )


class TrialDetailSerializer(TrialSerializer):
    evidence = EvidenceSerializer(read_only=True, allow_null=True)

    class Meta(TrialSerializer.Meta):
        fields = [*TrialSerializer.Meta.fields, "evidence"]
        read_only_fields = fields


class MomentSerializer(serializers.Serializer[object]):
    call = serializers.IntegerField(
        default=-1, min_value=-1, help_text="Number of the call; -1: before the first"
    )
    table = serializers.CharField(
        required=False, default=None, allow_null=True, help_text="A table, to have its rows as they were"
    )
    key = serializers.JSONField(
        required=False, default=dict, help_text='Only rows that hold these values: {"id": "ORD-7"}'
    )

    def validate_key(self, value: object) -> dict[str, object]:
        """From an address it comes as text."""
        try:
            found = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            found = None
        if not isinstance(found, dict) or any(isinstance(v, list | dict) for v in found.values()):
            raise serializers.ValidationError('Give a JSON object of columns and values: {"id": "ORD-7"}.')
        return found


class StateSerializer(serializers.Serializer[object]):
    call = serializers.IntegerField()
    changes = serializers.ListField(
        child=serializers.DictField(), help_text="Rows changed by then, net, as in the evidence"
    )
    unlike = serializers.DictField(
        allow_null=True, help_text="The first call that now comes to something else than was recorded"
    )
    table = serializers.CharField(allow_null=True)
    rows = serializers.ListField(child=serializers.DictField(), help_text="At most 500, by primary key")


class AlikeSerializer(serializers.Serializer[object]):
    run = serializers.IntegerField(source="run.pk")
    bot_version = serializers.CharField(source="run.bot_version.__str__")
    pack_version = serializers.CharField(source="run.pack_version.__str__")
    trial = serializers.IntegerField(source="trial.pk", help_text="The first that shows it")
    count = serializers.IntegerField(help_text="Trials of the task that failed in this way")
    of = serializers.IntegerField(help_text="Valid trials of the task in that run")


class NewRegradeSerializer(serializers.Serializer[object]):
    pack_version = serializers.PrimaryKeyRelatedField(queryset=PackVersion.objects.all())


class RegradeSerializer(serializers.ModelSerializer[Regrade]):
    pack_version_name = serializers.CharField(source="pack_version.__str__", read_only=True)
    tally = serializers.DictField(
        read_only=True, allow_null=True, help_text="How many trials went from what to what, when done"
    )

    class Meta:
        model = Regrade
        fields = [
            "id", "run", "pack_version", "pack_version_name", "status", "tally", "note", "created_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class RegradedTrialSerializer(serializers.ModelSerializer[RegradedTrial]):
    task_id = serializers.CharField(source="trial.task_id", read_only=True)
    index = serializers.IntegerField(source="trial.index", read_only=True)
    old_status = serializers.CharField(source="trial.status", read_only=True)
    old_category = serializers.CharField(source="trial.category", read_only=True)
    old_explanation = serializers.CharField(source="trial.explanation", read_only=True)
    why = serializers.ListField(child=serializers.CharField(), read_only=True)
    verdict = serializers.DictField(read_only=True, allow_null=True)

    class Meta:
        model = RegradedTrial
        fields = [
            "id", "regrade", "trial", "task_id", "index", "old_status", "old_category", "old_explanation",
            "status", "category", "explanation", "changed", "why", "verdict",
        ]  # fmt: skip
        read_only_fields = fields


class DistinctSerializer(serializers.Serializer[object]):
    fingerprint = serializers.CharField(source="trial.fingerprint")
    task_id = serializers.CharField(source="trial.task_id")
    category = serializers.CharField(source="trial.category")
    explanation = serializers.CharField(
        source="trial.explanation", help_text="Of the latest trial that shows it"
    )
    trial = serializers.IntegerField(source="trial.pk", help_text="The latest that shows it")
    trials = serializers.IntegerField(help_text="Trials that show it")
    runs = serializers.IntegerField(help_text="Runs that show it")
