"""Expressions are worked out as Python's own arithmetic would, and their constants are read and grounded."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.engine.packs.models import Derivation, FactEntry
from assay.engine.verifier.derivation import (
    BadDerivation,
    Constant,
    Deriver,
    constants,
    equal,
    facts_by_name,
    stands,
)
from assay.engine.verifier.grounds import Ground
from tests.unit.engine.verifier.boathouse import subject


@pytest.fixture(scope="module")
def deriver() -> Iterator[Deriver]:
    made = Deriver(subject().world)
    yield made
    made.close()


def worked(deriver: Deriver, value: str, results: Any = None, facts: dict[str, str] | None = None) -> Any:
    named = facts_by_name([FactEntry(key=k, value=v) for k, v in (facts or {}).items()])
    return deriver.value(Derivation(clause="BOA-1.1", value=value), results or {}, named)


_CENTS = st.integers(0, 10**7)
_QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@_QUIET
@given(_CENTS, _CENTS)
def test_sums_agree_with_python(deriver: Deriver, one: int, other: int) -> None:
    a, b = one / 100, other / 100
    results = {"r": {"lines": [{"paid": a}, {"paid": b}]}}
    assert equal(worked(deriver, "SELECT :r.lines.0.paid + :r.lines.1.paid", results), a + b)
    assert equal(
        worked(deriver, "SELECT sum(json_extract(value, '$.paid')) FROM json_each(:r.lines)", results), a + b
    )
    assert equal(worked(deriver, "SELECT max(:r.lines.0.paid - :r.lines.1.paid, 0)", results), max(a - b, 0))


@_QUIET
@given(st.integers(0, 10**6), st.integers(1, 99))
def test_shares_are_rounded_to_the_cent_half_upwards(deriver: Deriver, cents: int, percent: int) -> None:
    value = worked(
        deriver, f"SELECT round(:r * {percent} / 100.0, 2)", {"r": {"x": cents / 100}} | {"r": cents / 100}
    )
    exact = cents * percent  # in hundredths of a cent
    if exact % 100 != 50:  # at a half cent the binary fraction decides, as it does in the tools
        assert equal(value, ((exact + 50) // 100) / 100)
    assert abs(value - exact / 10_000) <= 0.005 + 1e-9


@_QUIET
@given(st.dates(date(2020, 1, 1), date(2030, 12, 31)), st.integers(-400, 400))
def test_days_are_counted_as_python_counts_them(deriver: Deriver, day: date, days: int) -> None:
    found = worked(deriver, f"SELECT date(:r.day, '{days:+} days')", {"r": {"day": day.isoformat()}})
    assert found == (day + timedelta(days)).isoformat()


@pytest.mark.parametrize(
    ("value", "facts", "expected"),
    [
        ("SELECT today()", {}, "2026-03-02"),
        ("SELECT now()", {}, "2026-03-02T10:00:00-05:00"),
        ("SELECT date('now')", {}, "2026-03-02"),
        ("SELECT :fact.how_many * 2.5", {"how many": "4"}, 10.0),
        ("SELECT CAST(:fact.price AS REAL) + 1", {"price": "$1,200.50"}, 1201.5),
        ("SELECT CAST(:fact.price AS REAL)", {"Price": "25 USD"}, 25.0),
        ("SELECT date(:fact.first_day, '+1 day')", {"first day": "3 March 2026"}, "2026-03-04"),
        ("SELECT date(:fact.first_day, '+1 day')", {"first day": "March 3"}, "2026-03-04"),
        ("SELECT :fact.nights.number + 1", {"nights": "We want to stay three nights."}, 4),
        ("SELECT :fact.day.date", {"day": "On Friday, if that is possible."}, "2026-03-06"),
        ("SELECT :fact.e_mail", {"E-mail": "ada@brook.example"}, "ada@brook.example"),
        ("SELECT ':fact.x' || length('')", {}, ":fact.x0"),  # in quotes it is no parameter
    ],
)
def test_facts_and_the_clock_can_be_operands(
    deriver: Deriver, value: str, facts: dict[str, str], expected: Any
) -> None:
    assert worked(deriver, value, {}, facts) == expected


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("SELECT :r.lines.5.paid", ":r.lines.5.paid: "),
        ("SELECT :x.paid", "no result of an earlier action with 'as: x'; there are: r"),
        ("SELECT :fact.size", "the facts are: nights"),
        ("SELECT :fact.nights.date", "names no dates, not one"),
        ("SELECT :fact.nights.size", "not for .size"),
        ("SELECT * FROM customers", "it reads a table"),
        ("SELECT 1, 2", "one row with one column"),
        ("SELECT 1 WHERE 0", "one row with one column"),
        ("SELECT x'00'", "neither a number nor a text"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("DELETE FROM customers", "one SELECT"),
        ("PRAGMA user_version", "one SELECT"),
        ("SELECT next_id('RF')", "next_id() makes something new"),
        ("SELECT load_extension('x')", "load_extension() is not available"),
        ("SELECT 1 +", "the SQL fails"),
        ("SELECT ?1", "?1 is not a parameter"),
    ],
)
def test_what_cannot_be_worked_out_says_why(deriver: Deriver, value: str, says: str) -> None:
    with pytest.raises(BadDerivation) as caught:
        worked(deriver, value, {"r": {"lines": [{"paid": 1.0}]}}, {"nights": "three"})
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT round(:a.0.paid * 0.15, 2)", [0.15, 2.0]),
        ("SELECT date(:a.1.day, '+10 days')", [10.0]),
        ("SELECT date(:a.day, '+1 month', '-1 day')", [1.0, 1.0]),
        ("SELECT substr(:a.day, 1, 7) || '-15'", [-15.0]),
        ("SELECT json_extract(:a, '$[0].x') + 3", [3.0]),
        ("SELECT strftime('%Y', :a.day)", []),
        ("SELECT CASE WHEN :a.tier = 'gold' THEN 5 ELSE 7.5 END", [5.0, 7.5]),
        ("SELECT CASE WHEN :a.state = 'A1' THEN 5 END", ["A1", 5.0]),
        ("SELECT 9 /* and 8 */ -- 7", [9.0]),
        ("SELECT printf('%.2f', :a.x + 4)", []),
    ],
)
def test_the_constants_of_an_expression(sql: str, expected: list[Any]) -> None:
    assert [c.value for c in constants(sql)] == expected


@pytest.mark.parametrize(
    ("value", "ground", "found"),
    [
        (0.15, "15 % of what was paid", True),
        (0.85, "15 % is kept", True),
        (1.15, "a surcharge of 15 %", True),
        (0.5, "members pay half", True),
        (0.5, "members pay all of it", False),
        (15.0, "fifteen days", True),
        (15.0, "the 15th day", True),
        (0.16, "15 % of what was paid", False),
        (41.0, "40.00", False),
        (7.0, "nothing", True),
        (100.0, "nothing", True),
        (45.0, "nothing", False),
    ],
)
def test_a_constant_stands_in_its_ground_or_not(value: float, ground: str, found: bool) -> None:
    assert Ground(ground).holds(Constant(str(value), value)) is found
    assert stands(Constant("A1", "A1"), frozenset(), "in region a1") is True


@pytest.mark.parametrize(
    ("value", "argument", "same"),
    [(12.5, 12.5, True), (12, 12.0, True), (0.1 + 0.2, 0.3, True), (12.5, 12.51, False), ("12.5", 12.5, False), (1, True, True), (0, True, False),
     ("2026-03-02", "2026-03-02", True), (3, "3", True), ('["a",1]', ["a", 1], True), ('["a"]', ["b"], False), ("[", ["b"], False), (None, None, True)],
)  # fmt: skip
def test_a_derived_value_is_the_argument_or_not(value: Any, argument: Any, same: bool) -> None:
    assert equal(value, argument) is same
