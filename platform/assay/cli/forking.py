"""`assay fork`: a stored trial taken up again at one of the bot's replies."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.cli.codes import OK, PROBLEMS
from assay.cli.lab import Recipe, pairs
from assay.engine import forking
from assay.engine.dialogue.past import Past
from assay.engine.forking import Answer, Arm, Side
from assay.engine.packs import load_pack
from assay.engine.results import Results, ResultsFolder, read_results
from assay.engine.rewards import GIVEN, Given, given_by
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord
from assay_sdk import OptionsError

AS_IT_WAS = "as it was"


def fork(
    *,
    folder: Path,
    place: str,
    pack: Path,
    turn: int,
    trials: int,
    spec: str | None,
    base_url: str | None,
    api_key: str | None,
    params: tuple[str, ...],
    bot_options: tuple[str, ...],
    persona: str | None,
    persona_options: tuple[str, ...],
    say: str | None,
    seed: int | None,
    at_once: int,
    out: Path | None,
    as_json: bool,
) -> int:
    """Take the trial up, as it was and as told, and show the answer. Gives the exit code."""
    results = read_results(folder)
    record = _trial(results, place)
    world = _world(results, pack)
    options = pairs("--bot-option", bot_options)
    for name, value in (
        ("base_url", base_url),
        ("api_key", api_key),
        ("parameters", pairs("--param", params)),
    ):
        if value:
            options[name] = value
    if options and spec is None:
        raise OptionsError(
            "Options of a bot go with --bot; without it the trial's own bot goes on as it was."
        )
    if persona_options and persona is None:
        raise OptionsError("--persona-option goes with --persona.")
    given = pairs("--persona-option", persona_options)
    was = _recipe(results.manifest, pack)
    told = was
    if spec is not None:
        told = replace(told, bot=spec, bot_options=options)
    if persona is not None:
        told = replace(told, persona=persona, persona_options=given)
    changed: list[Side] = ["bot"] if spec is not None else []
    changed += ["user"] if persona is not None or say is not None else []
    names = [f"the bot {spec}"] if spec is not None else []
    names += [f"the persona {persona}"] if persona is not None else []
    names += ["another line of the customer"] if say is not None else []
    number = secrets.randbits(63) if seed is None else seed

    past = forking.moment(record, turn)
    arms = [_arm(was.on(world), record.task, past, trials, number, AS_IT_WAS, at_once)]
    if changed:
        there = forking.moment(record, turn, say)
        arms.append(_arm(told.on(world), record.task, there, trials, number, ", ".join(names), at_once))
    found = forking.answer(record, past, arms[0], arms[1] if changed else None, changed)
    if out is not None:
        _write(out, results, record, turn, arms, number, given_by(world))
        print(f"Results: {out}", file=sys.stderr)
    _show(record, past, say, number, arms, found, as_json)
    return OK if all(arm.valid for arm in arms) else PROBLEMS


def _trial(results: Results, place: str) -> TrialRecord:
    task, _, index = place.rpartition("/")
    if not task or not index.isdecimal():
        raise OptionsError(f"{place!r} names no trial: write TASK/INDEX, for example RET-RMA-007/3.")
    for record in results.trials:
        if (record.task, record.index) == (task, int(index)):
            return record
    raise OptionsError(f"The results hold no trial {place}. Trials of a task are counted from 0.")


def _world(results: Results, folder: Path) -> World:
    pack = load_pack(folder)
    was = results.manifest["pack"]
    if pack.content_hash != was.get("content_hash"):
        raise OptionsError(
            f"--pack {folder} is not the version that the run was made on ({was.get('name')} {was.get('version')}); "
            "a trial goes on in its own world only."
        )
    return World.prepare(pack)


def _recipe(manifest: Mapping[str, Any], pack: Path) -> Recipe:
    """The run's own bot, persona, user, faults on purpose, judge, checks and limits, as its manifest has them."""
    bot, persona, user = manifest["bot"], manifest.get("persona") or {}, manifest.get("user") or {}
    model, faults = user.get("model") or {}, manifest.get("faults") or {}
    played: dict[str, Any] = {}
    if user.get("kind") == "model":
        options = {**_options(model), "tries": user["tries"]}
        if user.get("audit_spec"):
            options["audit_model"] = user["audit_spec"]
            options["audit_options"] = _options(user.get("audit_model") or {})
        played = {"user": user["spec"], "user_options": options}
    judge = manifest.get("judge") or {}
    if judge.get("spec"):
        played["judge"], played["judge_votes"] = judge["spec"], judge["votes"]
        played["judge_options"] = _options(judge.get("model") or {})
    return Recipe(
        pack=pack,
        bot=str(bot["spec"]),
        bot_options=_options(bot),
        persona=persona.get("name"),
        persona_options=persona.get("options") or {},
        **played,
        faults=faults.get("name"),
        fault_options=faults.get("options") or {},
        checks=manifest.get("checkers") or (),
        limits=manifest.get("limits") or {},
    )


def _options(described: Mapping[str, Any]) -> dict[str, Any]:
    """Of headers the manifest keeps the names only, so they cannot be sent again."""
    return {k: v for k, v in (described.get("options") or {}).items() if k != "headers"}


def _arm(lab: Lab, task: str, past: Past, trials: int, seed: int, name: str, at_once: int) -> Arm:
    try:
        asyncio.run(forking.check(lab, task, past))
        return forking.continuations(lab, task, past, trials, seed, name, at_once=at_once)
    finally:
        with suppress(Exception):
            asyncio.run(lab.aclose())


def _write(
    out: Path, results: Results, record: TrialRecord, turn: int, arms: list[Arm], seed: int, given: Given
) -> None:
    """The continuations as folders of results, one for each side."""
    tasks = [task for task in results.manifest["tasks"] if task["id"] == record.task]
    for arm, name in zip(arms, ("as-it-was", "changed"), strict=False):
        manifest = {
            **results.manifest,
            "tasks": tasks,
            "trials": len(arm.records),
            "seed": str(seed),
            "forked": {"from": f"{record.task}/{record.index}", "turn": turn, "with": arm.name},
        }
        with ResultsFolder(out / name, manifest) as folder:
            if folder.done.trials:
                raise OptionsError(f"{out / name} holds results already; name a new folder.")
            for one in arm.records:
                folder.add(one)
            folder.keep(GIVEN, given.as_json())


def _show(
    record: TrialRecord, past: Past, say: str | None, seed: int, arms: list[Arm], found: Answer, as_json: bool
) -> None:
    if as_json:
        shown = {
            "format": 1,
            "trial": f"{record.task}/{record.index}",
            "was": record.status,
            "turn": past.turn,
            "line": past.line,
            "say": say,
            "seed": str(seed),
            "arms": [arm.as_json() for arm in arms],
            "answer": found.as_json(),
        }
        print(json.dumps(shown, ensure_ascii=False))
        return
    print(
        f"{record.task}/{record.index} ({record.status}), taken up at turn {past.turn}. The customer has just said:"
    )
    print(f"  {past.line}" + (f"\nor instead:\n  {say}" if say is not None else ""))
    for arm in arms:
        rate = arm.rate
        interval = f"  {rate.value:.0%} ({rate.low:.0%} to {rate.high:.0%})" if rate else ""
        void = len(arm.records) - arm.valid
        print(
            f"\n{arm.name}: {arm.passed} of {arm.valid} passed{interval}" + (f", {void} void" if void else "")
        )
    print(f"\n{found.said}")
