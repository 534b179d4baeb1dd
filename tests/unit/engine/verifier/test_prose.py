"""Dates, times and amounts as people write them."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.verifier import prose

CLOCK = datetime.fromisoformat("2026-03-02T10:00:00-05:00")  # a Monday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-20", {"2026-03-20"}),
        ("on 20 March, please", {"2026-03-20"}),
        ("20th of March 2025", {"2025-03-20"}),
        ("March 3rd", {"2026-03-03"}),
        ("Mar 3, 2026.", {"2026-03-03"}),
        ("1 Sept", {"2026-09-01", "2025-09-01"}),  # both lie within half a year
        ("15 December", {"2026-12-15", "2025-12-15"}),
        ("03/04/2026", {"2026-03-04", "2026-04-03"}),
        ("2026-03-01T23:30:00-08:00", {"2026-03-01", "2026-03-02"}),  # there, and here
        ("31 February", set()),
        ("ORD-2026-03-20", set()),
        ("May I have 3 of them", set()),
        ("version 2026-13-40", set()),
    ],
)
def test_dates(text: str, expected: set[str]) -> None:
    assert set(prose.dates(text, CLOCK)) == expected


@pytest.mark.parametrize(
    ("text", "day"),
    [("tomorrow", "2026-03-03"), ("the day after tomorrow", "2026-03-04"), ("since yesterday", "2026-03-01"),
     ("on Friday", "2026-03-06"), ("Friday week", "2026-03-13"), ("last Friday", "2026-02-27"), ("today", "2026-03-02")],
)  # fmt: skip
def test_a_customer_may_say_a_day_by_its_distance(text: str, day: str) -> None:
    assert day in set(prose.dates(text, CLOCK, spoken=True))
    assert set(prose.dates(text, CLOCK)) == set()  # a policy's Friday is a rule and no date


def test_the_day_after_tomorrow_is_not_tomorrow() -> None:
    assert set(prose.dates("the day after tomorrow", CLOCK, spoken=True)) == {"2026-03-04"}


@given(st.dates(date(2026, 1, 1), date(2026, 12, 31)))
def test_every_day_is_read_in_every_way_it_is_written(day: date) -> None:
    ways = [
        f"{day:%Y-%m-%d}",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b}",
    ]
    for way in ways:
        assert day.isoformat() in set(prose.dates(f"It was on {way}.", CLOCK)), way
        assert prose.whole_date(way, CLOCK) in (day.isoformat(), None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("at 14:30", {"14:30"}), ("2:30 pm", {"14:30"}), ("9 a.m.", {"09:00"}), ("12 am", {"00:00"}), ("at noon", {"12:00"}),
     ("half past two", {"02:30", "14:30"}), ("three o'clock", {"03:00", "15:00"}), ("2026-03-02T08:15:00Z", {"08:15"}),
     ("25:99 and 3 pieces", set())],
)  # fmt: skip
def test_times(text: str, expected: set[str]) -> None:
    assert expected <= set(prose.times(text))
    assert bool(expected) == bool(set(prose.times(text)))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("two of them", 2),
        ("both", 2),
        ("a dozen", 12),
        ("the third", 3),
        ("$1,290.01", 1290.01),
        ("12 per cent", 12),
    ],
)
def test_numbers(text: str, number: float) -> None:
    assert number in {value for value, _ in prose.numbers(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a fee of 6.00", {6.0}),
        ("USD 25 a night", {25.0}),
        ("$6 days", {6.0}),
        ("within 6 days", set()),
        ("6 calendar days", set()),
        ("15 % of it", set()),
        ("15 per cent", set()),
        ("14-day limit", set()),
        ("two rooms", set()),
        ("the fee is 40", {40.0}),
        ("| 12 |", {12.0}),
        ("2 free nights", set()),
        ("25 a night", {25.0}),
        ("25 per day", {25.0}),
        ("25 for each of 3 guests", {25.0}),
        ("3 whole calendar days", set()),
        ("a credit of fifty dollars", {50.0}),
        ("fifty of them", set()),
    ],
)
def test_amounts(text: str, expected: set[float]) -> None:
    assert set(prose.amounts(text)) == expected


def test_months_are_read_with_and_without_a_year() -> None:
    assert set(prose.months("the bill of January 2025", CLOCK)) == {"2025-01"}
    assert "2026-01" in set(prose.months("the January bill", CLOCK))


@given(st.text(max_size=200))
def test_nothing_that_is_written_breaks_the_reading(text: str) -> None:
    for found in (
        prose.dates(text, CLOCK, spoken=True),
        prose.times(text),
        prose.numbers(text),
        prose.amounts(text),
        prose.months(text, CLOCK),
    ):
        list(found)
    assert prose.whole_date(text, CLOCK) is None or prose.is_date(str(prose.whole_date(text, CLOCK)))
