"""Plugins over the API: what is installed, the company's switches and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from assay.accounts import roles
from assay.api.serializers import ProblemsSerializer
from assay.plugin_choices import services
from assay.plugin_choices.services import PluginChoiceError, PluginState


class PluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    distribution = serializers.CharField()
    version = serializers.CharField()
    brings = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), help_text="Names by kind"
    )
    failures = serializers.ListField(child=serializers.CharField())
    enabled = serializers.BooleanField()
    fixed = serializers.BooleanField(help_text="Cannot be switched off")
    options = serializers.DictField(help_text="What the company has set, by part: 'persona terse'")


class PartOptionsSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="connector, model, persona, check, fault profile, ticket system")
    name = serializers.CharField()
    options = serializers.DictField(help_text="All of them; {} takes them away. Secrets as 'secret:NAME'")


class PluginViewSet(viewsets.ViewSet):
    """The installed plugins as the company has them."""

    capability = roles.MANAGE_PLUGINS
    lookup_field = "name"
    lookup_value_regex = "[^/]+"

    @extend_schema(responses=PluginSerializer(many=True))
    def list(self, request: Request) -> Response:
        return Response([_shown(state) for state in services.overview()])

    @extend_schema(responses=PluginSerializer)
    def retrieve(self, request: Request, name: str) -> Response:
        return Response(_shown(_found(name)))

    @extend_schema(request=None, responses={200: PluginSerializer, 422: ProblemsSerializer})
    @action(detail=True, methods=["post"])
    def enable(self, request: Request, name: str) -> Response:
        _found(name)
        return Response(_shown(services.switch(name, True, by=request.user)))

    @extend_schema(request=None, responses={200: PluginSerializer, 422: ProblemsSerializer})
    @action(detail=True, methods=["post"])
    def disable(self, request: Request, name: str) -> Response:
        """Nothing new can be chosen of it from now on."""
        _found(name)
        return Response(_shown(services.switch(name, False, by=request.user)))

    @extend_schema(request=PartOptionsSerializer, responses={200: PluginSerializer, 422: ProblemsSerializer})
    @action(detail=True, methods=["put"])
    def options(self, request: Request, name: str) -> Response:
        """Replace the company's options of one part of the plugin."""
        form = PartOptionsSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        asked: Mapping[str, Any] = form.validated_data
        if asked["name"] not in _found(name).plugin.brings.get(asked["kind"], ()):
            raise NotFound(f"The plugin {name!r} brings no {asked['kind']} {asked['name']!r}.")
        services.set_options(asked["kind"], asked["name"], asked["options"], by=request.user)
        return Response(_shown(services.state(name)))


def _found(name: str) -> PluginState:
    try:
        return services.state(name)
    except PluginChoiceError as error:
        raise NotFound(str(error)) from None


def _shown(state: PluginState) -> dict[str, Any]:
    plugin = state.plugin
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "brings": {kind: list(names) for kind, names in plugin.brings.items()},
        "failures": list(plugin.failures),
        "enabled": state.enabled,
        "fixed": state.fixed,
        "options": state.options,
    }
