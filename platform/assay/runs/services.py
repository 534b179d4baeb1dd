"""What people do with runs: plan, watch, pause, resume, cancel."""

from __future__ import annotations

import fnmatch
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

import assay
from assay.accounts.audit import record
from assay.accounts.models import User
from assay.bots.models import BotVersion
from assay.bots.services import describe
from assay.engine.dialogue.fitting import not_playable
from assay.engine.grading.judging import VOTES
from assay.engine.trial import seed_for
from assay.packs.models import PackVersion
from assay.packs.services import load_world
from assay.plugin_choices.services import require, with_defaults
from assay.plugins.checks import reported_checks
from assay.plugins.judges import describe_judge
from assay.plugins.mishaps import choose_faults, describe_faults
from assay.plugins.options import storable
from assay.plugins.parts import parts_of, taking_part
from assay.plugins.users import SCRIPTED, describe_user, models_of
from assay.runs import gates, laboratory, waking
from assay.runs.finishing import finish_if_done, outcomes
from assay.runs.models import ACTIVE, Run, RunStatus
from assay.runs.progress import Progress, progress
from assay_sdk import AssayError, PersonaType

__all__ = [
    "Progress",
    "RunError",
    "cancel_run",
    "finish_if_done",
    "outcomes",
    "pause_run",
    "plan_run",
    "progress",
    "resume_run",
]

MOST_TRIALS_OF_A_TASK = 1_000
MOST_TRIALS = 1_000_000


class RunError(AssayError):
    """A run that cannot be planned or changed; the message says why and what to do."""


def plan_run(
    pack_version: PackVersion,
    bot_version: BotVersion,
    *,
    trials: int = 20,
    tasks: Sequence[str] | str | None = None,
    seed: int | None = None,
    gate: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    persona: str = "",
    persona_options: Mapping[str, Any] | None = None,
    user: str = SCRIPTED,
    user_options: Mapping[str, Any] | None = None,
    faults: str = "",
    fault_options: Mapping[str, Any] | None = None,
    judge: str = "",
    judge_options: Mapping[str, Any] | None = None,
    judge_votes: int = VOTES,
    checkers: Sequence[Mapping[str, Any]] = (),
    max_attempts: int = 3,
    trials_at_once: int | None = None,
    by: User | None = None,
) -> Run:
    """Plan `trials` of each task as rows, and wake workers once that is committed.

    `user`: who plays the customer, "scripted" or a model, NAME:MODEL. Tasks that the persona cannot play are left out
    and stand in the manifest as not tried. `tasks`: task ids, or a pattern such as "RET-RMA-*"; None takes every enabled task. `seed`: the same seed, pack
    and reference bot give the same trials; None draws one. Options that are not given are the company's own, where it
    has set some. Raises RunError or OptionsError (also for what is switched off), and plans nothing then.
    """
    if not 1 <= trials <= MOST_TRIALS_OF_A_TASK:
        raise RunError(f"The number of trials must be from 1 to {MOST_TRIALS_OF_A_TASK}, not {trials}.")
    if not 1 <= max_attempts <= 10:
        raise RunError(f"The number of attempts at a trial must be from 1 to 10, not {max_attempts}.")
    at_once = settings.ASSAY_TRIALS_AT_ONCE if trials_at_once is None else trials_at_once
    if not 1 <= at_once <= 500:
        raise RunError(f"The number of trials at once must be from 1 to 500, not {at_once}.")
    seed = secrets.randbits(63) if seed is None else seed
    if not 0 <= seed < 2**63:
        raise RunError("The seed must be from 0 to 2^63 - 1.")
    held_to = laboratory.limits_of(limits or {})
    parts = parts_of(
        bot=bot_version.spec,
        persona=persona,
        checks=checkers,
        models=[*models_of(user, user_options or {}), judge],
        fault_profile=faults or None,
    )
    require(parts)
    persona_options = with_defaults("persona", persona, persona_options) if persona else {}
    checkers = [_with_company_options(entry) for entry in checkers]
    storable({"persona": persona_options, "checks": checkers})
    kind, _ = laboratory.persona_of(persona, persona_options)
    user = user.strip() or SCRIPTED
    user_options = _user_with_company_options(user, user_options or {})
    storable({"user": user, "options": user_options})
    player, _ = laboratory.user_of(user, user_options)
    judge = judge.strip()
    judge_options = (
        with_defaults("model", _model_of(judge), judge_options) if judge else dict(judge_options or {})
    )
    storable({"judge": judge, "options": judge_options})
    judges = laboratory.judge_of(judge, judge_options, judge_votes)
    fault_options = (
        with_defaults("fault profile", faults, fault_options) if faults else dict(fault_options or {})
    )
    storable(fault_options)
    goes_wrong, how_wrong = choose_faults(faults, fault_options)
    laboratory.checkers_of(checkers)
    answer = gates.parse(gate, trials=trials, reported=reported_checks(checkers))
    chosen, left_out = _playable(kind, pack_version, _tasks(pack_version, tasks))
    total = len(chosen) * trials
    if total > MOST_TRIALS:
        raise RunError(f"{total} trials are too many for one run; the most is {MOST_TRIALS}.")
    manifest = {
        "format": 1,
        "assay": assay.__version__,
        "pack": {
            "name": pack_version.pack.name,
            "version": pack_version.version,
            "title": pack_version.title,
            "content_hash": pack_version.content_hash,
        },
        "bot": {**describe(bot_version), "name": bot_version.bot.name, "number": bot_version.number},
        "plugins": taking_part(parts),
        "seed": str(seed),  # as text: JavaScript cannot hold it
        "trials": trials,
        "max_attempts": max_attempts,
        "limits": asdict(held_to),
        "persona": {"name": persona, "options": persona_options} if persona else None,
        "user": describe_user(user, player, user_options),
        "faults": describe_faults(goes_wrong, how_wrong),
        "checkers": [dict(c) for c in checkers],
        "judge": describe_judge(judge, judges),
        "tasks": [{"id": task_id, "title": title, "group": group} for task_id, title, group in chosen],
        "not_tried": [{"id": task_id, "why": why} for task_id, why in left_out.items()],
        "started_at": None,
        "finished_at": None,
    }
    with transaction.atomic():
        run = Run.objects.create(
            pack_version=pack_version,
            bot_version=bot_version,
            task_ids=[t for t, _, _ in chosen],
            trials_per_task=trials,
            trial_count=total,
            seed=seed,
            max_attempts=max_attempts,
            trials_at_once=at_once,
            limits=dict(limits or {}),
            persona=persona,
            persona_options=persona_options,
            user=user,
            user_options=user_options,
            faults=faults,
            fault_options=fault_options,
            judge=judge,
            judge_options=judge_options,
            judge_votes=judge_votes,
            checkers=[dict(c) for c in checkers],
            gate=answer,
            manifest=manifest,
            created_by=by,
        )
        with (
            connection.cursor() as cursor,
            cursor.copy(
                'COPY runs_trial (run_id, task_id, title, "group", "index", attempt, losses, seed, status, leased_by, '
                "void_cause, termination, category, fingerprint, explanation, turns, tool_calls) FROM STDIN"
            ) as copy,
        ):
            # Trial by trial over all tasks, not task by task, so that a run stopped early has seen every task.
            for index in range(trials):
                for task_id, title, group in chosen:
                    copy.write_row(
                        (
                            *(
                                run.pk,
                                task_id,
                                title,
                                group,
                                index,
                                0,
                                0,
                                seed_for(seed, task_id, index, 0),
                                "queued",
                            ),
                            *("", "", "", "", "", "", 0, 0),
                        )
                    )
        record(
            "run.planned",
            actor=by,
            target=run,
            data={"pack": str(pack_version), "bot": str(bot_version), "trials": total, "seed": str(seed)},
        )
        waking.wake_on_commit(run, wakes=settings.ASSAY_WAKES)
    return run


def pause_run(run: Run, *, by: User | None = None) -> Run:
    """Claim no more trials; those in progress end in order. Raises RunError when the run is over."""
    return _move(run, RunStatus.PAUSED, ACTIVE, "run.paused", by)


def resume_run(run: Run, *, by: User | None = None) -> Run:
    """Go on with a paused run."""
    with transaction.atomic():
        run = _move(run, RunStatus.RUNNING, (RunStatus.PAUSED,), "run.resumed", by)
        if run.started_at is None:
            run.started_at = timezone.now()
            run.save(update_fields=["started_at"])
        waking.wake_on_commit(run, wakes=settings.ASSAY_WAKES)
    return run


def cancel_run(run: Run, *, by: User | None = None) -> Run:
    """End the run without a summary. Trials that were not tried stay queued, so nobody takes them for tried."""
    with transaction.atomic():
        run = _move(run, RunStatus.CANCELLED, (*ACTIVE, RunStatus.PAUSED), "run.cancelled", by)
        run.finished_at = timezone.now()
        run.save(update_fields=["finished_at"])
    return run


def _with_company_options(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A check as it was chosen, with the company's options for the rest. What is no check is refused when it is built."""
    name, options = entry.get("name"), entry.get("options") or {}
    if not isinstance(name, str) or not isinstance(options, Mapping):
        return dict(entry)
    whole = with_defaults("check", name, options)
    return {**entry, "options": whole} if whole else dict(entry)


def _playable(
    persona: PersonaType | None, version: PackVersion, chosen: list[tuple[str, str, str]]
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """The chosen tasks that the persona can play, and why not the others. RunError when none is left."""
    if persona is None:
        return chosen, {}
    why = not_playable(persona, load_world(version).pack.tasks, [task_id for task_id, _, _ in chosen])
    left = [task for task in chosen if task[0] not in why]
    if not left:
        raise RunError(
            f"The persona {persona.name!r} can play none of these tasks; the first: {next(iter(why.values()))}"
        )
    return left, why


def _user_with_company_options(user: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the customer, with the company's own for the rest of each of its models."""
    if user == SCRIPTED:
        return dict(options)
    whole = with_defaults("model", _model_of(user), options)
    second, given = whole.get("audit_model"), whole.get("audit_options") or {}
    if isinstance(second, str) and isinstance(given, Mapping):
        audit = with_defaults("model", _model_of(second), given)
        whole = {**whole, "audit_options": audit} if audit else whole
    return whole


def _model_of(spec: str) -> str:
    return spec.partition(":")[0].strip()


def _tasks(version: PackVersion, tasks: Sequence[str] | str | None) -> list[tuple[str, str, str]]:
    """(id, title, group) of the chosen tasks, in the order of the pack."""
    known = {e.task_id: e for e in version.tasks.only("task_id", "title", "group", "enabled").order_by("pk")}
    enabled = [t for t, e in known.items() if e.enabled]
    if tasks is None:
        chosen = enabled
        if not chosen:
            raise RunError(f"No task of {version} is enabled; enable at least one.")
    elif isinstance(tasks, str):
        chosen = [t for t in enabled if fnmatch.fnmatchcase(t, tasks)]
        if not chosen:
            raise RunError(f"No enabled task of {version} matches {tasks!r}.")
    else:
        unknown = sorted(set(tasks) - set(known))
        if unknown:
            raise RunError(f"{version} has no task {', '.join(unknown)}.")
        off = sorted(set(tasks) - set(enabled))
        if off:
            raise RunError(f"Switched off: {', '.join(off)}. Enable them or leave them out.")
        wanted = set(tasks)
        chosen = [t for t in known if t in wanted]
        if not chosen:
            raise RunError("No task was chosen; choose at least one.")
    return [(t, known[t].title, known[t].group) for t in chosen]


def _move(run: Run, to: str, allowed: Sequence[str], action: str, by: User | None) -> Run:
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        if run.status not in allowed:
            raise RunError(f"The run is {run.get_status_display().lower()}; that cannot be done now.")
        run.status = to
        run.save(update_fields=["status"])
        record(action, actor=by, target=run)
    return run
