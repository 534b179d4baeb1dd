"""The example plugin conforms, and does what its page says."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from assay_sdk import Fact, OptionsError, Outcome, Role, TrialView, UserScript, conformance

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "plugins" / "example-library"
PAGE = ROOT / "docs" / "writing-a-plugin.md"


@pytest.fixture(scope="module")
def plugin() -> Iterator[Any]:
    sys.path.insert(0, str(PACKAGE))
    import example_library

    yield example_library
    sys.path.remove(str(PACKAGE))


def test_the_persona_conforms_with_and_without_options(plugin: Any) -> None:
    (kind,) = plugin.assay_personas()
    conformance.check_persona(kind)
    conformance.check_persona(kind, {"greeting": "Dear Sir or Madam.", "ending": "Yours faithfully."})
    with pytest.raises(ValidationError):
        conformance.check_persona(kind, {"greeting": ""})


def test_the_check_conforms(plugin: Any) -> None:
    (kind,) = plugin.assay_checkers()
    conformance.check_checker(kind, trials=[trial("It is due on 2026-05-13.")])


async def test_the_model_conforms_and_plays_nothing_but_the_customer(plugin: Any) -> None:
    (kind,) = plugin.assay_models()
    await conformance.check_model(kind, "customer")
    with pytest.raises(OptionsError, match="write cards:customer"):
        kind.build("banker", kind.options(), str)


def trial(reply: str, result: Any = {"loan_id": "LN-1", "due_on": "2026-05-13"}) -> TrialView:  # noqa: B006 - never changed
    renewed = {"type": "tool", "call": 0, "tool": "loans_renew", "arguments": {}, "ok": True, "wrote": True}
    return TrialView(
        task={"id": "T-1"},
        events=[{**renewed, "result": result}, {"type": "bot", "text": reply}],
        changes=[],
        termination="user_done",
    )


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("It is due on 2026-05-13 now.", Outcome.PASS),
        ("Bring it back by May 13, please.", Outcome.PASS),
        ("Bring it back by the 13th of May.", Outcome.PASS),
        ("Neues Datum: 13.05.2026", Outcome.PASS),
        ("Due 05/13/2026", Outcome.PASS),
        ("It is renewed.", Outcome.FAIL),
        ("It is due on May 14.", Outcome.FAIL),
        ("It is due on May 131.", Outcome.FAIL),
        ("It was due on 2025-05-13.", Outcome.FAIL),
    ],
)
def test_the_due_date_has_to_be_said(plugin: Any, reply: str, outcome: Outcome) -> None:
    check = plugin.CHECK.build(plugin.CHECK.options())
    result = check.check(trial(reply))
    assert result.outcome is outcome
    assert result.reward == (1.0 if outcome is Outcome.PASS else 0.0)
    assert bool(result.evidence) == (outcome is Outcome.FAIL)


@pytest.mark.parametrize("result", [{"loan_id": "LN-1"}, {"due_on": "soon"}, None, "done"])
def test_a_result_without_a_date_cannot_be_told(plugin: Any, result: Any) -> None:
    check = plugin.CHECK.build(plugin.CHECK.options())
    assert check.check(trial("It is renewed.", result)).outcome is Outcome.CANNOT_TELL


def line(plugin: Any, messages: list[dict[str, str]]) -> str:
    model = plugin.MODEL.build("customer", plugin.MODEL.options(), str)
    return str(asyncio.run(model.complete(messages)).text)


def test_the_customer_tells_what_is_asked_and_leaves_when_nothing_is(plugin: Any) -> None:
    from assay.engine.dialogue import prompting

    script = UserScript(
        opening="Please renew my book.",
        goal="It is renewed.",
        facts=[Fact("e-mail address", "ada@brook.example"), Fact("book title", "Practical Knots")],
        follow_ups=["And when is it due?"],
    )
    system = {
        "role": "system",
        "content": prompting.instructions(Role(script, 'every message ends with "Bye."')),
    }
    asked = dict(prompting.heard("What is your e-mail address?"))
    first = line(plugin, [system, asked])
    assert first == "E-mail address: ada@brook.example\nBye."
    said = [system, asked, dict(prompting.said(first))]
    assert line(plugin, [*said, dict(prompting.heard("Shall I renew it?"))]) == "Yes, please.\nBye."
    assert line(plugin, [*said, dict(prompting.heard("It is renewed."))]) == "And when is it due?\nBye."
    more = [*said, dict(prompting.heard("It is renewed.")), dict(prompting.said("And when is it due?\nBye."))]
    assert line(plugin, [*more, dict(prompting.heard("On Friday."))]) == "Thanks, that is all.\nBye.\n[END]"


def test_every_piece_of_code_on_the_page_is_the_plugin_s() -> None:
    """The page shows files of the plugin, whole or in parts, each under its name."""
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"^`([\w./-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert {name for name, _ in shown} == {
        "pyproject.toml",
        "example_library/__init__.py",
        "example_library/formal.py",
        "example_library/due_date.py",
        "example_library/cards.py",
    }
    for name, code in shown:
        source = (PACKAGE / name).read_text(encoding="utf-8")
        for piece in code.split("\n...\n"):
            assert piece.strip("\n") in source, f"{name}:\n{piece}"
