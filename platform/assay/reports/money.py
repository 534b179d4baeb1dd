"""What wrong outcomes cost, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.reports.wording import count

#: Amounts named in the sentence, the largest; the table holds them all.
_MOST_NAMED = 3
#: Participles that are no past tense; those that are (refunded, charged, paid) take "over-" and "under-".
_PAST = {"given": "gave", "taken": "took", "withdrawn": "withdrew", "written": "wrote", "forgone": "forwent"}
_SAME = {"paid", "repaid", "prepaid", "lent", "kept", "spent"}


def money(amount: float, currency: str | None) -> str:
    """1,290.50 USD"""
    return f"{amount:,.2f}\u00a0{currency}" if currency else f"{amount:,.2f}"


def costs_sentence(costs: Mapping[str, Any] | None) -> str:
    """What the failures of a run cost, as `summary.costs` says; empty when nothing is known of it."""
    if not costs:
        return ""
    if not costs["by"]:
        return f"No wrong amount of money was moved in {count(costs['of'], 'trial')}."
    currency = costs["currency"]
    amounts = sorted(
        ((by[side], by, side) for by in costs["by"] for side in ("over", "under") if by[side]),
        key=lambda amount: -amount[0],
    )
    parts = [_said(by, side, money(amount, currency)) for amount, by, side in amounts[:_MOST_NAMED]]
    if rest := sum(amount for amount, _, _ in amounts[_MOST_NAMED:]):
        parts.append(f"moved another {money(rest, currency)} wrongly")
    of = count(costs["of"], "trial")
    where = "all of them" if costs["trials"] == costs["of"] else f"{costs['trials']:,} of them"
    return (
        f"This bot {_joined(parts)} in {of}; money was wrong in {where}. "
        f"The company bore {money(costs['company'], currency)} of it, customers {money(costs['customers'], currency)}."
    )


def cost_rows(costs: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """A row for each sort of money."""
    if not costs:
        return []
    return [
        {
            "what": by["what"][:1].upper() + by["what"][1:],
            "paid_by": "the company" if by["paid_by"] == "company" else "the customer",
            "over": money(by["over"], costs["currency"]),
            "under": money(by["under"], costs["currency"]),
        }
        for by in costs["by"]
    ]


def _said(by: Mapping[str, Any], side: str, amount: str) -> str:
    """over-refunded 412.00 USD; gave 20.00 USD too much as store credit; charged 30.00 USD too little in fees"""
    says = {"over": "too much", "under": "too little"}[side]
    first, _, rest = by["what"].partition(" ")
    rest = f" {rest}" if rest else ""
    if first in _PAST:
        return f"{_PAST[first]} {amount} {says}{rest}"
    if first in _SAME or re.fullmatch(r"[a-z]{2,}ed", first):
        return f"{side}-{first} {amount}{rest}"
    verb = "paid" if by["paid_by"] == "company" else "charged"
    return f"{verb} {amount} {says} in {by['what']}"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
