"""Coordinates for the pictures of a report. Pure arithmetic; the templates draw the SVG."""

from __future__ import annotations

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


WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 14, 34


def axes(k_max: int) -> Axes:
    """Axes for k = 1..k_max across and 0 to 100 % up."""
    step = 1 if k_max <= 10 else 2 if k_max <= 20 else max(1, k_max // 10)
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


def _x(k: int, k_max: int) -> float:
    span = WIDTH - LEFT - RIGHT
    return LEFT + (span / 2 if k_max == 1 else span * (k - 1) / (k_max - 1))


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, max(0.0, share))
