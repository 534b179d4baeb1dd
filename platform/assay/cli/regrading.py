"""`assay regrade`: a folder of results judged again under another version of the pack."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from assay.cli.codes import OK
from assay.engine.packs import load_pack
from assay.engine.regrading import NOT_COMPARABLE, Regraded, Tally, regrade_all
from assay.engine.results import Results, ResultsFolder, read_beside, read_results
from assay.engine.rewards import GIVEN
from assay.engine.sandbox import World
from assay.engine.statistics.intervals import Estimate, wilson
from assay.plugins.checks import build_checkers
from assay_sdk import OptionsError

_SHOWN = 30  # changed trials in the text


def regrade(folder: Path, pack: Path, old_pack: Path | None, out: Path | None, as_json: bool) -> int:
    """Judge again, show old and new side by side; with `out` also write the new results there."""
    results = read_results(folder)
    world = World.prepare(load_pack(pack))
    old = _old_world(results, old_pack)
    name = results.manifest["pack"].get("name")
    if world.pack.name != name:
        raise OptionsError(f"{folder} is a run on {name}; --pack {pack} is {world.pack.name}.")
    checkers = build_checkers(results.manifest.get("checkers") or ())
    found, tally = regrade_all(results.trials, world, checkers, old)
    if out is not None:
        _write(out, results, found, world, read_beside(folder, GIVEN))
        print(f"Results: {out}", file=sys.stderr)
    shown = _document(results, world, found, tally)
    if as_json:
        print(json.dumps(shown, ensure_ascii=False))
    else:
        print("\n".join(_lines(shown)))
    return OK


def _old_world(results: Results, folder: Path | None) -> World | None:
    if folder is None:
        return None
    pack = load_pack(folder)
    if pack.content_hash != results.manifest["pack"].get("content_hash"):
        raise OptionsError(f"--old-pack {folder} is not the version that the run was made on.")
    return World.prepare(pack)


def _document(results: Results, world: World, found: list[Regraded], tally: Tally) -> dict[str, Any]:
    comparable = [one for one in found if one.status != NOT_COMPARABLE]
    return {
        "format": 1,
        "old_pack": results.manifest["pack"],
        "new_pack": {
            "name": world.pack.name,
            "version": world.pack.version,
            "content_hash": world.pack.content_hash,
        },
        **tally.as_json(),
        # of the trials that can be compared, so that both are about the same ones
        "pass_rate": {
            "old": _rate([one.old_status for one in comparable]),
            "new": _rate([one.status for one in comparable]),
        },
        "regraded": [one.as_json() for one in found],
    }


def _rate(statuses: list[str]) -> dict[str, float] | None:
    valid = [status for status in statuses if status in ("passed", "failed")]
    share: Estimate | None = wilson(valid.count("passed"), len(valid))
    return share.as_json() if share is not None else None


def _lines(shown: dict[str, Any]) -> list[str]:
    old, new = shown["old_pack"], shown["new_pack"]
    lines = [
        f"{new['name']}: from version {old.get('version')} to {new['version']}",
        (
            f"{shown['trials']} trials, {shown['changed']} judged otherwise, "
            f"{shown['not_comparable']} not comparable."
        ),
        "",
    ]
    lines += [
        f"  {move['old']:>8} -> {_plain(move['new']):<14} {move['trials']:>6}" for move in shown["moves"]
    ]
    rates = shown["pass_rate"]
    if rates["old"] and rates["new"]:
        lines += [
            "",
            f"Passed, of the comparable trials: {_percent(rates['old'])} before, {_percent(rates['new'])} now.",
        ]
    changed = [one for one in shown["regraded"] if one["changed"]]
    for one in changed[:_SHOWN]:
        lines += [
            "",
            f"{one['task']}/{one['index']}: {one['old']['status']} -> {_plain(one['new']['status'])}",
            *(f"  {sentence}" for sentence in one["why"]),
        ]
    if len(changed) > _SHOWN:
        lines += ["", f"{len(changed) - _SHOWN} more; --json shows all."]
    return lines


def _percent(rate: dict[str, float]) -> str:
    return f"{rate['value']:.1%} ({rate['low']:.1%} to {rate['high']:.1%})"


def _plain(status: str) -> str:
    return status.replace("_", " ")


def _write(out: Path, results: Results, found: list[Regraded], world: World, given: Any) -> None:
    """The new verdicts as a folder of results, which `assay report` reads. `given`: what the bot was given then."""
    pack = world.pack
    tasks = [
        {**task, "title": pack.tasks[task["id"]].title, "group": pack.tasks[task["id"]].group_name}
        if task["id"] in pack.tasks
        else task
        for task in results.manifest["tasks"]
    ]
    manifest = {
        **results.manifest,
        "pack": {
            "name": pack.name,
            "version": pack.version,
            "title": pack.manifest.title,
            "content_hash": pack.content_hash,
        },
        "tasks": tasks,
        "regraded_from": results.manifest["pack"],
    }
    with ResultsFolder(out, manifest) as folder:
        if folder.done.trials:
            raise OptionsError(f"{out} holds results already; name a new folder.")
        for record, one in zip(results.trials, found, strict=True):
            folder.add(one.as_trial(record))
        if given is not None:
            folder.keep(GIVEN, given)
