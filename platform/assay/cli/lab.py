"""From what was typed to the engine's Lab."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.cli.errors import log_in_one_line
from assay.engine.dialogue.limits import Limits
from assay.engine.grading.judging import VOTES
from assay.engine.packs import Pack, load_pack
from assay.engine.sandbox import World
from assay.engine.trial import Lab
from assay.plugins.bots import build_connector
from assay.plugins.checks import build_checkers
from assay.plugins.judges import build_judge
from assay.plugins.mishaps import choose_faults
from assay.plugins.users import SCRIPTED, build_user, choose_persona
from assay_sdk import OptionsError


@dataclass(frozen=True)
class Recipe:
    """How to make the Lab of a run; can be sent to another process. Holds references to secrets, never secrets."""

    pack: Path
    bot: str
    bot_options: Mapping[str, Any] = field(default_factory=dict)
    persona: str | None = None
    persona_options: Mapping[str, Any] = field(default_factory=dict)
    user: str = SCRIPTED
    user_options: Mapping[str, Any] = field(default_factory=dict)
    faults: str | None = None
    fault_options: Mapping[str, Any] = field(default_factory=dict)
    checks: Sequence[Mapping[str, Any]] = ()
    judge: str | None = None
    judge_options: Mapping[str, Any] = field(default_factory=dict)
    judge_votes: int = VOTES
    judgements: Path | None = None  # the file in which they are kept
    limits: Mapping[str, Any] = field(default_factory=dict)
    content_hash: str | None = None  # of the pack that the run began with

    def __call__(self) -> Lab:
        """Read the pack and make the Lab, in another process. Raises OptionsError, PackError, PluginFault."""
        log_in_one_line(tracebacks=False)
        pack = load_pack(self.pack)
        if self.content_hash is not None and pack.content_hash != self.content_hash:
            raise OptionsError(f"{self.pack} was changed while the run was starting; start it again.")
        return self.on(World.prepare(pack))

    def on(self, world: World) -> Lab:
        """The Lab on a world that is prepared already."""
        persona, persona_options = (
            choose_persona(self.persona, self.persona_options) if self.persona else (None, None)
        )
        try:
            limits = Limits(**self.limits)
        except (TypeError, ValueError) as error:
            raise OptionsError(
                f"--limit: {error}; the limits are turns, tool_calls, seconds and tokens."
            ) from None
        faults, fault_options = choose_faults(self.faults, self.fault_options)
        user, user_seconds = build_user(self.user, self.user_options)
        return Lab(
            world=world,
            connector=build_connector(self.bot, self.bot_options),
            persona=persona,
            persona_options=persona_options,
            faults=faults,
            fault_options=fault_options,
            checkers=build_checkers(self.checks),
            limits=limits,
            user=user,
            user_seconds=user_seconds,
            judge=build_judge(self.judge, self.judge_options, self.judge_votes, self.judgements),
        )


def pairs(option: str, given: Sequence[str]) -> dict[str, Any]:
    """K=V items as a dictionary: V as JSON where it is JSON (numbers, true, lists), else as text. OptionsError."""
    found: dict[str, Any] = {}
    for item in given:
        key, sign, value = item.partition("=")
        if not sign or not key.strip():
            raise OptionsError(f"{option} takes NAME=VALUE, not {item!r}.")
        if key.strip() in found:
            raise OptionsError(f"{option} gives {key.strip()!r} twice.")
        try:
            found[key.strip()] = json.loads(value)
        except ValueError:
            found[key.strip()] = value
    return found


def choose_tasks(pack: Pack, patterns: Sequence[str]) -> list[str]:
    """The ids that match any of the patterns (all, without patterns), in the order of the pack. Raises OptionsError."""
    from fnmatch import fnmatchcase

    chosen = [t for t in pack.tasks if not patterns or any(fnmatchcase(t, p) for p in patterns)]
    if not chosen:
        some = ", ".join(list(pack.tasks)[:5])
        raise OptionsError(
            f"No task of {pack.name} matches {' or '.join(patterns)}; it has {some} and so on."
        )
    return chosen
