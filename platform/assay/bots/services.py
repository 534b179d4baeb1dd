"""Making bots and their versions."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from assay.accounts.audit import record
from assay.accounts.models import User
from assay.accounts.secrets import resolve_secret
from assay.bots.models import Bot, BotVersion
from assay.plugins.bots import build_connector
from assay_sdk import Connector, OptionsError

# Postgres keeps neither in text or JSON.
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")


def create_bot(
    name: str,
    *,
    spec: str,
    options: Mapping[str, Any] | None = None,
    description: str = "",
    by: User | None = None,
) -> BotVersion:
    """A new bot with its first version. Raises OptionsError: name taken, unknown connector, wrong options."""
    _storable({"name": name, "description": description})
    name = name.strip()
    if not name or len(name) > 100:
        raise OptionsError("The bot needs a name of at most 100 characters.")
    synthetic = _check(spec, options or {})
    with transaction.atomic():
        bot, made = Bot.objects.get_or_create(name=name, defaults={"description": description.strip()})
        if not made:
            raise OptionsError(
                f"There is a bot named {name!r} already; add a version to it, or choose another name."
            )
        record("bot.created", actor=by, target=bot, data={"name": name})
        return _add(bot, spec, options or {}, synthetic, by)


def add_version(
    bot: Bot, *, spec: str, options: Mapping[str, Any] | None = None, by: User | None = None
) -> BotVersion:
    """Another configuration of a bot. The same one as the latest gives the latest. Raises OptionsError."""
    options = options or {}
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
        return {"spec": version.spec, "synthetic": version.synthetic, **dict(connector.describe())}
    finally:
        asyncio.run(connector.aclose())


def _check(spec: str, options: Mapping[str, Any]) -> bool:
    """Build the connector once, as a worker will, so that what is wrong shows now. True: it is synthetic."""
    _storable({"spec": spec, "options": options})
    connector = build_connector(spec, options, secret=resolve_secret)
    asyncio.run(connector.aclose())
    return connector.synthetic


def _storable(given: Any) -> None:
    """Raises OptionsError for what no database keeps: NaN, infinities, zero bytes, halves of a surrogate pair."""
    waiting = [given]
    while waiting:  # not by calling itself: who sends the options chooses how deep they are
        value = waiting.pop()
        if isinstance(value, str) and _UNSTORABLE.search(value):
            raise OptionsError(f"The text {value[:40]!r} holds a zero byte or half a character; take it out.")
        if isinstance(value, float) and not math.isfinite(value):
            raise OptionsError(f"{value} is no number that can be kept; numbers are finite.")
        if isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value


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
