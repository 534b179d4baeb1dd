"""A trial taken up again at one of the bot's replies, many times: was it the bot, the user, or luck?

The world is brought to that moment by making the recorded calls again, bot and customer are told what has been said,
and the conversation goes on. The continuations as it was say how much is luck; those with another bot, persona or
line of the customer say what that changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Literal

from assay.engine.dialogue.manners import cast
from assay.engine.dialogue.past import CannotResume, Past, bring_up, cut
from assay.engine.dialogue.scripted import user_script
from assay.engine.dialogue.transcript import transcript_from_json
from assay.engine.replaying import restore
from assay.engine.run import run_pack
from assay.engine.statistics.intervals import Estimate, beta_posterior, wilson
from assay.engine.trial import Lab, TrialRecord
from assay_sdk import PlatformFault

Side = Literal["bot", "user"]


@dataclass(frozen=True, slots=True)
class Arm:
    """Continuations under the same conditions. `name`: what is other than it was."""

    name: str
    records: tuple[TrialRecord, ...]

    @property
    def passed(self) -> int:
        return sum(record.status == "passed" for record in self.records)

    @property
    def valid(self) -> int:
        return sum(record.status in ("passed", "failed") for record in self.records)

    @property
    def rate(self) -> Estimate | None:
        """How often it passes from there: Jeffreys' interval at 95 %; None without valid continuations."""
        return beta_posterior(self.valid, self.passed)

    def as_json(self) -> dict[str, Any]:
        rate = self.rate
        return {
            "name": self.name,
            "trials": len(self.records),
            "valid": self.valid,
            "passed": self.passed,
            "void": len(self.records) - self.valid,
            "rate": rate.as_json() if rate else None,
            "trials_by_seed": [
                {
                    "seed": str(record.seed),
                    "status": record.status,
                    "void_cause": record.void_cause,
                    "explanation": (record.verdict or {}).get("explanation", ""),
                }
                for record in self.records
            ],
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """`said`: sentences for people. `because`: bot, user, both, luck, before (decided earlier), or unknown."""

    because: str
    said: str
    difference: Estimate | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "because": self.because,
            "says": self.said,
            "difference": self.difference.as_json() if self.difference else None,
        }


def moment(record: TrialRecord, turn: int, say: str | None = None) -> Past:
    """The trial up to the bot's reply number `turn`, from 1. Raises CannotResume."""
    try:
        transcript = transcript_from_json(record.transcript)
    except ValueError as error:
        raise CannotResume(f"Trial {record.index} of {record.task}: {error}") from None
    return cut(transcript, turn, record.seed, say)


async def check(lab: Lab, task_id: str, past: Past) -> None:
    """Whether the trial can be taken up there by this bot and customer, before anything is spent on it. Raises
    CannotResume with a sentence; PackFault, PluginFault."""
    task = lab.world.pack.tasks.get(task_id)
    if task is None:
        raise CannotResume(f"{lab.world.pack.name} {lab.world.pack.version} has no task {task_id}.")
    if getattr(lab.connector, "resumes", False) is not True:
        name = lab.connector.describe().get("name", type(lab.connector).__name__)
        raise CannotResume(
            f"The bot {name} cannot take up a conversation that has been: its connector does not say "
            "`resumes = True`. Fork with a litellm or a reference bot, or teach the connector BotContext.history."
        )
    with lab.world.open(task_id) as sandbox:
        restore(sandbox, past.transcript)
    script = user_script(task)
    part = cast(lab.persona, lab.persona_options, past.seed, script) if lab.persona else None
    try:
        await bring_up(lab.user(script, part, 0), past.events)
    except PlatformFault as fault:
        raise CannotResume(f"This customer would not have come as far as turn {past.turn}: {fault}") from None


def continuations(
    lab: Lab, task_id: str, past: Past, trials: int, seed: int, name: str, *, at_once: int = 8
) -> Arm:
    """Take the trial up `trials` times, each under a seed of its own. Raises what run_pack raises."""
    records: list[TrialRecord] = []
    run_pack(replace(lab, past=past), [task_id], trials, seed, on_record=records.append, at_once=at_once)
    return Arm(name, tuple(sorted(records, key=lambda record: record.index)))


def answer(
    original: TrialRecord, past: Past, as_it_was: Arm, other: Arm | None, changed: Sequence[Side]
) -> Answer:
    """Bot, user or luck, in a sentence, as far as the continuations tell. `changed`: sides that are other in `other`."""
    if not as_it_was.valid or (other is not None and not other.valid):
        return Answer("unknown", "No continuation was valid on one side, so nothing can be said.")
    lost = _lost_before(original, past)
    if other is None:
        return _alone(as_it_was, lost)
    difference = newcombe(other.passed, other.valid, as_it_was.passed, as_it_was.valid)
    rates = f"{_rate(as_it_was)} as it was, {_rate(other)} with {other.name}"
    if difference.low > 0 or difference.high < 0:
        which = " and the ".join(dict.fromkeys(changed))
        because = changed[0] if len(set(changed)) == 1 else "both"
        better = "more" if difference.value > 0 else "less"
        apart = "" if because != "both" else " Change one at a time to tell them apart."
        said = f"The {which}: it passes {better} often from here ({rates}; difference {_points(difference)}).{apart}"
        return Answer(because, said, difference)
    alone = _alone(as_it_was, lost)
    said = f"No difference is shown ({rates}; difference {_points(difference)}). {alone.said}"
    return Answer(alone.because, said, difference)


def newcombe(passed: int, of: int, other_passed: int, other_of: int) -> Estimate:
    """The difference of two independent rates (first minus second), with Newcombe's (1998) hybrid score interval."""
    one, two = wilson(passed, of), wilson(other_passed, other_of)
    if one is None or two is None:
        raise ValueError("a difference needs trials on both sides")
    value = one.value - two.value
    low = value - sqrt((one.value - one.low) ** 2 + (two.high - two.value) ** 2)
    high = value + sqrt((one.high - one.value) ** 2 + (two.value - two.low) ** 2)
    return Estimate(value, max(-1.0, low), min(1.0, high))


def _alone(arm: Arm, lost: str) -> Answer:
    if 0 < arm.passed < arm.valid:
        return Answer("luck", f"Luck plays a part: from here it passes {_rate(arm)} under other seeds alone.")
    if arm.passed:
        return Answer("luck", f"From here it passes {_rate(arm)}: what came otherwise was luck.")
    if lost:
        return Answer("before", f"It was decided before: {lost} Fork from an earlier turn.")
    return Answer(
        "before",
        f"No luck is to be seen: from here it passes {_rate(arm)}. What went before this turn decides it, or this bot "
        "does: fork from an earlier turn, or with another bot, persona or line.",
    )


def _lost_before(original: TrialRecord, past: Past) -> str:
    """The sentence that it could no longer be put right, when that was so before this moment."""
    found = (original.verdict or {}).get("no_return") or {}
    if found.get("status") == "lost" and found.get("event", len(past.events)) < len(past.events):
        return str(found["sentence"])
    return ""


def _rate(arm: Arm) -> str:
    rate = arm.rate
    assert rate is not None
    return f"{arm.passed} of {arm.valid} times ({rate.low:.0%} to {rate.high:.0%})"


def _points(difference: Estimate) -> str:
    return (
        f"{100 * difference.value:+.0f} points, {100 * difference.low:+.0f} to {100 * difference.high:+.0f}"
    )
