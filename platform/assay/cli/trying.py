"""`assay pack try`: a person plays the bot, or the customer, in one trial of a task."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.cli.bot_seat import PersonAsBot
from assay.cli.codes import OK, PROBLEMS
from assay.cli.customer_seat import CustomerSeat, Watched
from assay.cli.lab import Recipe, pairs
from assay.cli.terminal import Terminal
from assay.cli.verdict_text import show_verdict
from assay.engine import looping
from assay.engine.dialogue.fitting import not_playable
from assay.engine.dialogue.limits import Limits
from assay.engine.packs import Pack, load_pack
from assay.engine.packs.models import Task
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord, run_trial
from assay.plugins.options import did_you_mean
from assay.plugins.users import SCRIPTED, build_user, choose_persona
from assay_sdk import OptionsError

#: Seconds that a person may take in all; what bounds their typing otherwise is the number of lines.
_A_DAY = 86_400.0
_CLOSING_SECONDS = 30.0  # for a connector to let go of what it holds


def try_task(
    *,
    pack: Path,
    task_id: str,
    as_user: bool,
    spec: str | None,
    show_calls: bool,
    seed: int | None,
    as_json: bool,
    base_url: str | None,
    api_key: str | None,
    params: tuple[str, ...],
    bot_options: tuple[str, ...],
    persona: str | None,
    persona_options: tuple[str, ...],
    user: str,
    user_options: tuple[str, ...],
) -> int:
    """Hold the conversation and show the verdict. Gives the exit code: 0 for a verdict, 1 for a void trial.

    Raises OptionsError, PackError, PluginFault; KeyboardInterrupt when the person stops.
    """
    _check_usage(
        as_user,
        spec,
        show_calls,
        bool(persona or user_options or user != SCRIPTED),
        any((base_url, api_key, params, bot_options)),
    )
    loaded = load_pack(pack)
    task = _find(loaded, task_id)
    # With --json the document has standard output for itself.
    terminal = Terminal(sys.stderr if as_json else sys.stdout)
    world = World.prepare(loaded)
    if as_user:
        options: dict[str, Any] = pairs("--bot-option", bot_options)
        given = {"base_url": base_url, "api_key": api_key, "parameters": pairs("--param", params)}
        options |= {name: value for name, value in given.items() if value}
        lab = _as_customer(Recipe(pack, spec or "", options).on(world), terminal, show_calls)
    else:
        options = pairs("--persona-option", persona_options)
        kind, chosen = choose_persona(persona, options) if persona else (None, None)
        customer, patience = build_user(user, pairs("--user-option", user_options))
        lab = Lab(
            world,
            PersonAsBot(terminal),
            kind,
            chosen,
            limits=Limits(seconds=_A_DAY),
            user=customer,
            user_seconds=patience,
        )
        for why in not_playable(kind, loaded.tasks, [task.id]).values():
            terminal.say(f"The persona {persona} is not made for this task: {why}\n")
        terminal.say(
            f"{task.id}: {task.title}\nYou are the bot of {loaded.manifest.title}. /help says how.\n"
        )
    seed = secrets.randbits(63) if seed is None else seed
    record = looping.run(_hold(lab, task.id, seed))
    if terminal.stopped:
        raise KeyboardInterrupt
    _show_last_words(terminal, record, as_user)
    if as_json:
        print(json.dumps(record.as_json(), ensure_ascii=False))
    show_verdict(terminal, task, record)
    return PROBLEMS if record.status == "void" else OK


def _check_usage(
    as_user: bool, spec: str | None, show_calls: bool, simulated: bool, other_options: bool
) -> None:
    if as_user and not spec:
        raise OptionsError(
            "--as user needs --bot SPEC: the bot that you talk to, for example --bot reference:faithful."
        )
    if as_user and simulated:
        raise OptionsError(
            "--persona and --user are for a simulated customer; with --as user the customer is you."
        )
    if not as_user and (spec or show_calls or other_options):
        raise OptionsError(
            "You play the bot; --bot and the options that go with it need --as user, which makes you the customer."
        )


def _find(pack: Pack, task_id: str) -> Task:
    if task_id in pack.tasks:
        return pack.tasks[task_id]
    raise OptionsError(
        f"{pack.name} has no task {task_id!r}{did_you_mean(task_id, pack.tasks)}; `assay pack show` lists them."
    )


def _show_last_words(terminal: Terminal, record: TrialRecord, as_user: bool) -> None:
    """What the other side said when it left: nobody was asked for an answer to that."""
    events = record.transcript["events"]
    if events and events[-1]["type"] == ("bot" if as_user else "user"):
        label, colour = ("bot>", "green") if as_user else ("customer>", "cyan")
        terminal.say(events[-1]["text"], label, colour)


def _as_customer(lab: Lab, terminal: Terminal, show_calls: bool) -> Lab:
    return replace(
        lab,
        connector=Watched(lab.connector, terminal) if show_calls else lab.connector,
        user=lambda script, persona, seed: CustomerSeat(terminal, script),
        user_seconds=_A_DAY,
    )


async def _hold(lab: Lab, task_id: str, seed: int) -> TrialRecord:
    try:
        return await run_trial(lab, task_id, 0, seed, 0)
    finally:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(lab.aclose(), timeout=_CLOSING_SECONDS)
