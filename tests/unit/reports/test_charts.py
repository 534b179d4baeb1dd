"""Where lines, bands and strips are drawn."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from assay.reports import charts

STATUSES = ("passed", "failed", "void", "running", "queued")


def points(text: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())]


def test_the_ends_of_a_curve_lie_on_the_axes() -> None:
    axes = charts.axes(20)
    drawn = charts.curve("pass^k", "every", [(1, 1.0, 0.9, 1.0), (20, 0.0, 0.0, 0.5)], 20)
    assert points(drawn.points) == [(axes.left, axes.top), (axes.right, axes.bottom)]
    middle = (axes.top + axes.bottom) / 2
    assert points(drawn.band)[1] == (axes.right, middle)  # the upper edge first, then the lower one back
    assert points(drawn.band)[2] == (axes.right, axes.bottom)


def test_a_single_trial_is_drawn_in_the_middle() -> None:
    axes = charts.axes(1)
    ((x, _),) = points(charts.curve("pass@k", "can", [(1, 0.5, 0.2, 0.8)], 1).points)
    assert x == (axes.left + axes.right) / 2
    assert [label for _, label in axes.x_ticks] == ["1"]


@given(k_max=st.integers(1, 1000))
def test_there_are_a_dozen_marks_on_an_axis_at_most_and_the_first_is_one(k_max: int) -> None:
    ticks = charts.axes(k_max).x_ticks
    assert ticks[0][1] == "1"
    assert len(ticks) <= 12
    assert [x for x, _ in ticks] == sorted(x for x, _ in ticks)


@given(
    shares=st.lists(st.tuples(*[st.floats(0, 1)] * 3).map(sorted), min_size=1, max_size=30),
)
def test_nothing_is_drawn_outside_of_the_axes(shares: list[list[float]]) -> None:
    axes = charts.axes(len(shares))
    values = [(k, v, low, high) for k, (low, v, high) in enumerate(shares, 1)]
    drawn = charts.curve("pass@k", "can", values, len(shares))
    for x, y in [*points(drawn.points), *points(drawn.band)]:
        assert axes.left <= x <= axes.right
        assert axes.top <= y <= axes.bottom
    assert len(drawn.marks) == len(shares)


@given(statuses=st.lists(st.sampled_from(STATUSES), max_size=120))
def test_a_strip_shows_every_trial_inside_of_its_box(statuses: list[str]) -> None:
    strip = charts.strip(statuses)
    cells = [
        (css, float(left), float(top), float(width), float(height))
        for css, drawn in strip.paths
        for left, top, width, height in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", drawn)
    ]
    if len(statuses) <= 40:
        assert len(cells) == len(statuses)
        assert sum(css == "bad" for css, *_ in cells) == statuses.count("failed")
    elif statuses:
        assert abs(sum(width for _, _, _, width, _ in cells) - strip.width) < 0.5
    for _, left, top, width, height in cells:
        assert left >= 0
        assert left + width <= strip.width + 0.1
        assert top + height <= strip.height
    for status, word in (("passed", "passed"), ("failed", "failed"), ("void", "void")):
        assert (f"{statuses.count(status)} {word}" in strip.says) == (status in statuses)


def test_a_failed_trial_differs_from_a_passed_one_by_more_than_its_colour() -> None:
    (_, passed), (_, failed) = charts.strip(["passed", "failed"]).paths
    assert re.search(r"v([\d.]+)", passed)[1] != re.search(r"v([\d.]+)", failed)[1]  # type: ignore[index]
