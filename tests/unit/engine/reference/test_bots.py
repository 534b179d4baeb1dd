"""The bots in conversation with a scripted customer, at a real sandbox."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from assay.engine.dialogue.conversation import converse
from assay.engine.dialogue.limits import Limits
from assay.engine.dialogue.scripted import ScriptedUser, user_script
from assay.engine.dialogue.transcript import BotMessage, Termination, ToolCall, Transcript, UserMessage
from assay.engine.packs.models import Task
from assay.engine.reference import CATEGORIES, answer_key, connector_type
from assay.engine.reference.bots import ReferenceOptions, careless_plan, carelessness
from assay.engine.reference.wording import Wording, satisfies
from assay.engine.sandbox import ChangeSet, World
from assay_sdk import AnswerKey, OptionsError

TASKS = ("LIB-LOAN-001", "LIB-HOLD-001", "LIB-HOLD-002", "LIB-FEE-001", "LIB-MEM-001", "LIB-HOLD-003")


def bot(target: str, **options: Any) -> Any:
    return connector_type.build(target, ReferenceOptions(**options), lambda reference: reference)


def talk(
    world: World,
    task_id: str,
    connector: Any,
    seed: int = 1,
    key: AnswerKey | None = None,
    limits: Limits | None = None,
) -> tuple[Transcript, ChangeSet]:
    task: Task = world.pack.tasks[task_id]
    with world.open(task_id) as sandbox:
        transcript = asyncio.run(
            converse(
                task, sandbox, connector, ScriptedUser(user_script(task), None, seed), limits or Limits(),
                seed=seed, trial_id="t", answer_key=key or answer_key(world, task_id),
            )
        )  # fmt: skip
        return transcript, sandbox.changes()


@pytest.mark.parametrize("task", TASKS)
def test_the_faithful_bot_does_what_is_expected(library: World, task: str):
    transcript, changes = talk(library, task, bot("faithful"))
    assert transcript.termination is Termination.USER_DONE
    assert [(r.table, r.key, r.after) for r in changes.rows] == [
        (r.table, r.key, r.after) for r in library.expected(task)[0].rows
    ]
    assert transcript.notes == {"reference_fault": "none", "expected_category": None, "acted": True}
    assert all(e.ok for e in transcript.events if isinstance(e, ToolCall))


def test_it_asks_for_the_facts_it_needs_looks_up_acts_and_then_tells(library: World):
    transcript, _ = talk(library, "LIB-HOLD-001", bot("faithful"))
    kinds = [
        f"{e.tool}" if isinstance(e, ToolCall) else "bot" if isinstance(e, BotMessage) else "user"
        for e in transcript.events
    ]
    assert kinds == [
        "user", "bot", "user", "members_find", "loans_list", "holds_place", "pickups_book", "bot", "user",
    ]  # fmt: skip
    asks, told = transcript.events[1], transcript.events[2]
    assert isinstance(asks, BotMessage)
    assert "- e-mail address\n- pick-up day" in asks.text
    assert isinstance(told, UserMessage)
    assert told.facts_given == ("e-mail address", "pick-up day")


def test_requests_that_follow_are_waited_for(library: World):
    transcript, _ = talk(library, "LIB-MEM-001", bot("faithful"))
    said = " ".join(e.text for e in transcript.events if isinstance(e, UserMessage))
    assert all(request in said for request in library.pack.tasks["LIB-MEM-001"].user.follow_ups)


def test_its_last_words_hold_the_reply_rules(library: World):
    transcript, _ = talk(library, "LIB-FEE-001", bot("faithful"))
    said = " ".join(e.text for e in transcript.events if isinstance(e, BotMessage))
    assert all(satisfies(rule, said) for rule in answer_key(library, "LIB-FEE-001").reply if rule["must"])
    assert "waive" not in said


@pytest.mark.parametrize("task", TASKS)
def test_the_careless_bot_makes_every_mistake_that_applies_and_says_which(library: World, task: str):
    key = answer_key(library, task)
    applies = set(key.faults) | ({"cut_reply", "contradiction"} if task == "LIB-FEE-001" else set())
    seen: Counter[str] = Counter()
    for seed in range(60):
        plan = careless_plan(key, Wording(key.reply), seed, 1.0)
        seen[plan.fault] += 1
        if seen[plan.fault] > 3:
            continue
        transcript, changes = talk(library, task, bot("careless", fault_rate=1), seed)
        fault = transcript.notes["reference_fault"]
        assert fault == plan.fault
        assert transcript.notes["expected_category"] == (CATEGORIES[fault].value if fault != "none" else None)
        right = [(r.table, r.key, r.after) for r in changes.rows] == [
            (r.table, r.key, r.after) for r in library.expected(task)[0].rows
        ]
        assert right == (fault in ("none", "cut_reply", "contradiction"))
        assert any(e.truncated for e in transcript.events if isinstance(e, BotMessage)) == (
            fault == "cut_reply"
        )
        assert sum(not e.ok for e in transcript.events if isinstance(e, ToolCall)) == (
            fault == "ignored_tool_error"
        )
        assert transcript.termination is Termination.USER_DONE
    assert set(seen) == (applies or {"none"})


def test_the_same_seed_makes_the_same_mistake(library: World):
    one = talk(library, "LIB-FEE-001", bot("careless"), seed=5)
    other = talk(library, "LIB-FEE-001", bot("careless"), seed=5)
    assert one[0].events == other[0].events
    assert one[1] == other[1]


def test_the_rate_of_mistakes_can_be_set(library: World):
    key = answer_key(library, "LIB-FEE-001")
    wording = Wording(key.reply)
    assert {careless_plan(key, wording, seed, 0.0).fault for seed in range(200)} == {"none"}
    assert "none" not in {careless_plan(key, wording, seed, 1.0).fault for seed in range(200)}
    half = sum(careless_plan(key, wording, seed, 0.5).fault != "none" for seed in range(1000))
    assert 430 < half < 570
    for rate in (-0.1, 1.1, "often"):
        with pytest.raises(ValidationError):
            ReferenceOptions(fault_rate=rate)  # type: ignore[arg-type]


def test_without_a_rate_tasks_differ_and_some_never_fail():
    rates = [
        carelessness(AnswerKey([{"tool": "t", "args": {"n": n}, "as": None}], [], [], frozenset()))
        for n in range(400)
    ]
    assert all(0 <= rate <= 0.9 for rate in rates)
    assert 60 < sum(rate == 0 for rate in rates) < 140
    assert max(rates) > 0.85


def test_a_conversation_that_ends_before_it_acted_holds_no_mistake(library: World):
    transcript, changes = talk(library, "LIB-FEE-001", bot("careless", fault_rate=1), limits=Limits(turns=1))
    assert transcript.termination is Termination.TURN_LIMIT
    assert not changes
    assert transcript.notes == {"reference_fault": "none", "expected_category": None, "acted": False}


def test_a_bot_without_the_answer_key_is_the_platforms_fault(library: World):
    connector = bot("faithful")
    connector.synthetic = False  # so the conversation keeps the key to itself
    transcript, _ = talk(library, "LIB-FEE-001", connector)
    assert transcript.termination is Termination.PLUGIN_FAULT
    assert "needs the answer key" in transcript.detail


def test_they_call_themselves_synthetic():
    for target in connector_type.targets:
        connector = bot(target)
        assert connector.synthetic is True
        described = connector.describe()
        assert (described["name"], described["synthetic"]) == (f"reference:{target}", True)
        assert "synthetic" in described["title"]
    assert "synthetic" in connector_type.title
    assert bot("careless", fault_rate=0.5).describe()["options"] == {"fault_rate": 0.5}


def test_there_are_two_of_them():
    with pytest.raises(OptionsError) as caught:
        bot("perfect")
    assert (
        str(caught.value)
        == "There is no reference bot 'perfect': use reference:faithful or reference:careless."
    )
