"""The expected outcome holds with every persona: the faithful bot passes each task that the persona can play.

A sample of the tasks of each domain; docs/reference/personas.md has the figures for all of them.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.engine.dialogue.manners import cast, misfit
from assay.engine.dialogue.scripted import ScriptedUser, user_script
from assay.engine.packs.lint import check
from assay.engine.reference import connector_type
from assay.engine.run import run_pack
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord
from assay_sdk import PersonaType, UserScript
from tests.support.careful_bots import AskingInChinese, ReadingBack, Refusing

ROOT = Path(__file__).parents[2]
PACKS = ("retail", "travel", "auto_insurance", "neobank_it", "consulting_it_hr")
SAMPLE = 12  # tasks of each domain
NAMES = (
    "terse", "rambling", "impatient", "forgetful", "contradictory", "changes-mind", "insists", "social-engineer",
    "prompt-injector", "chinese",
)  # fmt: skip


@pytest.fixture(scope="module")
def personas() -> Iterator[dict[str, PersonaType]]:
    """The personas of the plugin, installed or not."""
    folder = str(ROOT / "plugins" / "assay-personas")
    sys.path.insert(0, folder)
    import assay_personas

    yield {kind.name: kind for kind in assay_personas.assay_personas()}
    sys.path.remove(folder)


@pytest.fixture(scope="module", params=PACKS)
def world(request: pytest.FixtureRequest) -> World:
    return check(ROOT / "domain_packs" / request.param).world


def faithful() -> Any:
    return connector_type.build("faithful", connector_type.options(), os.environ.__getitem__)


def trials(world: World, kind: PersonaType, bot: Any, seed: int = 20_261_202) -> list[TrialRecord]:
    fitting = [t.id for t in world.pack.tasks.values() if misfit(kind, user_script(t)) is None]
    sample = random.Random(seed).sample(fitting, min(SAMPLE, len(fitting)))
    found: list[TrialRecord] = []
    run_pack(Lab(world, bot, kind, kind.options()), sample, 1, seed, on_record=found.append, retry_after=0.0)
    assert len(found) == len(sample) > 0
    return found


def wrong(found: list[TrialRecord]) -> list[str]:
    return [
        f"{t.task}: {t.void_cause or (t.verdict or {}).get('explanation')} {t.transcript.get('detail')}"
        for t in found
        if t.status != "passed"
    ]


def lines(trial: TrialRecord) -> list[dict[str, Any]]:
    return [e for e in trial.transcript["events"] if e["type"] == "user"]


@pytest.mark.parametrize("name", NAMES)
def test_the_faithful_bot_passes_whoever_it_talks_to(
    world: World, personas: dict[str, PersonaType], name: str
) -> None:
    assert wrong(trials(world, personas[name], faithful())) == []


@pytest.mark.parametrize("name", ["forgetful", "contradictory"])
def test_a_bot_that_reads_back_what_it_heard_passes_too(
    world: World, personas: dict[str, PersonaType], name: str
) -> None:
    found = trials(world, personas[name], ReadingBack())
    assert wrong(found) == []
    if name == "forgetful":  # put right by the reading back: nobody said that nothing was found
        assert any(line.get("misstated") for t in found for line in lines(t))
        bots = [e["text"] for t in found for e in t.transcript["events"] if e["type"] == "bot"]
        assert not any("could not find" in text for text in bots)


def test_a_bot_that_asks_in_chinese_is_understood(world: World, personas: dict[str, PersonaType]) -> None:
    found = trials(world, personas["chinese"], AskingInChinese())
    assert wrong(found) == []
    first = [next(e["text"] for e in t.transcript["events"] if e["type"] == "bot") for t in found]
    assert all("请提供" in text for text in first)


@pytest.mark.parametrize("name", ["insists", "social-engineer", "changes-mind"])
def test_a_bot_that_says_no_passes_and_is_pressed(
    world: World, personas: dict[str, PersonaType], name: str
) -> None:
    plain = trials(world, personas["terse"], Refusing())
    found = trials(world, personas[name], Refusing())
    assert wrong(found) == []
    if name == "insists":
        assert sum(len(lines(t)) for t in found) > sum(len(lines(t)) for t in plain)


def test_no_record_of_the_world_has_a_value_that_is_said_wrongly(
    world: World, personas: dict[str, PersonaType]
) -> None:
    """Else a look-up with the wrong value would find somebody else."""
    kind = personas["forgetful"]
    said = {
        value
        for task in world.pack.tasks.values()
        for seed in range(40)
        for value in kind.build(kind.options(), seed).begin(user_script(task)).misstates.values()
    }
    assert len(said) > 100
    tokens = {
        token
        for file in (ROOT / "domain_packs" / world.pack.name).rglob("*")
        if file.is_file()  # rows of the world and those that a task adds
        for token in re.findall(r"[\w@.+-]+", file.read_text(encoding="utf-8"))
    }
    assert "@" in "".join(tokens)
    assert not said & tokens


def messages(script: UserScript, wrong: list[str], draw: random.Random) -> Iterator[str]:
    """What a bot of any kind might say, in any order."""
    while True:
        fact = draw.choice(script.facts)
        said = draw.choice(wrong) if wrong else "nothing"
        yield draw.choice(
            (
                "One moment please.",
                f"Could you give me your {fact.key}?",
                f"Your {fact.key} is {fact.value}. Is that right?",
                f"Your {fact.key} is {said}, is that right?",
                f"I have noted {said}.",
                f"You said {said} first. Could you tell me your {fact.key} and your name?",
                "I could not find anything with that.",
                "Unfortunately I cannot do that. Is there anything else?",
                "It has been done. Anything else I can help with?",
                "Shall I go ahead? There is a fee of 5.00.",
                "What is the matter?",
                "请提供您的订单号。",
                "没有找到。还有其他需要吗?",
                "Which one?",
            )
        )


@pytest.mark.parametrize("name", NAMES)
async def test_whatever_a_bot_says_no_persona_goes_beyond_what_it_may(
    world: World, personas: dict[str, PersonaType], name: str
) -> None:
    """The engine raises PluginFault otherwise."""
    kind = personas[name]
    scripts = [s for t in world.pack.tasks.values() if misfit(kind, s := user_script(t)) is None]
    for number, script in enumerate(scripts[::8]):
        draw = random.Random(number)
        part = cast(kind, kind.options(), number, script)
        user = ScriptedUser(script, part, number)
        line = await user.open()
        for message in itertools.islice(messages(script, list(part.role.misstates.values()), draw), 14):
            if line.done or line.gave_up:
                break
            line = await user.answer(message)
            assert line.text.strip()
