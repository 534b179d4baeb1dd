"""Whatever the comparison rules: no mutant that is right is called killed, none that is wrong survives, and what is
as good as the expected calls passes. The judge here is the plain comparison that the reference bots use, which was
written without looking at the one under test."""

from __future__ import annotations

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.engine.packs import PackError
from assay.engine.reference.plain import kind_of_outcome
from assay.engine.sandbox import World
from assay.engine.verifier import verify
from assay.engine.verifier.content import Content
from assay.engine.verifier.equivalents import examine_equivalents
from assay.engine.verifier.loading import load
from assay.engine.verifier.mutants import Pool, mutants
from assay.engine.verifier.mutation import _Examination, _Tally, examine_mutants, plain_rows
from assay.engine.verifier.plan import perform, plan_of
from assay.engine.verifier.subject import Subject
from tests.unit.engine.verifier.workshop import workshop

TASK = "WRK-JOB-001"
COLUMNS = [
    "machine_id",
    "kind",
    "price",
    "hours",
    "urgent",
    "due_on",
    "call_at",
    "street",
    "parts",
    "discount",
]
RULES = st.sampled_from(["exact", "ignore", "text", "casefold", "set", "{tolerance: 0.05}"])
CHOSEN = st.dictionaries(st.sampled_from(COLUMNS), RULES)


def world_with(rules: dict[str, str], ignored: bool) -> World:
    listed = ", ".join(
        f"{column}: {rule}" for column, rule in {"note": "text", "parts": "set", **rules}.items()
    )
    edits = [("comparison.yaml", "columns: {note: text, parts: set}", f"columns: {{{listed}}}")]
    if ignored:
        edits.append(("comparison.yaml", "\ntables:\n", "\nignore_tables: [charges]\ntables:\n"))
    checked, problems = load(workshop(*edits))
    assert checked is not None and problems == []
    return checked.world


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CHOSEN, st.booleans())
def test_a_fate_is_what_a_plain_comparison_says(rules: dict[str, str], ignored: bool) -> None:
    world = world_with(rules, ignored)
    subject = Subject.of(world, None, 100)
    gold = subject.gold(TASK)
    plan = plan_of(gold)
    pool = Pool.of({t: plan_of(subject.gold(t)) for t in world.pack.tasks})
    examination = _Examination(subject, gold, plan, _Tally())
    accepted = world.expected(TASK)
    sure = 0
    for mutant in mutants(world, gold, plan, Content.of(world, gold.task), pool):
        fate, through = examination._fate(mutant)
        played = perform(world, TASK, mutant.steps)
        assert played is not None
        kind = kind_of_outcome(world.tables, world.pack.comparison, accepted, played.changes)
        if fate == "killed":
            assert kind != "equal", mutant.key
            assert plain_rows(played.changes) != plain_rows(accepted[0]), mutant.key
            sure += kind != "unsure"
        elif fate in ("survived", "same"):
            assert kind in ("equal", "unsure"), mutant.key
            assert bool(through) == (plain_rows(played.changes) != plain_rows(accepted[0])) or fate == "same"
        else:
            assert fate == "refused" and mutant.at in played.refused
    assert sure > 10, "dropped and doubled calls are wrong beyond doubt"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CHOSEN, st.booleans())
def test_equivalents_pass_under_any_rules(rules: dict[str, str], ignored: bool) -> None:
    report = examine_equivalents(Subject.of(world_with(rules, ignored), None, 100))
    assert report.problems == ()
    assert all(set(counts) <= {"passed"} for counts in report.kinds.values())


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CHOSEN)
def test_stricter_rules_let_no_more_mutants_pass(rules: dict[str, str]) -> None:
    def passing(chosen: dict[str, str]) -> set[str]:
        report = examine_mutants(Subject.of(world_with(chosen, False), lambda t: t == TASK, 100))
        return {s.key for s in report.survivors}

    assert passing({**rules, "price": "exact"}) <= passing(rules)
    assert passing(rules) <= passing({**rules, "price": "ignore"})


ODD = [
    "~",
    "0",
    "-1",
    "''",
    "[]",
    "{}",
    "true",
    "1e308",
    "9999-12-31",
    "MAC-3",
    "$job.job_id",
    "$$x",
    "CUS-2",
    "100000",
]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_whatever_a_pack_says_it_gets_findings_and_no_crash(data: st.DataObject) -> None:
    files = dict(workshop())
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(
            st.sampled_from(
                ["tasks/tasks.yaml", "tools/tools.yaml", "world/seed/rows.yaml", "comparison.yaml"]
            )
        )
        lines = files[path].decode().split("\n")
        at = data.draw(st.integers(0, len(lines) - 1))
        words = re.split(r"([\s,:{}\[\]()]+)", lines[at])
        word = 2 * data.draw(st.integers(0, len(words) // 2))
        words[word] = data.draw(st.sampled_from(ODD))
        lines[at] = "".join(words)
        files[path] = "\n".join(lines).encode()
    try:
        checked, problems = load(files)
    except PackError:
        return
    if checked is None:
        assert problems
        return
    found = verify(checked, seconds=60)
    assert found.sound == (not found.problems)
    assert json.dumps(found.as_json(), allow_nan=False)
    assert all(p.path in files and p.message and p.code for p in found.problems)
