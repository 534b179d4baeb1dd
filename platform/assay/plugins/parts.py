"""Which plugins take part in a run: for manifests, and to name whose a failing part is.

A part is written `kind name` in plain words, e.g. `persona terse` or `check told-result`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.plugins.manager import get_manager

Part = tuple[str, str]  # kind (see manager.KINDS) and name


def parts_of(
    *,
    bot: str | None = None,
    persona: str | None = None,
    checks: Sequence[Mapping[str, Any]] = (),
    models: Iterable[str | None] = (),
    fault_profile: str | None = None,
) -> list[Part]:
    """The parts that a run is made of. `bot` and `models` are specs (NAME:TARGET), `checks` as build_checkers has them.

    A persona that is not named is the script itself, to which no plugin has anything to add.
    """
    found: list[Part] = []
    if bot:
        found.append(("connector", bot.partition(":")[0].strip()))
    if persona:
        found.append(("persona", persona))
    found += [("check", str(entry.get("name", ""))) for entry in checks]
    found += [("model", spec.partition(":")[0].strip()) for spec in models if spec]
    if fault_profile:
        found.append(("fault profile", fault_profile))
    return list(dict.fromkeys(found))


def taking_part(parts: Iterable[Part]) -> dict[str, dict[str, Any]]:
    """Name of each plugin that brings one of the parts -> {"distribution", "version", "parts"}, the built-in first.

    Parts that nobody brings are left out: whoever builds them refuses them.
    """
    manager = get_manager()
    brought: dict[str, list[str]] = {}
    for kind, name in parts:
        owner = manager.owner(kind, name)
        if owner is not None:
            brought.setdefault(owner, []).append(f"{kind} {name}")
    return {
        plugin.name: {
            "distribution": plugin.distribution,
            "version": plugin.version,
            "parts": brought[plugin.name],
        }
        for plugin in manager.installed()
        if plugin.name in brought
    }


def plugin_of(manifest_plugins: Mapping[str, Any], part: str) -> str:
    """The plugin that brought `part` ("persona terse") by what a manifest says; the part itself when it names none.

    A part without a name ("connector") is the only one of its kind.
    """
    owners = {
        str(known): str(name)
        for name, plugin in manifest_plugins.items()
        if isinstance(plugin, Mapping)
        for known in plugin.get("parts", ())
    }
    if part in owners:
        return owners[part]
    of_kind = {owner for known, owner in owners.items() if known.startswith(f"{part} ")}
    return of_kind.pop() if len(of_kind) == 1 else part


def failures_by_plugin(
    manifest_plugins: Mapping[str, Any], counted: Iterable[tuple[str, int, str]]
) -> dict[str, dict[str, Any]]:
    """(part, how often it failed, its last sentence) of a run -> by plugin {"count", "parts", "last"}, most first."""
    found: dict[str, dict[str, Any]] = {}
    for part, count, sentence in counted:
        entry = found.setdefault(plugin_of(manifest_plugins, part), {"count": 0, "parts": {}, "last": ""})
        entry["count"] += count
        entry["parts"][part] = entry["parts"].get(part, 0) + count
        entry["last"] = sentence
    return dict(sorted(found.items(), key=lambda item: (-item[1]["count"], item[0])))
