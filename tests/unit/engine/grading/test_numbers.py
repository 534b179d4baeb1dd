"""Which numbers a text names."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.engine.grading.numbers import names_number, numbers_in


@pytest.mark.parametrize(
    "text",
    [
        "The fee is 193.5.",
        "The fee is 193.50, as agreed.",
        "A fee of $193.50 was charged.",
        "A fee of US$193.50 was charged.",
        "USD 193.50",
        "USD193.50",
        "193.50 USD",
        "193.50USD",
        "193,50 €",
        "€193,50",
        "-$193.50",
        "\u2212193.50",
        "(193.50)",
        "**193.50**",
        "_193.50_",
        "__193.50 USD__",
        "_$193.50_.",
        "fee:193.50",
        "$193.50/month",
        "Rs.193.50",
        "approx.193.50",
    ],
)
def test_a_number_is_named_in_any_usual_notation(text: str) -> None:
    assert names_number(text, 193.5)


@pytest.mark.parametrize(
    "text", ["$1,290.01", "1.290,01 €", "1 290,01", "1\u202f290,01", "1'290.01", "1’290.01 CHF", "1290.01"]
)
def test_thousands_may_be_set_apart_in_any_usual_way(text: str) -> None:
    named = names_number(f"You will get {text} back.", 1290.01)
    assert named is not None
    assert f"You will get {text} back."[named.start : named.end].strip() in text


@pytest.mark.parametrize(
    "text",
    [
        "Order ORD-1007 is on its way.",
        "Refund RF1007 was made.",
        "Ticket TCK_1007",
        "Part SKU-AB-1007-B",
        "Order ORD\u20101007 or ORD\u20111007",
        "Order ORD\u22121007",
        "host.10.1007.3",
        "SKU-AB.1007",
        "Order #1007",
        "version v1.1007",
        "10071",
        "1007.5",
        "1,007,000",
    ],
)
def test_digits_of_ids_and_of_other_numbers_name_no_number(text: str) -> None:
    assert names_number(text, 1007) is None


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-10",
        "by 2026\u201002\u201010",
        "by 2026\u201102\u201110",
        "by 2026\u221202\u221210",
        "at 10:30",
        "10/02/2026",
        "10.02.2026",
        "2026-02-10T10:02:26Z",
    ],
)
def test_dates_and_times_name_no_number(text: str) -> None:
    assert [n for n in (2, 10, 26, 30, 2026) if names_number(text, n)] == []


def test_windows_ranges_and_percentages_name_their_numbers() -> None:
    text = "a 15-day window, 3-5 working days, 20% off"
    assert [n for n in (15, 3, 5, 20) if not names_number(text, n)] == []


def test_small_numbers_may_be_spelled_out() -> None:
    assert names_number("You have fourteen days.", 14)
    assert names_number("Twenty-one days from now.", 21)
    assert names_number("I renewed two loans.", 2)
    assert names_number("No one knows this one.", 1) is None
    assert names_number("THIRTY\u2011FIVE days", 35)
    assert names_number("Approx.25 days", 25)
    assert names_number("That is often forgotten.", 10) is None


def test_a_space_may_stand_for_the_hyphen_of_a_spelled_number() -> None:
    text = "It takes Twenty  five days."
    named = names_number(text, 25)
    assert named is not None and text[named.start : named.end] == "Twenty  five"
    assert [n for n in (20, 5) if names_number(text, n)] == []
    assert names_number("twenty five-day passes", 20)
    assert names_number("twenty, five of them new", 20)


@pytest.mark.parametrize(
    "text",
    [
        "two hundred",
        "two-hundred",
        "Two\u2010Hundred",
        "one hundred and twenty",
        "one hundred twenty-two",
        "a thousand and two",
        "two hundred and twenty thousand",
        "twenty two hundred",
    ],
)
def test_a_part_of_a_larger_spelled_number_is_not_named(text: str) -> None:
    assert [n for n in (2, 20, 22) if names_number(f"We sent {text} letters.", n)] == []


def test_what_stands_beside_a_larger_number_is_named() -> None:
    assert names_number("Hundreds of members renewed twenty loans.", 20)
    assert names_number("It costs one hundred, and twenty come back.", 20)
    assert names_number("two to three hundred", 2)
    assert names_number("between twenty and two hundred", 20)


@pytest.mark.parametrize("text", ["\u017fix", "s\u0130x", "5 m\u0130llion", "\u017feven hundred"])
def test_letters_that_are_alike_only_in_another_case_do_no_harm(text: str) -> None:
    assert names_number(text, 6) is None


def test_a_notation_with_two_readings_counts_for_both() -> None:
    assert names_number("1,290", 1290)
    assert names_number("1,290", 1.29)
    assert names_number("12,5 kg", 12.5)
    assert names_number("1.5k", 1500)


amounts = st.decimals(min_value="0.01", max_value="9999999.99", places=2)


@settings(deadline=None)
@given(
    amounts,
    st.sampled_from(["{}", "${}", "€{}", "{} EUR", "USD{}", "-{}", "({})", "**{}**", "about {}!"]),
    st.data(),
)
def test_any_amount_is_found_however_it_is_written(amount: Decimal, around: str, data: st.DataObject) -> None:
    english = f"{amount:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    written = data.draw(
        st.sampled_from(
            [english, german, f"{amount:.2f}", english.replace(",", "'"), german.replace(".", " ")]
        )
    )
    text = f"For order ORD-77 of 2026-03-02 the sum is {around.format(written)}. Thank you."
    assert names_number(text, float(amount))


@settings(deadline=None)
@given(amounts, amounts)
def test_an_amount_is_not_found_where_another_one_stands(amount: Decimal, other: Decimal) -> None:
    assume(amount != other)
    text = f"The sum is ${other:,.2f}."
    readings = {value for named in numbers_in(text) for value in named.values}
    assert readings == {float(other)}
    assert names_number(text, float(amount)) is None


@settings(deadline=None)
@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for named in numbers_in(text):
        assert 0 <= named.start < named.end <= len(text)
        assert named.values
