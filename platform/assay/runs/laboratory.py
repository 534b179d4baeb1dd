"""From the rows of a run to what the engine needs to try a task: the Lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

import assay
from assay.accounts.secrets import resolve_secret
from assay.bots.services import connect
from assay.engine.dialogue.limits import Limits
from assay.engine.grading.judging import Judge
from assay.engine.trial import Lab
from assay.packs.services import load_world
from assay.plugins.bots import describe_connector
from assay.plugins.checks import build_checkers
from assay.plugins.judges import build_judge
from assay.plugins.mishaps import choose_faults
from assay.plugins.users import UserMaker, build_user, choose_persona
from assay.runs.models import Run
from assay_sdk import Checker, OptionsError, PersonaType


def build(run: Run) -> Lab:
    """Everything the run's trials share. Raises OptionsError, PackError, PluginFault. Close the lab after use."""
    persona, persona_options = persona_of(run.persona, run.persona_options)
    faults, fault_options = choose_faults(run.faults, run.fault_options)
    checkers = checkers_of(run.checkers)
    limits = limits_of(run.limits)
    user, user_seconds = user_of(run.user, run.user_options)
    judge = judge_of(run.judge, run.judge_options, run.judge_votes)
    world = load_world(run.pack_version)
    return Lab(
        world=world,
        connector=connect(run.bot_version),
        persona=persona,
        persona_options=persona_options,
        faults=faults,
        fault_options=fault_options,
        checkers=checkers,
        limits=limits,
        user=user,
        user_seconds=user_seconds,
        judge=judge,
    )


def limits_of(limits: Mapping[str, Any]) -> Limits:
    try:
        return Limits(**limits)
    except (TypeError, ValueError) as error:
        raise OptionsError(f"The limits are wrong: {error}.") from None


def persona_of(name: str, options: Mapping[str, Any]) -> tuple[PersonaType | None, BaseModel | None]:
    return choose_persona(name, options) if name else (None, None)


def user_of(spec: str, options: Mapping[str, Any]) -> tuple[UserMaker, float | None]:
    """What plays the customers, with the current tenant's secrets, and the seconds one of their lines may take."""
    return build_user(spec, options, resolve_secret)


def judge_of(spec: str, options: Mapping[str, Any], votes: int) -> Judge | None:
    """What judges the reply rules that need a model, with the current tenant's secrets."""
    return build_judge(spec, options, votes, secret=resolve_secret)


def checkers_of(entries: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, Checker, bool], ...]:
    return build_checkers(entries)


def versions(run: Run, lab: Lab) -> dict[str, Any]:
    """What goes beside each trial's evidence."""
    return {
        "assay": assay.__version__,
        "pack": {
            "name": run.pack_version.pack.name,
            "version": run.pack_version.version,
            "content_hash": run.pack_version.content_hash,
        },
        "bot": {
            "version": str(run.bot_version),
            "spec": run.bot_version.spec,
            **describe_connector(run.bot_version.spec, lab.connector),
        },
        "run_seed": str(run.seed),  # as text: JavaScript cannot hold it
    }
