"""What holds for each of the reference domains: breadth, depth, and tasks whose verdicts can be trusted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.engine.packs.lint import Checked, check
from assay.engine.packs.models import Hardness
from assay.engine.run import run_pack
from assay.engine.sandbox import ChangeSet, compare
from assay.engine.trial import Lab, TrialRecord
from assay.engine.verifier import verify
from assay_sdk import BotContext, BotReply

DOMAINS = Path(__file__).parents[3] / "domain_packs"
#: The least number of tasks of each pack.
TASKS = {"retail": 98, "travel": 104, "auto_insurance": 100, "neobank_it": 104, "consulting_it_hr": 101}
#: A page of policy, in words.
PAGE = 350


@pytest.fixture(scope="module", params=TASKS)
def domain(request: pytest.FixtureRequest) -> Checked:
    return check(DOMAINS / request.param)


def test_the_folder_holds_the_five_packs_and_what_they_share() -> None:
    assert {p.name for p in DOMAINS.iterdir() if p.is_dir()} == {*TASKS, "_shared"}


def test_together_they_have_the_tasks_of_the_published_study() -> None:
    packs = {name: check(DOMAINS / name).pack for name in TASKS}
    counts = {name: len(pack.tasks) for name, pack in packs.items()}
    replies = {name: sum(bool(t.reply) for t in pack.tasks.values()) for name, pack in packs.items()}
    assert {name for name, least in TASKS.items() if counts[name] < least} == set(), counts
    assert sum(counts.values()) >= 507
    assert sum(counts.values()) - sum(replies.values()) >= 477
    assert replies["travel"] + replies["neobank_it"] >= 30


def test_the_verifier_has_nothing_to_say(domain: Checked) -> None:
    found = verify(domain)
    assert [str(problem) for problem in found.problems] == []


def test_the_pack_has_the_breadth_and_depth_of_a_company(domain: Checked) -> None:
    pack, world = domain.pack, domain.world
    systems = {tool.system for tool in pack.tools.values()}
    words = len(pack.policy.split()) + sum(len(section.text.split()) for section in pack.sections)
    assert 20 <= len(pack.tools) <= 45
    assert 5 <= len(systems) <= 12
    assert "helpdesk" in {re.sub("service_?desk", "helpdesk", str(s)) for s in systems}
    assert 12 <= len(world.tables) <= 40
    assert 15 * PAGE <= words <= 40 * PAGE
    assert len({section.article for section in pack.sections}) >= 8
    assert len(pack.seed) >= 1_500
    assert pack.manifest.currency


def test_every_kind_of_hardness_occurs_and_no_trap_twice(domain: Checked) -> None:
    tasks = domain.pack.tasks.values()
    kinds = Counter(kind for task in tasks for kind in task.hardness)
    assert set(kinds) == set(Hardness)
    assert min(kinds.values()) >= 3, kinds
    traps = [task.trap for task in tasks]
    assert None not in traps
    assert len(set(traps)) == len(traps)
    combinations = Counter((frozenset(task.clauses), task.trap) for task in tasks)
    assert max(combinations.values()) == 1


def test_a_name_and_a_city_identify_nobody(domain: Checked) -> None:
    """The wrong customer is near the right one: many people share their last name with others of their city."""
    people = [
        name
        for name, table in domain.world.tables.items()
        if {"last_name", "city"} <= set(table.columns) or {"surname", "city"} <= set(table.columns)
    ]
    people = people or [
        name
        for name, table in domain.world.tables.items()
        if {"last_name"} <= set(table.columns) or {"surname"} <= set(table.columns)
    ]
    assert people
    with domain.world.open() as sandbox:
        columns = domain.world.tables[people[0]].columns
        last = "last_name" if "last_name" in columns else "surname"
        near = f"{last}, city" if "city" in columns else last
        sharing = sandbox.column(f"SELECT count(*) FROM {people[0]} GROUP BY {near} HAVING count(*) > 1")
    assert sum(sharing) >= 40


class IdleBot:
    """Says something polite and does nothing."""

    synthetic = False

    def describe(self) -> Mapping[str, Any]:
        return {"name": "idle", "title": "A bot that does nothing"}

    async def open(self, context: BotContext) -> IdleSession:
        return IdleSession()

    async def aclose(self) -> None:
        """Nothing is held open."""


class IdleSession:
    async def respond(self, message: str) -> BotReply:
        return BotReply("That has been taken care of. Is there anything else?")

    async def close(self) -> None:
        """Nothing is held open."""

    def notes(self) -> Mapping[str, Any]:
        return {}


def test_a_bot_that_does_nothing_fails_every_task_that_expects_a_change(domain: Checked) -> None:
    trials: list[TrialRecord] = []
    tasks = [t.id for t in domain.pack.tasks.values() if not t.expected.no_change]
    run_pack(Lab(domain.world, IdleBot()), tasks, 1, 5, on_record=trials.append, retry_after=0.0)
    assert len(trials) == len(tasks)
    assert [t.task for t in trials if t.status != "failed"] == []


def test_an_untouched_database_is_no_accepted_outcome(domain: Checked) -> None:
    world = domain.world
    idle = [
        task.id
        for task in domain.pack.tasks.values()
        if not task.expected.no_change
        and compare(world.tables, domain.pack.comparison, world.expected(task.id), ChangeSet(())).equal
    ]
    assert idle == []
