"""What a wrong outcome costs, from the differences of rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.grading.cost import Cost, costs_of
from assay.engine.packs.models import ComparisonFile
from assay.engine.sandbox import ChangeSet, RowChange, compare
from assay.engine.sandbox.difference import Difference
from assay.engine.sandbox.schema import TableInfo

TABLES = {
    "refunds": TableInfo("refunds", ("id", "order_id", "amount"), ("id",), {}),
    "orders": TableInfo("orders", ("id", "fee", "refunded", "points"), ("id",), {}),
}
RULES = ComparisonFile.model_validate(
    {
        "tables": {
            "refunds": {"cost": {"amount": {"what": "refunded", "paid_by": "company"}}},
            "orders": {
                "columns": {"points": {"tolerance": 5}},
                "cost": {
                    "fee": {"what": "charged", "paid_by": "customer"},
                    "refunded": "none",
                    "points": {"what": "points", "paid_by": "company"},
                },
            },
        }
    }
)


def refund(amount: float | None, order: str = "O-1", name: str = "RF-9001") -> RowChange:
    return RowChange("refunds", "insert", (name,), None, {"id": name, "order_id": order, "amount": amount})


def order(
    fee: float, *, before: float = 0, refunded: float = 0, points: float = 0, name: str = "O-1"
) -> RowChange:
    old = {"id": name, "fee": before, "refunded": 0, "points": 0}
    return RowChange(
        "orders", "update", (name,), old, {**old, "fee": fee, "refunded": refunded, "points": points}
    )


def changes(*rows: RowChange) -> ChangeSet:
    return ChangeSet(rows, frozenset(r.key[0] for r in rows if r.op == "insert"))


def differing(expected: ChangeSet, actual: ChangeSet) -> Difference:
    return compare(TABLES, RULES, [expected], actual)


def costs(expected: ChangeSet, actual: ChangeSet) -> list[tuple[str, float, float]]:
    found = costs_of(RULES, "USD", differing(expected, actual))
    assert found is not None
    return [(c.what, c.over, c.under) for c in found]


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        ([refund(100.0)], [refund(112.5)], [("refunded", 12.5, 0)]),
        ([refund(100.0)], [refund(99.99)], [("refunded", 0, 0.01)]),
        ([refund(100.0)], [], [("refunded", 0, 100.0)]),
        ([], [refund(100.0)], [("refunded", 100.0, 0)]),
        ([refund(100.0)], [refund(100.0), refund(100.0, name="RF-9002")], [("refunded", 100.0, 0)]),
        # to the wrong order: one side has too much, the other too little
        ([refund(100.0, "O-1")], [refund(100.0, "O-2"), order(3.0)], [("charged", 3.0, 0)]),
        ([order(20.0)], [order(5.0)], [("charged", 0, 15.0)]),
        ([order(20.0, before=10.0)], [], [("charged", 0, 10.0)]),
        ([], [order(20.0, before=10.0)], [("charged", 10.0, 0)]),
        ([order(0.0, before=10.0)], [], [("charged", 10.0, 0)]),  # a fee that was to be waived
        # what is counted elsewhere, and what is within its tolerance, costs nothing
        ([order(20.0, refunded=5.0)], [order(20.0, refunded=7.0)], []),
        ([order(20.0, points=10)], [order(21.0, points=13)], [("charged", 1.0, 0)]),
        ([order(20.0, points=10)], [order(20.0, points=16)], [("points", 6.0, 0)]),
        ([refund(None)], [refund(7.0)], [("refunded", 7.0, 0)]),
        ([refund(100.0)], [refund(100.0)], []),
    ],
)
def test_costs(
    expected: list[RowChange], actual: list[RowChange], told: list[tuple[str, float, float]]
) -> None:
    assert costs(changes(*expected), changes(*actual)) == told


def test_too_much_here_does_not_make_good_what_is_missing_there() -> None:
    expected = changes(order(10.0, name="O-1"))
    actual = changes(order(10.0, name="O-2"))
    assert costs(expected, actual) == [("charged", 10.0, 10.0)]


def test_a_row_deleted_gives_back_what_stood_in_it() -> None:
    kept = {"id": "RF-1", "order_id": "O-1", "amount": 30.0}
    gone = ChangeSet((RowChange("refunds", "delete", ("RF-1",), kept, None),))
    assert costs(ChangeSet(()), gone) == [("refunded", 0, 30.0)]
    assert costs(gone, ChangeSet(())) == [("refunded", 30.0, 0)]


def test_a_pack_without_rules_says_nothing() -> None:
    plain = ComparisonFile.model_validate({"tables": {"refunds": {"cost": {"amount": "none"}}}})
    assert costs_of(plain, "USD", differing(changes(refund(1.0)), changes())) is None


def test_the_cost_is_kept_with_its_currency_and_who_pays() -> None:
    found = costs_of(RULES, "USD", differing(changes(), changes(refund(0.1), refund(0.2, name="RF-9002"))))
    assert found == (Cost("refunded", "company", "USD", 0.3, 0.0),)
    assert found[0].as_json() == {
        "what": "refunded", "paid_by": "company", "currency": "USD", "over": 0.3, "under": 0.0,
    }  # fmt: skip


AMOUNTS = st.lists(st.integers(-100_000, 100_000), max_size=6)


@settings(deadline=None)  # the first that pairs many rows loads scipy
@given(AMOUNTS, AMOUNTS)
def test_over_less_under_is_the_difference_of_the_sums(first: list[int], second: list[int]) -> None:
    """However rows are paired, what was moved too much, less what was too little, is the difference."""
    sides = [
        changes(*(refund(cents / 100, name=f"RF-{9001 + n}") for n, cents in enumerate(amounts)))
        for amounts in (first, second)
    ]
    found = costs(sides[0], sides[1])
    net = sum(over - under for _, over, under in found)
    assert net == pytest.approx((sum(second) - sum(first)) / 100, abs=1e-3)
    assert all(over >= 0 and under >= 0 and (over or under) for _, over, under in found)
    if sorted(first) == sorted(second):
        assert found == []
