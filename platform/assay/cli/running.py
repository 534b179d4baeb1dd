"""`assay run`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import assay
from assay.cli.codes import INTERRUPTED, OK, PROBLEMS
from assay.cli.lab import Recipe, choose_tasks, pairs
from assay.cli.progress import Progress
from assay.engine.dialogue.fitting import not_playable
from assay.engine.packs.lint import check
from assay.engine.results import JUDGEMENTS, MANIFEST, ResultsFolder, read_manifest, read_results
from assay.engine.rewards import GIVEN, given_by
from assay.engine.run import run_pack
from assay.engine.trial import Lab, TrialRecord
from assay.plugins.bots import describe_connector
from assay.plugins.checks import reported_checks
from assay.plugins.judges import describe_judge
from assay.plugins.mishaps import describe_faults
from assay.plugins.parts import failures_by_plugin, parts_of, taking_part
from assay.plugins.users import describe_user, models_of
from assay.runs import gates
from assay.runs.gate_text import read_gate
from assay_sdk import OptionsError


def run(
    *,
    pack: Path,
    spec: str,
    trials: int,
    tasks: tuple[str, ...],
    seed: int | None,
    jobs: int,
    at_once: int,
    max_attempts: int,
    out: Path | None,
    as_json: bool,
    base_url: str | None,
    api_key: str | None,
    params: tuple[str, ...],
    bot_options: tuple[str, ...],
    persona: str | None,
    persona_options: tuple[str, ...],
    user: str,
    user_options: tuple[str, ...],
    faults: str | None,
    fault_options: tuple[str, ...],
    checks: tuple[str, ...],
    required_checks: tuple[str, ...],
    judge: str | None,
    judge_options: tuple[str, ...],
    judge_votes: int,
    limits: tuple[str, ...],
    gate: str | None,
) -> int:
    """Run, write the results, show them. Gives the exit code."""
    chosen_checks = [{"name": n, "required": False} for n in checks]
    chosen_checks += [{"name": n, "required": True} for n in required_checks]
    wanted = gates.parse(read_gate(gate), trials=trials, reported=reported_checks(chosen_checks))
    options = pairs("--bot-option", bot_options)
    for name, value in (
        ("base_url", base_url),
        ("api_key", api_key),
        ("parameters", pairs("--param", params)),
    ):
        if value:
            options[name] = value
    recipe = Recipe(
        pack=pack,
        bot=spec,
        bot_options=options,
        persona=persona,
        persona_options=pairs("--persona-option", persona_options),
        user=user,
        user_options=pairs("--user-option", user_options),
        faults=faults,
        fault_options=pairs("--fault-option", fault_options),
        checks=chosen_checks,
        judge=judge,
        judge_options=pairs("--judge-option", judge_options),
        judge_votes=judge_votes,
        limits=pairs("--limit", limits),
    )
    checked = check(pack)
    folder = out or _new_folder(checked.pack.name, spec)
    recipe = replace(
        recipe,
        content_hash=checked.pack.content_hash,
        judgements=folder / JUDGEMENTS if judge else None,
    )
    chosen = choose_tasks(checked.pack, tasks)
    lab = recipe.on(checked.world)
    left_out = not_playable(lab.persona, checked.pack.tasks, chosen)
    chosen = [task for task in chosen if task not in left_out]
    if not chosen:
        raise OptionsError(
            f"The persona {persona!r} can play none of these tasks; the first: {next(iter(left_out.values()))}"
        )
    if left_out:
        print(
            f"Not tried, because the persona {persona!r} does not fit: {', '.join(left_out)}.",
            file=sys.stderr,
        )
    manifest = _manifest(recipe, lab, chosen, left_out, trials, max_attempts, _seed(seed, out))

    stopped = False
    with ResultsFolder(folder, manifest) as results:
        if wanted is not None:
            results.note("gate", wanted)
        results.keep(GIVEN, given_by(checked.world).as_json())
        done = {(t.task, t.index) for t in results.done.trials}
        if done:
            print(
                f"Continuing in {folder}: {len(done)} of {results.done.planned} trials are done.",
                file=sys.stderr,
            )
        with Progress(results.done.planned, results.done.trials) as progress:

            def over(record: TrialRecord) -> None:
                results.add(record)
                progress.trial(record)

            def again(record: TrialRecord) -> None:
                results.add_void_attempt(record)
                progress.void_attempt(record)

            try:
                run_pack(
                    recipe if jobs > 1 else (lambda: lab),
                    chosen,
                    trials,
                    int(manifest["seed"]),
                    jobs,
                    max_attempts,
                    over,
                    on_void_attempt=again,
                    done=done,
                    at_once=at_once,
                )
            except KeyboardInterrupt:
                stopped = True
        if jobs > 1:  # each process made its own; this one was only described
            with contextlib.suppress(Exception):
                asyncio.run(lab.aclose())
        failed = failures_by_plugin(manifest["plugins"], read_results(folder).plugin_failures())
        results.note("plugin_failures", failed)
        if not stopped and not results.manifest.get("finished_at"):
            results.note("finished_at", _now())
    if stopped:
        print(f"Stopped. What is done is kept in {folder}; continue with --out {folder}.", file=sys.stderr)
    return _show(folder, as_json, stopped)


def _show(folder: Path, as_json: bool, stopped: bool) -> int:
    from assay.cli.reporting import document, print_text

    shown = document(folder)
    if as_json:
        print(json.dumps(shown, ensure_ascii=False))
    else:
        print_text(folder)
        print(f"Results: {folder}", file=sys.stderr)
    for name, failed in shown["manifest"].get("plugin_failures", {}).items():
        parts = ", ".join(f"{part} {count}" for part, count in failed["parts"].items())
        print(
            f"The plugin {name} failed {failed['count']} times ({parts}). Last: {failed['last']}",
            file=sys.stderr,
        )
    if stopped:
        return INTERRUPTED
    if not shown["summary"]["valid"]:
        print("No trial was valid: nothing can be said about this bot.", file=sys.stderr)
        return PROBLEMS
    return OK if shown["gate"] is None or shown["gate"]["met"] else PROBLEMS


def _manifest(
    recipe: Recipe,
    lab: Lab,
    tasks: list[str],
    left_out: Mapping[str, str],
    trials: int,
    max_attempts: int,
    seed: int,
) -> dict[str, Any]:
    pack = lab.world.pack
    return {
        "format": 1,
        "assay": assay.__version__,
        "pack": {
            "name": pack.name,
            "version": pack.version,
            "title": pack.manifest.title,
            "content_hash": pack.content_hash,
        },
        "bot": {
            **describe_connector(recipe.bot, lab.connector),
            "spec": recipe.bot,
            "synthetic": lab.connector.synthetic,
        },
        "plugins": taking_part(
            parts_of(
                bot=recipe.bot,
                persona=recipe.persona,
                checks=recipe.checks,
                models=[*models_of(recipe.user, recipe.user_options), recipe.judge],
                fault_profile=recipe.faults,
            )
        ),
        "seed": str(seed),
        "trials": trials,
        "max_attempts": max_attempts,
        "limits": asdict(lab.limits),
        "persona": {**lab.persona.describe(), "options": dict(recipe.persona_options)}
        if lab.persona
        else None,
        "user": describe_user(recipe.user, lab.user, recipe.user_options),
        "faults": describe_faults(lab.faults, lab.fault_options),
        "checkers": [dict(c) for c in recipe.checks],
        "judge": describe_judge(recipe.judge, lab.judge),
        "tasks": [{"id": t, "title": pack.tasks[t].title, "group": pack.tasks[t].group_name} for t in tasks],
        "not_tried": [{"id": t, "why": why} for t, why in left_out.items()],
        "started_at": _now(),
        "finished_at": None,
    }


def _seed(seed: int | None, out: Path | None) -> int:
    """The seed given, else that of the run to be continued, else a new one."""
    if seed is not None:
        return seed
    if out is not None and (out / MANIFEST).exists():
        known: Mapping[str, Any] = read_manifest(out)
        if str(known.get("seed", "")).isdigit():
            return int(known["seed"])
    return secrets.randbits(63)


def _new_folder(pack: str, spec: str) -> Path:
    """A folder that is not there yet, named for people."""
    bot = re.sub(r"[^A-Za-z0-9.]+", "-", spec).strip("-")[:60]
    base = f"{pack}-{bot}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    folder, number = Path("assay-results") / base, 1
    while folder.exists():
        number += 1
        folder = Path("assay-results") / f"{base}-{number}"
    return folder


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
