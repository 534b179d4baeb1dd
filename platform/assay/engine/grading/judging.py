"""Reply rules that a model has to read: votes, both ways of asking, and what is kept of them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.engine.grading import rubrics
from assay.engine.grading.reply import Judged, Ruling
from assay.engine.grading.rubrics import PROMPT, Answer, Judgement, Vote
from assay.engine.packs.models import Task
from assay_sdk import ChatModel, Outcome, PlatformFault, PluginFault, ProviderOutage

VOTES = 3
MOST_VOTES = 15
#: Seconds for all questions about one reply rule; the model's own retries are inside.
PATIENCE = 300.0
MOST_KEPT = 20_000


class Kept:
    """Judgements that were made, by statement, text, model and prompt. Safe to use from several threads.

    `path`: a file of JSON lines that they are read from and added to, so that a run that goes on does not ask again.
    Only what was decided is kept: what could not be told may be told another time.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Judgement] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    data = json.loads(line)
                    self._known[str(data["key"])] = Judgement.from_json(data)
                except (ValueError, KeyError, TypeError):
                    continue  # a line that was being written when the run was interrupted

    def get(self, key: str) -> Judgement | None:
        with self._lock:
            return self._known.get(key)

    def add(self, key: str, judgement: Judgement) -> None:
        with self._lock:
            if judgement.true is None or key in self._known or len(self._known) >= MOST_KEPT:
                return
            self._known[key] = judgement
            if self._path is not None:
                line = json.dumps({"key": key, **judgement.as_json()}, ensure_ascii=False) + "\n"
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line)


@dataclass(frozen=True)
class Judge:
    """A model that judges, shared by the trials of a run and closed with `aclose`."""

    model: ChatModel
    votes: int = VOTES
    kept: Kept = field(default_factory=Kept, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.votes <= MOST_VOTES:
            raise ValueError(f"a judge has 1 to {MOST_VOTES} votes, not {self.votes}")

    def describe(self) -> dict[str, Any]:
        """For the manifest, without secrets."""
        return {"model": dict(self.model.describe()), "votes": self.votes, "prompt": PROMPT}

    async def aclose(self) -> None:
        await self.model.aclose()

    async def judge(self, statement: str, text: str, seed: int) -> Judgement:
        """Whether `statement` is true of `text`. Raises ProviderOutage and PluginFault; takes PATIENCE seconds at most."""
        model = dict(self.model.describe())
        hashed = text_hash(text)
        key = hashlib.sha256(
            json.dumps([PROMPT, model, self.votes, statement, text], sort_keys=True, default=str).encode()
        ).hexdigest()
        known = self.kept.get(key)
        if known is not None:
            return replace(known, cached=True)
        made = Judgement(statement, hashed, None, (), 0.0, "", model)
        if len(text) > rubrics.LONGEST:
            return replace(made, why=f"the reply has more than {rubrics.LONGEST:,} characters")
        spoken = rubrics.speaks_to_judge(text)
        if spoken is not None:
            return replace(made, why=f"the reply speaks to whoever judges it: “{spoken}”")
        try:
            async with asyncio.timeout(PATIENCE):
                if not await self._heeds_the_question(text, seed):
                    why = "the judge gets a question with a known answer wrong on this reply: it may follow what stands there"
                    return replace(made, why=why)
                async with asyncio.TaskGroup() as group:
                    asked = [
                        group.create_task(self._vote(statement, text, (seed + n) % 2**31))
                        for n in range(self.votes)
                    ]
        except TimeoutError:
            raise ProviderOutage(f"The judge did not answer within {PATIENCE:.0f} seconds.") from None
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        votes = tuple(task.result() for task in asked)
        true, agreement, why = rubrics.decided(votes)
        made = replace(made, true=true, votes=votes, agreement=round(agreement, 4), why=why)
        self.kept.add(key, made)
        return made

    async def _heeds_the_question(self, text: str, seed: int) -> bool:
        """Asked about a code word that is not there, both ways round; a judge that obeys the reply gives it away."""
        return await self._vote(rubrics.control(_nonce(text)), text, seed % 2**31) is Vote.FALSE

    async def _vote(self, statement: str, text: str, seed: int) -> Vote:
        straight = await self._ask(statement, text, seed, negated=False)
        negated = await self._ask(statement, text, seed, negated=True)
        return rubrics.vote(straight, negated)

    async def _ask(self, statement: str, text: str, seed: int, *, negated: bool) -> Answer:
        question = rubrics.messages(statement, text, _nonce(text), negated=negated)
        try:
            reply = await self.model.complete(question, seed=seed)
        except (PlatformFault, asyncio.CancelledError):
            raise
        except Exception as error:
            raise PluginFault(f"The judge's model raised {type(error).__name__}: {error}") from error
        if reply.refusal or reply.tool_calls:
            return Answer.OTHER
        return rubrics.read_answer(reply.text, reply.finish_reason)


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


async def judge_reply(judge: Judge | None, task: Task, judged: Judged, seed: int) -> dict[int, Judgement]:
    """What the judge says of each reply rule of the task that needs one, by the rule's number from 1.

    Nothing without a judge. Raises ProviderOutage and PluginFault for a required rule; one that is only reported goes
    without.
    """
    found: dict[int, Judgement] = {}
    if judge is None or not judged.text.strip():
        return found
    for number, rule in enumerate(task.reply, start=1):
        if not rule.judged:
            continue
        statement, _ = rubrics.statement_of(rule)
        try:
            found[number] = await judge.judge(statement, judged.text, seed)
        except PlatformFault:
            if rule.required:
                raise
    return found


def kept_judgements(task: Task, judged: Judged, stored: Iterable[Mapping[str, Any]]) -> dict[int, Judgement]:
    """Judgements of an earlier verdict that still fit: of the same statement about the same text."""
    known: dict[tuple[str, str], Judgement] = {}
    for data in stored:
        try:
            judgement = Judgement.from_json(data)
        except (ValueError, KeyError, TypeError):
            continue
        known[judgement.statement, judgement.text_hash] = judgement
    found: dict[int, Judgement] = {}
    hashed = text_hash(judged.text)
    for number, rule in enumerate(task.reply, start=1):
        if rule.judged:
            judgement_or_none = known.get((rubrics.statement_of(rule)[0], hashed))
            if judgement_or_none is not None:
                found[number] = judgement_or_none
    return found


def rulings_of(task: Task, judged: Judged, judgements: Mapping[int, Judgement]) -> dict[int, Ruling]:
    """The rulings on the judged rules of a task. A reply that is empty needs no judge."""
    found: dict[int, Ruling] = {}
    for number, rule in enumerate(task.reply, start=1):
        if not rule.judged:
            continue
        statement, wanted = rubrics.statement_of(rule)
        if not judged.text.strip():
            outcome = Outcome.FAIL if wanted else Outcome.PASS
            found[number] = Ruling(outcome, "The bot said nothing that could be judged.")
        elif number in judgements:
            it = judgements[number]
            outcome = rubrics.outcome_of(it, wanted=wanted)
            found[number] = Ruling(outcome, _sentence(it, statement), None)
    return found


def _sentence(judgement: Judgement, statement: str) -> str:
    if judgement.true is None:
        return f"Whether “{statement}” is true of the reply cannot be told: {judgement.why}."
    what = "true" if judgement.true else "false"
    again = ", judged before" if judgement.cached else ""
    return f"The judge finds “{statement}” {what} of the reply ({judgement.why}{again})."


def _nonce(text: str) -> str:
    while (nonce := secrets.token_hex(12)) in text:
        pass
    return nonce


Judgements = Mapping[int, Judgement]
__all__ = [
    "MOST_VOTES",
    "VOTES",
    "Judge",
    "Judgements",
    "Kept",
    "judge_reply",
    "kept_judgements",
    "rulings_of",
    "text_hash",
]
