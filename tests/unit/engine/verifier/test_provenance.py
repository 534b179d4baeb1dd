"""Values that can be known are traced to where they stand; planted ones that cannot are found, each where it is written."""

from __future__ import annotations

import pytest

from assay.engine.packs import Problem
from assay.engine.verifier.provenance import Trace, examine_provenance
from tests.unit.engine.verifier.boathouse import KNOWLEDGE, POLICY, ROWS, TASKS, TOOLS, boathouse, subject

FEE = 'fee: {section: "fees#canoes", value: "SELECT round(:hires.0.paid * 0.12, 2)"}'
Edit = tuple[str, str, str]


def problems(*edits: Edit) -> tuple[Problem, ...]:
    return examine_provenance(subject(*edits)).problems


def only(*edits: Edit) -> Problem:
    (problem,) = problems(*edits)
    return problem


def line(problem: Problem, *edits: Edit) -> str:
    return boathouse(*edits)[problem.path].decode().splitlines()[problem.line - 1].strip()


def trace(name: str, *edits: Edit, task: str = "BOA-OFF-001") -> Trace:
    (found,) = [t for t in examine_provenance(subject(*edits)).traces[task] if t.name == name]
    return found


def test_a_sound_pack_has_no_finding() -> None:
    report = examine_provenance(subject())
    assert report.problems == ()
    counted = report.as_json()
    assert counted["by_how"] == {"choice": 2, "derived": 2, "known": 6, "reference": 6, "wording": 2}
    assert counted["values"] == 18


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("customers_find.email", "the fact 'email address'"),
        ("hires_list.customer_id", "the result of found.customer_id"),
        ("hires_call_off.hire_id", "the result of hires.0.hire_id"),
    ],
)
def test_a_trace_says_where_a_value_stands(name: str, place: str) -> None:
    assert str(trace(name).places[0]) == place


def test_an_id_that_nothing_returned_is_found_with_the_look_up_that_returns_it() -> None:
    edit = (TASKS, "      - {tool: hires_list, as: hires, args: {customer_id: CUS-1}}\n", "")
    found = {p.code: p for p in problems(edit)}
    assert set(found) == {"unknowable", "bad_derivation"}
    assert "hires_call_off.hire_id is 'HIR-11'" in found["unknowable"].message
    assert "hires_list {customer_id: CUS-1} returns it as 0.hire_id" in found["unknowable"].message
    assert "with 'as: hires'" in found["bad_derivation"].message
    assert found["unknowable"].task == "BOA-OFF-001"
    assert line(found["unknowable"], edit) == "args: {hire_id: HIR-11, fee: 10.14}"


@pytest.mark.parametrize(
    ("edit", "value", "near"),
    [
        # an id of a row that no look-up returned by then, beside the right one
        (
            (TASKS, "reference: HIR-11", "reference: HIR-1"),
            "'HIR-1'",
            "'HIR-11' in the result of hires.0.hire_id",
        ),
        (
            (TASKS, "args: {customer_id: CUS-1}}", "args: {customer_id: CUS-2}}"),
            "'CUS-2'",
            "'CUS-1' in the result of found",
        ),
        (
            (
                TASKS,
                "as: found, args: {email: ada@brook.example}",
                "as: found, args: {email: ben@brook.example}",
            ),
            "'ben@brook.example'",
            "",
        ),
    ],
)
def test_a_planted_id_is_found_with_the_nearest_that_is_known(edit: Edit, value: str, near: str) -> None:
    found = [p for p in problems(edit) if value in p.message]
    assert [p.code for p in found] == ["unknowable"]
    assert near in found[0].message


def test_a_planted_amount_is_found() -> None:
    derived = f"        derived:\n          {FEE}\n"
    problem = only((TASKS, derived, ""))
    assert problem.code == "unknowable"
    assert "hires_call_off.fee is 10.14" in problem.message and "under 'derived'" in problem.message
    assert line(problem, (TASKS, derived, "")) == "args: {hire_id: HIR-11, fee: 10.14}"


def test_a_planted_date_is_found() -> None:
    derived = """        derived:
          begins_on: {clause: BOA-2.1, value: "SELECT date(:hires.0.begins_on, :fact.days.number || ' days')"}
"""
    problem = only((TASKS, derived, ""))
    assert problem.code == "unknowable" and problem.task == "BOA-MOV-001"
    assert "'2026-03-18'" in problem.message and "'2026-03-20'" not in problem.message


@pytest.mark.parametrize(
    ("value", "code", "says"),
    [
        ("SELECT round(:hires.0.paid * 0.12, 1)", "wrong_derivation", "gives 10.1, but the action says 10.14"),
        ("SELECT round(:hires.0.paid * 0.13, 2)", "ungrounded_constant", "0.13"),
        ("SELECT 10.14", "ungrounded_constant", "10.14"),
        ("SELECT round(:hires.0.price * 0.12, 2)", "bad_derivation", "has no price"),
        ("SELECT round(:hire.0.paid * 0.12, 2)", "bad_derivation", "no result of an earlier action with 'as: hire'"),
        ("SELECT round(:fact.price * 0.12, 2)", "bad_derivation", ":fact.price is no fact of the task"),
        ("SELECT paid * 0.12 FROM hires", "bad_derivation", "it reads a table"),
        ("SELECT 1 UNION SELECT 2", "bad_derivation", "one row with one column"),
        ("UPDATE hires SET fee = 1", "bad_derivation", "one SELECT"),
        ("SELECT random()", "bad_derivation", "random() is not available"),
        ("SELECT sum(n.value) FROM (WITH RECURSIVE r(value) AS (SELECT 1 UNION ALL SELECT value FROM r) SELECT * FROM r) AS n", "bad_derivation", "steps"),
    ],
)  # fmt: skip
def test_a_wrong_derivation_is_found(value: str, code: str, says: str) -> None:
    edit = (TASKS, FEE, f'fee: {{section: "fees#canoes", value: "{value}"}}')
    found = problems(edit)
    assert code in {p.code for p in found}
    assert any(says in p.message for p in found if p.code == code), [p.message for p in found]
    assert all(line(p, edit).startswith("fee: {section") for p in found)


@pytest.mark.parametrize("ground", ['section: "fees#punts"', "clause: BOA-1.1", "clause: BOA-2.1"])
def test_a_constant_has_to_stand_in_the_text_that_is_named(ground: str) -> None:
    problem = only((TASKS, 'section: "fees#canoes"', ground))
    assert problem.code == "ungrounded_constant" and "uses 0.12, which stands neither in" in problem.message


@pytest.mark.parametrize(
    "edits",
    [
        [(TASKS, 'section: "fees#canoes"', "section: fees")],  # the article as a whole
        [(KNOWLEDGE, "12 per cent", "12 %")],
        [(KNOWLEDGE, "12 per cent", "twelve per cent")],
        # the table below a clause belongs to it
        [(TASKS, FEE, 'fee: {clause: BOA-1.3, value: "SELECT round(:hires.0.paid * 0.15, 2)"}'), (TASKS, "fee: 10.14}", "fee: 12.68}"),
         (ROWS, "paid: 84.5", "paid: 84.52")],
        # a rule may be combined with another clause of the task
        [(TASKS, FEE, 'fee: {section: "fees#canoes", value: "SELECT round(:hires.0.paid * 0.12, 2) * (10 - 9)"}'), (KNOWLEDGE, "Calling off a canoe", "The 9 canoes: calling off a canoe")],
        # half of it, read in a section before
        [(TASKS, "      - tool: hires_call_off", '      - {tool: knowledge_read, args: {section: "fees#canoes"}}\n      - tool: hires_call_off'),
         (TASKS, 'section: "fees#canoes", value: "SELECT', 'clause: BOA-1.3, value: "SELECT')],
    ],
)  # fmt: skip
def test_constants_that_have_a_ground_are_none_of_a_finding(edits: list[Edit]) -> None:
    assert problems(*edits) == ()


@pytest.mark.parametrize("ground", ["clause: BOA-9.9", 'section: "fees#rafts"'])
def test_a_ground_that_does_not_exist_is_found(ground: str) -> None:
    from assay.engine.verifier.loading import load

    checked, found = load(boathouse((TASKS, 'section: "fees#canoes"', ground)))
    if not found:  # the loader may refuse it already
        assert checked is not None
        found = list(problems((TASKS, 'section: "fees#canoes"', ground)))
    assert any("BOA-9.9" in p.message or "rafts" in p.message for p in found)


def test_free_wording_needs_no_source_and_compared_wording_does() -> None:
    assert trace("tickets_close.summary").how == "wording"
    found = problems(("comparison.yaml", "columns: {summary: text}", "columns: {outcome: exact}"))
    assert {p.code for p in found} == {"wording_counts"}
    assert {p.task for p in found} == {"BOA-OFF-001", "BOA-OFF-002"}
    assert all("tickets_close.summary" in p.message for p in found)


def test_what_a_look_up_is_asked_with_has_to_be_known_although_reads_never_count() -> None:
    extra = "      - {tool: hires_list, args: {customer_id: CUS-7}}\n      - tool: hires_call_off"
    problem = only((TASKS, "      - tool: hires_call_off", extra))
    assert problem.code == "unknowable" and "hires_list.customer_id is 'CUS-7'" in problem.message


def test_a_search_of_the_articles_is_in_a_bots_own_words() -> None:
    extra = "      - {tool: knowledge_search, args: {query: cancellation price small vessel}}\n      - tool: hires_call_off"
    assert problems((TASKS, "      - tool: hires_call_off", extra)) == ()


def test_a_value_that_is_only_returned_later_cannot_be_known_before() -> None:
    call = "      - {tool: hires_list, as: hires, args: {customer_id: $found.customer_id}}\n      - {tool: tickets_close, args: {customer_id: $found.customer_id, outcome: refused, reference: $hires.0.hire_id"
    turned = "      - {tool: tickets_close, args: {customer_id: $found.customer_id, outcome: refused, reference: HIR-12"
    problem = only((TASKS, call, turned))
    assert "'HIR-12'" in problem.message and problem.task == "BOA-OFF-002"


def test_ids_that_the_tools_make_are_known_once_they_were_returned() -> None:
    close = "      - {tool: tickets_close, args: {customer_id: $found.customer_id, outcome: refused, reference: $hires.0.hire_id, summary: Too late.}}"
    twice = f"{close}\n      - {{tool: tickets_close, args: {{customer_id: CUS-2, outcome: refused, reference: TCK-9001, summary: Again.}}}}"
    assert problems((TASKS, close, twice)) == ()
    early = close.replace("reference: $hires.0.hire_id", "reference: TCK-9001")
    assert "'TCK-9001'" in only((TASKS, close, early)).message


def test_alternatives_are_traced_too_and_may_use_what_the_expected_actions_found() -> None:
    known = """
    also_accept:
      - why: It may be moved as well.
        actions:
          - {tool: hires_call_off, args: {hire_id: HIR-11, fee: 10.14}}
          - {tool: tickets_close, args: {customer_id: CUS-1, outcome: escalated, reference: HIR-11, summary: Called off.}}
"""
    mark = "summary: Called off.}}\n"
    assert problems((TASKS, mark, mark + known.lstrip("\n"))) == ()
    unknown = known.replace("fee: 10.14", "fee: 11.22")
    problem = only((TASKS, mark, mark + unknown.lstrip("\n")))
    assert "hires_call_off.fee is 11.22" in problem.message
    assert line(problem, (TASKS, mark, mark + unknown.lstrip("\n"))).startswith(
        "- {tool: hires_call_off, args: {hire_id: HIR-11, fee: 11.22}"
    )


def test_numbers_of_clauses_and_sections_make_nothing_known() -> None:
    # "1.4" stands in the policy as the number of a clause only
    edits = [
        (TASKS, FEE, ""),
        (TASKS, "        derived:\n          \n", ""),
        (TASKS, "fee: 10.14", "fee: 1.4"),
    ]
    assert "hires_call_off.fee is 1.4" in only(*edits).message
    assert problems(*edits, (POLICY, "Members pay half of it.", "Members pay 1.40.")) == ()


def test_a_round_number_of_some_other_article_makes_nothing_known() -> None:
    edits = [
        (TASKS, FEE, ""),
        (TASKS, "        derived:\n          \n", ""),
        (TASKS, "fee: 10.14", "fee: 30.50"),
    ]
    assert problems(*edits) == ()  # the article on fees is the one that BOA-1.3 refers to
    named = (TASKS, "clauses: [BOA-1.1, BOA-1.2, BOA-1.3]", "clauses: [BOA-1.1, BOA-1.2]")
    problem = only(*edits, named)
    assert (
        problem.code == "stray_value" and "stands only in the article section fees#punts" in problem.message
    )
    read = (
        TASKS,
        "      - tool: hires_call_off",
        '      - {tool: knowledge_read, args: {section: "fees#punts"}}\n      - tool: hires_call_off',
    )
    assert problems(*edits, named, read) == ()


def test_a_date_of_some_other_clause_makes_nothing_known() -> None:
    derived = """        derived:
          begins_on: {clause: BOA-2.1, value: "SELECT date(:hires.0.begins_on, :fact.days.number || ' days')"}
"""
    elsewhere = (POLICY, "the ticket says so.", "the ticket says so. Closed on 18 March.")
    assert only((TASKS, derived, ""), elsewhere).code == "stray_value"
    here = (POLICY, "up to three weeks.", "up to three weeks, and is best on 18 March.")
    assert problems((TASKS, derived, ""), here) == ()


def test_a_number_that_the_reply_must_name_has_to_be_known() -> None:
    last = "summary: Too late.}}\n"
    for number, code in (("120", None), ("10", None), ("77.7", "unknowable_reply")):
        reply = f"{last}  reply:\n    - {{must: name it, numbers: [{number}]}}\n"
        found = problems((TASKS, last, reply))
        assert [p.code for p in found] == ([code] if code else []), number
        if code:
            assert line(found[0], (TASKS, last, reply)) == "- {must: name it, numbers: [77.7]}"
            computed = (TASKS, "hardness: [must_refuse]", "hardness: [must_refuse, computed_amount]")
            assert problems((TASKS, last, reply), computed) == ()


def test_choices_are_read_from_the_schema_however_it_says_them() -> None:
    for schema in (
        "{anyOf: [{enum: [completed, refused, escalated, information_given]}, {type: 'null'}]}",
        "{oneOf: [{const: completed}, {const: refused}]}",
    ):
        edit = (TOOLS, "{type: string, enum: [completed, refused, escalated, information_given]}", schema)
        assert trace("tickets_close.outcome", edit).how == "choice"
