"""Making bots and their versions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Thread
from typing import Any, TypeVar

from django.db import transaction

from assay.accounts.audit import record
from assay.accounts.models import User
from assay.accounts.secrets import resolve_secret
from assay.bots.models import Bot, BotVersion
from assay.plugin_choices.services import require, with_defaults
from assay.plugins.bots import build_connector
from assay.plugins.options import storable
from assay.plugins.parts import parts_of
from assay_sdk import Connector, OptionsError, PluginFault

T = TypeVar("T")

#: How long a plugin may take to describe itself or to close.
PLUGIN_SECONDS = 30.0


def create_bot(
    name: str,
    *,
    spec: str,
    options: Mapping[str, Any] | None = None,
    description: str = "",
    by: User | None = None,
) -> BotVersion:
    """A new bot with its first version. Raises OptionsError: name taken, unknown connector, wrong options."""
    storable({"name": name, "description": description})
    name = name.strip()
    if not name or len(name) > 100:
        raise OptionsError("The bot needs a name of at most 100 characters.")
    options = _whole(spec, options)
    synthetic = _check(spec, options)
    with transaction.atomic():
        bot, made = Bot.objects.get_or_create(name=name, defaults={"description": description.strip()})
        if not made:
            raise OptionsError(
                f"There is a bot named {name!r} already; add a version to it, or choose another name."
            )
        record("bot.created", actor=by, target=bot, data={"name": name})
        return _add(bot, spec, options, synthetic, by)


def add_version(
    bot: Bot, *, spec: str, options: Mapping[str, Any] | None = None, by: User | None = None
) -> BotVersion:
    """Another configuration of a bot. The same one as the latest gives the latest. Raises OptionsError."""
    options = _whole(spec, options)
    synthetic = _check(spec, options)
    with transaction.atomic():
        bot = Bot.objects.select_for_update().get(pk=bot.pk)
        latest = bot.latest()
        if latest is not None and latest.spec == spec and latest.options == dict(options):
            return latest
        return _add(bot, spec, options, synthetic, by)


def connect(version: BotVersion) -> Connector:
    """The connector of a bot version, with the current tenant's secrets. Raises OptionsError. Close it after use."""
    return build_connector(version.spec, version.options, secret=resolve_secret)


def describe(version: BotVersion) -> dict[str, Any]:
    """What goes into a run's manifest: {"spec", "synthetic", and what the connector says of itself, without secrets}.

    Raises OptionsError, and PluginFault when the plugin breaks.
    """
    connector = connect(version)
    try:
        said = _in_time(version.spec, "describe", lambda: dict(connector.describe()))
    finally:
        _close(version.spec, connector)
    return {"spec": version.spec, "synthetic": version.synthetic, **said}


def _whole(spec: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options with the company's own for the rest: a version is one configuration, whatever is set later."""
    storable({"spec": spec, "options": options or {}})
    return with_defaults("connector", spec.partition(":")[0].strip(), options)


def _check(spec: str, options: Mapping[str, Any]) -> bool:
    """Build the connector once, as a worker will, so that what is wrong shows now. True: it is synthetic."""
    require(parts_of(bot=spec))
    connector = build_connector(spec, options, secret=resolve_secret)
    _close(spec, connector)
    return connector.synthetic


def _close(spec: str, connector: Connector) -> None:
    async def close() -> None:
        await connector.aclose()

    _in_time(spec, "aclose", lambda: asyncio.run(close()))


def _in_time(spec: str, method: str, call: Callable[[], T]) -> T:
    """What a method of the plugin's connector gives. Raises PluginFault when it breaks or takes too long.

    In a thread of its own: a plugin may wait where no event loop can stop it. Such a thread is left behind.
    """
    ended: Future[T] = Future()

    def run() -> None:
        try:
            ended.set_result(call())
        except BaseException as error:  # noqa: BLE001 (a plugin may raise anything; it is told below)
            ended.set_exception(error)

    context = copy_context()  # which tenant it is
    Thread(target=context.run, args=[run], name=f"{method} of a connector", daemon=True).start()
    if not wait([ended], PLUGIN_SECONDS).done:
        raise PluginFault(f"{method}() of {spec!r} did not end within {PLUGIN_SECONDS:g} s.")
    error = ended.exception()
    if isinstance(error, OptionsError | PluginFault):
        raise error
    if error is not None:
        raise PluginFault(f"{method}() of {spec!r} broke: {type(error).__name__}: {error}") from error
    return ended.result()


def _add(bot: Bot, spec: str, options: Mapping[str, Any], synthetic: bool, by: User | None) -> BotVersion:
    number = (bot.versions.order_by("-number").values_list("number", flat=True).first() or 0) + 1
    version = BotVersion.objects.create(
        bot=bot, number=number, spec=spec, options=dict(options), synthetic=synthetic, created_by=by
    )
    record(
        "bot_version.created",
        actor=by,
        target=version,
        data={"bot": bot.name, "number": number, "spec": spec},
    )
    return version
