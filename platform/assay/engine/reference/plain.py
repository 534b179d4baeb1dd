"""A plain row difference that is sure of what it says, or says that it is not.

The reference bots need to know whether an altered list of actions surely leads to another outcome, and to what
kind of failure. That is found here without `sandbox.comparison`, which is what they are meant to check: rows
that were there before are matched by primary key, made rows by their cells alone, and whatever could be argued
about is "unsure".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal

from assay.engine.packs.models import ColumnRule, ComparisonFile, Tolerance
from assay.engine.sandbox.changes import ChangeSet, RowChange
from assay.engine.sandbox.schema import TableInfo

Likeness = Literal["same", "different", "unsure"]
#: missing: expected changes are absent, and nothing else is there. incorrect: a change is there that no expected
#: one is like. equal, unsure: as they say.
Kind = Literal["equal", "missing", "incorrect", "unsure"]

_GENERATED = "(generated)"


def kind_of_outcome(
    tables: Mapping[str, TableInfo],
    comparison: ComparisonFile,
    accepted: Sequence[ChangeSet],
    actual: ChangeSet,
) -> Kind:
    """What `actual` is against every accepted outcome; "unsure" unless it is the same against all of them."""
    kinds = {_Difference(tables, comparison, expected, actual).kind() for expected in accepted}
    if "equal" in kinds:
        return "equal"
    return kinds.pop() if len(kinds) == 1 else "unsure"


class _Difference:
    def __init__(
        self,
        tables: Mapping[str, TableInfo],
        comparison: ComparisonFile,
        expected: ChangeSet,
        actual: ChangeSet,
    ) -> None:
        self._tables = tables
        self._rules = {name: rules.columns for name, rules in comparison.tables.items()}
        ignored = frozenset(comparison.ignore_tables)
        self._sides = tuple(
            tuple(r for r in side.rows if r.table not in ignored) for side in (expected, actual)
        )
        self._generated = (expected.generated, actual.generated)
        self._missing = self._incorrect = self._unsure = False

    def kind(self) -> Kind:
        self._kept_rows()
        self._made_rows()
        if self._incorrect:
            return "incorrect"
        if self._unsure:
            return "unsure"
        return "missing" if self._missing else "equal"

    def _kept_rows(self) -> None:
        expected, actual = ({(r.table, r.key): r for r in side if r.op != "insert"} for side in self._sides)
        for place in expected.keys() | actual.keys():
            one, other = expected.get(place), actual.get(place)
            if one is None or other is None:
                effect = self._effect(one or other)
                if effect == "unsure":
                    self._unsure = True
                elif effect == "different":
                    if one is None:
                        self._incorrect = True
                    else:
                        self._missing = True
            elif one.op != other.op:
                self._incorrect = True
            elif one.after is not None and other.after is not None:
                likeness = self._row(one, other)
                if likeness == "different" and self._effect(other) == "different":
                    self._incorrect = True
                elif likeness != "same":
                    self._unsure = True

    def _made_rows(self) -> None:
        expected, actual = ([r for r in side if r.op == "insert"] for side in self._sides)
        left = list(expected)
        for row in actual:
            twin = next((e for e in left if e.table == row.table and self._row(e, row) == "same"), None)
            if twin is not None:
                left.remove(twin)
                continue
            others = [e for e in expected if e.table == row.table]
            if all(self._row(e, row, masked=True) == "different" for e in others):
                self._incorrect = True
            else:
                self._unsure = True
        self._missing = self._missing or bool(left)

    def _effect(self, change: RowChange | None) -> Likeness:
        """Whether a change of a row counts: "same" when only what is not compared changed."""
        assert change is not None
        if change.before is None or change.after is None:
            return "different"
        rules = self._rules.get(change.table, {})
        return _worst(
            cell(rules.get(c, "exact"), change.before[c], value) for c, value in change.after.items()
        )

    def _row(self, expected: RowChange, actual: RowChange, *, masked: bool = False) -> Likeness:
        """`masked`: ids that were generated are all alike, whichever they are."""
        rules = self._rules.get(expected.table, {})
        first, second = expected.after or {}, actual.after or {}
        if masked:
            first = self._masked(expected.table, first, self._generated[0])
            second = self._masked(expected.table, second, self._generated[1])
        return _worst(cell(rules.get(c, "exact"), first[c], second[c]) for c in first)

    def _masked(self, table: str, row: Mapping[str, Any], generated: frozenset[Any]) -> dict[str, Any]:
        info = self._tables[table]
        numbers = set(info.foreign_keys) | (set(info.primary_key) if info.rowid_key else set())
        return {
            c: _GENERATED if v in generated and (isinstance(v, str) or c in numbers) else v
            for c, v in row.items()
        }


def cell(rule: ColumnRule, expected: Any, actual: Any) -> Likeness:
    """Whether two cells are alike under a rule of comparison.yaml, where that is beyond doubt."""
    if rule == "ignore":
        return "same"
    if rule == "text":
        return _sure((expected in (None, "")) == (actual in (None, "")))
    if expected is None or actual is None:
        return _sure(expected is None and actual is None)
    if rule == "casefold":
        return _sure(str(expected).strip().casefold() == str(actual).strip().casefold())
    if rule == "set":
        return _sure(_parts(expected) == _parts(actual))
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        distance = abs(expected - actual)
        if isinstance(rule, Tolerance):
            return (
                "same"
                if distance <= rule.tolerance / 2
                else "different"
                if distance >= rule.tolerance * 2
                else "unsure"
            )
        if distance == 0:
            return "same"
        return "different" if distance > 1e-6 * max(1.0, abs(expected)) else "unsure"
    if expected == actual:
        return "same"
    moments = _moment(expected), _moment(actual)
    if None not in moments:
        return _sure(moments[0] == moments[1]) if type(moments[0]) is type(moments[1]) else "unsure"
    return "different"


def _worst(cells: Any) -> Likeness:
    """One different cell makes a row different; one that is unsure leaves it unsure."""
    found = set(cells)
    return "different" if "different" in found else "unsure" if "unsure" in found else "same"


def _sure(alike: bool) -> Likeness:
    return "same" if alike else "different"


def _parts(value: Any) -> list[str]:
    try:
        listed = json.loads(str(value))
    except ValueError:
        listed = None
    if not isinstance(listed, list):
        listed = [p for p in str(value).split(",") if p.strip()]
    return sorted(json.dumps(p.strip() if isinstance(p, str) else p, sort_keys=True) for p in listed)


def _moment(value: Any) -> datetime | date | None:
    if not isinstance(value, str):
        return None
    for kind in (date, datetime):
        try:
            return kind.fromisoformat(value)
        except ValueError:
            continue
    return None
