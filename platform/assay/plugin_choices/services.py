"""Switching plugins on and off for the current company, and the options that hold where nobody says otherwise.

What is switched off cannot be chosen for anything new. A run that was planned with it goes on with it, because one
that changed half way would measure nothing; a ticket connection that has it sends nothing while it is off.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from assay.accounts.audit import record
from assay.accounts.models import User
from assay.plugin_choices.models import PluginChoice
from assay.plugins.manager import BUILT_IN, KINDS, Failure, Installed, get_manager
from assay.plugins.options import OptionProblems, pick, problems, storable
from assay.plugins.parts import Part
from assay_sdk import AssayError, OptionsError

MOST_OPTIONS = 20_000  # characters of the options of one part, as JSON


class PluginChoiceError(AssayError):
    """A choice that cannot be made; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class PluginState:
    """An installed plugin as the company has it. `options`: by part, what the company has set."""

    plugin: Installed
    enabled: bool
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def fixed(self) -> bool:
        """What ships inside cannot be switched off."""
        return self.plugin.name == BUILT_IN


def overview() -> list[PluginState]:
    """Every installed plugin, the built-in one first."""
    chosen = {choice.plugin: choice for choice in PluginChoice.objects.all()}
    return [
        PluginState(
            plugin,
            chosen[plugin.name].enabled if plugin.name in chosen else True,
            chosen[plugin.name].options if plugin.name in chosen else {},
        )
        for plugin in get_manager().installed()
    ]


def state(name: str) -> PluginState:
    """One installed plugin. Raises PluginChoiceError when it is not installed."""
    for found in overview():
        if found.plugin.name == name:
            return found
    raise PluginChoiceError(f"There is no plugin {name!r} in this installation.")


def left_out() -> list[Failure]:
    """Plugins that could not be loaded at all, and why."""
    loaded = {plugin.name for plugin in get_manager().installed()}
    return [failure for failure in get_manager().failures if failure.plugin not in loaded]


def switch(name: str, on: bool, *, by: User | None = None) -> PluginState:
    """Switch a plugin on or off. Switching it to where it is changes nothing. Raises PluginChoiceError."""
    found = state(name)
    if found.fixed:
        raise PluginChoiceError("What ships inside Assay cannot be switched off.")
    with transaction.atomic():
        choice = _held(name)
        if choice.enabled != on:
            choice.enabled, choice.updated_by = on, by
            choice.save()
            record(
                f"plugin.{'enabled' if on else 'disabled'}",
                actor=by,
                target=choice,
                data={"plugin": name, "version": found.plugin.version},
            )
    return state(name)


def set_options(
    kind: str, name: str, options: Mapping[str, Any], *, by: User | None = None
) -> Mapping[str, Any]:
    """Replace the company's options of one part; {} takes them away. Options that the part needs may be missing.

    Raises PluginChoiceError when there is no such part, OptionProblems (which names the options) or OptionsError.
    """
    owner, model = _part(kind, name)
    storable(options)
    if len(json.dumps(dict(options), default=str)) > MOST_OPTIONS:
        raise OptionsError(f"The options are too long; the most is {MOST_OPTIONS:,} characters as JSON.")
    found = problems(f"{kind} {name!r}", model, options, partial=True)
    if found:
        raise OptionProblems(f"{kind} {name!r}", found)
    part = f"{kind} {name}"
    with transaction.atomic():
        choice = _held(owner)
        if choice.options.get(part, {}) != dict(options):
            others = {k: v for k, v in choice.options.items() if k != part}
            choice.options = {**others, part: dict(options)} if options else others
            choice.updated_by = by
            choice.save()
            # Names only: a value may be what should have been a reference to a secret.
            record(
                "plugin.options_set",
                actor=by,
                target=choice,
                data={"plugin": owner, "part": part, "options": sorted(options)},
            )
    return dict(options)


def options_of(kind: str, name: str) -> dict[str, Any]:
    """What the company has set for a part; {} when nothing, or when nobody brings it."""
    owner = get_manager().owner(kind, name)
    choice = PluginChoice.objects.filter(plugin=owner).first() if owner else None
    return dict(choice.options.get(f"{kind} {name}", {})) if choice else {}


def with_defaults(kind: str, name: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was said, and the company's options for the rest."""
    return {**options_of(kind, name), **(given or {})}


def require(parts: Iterable[Part]) -> None:
    """Raises OptionsError with a sentence when one of the parts belongs to a plugin that is switched off.

    A part that nobody brings passes: whoever builds it says so, with what there is instead.
    """
    off = _off()
    for kind, name in parts:
        owner = get_manager().owner(kind, name)
        if owner in off:
            raise OptionsError(
                f"The {kind} {name!r} cannot be chosen: the plugin {owner}, which brings it, is switched off. "
                "An administrator can switch it on under Plugins."
            )


def is_on(kind: str, name: str) -> bool:
    """Whether the plugin that brings the part is on; a part that nobody brings is not off."""
    return get_manager().owner(kind, name) not in _off()


def available(kind: str) -> dict[str, Any]:
    """The items of one kind that the company can choose, by name."""
    manager, off = get_manager(), _off()
    return {n: item for n, item in manager.kinds()[kind].items() if manager.owner(kind, n) not in off}


def options_model(kind: str, name: str) -> Any:
    """The pydantic model of a part's options. Raises PluginChoiceError."""
    return _part(kind, name)[1]


def _off() -> set[str | None]:
    return set(PluginChoice.objects.filter(enabled=False).values_list("plugin", flat=True))


def _part(kind: str, name: str) -> tuple[str, Any]:
    """The plugin that brings a part, and the model of its options."""
    if kind not in KINDS:
        raise PluginChoiceError(f"There is no kind of part {kind!r}; the kinds are {', '.join(KINDS)}.")
    try:
        item = pick(kind, name, get_manager().kinds()[kind])
    except OptionsError as error:
        raise PluginChoiceError(str(error)) from None
    model = getattr(item, "options", None)
    if model is None or not model.model_fields:
        raise PluginChoiceError(f"The {kind} {name!r} has no options.")
    return str(get_manager().owner(kind, name)), model


def _held(name: str) -> PluginChoice:
    """The plugin's row, locked. Rows are locked before the audit trail, here as everywhere."""
    PluginChoice.objects.get_or_create(plugin=name)
    return PluginChoice.objects.select_for_update().get(plugin=name)
