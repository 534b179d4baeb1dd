"""Bots and models by spec: NAME:TARGET, where NAME is a connector's or a model type's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.engine.blame import blamed, built_in_time, in_time
from assay.plugins.manager import get_manager
from assay.plugins.options import did_you_mean, env_secret, listing, pick, read_options
from assay_sdk import (
    AssayError,
    ChatModel,
    ChatReply,
    Connector,
    OptionsError,
    PluginFault,
    ToolCallRequest,
)

__all__ = ["build_connector", "build_model", "env_secret", "split_spec"]

Secret = Callable[[str], str]


def split_spec(spec: str) -> tuple[str, str]:
    """NAME and TARGET of a bot spec. Raises OptionsError."""
    name, colon, target = spec.strip().partition(":")
    if not name or not colon or not target:
        raise OptionsError(
            f"{spec!r} does not name a bot: write CONNECTOR:TARGET, for example reference:faithful or litellm:MODEL. "
            f"Connectors: {listing(get_manager().connectors())}."
        )
    return name, target


def build_connector(spec: str, options: Mapping[str, Any], secret: Secret = env_secret) -> Connector:
    """The connector that `spec` names, configured. `secret` resolves references such as env:NAME.

    Raises OptionsError with a sentence; PluginFault when the plugin itself breaks.
    """
    name, target = split_spec(spec)
    with blamed(f"connector {name}"):
        return _connector(name, target, options, secret)


def _connector(name: str, target: str, options: Mapping[str, Any], secret: Secret) -> Connector:
    kind = pick("connector", name, get_manager().connectors())
    if kind.targets and target not in kind.targets:
        raise OptionsError(
            f"The connector {name!r} has no {target!r}{did_you_mean(target, kind.targets)}; "
            f"choose one of {', '.join(kind.targets)}."
        )
    given = read_options(f"connector {name!r}", kind.options, options)
    connector: Connector = _built("connector", name, lambda ask: kind.build(target, given, ask), secret)
    for method in ("open", "describe", "aclose"):
        if not callable(getattr(connector, method, None)):
            raise PluginFault(f"The connector {name!r} built something that has no {method}().")
    if not isinstance(getattr(connector, "synthetic", None), bool):
        raise PluginFault(f"The connector {name!r} does not say whether it is synthetic (True or False).")
    return connector


def describe_connector(spec: str, connector: Connector) -> dict[str, Any]:
    """What the connector says of itself, for manifests. Raises PluginFault when it breaks or hangs."""
    part = f"connector {spec.partition(':')[0].strip()}"
    try:
        return dict(in_time(part, connector.describe))
    except PluginFault:
        raise
    except Exception as error:
        raise PluginFault(
            f"describe() of the {part} broke: {type(error).__name__}: {error}", part=part
        ) from error


def build_model(spec: str, options: Mapping[str, Any], secret: Secret = env_secret) -> ChatModel:
    """The chat model that `spec` (NAME:TARGET) names, configured. Raises as build_connector does."""
    name, colon, target = spec.strip().partition(":")
    if not name or not colon or not target:
        raise OptionsError(f"{spec!r} does not name a model: write NAME:MODEL, for example litellm:MODEL.")
    with blamed(f"model {name}"):
        return _model(name, target, options, secret)


def _model(name: str, target: str, options: Mapping[str, Any], secret: Secret) -> ChatModel:
    kind = pick("model", name, get_manager().models())
    given = read_options(f"model {name!r}", kind.options, options)
    model: ChatModel = _built("model", name, lambda ask: kind.build(target, given, ask), secret)
    for method in ("complete", "describe", "aclose"):
        if not callable(getattr(model, method, None)):
            raise PluginFault(f"The model {name!r} built something that has no {method}().")
    return GuardedModel(name, model)


class GuardedModel:
    """A chat model of a plugin: what it raises or returns against its contract is that plugin's fault, by name."""

    def __init__(self, name: str, model: ChatModel) -> None:
        self._part = f"model {name}"
        self._model = model

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        seed: int | None = None,
    ) -> ChatReply:
        with blamed(self._part):
            try:
                reply: Any = await self._model.complete(messages, tools=tools, seed=seed)
            except OptionsError as error:
                raise PluginFault(f"The {self._part} is set up wrongly: {error}") from error
            except AssayError:
                raise
            except (Exception, SystemExit) as error:
                raise PluginFault(f"The {self._part} raised {type(error).__name__}: {error}") from error
            if not isinstance(reply, ChatReply):
                raise PluginFault(f"The {self._part} returned a {type(reply).__name__}, not a ChatReply.")
            if not isinstance(reply.text, str) or not all(
                isinstance(call, ToolCallRequest) for call in reply.tool_calls
            ):
                raise PluginFault(f"The {self._part} returned a ChatReply whose text or calls are none.")
            return reply

    def describe(self) -> Mapping[str, Any]:
        try:
            return dict(in_time(self._part, self._model.describe))
        except PluginFault:
            raise
        except Exception as error:
            raise PluginFault(
                f"describe() of the {self._part} broke: {type(error).__name__}: {error}", part=self._part
            ) from error

    async def aclose(self) -> None:
        await self._model.aclose()


def _built(kind: str, name: str, build: Callable[[Secret], Any], secret: Secret) -> Any:
    try:
        return built_in_time(f"{kind} {name}", build, secret)
    except (OptionsError, PluginFault):
        raise
    except Exception as error:
        raise PluginFault(
            f"The {kind} {name!r} could not be built: {type(error).__name__}: {error}"
        ) from error
