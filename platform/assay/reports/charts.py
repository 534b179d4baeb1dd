"""Coordinates for the pictures of a report. Pure arithmetic; the templates draw the SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Curve:
    """A line with a band, in the units of the SVG's view box. `points`, `band`: for a polyline/polygon."""

    label: str
    css: str
    points: str
    band: str
    marks: tuple[tuple[float, float, str], ...]  # x, y, tooltip


@dataclass(frozen=True, slots=True)
class Axes:
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """The trials of one task, side by side: a path for each kind of outcome, so that thousands stay small."""

    width: int
    height: int
    paths: tuple[tuple[str, str], ...]  # CSS class, what to draw
    says: str  # the same in words


WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 14, 34


def axes(k_max: int) -> Axes:
    """Axes for k = 1..k_max across and 0 to 100 % up."""
    step = math.ceil(k_max / 10)
    ticks = [k for k in range(1, k_max + 1) if k == 1 or k % step == 0]
    return Axes(
        WIDTH,
        HEIGHT,
        LEFT,
        WIDTH - RIGHT,
        TOP,
        HEIGHT - BOTTOM,
        tuple((_x(k, k_max), str(k)) for k in ticks),
        tuple((_y(share), f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
    )


def curve(label: str, css: str, values: Sequence[tuple[int, float, float, float]], k_max: int) -> Curve:
    """`values`: (k, value, low, high) with shares in [0, 1], ascending in k; `k_max`: as for the axes."""
    place = [(_x(k, k_max), _y(v), _y(low), _y(high), k, v, low, high) for k, v, low, high in values]
    upper = " ".join(f"{x:.1f},{high:.1f}" for x, _, _, high, *_ in place)
    lower = " ".join(f"{x:.1f},{low:.1f}" for x, _, low, *_ in reversed(place))
    return Curve(
        label,
        css,
        " ".join(f"{x:.1f},{y:.1f}" for x, y, *_ in place),
        f"{upper} {lower}",
        tuple(
            (round(x, 1), round(y, 1), f"{label}, k = {k}: {v:.1%} ({low:.1%} to {high:.1%})")
            for x, y, _, _, k, v, low, high in place
        ),
    )


_OUTCOMES = {
    "passed": ("ok", "passed"),
    "failed": ("bad", "failed"),
    "void": ("void", "void"),
    "running": ("open", "in progress"),
    "queued": ("open", "to come"),
}
_CELL = 10  # width of one trial, the gap included
_STRIP_HEIGHT = 12
_MOST_CELLS = 40  # more trials than these become a bar of their shares
# Told apart by height as well as by colour: passed is tall, failed is low, void and open are dots.
_SHAPES = {"ok": (0, 8, 12), "bad": (7, 8, 5), "void": (4, 4, 4), "open": (5, 8, 2)}  # top, width, height


def strip(statuses: Sequence[str]) -> Strip:
    """`statuses`: passed, failed, void, running or queued, in the order of the trials."""
    number = {status: statuses.count(status) for status in _OUTCOMES}
    says = ", ".join(f"{n} {_OUTCOMES[s][1]}" for s, n in number.items() if n) or "no trials"
    drawn: dict[str, str] = {}
    if len(statuses) <= _MOST_CELLS:
        for i, status in enumerate(statuses):
            css = _OUTCOMES[status][0]
            top, width, height = _SHAPES[css]
            left = _CELL * i + (8 - width) // 2
            drawn[css] = drawn.get(css, "") + f"M{left} {top}h{width}v{height}h-{width}z"
        return Strip(max(_CELL, _CELL * len(statuses)), _STRIP_HEIGHT, tuple(drawn.items()), says)
    whole, left = _CELL * _MOST_CELLS, 0.0
    for status, n in number.items():
        css = _OUTCOMES[status][0]
        width_of_it = whole * n / len(statuses)
        if n:
            top, _, height = _SHAPES[css]
            drawn[css] = (
                drawn.get(css, "") + f"M{left:.1f} {top}h{width_of_it:.1f}v{height}h-{width_of_it:.1f}z"
            )
        left += width_of_it
    return Strip(whole, _STRIP_HEIGHT, tuple(drawn.items()), says)


def _x(k: int, k_max: int) -> float:
    span = WIDTH - LEFT - RIGHT
    return LEFT + (span / 2 if k_max == 1 else span * (k - 1) / (k_max - 1))


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, max(0.0, share))
