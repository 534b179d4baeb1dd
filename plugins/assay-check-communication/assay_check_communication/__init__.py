"""The check communication: how a bot spoke, in parts of their own. It never says whether a trial is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from assay_check_communication.claims import claims_in, contradiction
from assay_check_communication.promises import promises_in, unkept
from assay_check_communication.questions import asked, repeated
from assay_check_communication.record import Record
from assay_check_communication.style import RUDE, readability, rudeness
from assay_check_communication.texts import (
    Sentence,
    any_language,
    in_english,
    length,
    replies,
    sentences,
    with_spaces,
)
from assay_sdk import CheckerType, CheckResult, Evidence, Outcome, TrialView, hookimpl

assay_api = 1
NAME = "communication"


class CommunicationOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    most_words: int = Field(
        default=150, ge=10, le=10_000, description="Words of one reply that are still brief."
    )
    hardest: float = Field(
        default=60.0,
        ge=20,
        le=200,
        description="The highest LIX that is still clear; a newspaper has about 50.",
    )
    longest_sentence: int = Field(
        default=45, ge=10, le=1000, description="Words of one sentence that can still be followed."
    )
    rude: tuple[str, ...] = Field(
        default=RUDE, description="Phrases that no customer should read, in lower case and as whole words."
    )


class Communication:
    """See assay_sdk.Checker: a result for each of PARTS, for every trial."""

    def __init__(self, options: CommunicationOptions) -> None:
        self._options = options

    def check(self, trial: TrialView) -> Sequence[CheckResult]:
        said = replies(trial.events)
        texts = [text for _, text in said]
        found = [s for turn, text in said for s in sentences(turn, text)]
        results = []
        for name, part, reads in PARTS:
            if not said:
                results.append(_cannot_tell(name, "The bot said nothing."))
            elif not reads(texts):
                results.append(_cannot_tell(name, "The bot spoke a language that this check cannot read."))
            else:
                results.append(_result(name, *part(self._options, trial, found)))
        return results


Found = tuple[Sequence[Evidence], float, str]  # what is wrong, the reward, and what was looked at


def _promises(options: CommunicationOptions, trial: TrialView, found: Sequence[Sentence]) -> Found:
    given = [p for s in found for p in promises_in(s)]
    bad = unkept(given, Record(trial), trial.termination)
    wrong = [
        Evidence(f"It promised {p.said!r}, but {why}.", turn=p.sentence.turn, span=p.sentence.text)
        for p, why in bad
    ]
    return wrong, _share(len(given) - len(bad), len(given)), f"Promises found and kept: {len(given)}."


def _claims(options: CommunicationOptions, trial: TrialView, found: Sequence[Sentence]) -> Found:
    record = Record(trial)
    made = [c for s in found for c in claims_in(s)]
    bad = [(c, why) for c in made if (why := contradiction(c, record)) is not None]
    wrong = [
        Evidence(f"It claimed {c.said!r}, but {why}.", turn=c.sentence.turn, span=c.sentence.text)
        for c, why in bad
    ]
    return wrong, _share(len(made) - len(bad), len(made)), f"Claims found and borne out: {len(made)}."


def _brevity(options: CommunicationOptions, trial: TrialView, found: Sequence[Sentence]) -> Found:
    lengths = [(turn, text, length(text)) for turn, text in replies(trial.events)]
    wrong = [
        Evidence(f"A reply of {n} words; {options.most_words} are brief.", turn=turn, span=text[:200])
        for turn, text, n in lengths
        if n > options.most_words
    ]
    shares = [min(1.0, options.most_words / n) if n else 1.0 for _, _, n in lengths]
    return wrong, sum(shares) / len(shares), f"The longest reply has {max(n for _, _, n in lengths)} words."


def _clarity(options: CommunicationOptions, trial: TrialView, found: Sequence[Sentence]) -> Found:
    measured = readability(found)
    wrong, reward = [], 1.0
    if measured.lix is not None and measured.lix > options.hardest:
        wrong.append(
            Evidence(f"The replies have a LIX of {measured.lix:.0f}; {options.hardest:g} is the most.")
        )
        reward = options.hardest / measured.lix
    if measured.longest is not None and measured.longest_words > options.longest_sentence:
        says = f"A sentence of {measured.longest_words} words; {options.longest_sentence} can be followed."
        wrong.append(Evidence(says, turn=measured.longest.turn, span=measured.longest.text[:500]))
        reward = min(reward, options.longest_sentence / measured.longest_words)
    lix = "too short for a LIX" if measured.lix is None else f"a LIX of {measured.lix:.0f}"
    return wrong, reward, f"Replies with {lix}; the longest sentence has {measured.longest_words} words."


def _questions(options: CommunicationOptions, trial: TrialView, found: Sequence[Sentence]) -> Found:
    again = repeated(trial.task, trial.events)
    wrong = [
        Evidence(
            f"It asked for {r.fact!r}, which the customer had told (event {r.told}).",
            turn=r.sentence.turn,
            span=r.sentence.text,
        )
        for r in again
    ]
    bad = len({(r.sentence.turn, r.sentence.text) for r in again})
    questions = max(asked(trial.events), bad)
    return wrong, _share(questions - bad, questions), f"Questions, none for what was told: {questions}."


def _tone(options: CommunicationOptions, trial: TrialView, found: Sequence[Sentence]) -> Found:
    wrong = [
        Evidence(f"{what}: {words!r}.", turn=s.turn, span=s.text)
        for s in found
        for what, words in rudeness(s, options.rude)
    ]
    turns = {s.turn for s in found}
    good = len(turns) - len({e.turn for e in wrong})
    return wrong, _share(good, len(turns)), f"Replies without an unfriendly phrase: {good}."


Part = Callable[[CommunicationOptions, TrialView, Sequence[Sentence]], Found]
#: Name, how it is judged, and which texts it can read.
PARTS: tuple[tuple[str, Part, Callable[[Sequence[str]], bool]], ...] = (
    ("promises", _promises, in_english),
    ("claims", _claims, in_english),
    ("brevity", _brevity, any_language),
    ("clarity", _clarity, with_spaces),
    ("repeated-questions", _questions, in_english),
    ("tone", _tone, in_english),
)


def _cannot_tell(name: str, why: str) -> CheckResult:
    return CheckResult(name, Outcome.CANNOT_TELL, required=False, reward=0.0, evidence=(Evidence(why),))


def _result(name: str, wrong: Sequence[Evidence], reward: float, saw: str) -> CheckResult:
    outcome, evidence = (Outcome.FAIL, tuple(wrong)) if wrong else (Outcome.PASS, (Evidence(saw),))
    return CheckResult(name, outcome, required=False, reward=reward, evidence=evidence)


def _share(good: int, of: int) -> float:
    return good / of if of else 1.0


@hookimpl
def assay_checkers() -> list[CheckerType]:
    return [
        CheckerType(
            NAME,
            "Communication",
            CommunicationOptions,
            Communication,
            parts=tuple(name for name, _, _ in PARTS),
        )
    ]
