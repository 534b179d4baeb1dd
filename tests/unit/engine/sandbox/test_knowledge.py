"""Searching and reading the articles."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.sandbox import World
from assay_sdk import ToolSpec

from .conftest import world_of

RETURNS = """# Returns and restocking

What we take back.

## Opened boxes

An opened box costs a restocking fee of 15 percent, but not for café machines.

## Batteries

Batteries travel by road only.
"""
SHIPPING = """# Shipping

## Restocking times

Shelves are filled at night. Opened boxes are not shipped.
"""


@pytest.fixture(scope="module")
def world() -> World:
    return world_of(knowledge__returns_md=RETURNS, knowledge__shipping_md=SHIPPING)


def search(world: World, query: str, **more: Any) -> list[dict[str, Any]]:
    with world.open() as sandbox:
        outcome = sandbox.call("knowledge_search", {"query": query, **more})
        assert outcome.ok
        assert (outcome.kind, outcome.empty) == ("read", not outcome.content)
        return list(outcome.content)


def test_the_two_tools_exist_when_the_pack_has_articles(world: World):
    assert [s.name for s in world.specs] == ["items_list", "knowledge_search", "knowledge_read"]
    assert all(isinstance(s, ToolSpec) and s.kind == "read" for s in world.specs)
    assert [s.name for s in world_of().specs] == ["items_list"]
    with world_of().open() as sandbox:
        assert sandbox.call("knowledge_search", {"query": "fee"}).error == "unknown_tool"


def test_search_gives_the_sections_that_fit_best_with_a_snippet(world: World):
    found = search(world, "Opened boxes fee")
    assert found[0] == {
        "section": "returns#opened-boxes",
        "article": "Returns and restocking",
        "heading": "Opened boxes",
        "snippet": "An opened box costs a restocking fee of 15 percent, but not for café machines.",
    }
    assert {f["section"] for f in found} == {"returns#opened-boxes", "shipping#restocking-times"}


def test_a_heading_weighs_more_than_the_text(world: World):
    assert search(world, "battery")[0]["section"] == "returns#batteries"


def test_words_are_found_whatever_their_form_case_or_accents(world: World):
    assert search(world, "CAFE")[0]["section"] == "returns#opened-boxes"
    assert search(world, "opening box")[0]["section"] == "returns#opened-boxes"


def test_the_limit_is_kept(world: World):
    assert len(search(world, "restocking opened batteries night", limit=1)) == 1
    with world.open() as sandbox:
        for limit in (0, 21, 2.5, "3"):
            assert (
                sandbox.call("knowledge_search", {"query": "fee", "limit": limit}).error
                == "invalid_arguments"
            )


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "AND",
        "fee AND OR NOT",
        "NEAR(fee, 2)",
        "heading: fee",
        "fee*",
        "^fee",
        "(fee",
        "{fee}",
        "a OR",
        "-- x",
        "'; DROP TABLE sections; --",
        'fee\n"box',
        "😀",
        "+ - !",
    ],
)
def test_a_query_is_words_and_never_syntax(world: World, query: str):
    search(world, query)
    assert search(world, "restocking fee")


@given(st.text(min_size=1, max_size=80))
@settings(deadline=None, max_examples=200)
def test_any_text_can_be_searched(library: World, query: str):
    with library.open() as sandbox:
        outcome = sandbox.call("knowledge_search", {"query": query})
        assert outcome.ok or outcome.error == "invalid_arguments"


def test_read_gives_a_section_in_full(world: World):
    with world.open() as sandbox:
        outcome = sandbox.call("knowledge_read", {"section": "returns#batteries"})
        assert outcome.content["text"].strip() == "Batteries travel by road only."
        assert outcome.content["heading"] == "Batteries"
        assert "What we take back." in sandbox.call("knowledge_read", {"section": "returns#"}).content["text"]
        missing = sandbox.call("knowledge_read", {"section": "returns#nothing"})
        assert (missing.error, missing.message) == ("not_found", "No section returns#nothing.")


def test_answers_can_be_changed_by_who_gets_them(world: World):
    found = search(world, "restocking fee")
    found[0]["snippet"] = "changed"
    assert search(world, "restocking fee")[0]["snippet"] != "changed"
