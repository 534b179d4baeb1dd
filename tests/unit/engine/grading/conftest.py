"""A small library as the world, and trials told as a list of what was said and called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.engine.dialogue.transcript import BotMessage, Event, Termination, ToolCall, Transcript, UserMessage
from assay.engine.grading.judge import judge
from assay.engine.grading.verdict import Verdict
from assay.engine.packs import load_pack
from assay.engine.packs.models import Task
from assay.engine.sandbox import World

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"

#: A message of the bot, or a call.
Step = str | BotMessage | tuple[str, Any]


@dataclass(frozen=True)
class Stage:
    """Plays a trial in a real sandbox and judges it."""

    world: World

    def task(self, task_id: str, **changes: Any) -> Task:
        return self.world.pack.tasks[task_id].model_copy(update=changes)

    def play(
        self,
        task: Task | str,
        *steps: Step,
        termination: Termination = Termination.USER_DONE,
        checkers: Sequence[Any] = (),
        notes: dict[str, Any] | None = None,
    ) -> Verdict:
        if isinstance(task, str):
            task = self.task(task)
        with self.world.open(task.id) as sandbox:
            events: list[Event] = [UserMessage(task.user.opening)]
            number = 0
            for step in steps:
                if isinstance(step, str):
                    events.append(BotMessage(step))
                elif isinstance(step, BotMessage):
                    events.append(step)
                else:
                    done = sandbox.call(*step)
                    events.append(
                        ToolCall(
                            number,
                            step[0],
                            done.kind,
                            done.arguments,
                            done.ok,
                            done.content,
                            done.error,
                            done.message,
                            done.empty,
                            done.wrote,
                        )
                    )
                    number += 1
            transcript = Transcript(tuple(events), termination, notes=notes or {})
            return judge(task, self.world, sandbox, transcript, checkers)


@pytest.fixture(scope="session")
def library() -> Stage:
    return Stage(World.prepare(load_pack(LIBRARY)))


Play = Callable[..., Verdict]


@pytest.fixture
def play(library: Stage) -> Play:
    return library.play
