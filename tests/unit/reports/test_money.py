"""What failures cost, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assay.reports.data import report_data
from assay.reports.money import cost_rows, costs_sentence, money
from assay.reports.render import render_source
from assay.reports.source import ReportSource


def costs(*by: tuple[str, str, float, float], trials: int = 3, of: int = 20) -> dict[str, Any]:
    names = ("what", "paid_by", "over", "under")
    listed = [dict(zip(names, entry, strict=True)) for entry in by]
    return {"currency": "USD", "trials": trials, "of": of, "company": 442.0, "customers": 0.0, "by": listed}


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_the_sentence_of_the_reports() -> None:
    told = costs(("refunded", "company", 412.0, 0.0), ("charged", "customer", 0.0, 30.0))
    assert plain(costs_sentence(told)) == (
        "This bot over-refunded 412.00 USD and under-charged 30.00 USD in 20 trials; money was wrong in 3 of them. "
        "The company bore 442.00 USD of it, customers 0.00 USD."
    )


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (("refunded", "company", 1290.5, 0.0), "over-refunded 1,290.50 USD"),
        (("paid out", "company", 0.0, 7.0), "under-paid 7.00 USD out"),
        (("charged for rerouting", "customer", 6.0, 0.0), "over-charged 6.00 USD for rerouting"),
        (("given as store credit", "company", 50.0, 0.0), "gave 50.00 USD too much as store credit"),
        (("restocking fees", "customer", 9.5, 0.0), "charged 9.50 USD too much in restocking fees"),
        (("price adjustments", "company", 0.0, 9.5), "paid 9.50 USD too little in price adjustments"),
    ],
)
def test_words_for_each_sort(entry: tuple[str, str, float, float], said: str) -> None:
    assert plain(costs_sentence(costs(entry))).startswith(f"This bot {said} in 20 trials; ")


def test_the_largest_amounts_are_named_and_the_rest_summed() -> None:
    told = costs(
        ("refunded", "company", 1.0, 40.0), ("deductibles", "customer", 30.0, 0.0),
        ("fees", "customer", 0.0, 20.0), ("store credits", "company", 2.5, 0.0),
    )  # fmt: skip
    assert plain(costs_sentence(told)).startswith(
        "This bot under-refunded 40.00 USD, charged 30.00 USD too much in deductibles, "
        "charged 20.00 USD too little in fees and moved another 3.50 USD wrongly in 20 trials"
    )
    assert len(cost_rows(told)) == 4


def test_when_nothing_was_lost_and_when_nothing_is_known() -> None:
    assert costs_sentence(costs(trials=0)) == "No wrong amount of money was moved in 20 trials."
    assert costs_sentence(None) == "" and cost_rows(None) == []


def test_all_of_them_and_no_currency() -> None:
    told = {**costs(("refunded", "company", 2.0, 0.0), trials=1, of=1), "currency": None}
    assert costs_sentence(told).startswith(
        "This bot over-refunded 2.00 in 1 trial; money was wrong in all of them."
    )
    assert money(1234.5, "EUR") == "1,234.50\u00a0EUR"


def test_the_page_has_the_sentence_and_a_row_for_each_sort(run: Callable[..., ReportSource]) -> None:
    source = run({"R-1": "pf"})
    assert "What the failures cost" not in render_source(source)
    told = costs(("refunded", "company", 412.0, 0.0), ("<b>fees</b>", "customer", 0.0, 30.0), of=2)
    source = replace(source, summary={**source.summary, "costs": told})
    page = plain(render_source(source))
    assert (
        "<h2>What the failures cost</h2>" in page and "This bot over-refunded 412.00 USD and charged" in page
    )
    assert '<th scope="row">Refunded</th><td>the company</td><td class="n">412.00 USD</td>' in page
    assert "<b>fees" not in page
    assert report_data(source).costs[1]["paid_by"] == "the customer"


def test_a_summary_from_before_costs_were_kept(run: Callable[..., ReportSource]) -> None:
    source = run({"R-1": "pf"})
    old = {name: value for name, value in source.summary.items() if name != "costs"}
    assert report_data(replace(source, summary=old)).costs_say == ""
