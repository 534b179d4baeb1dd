"""The labelled lines of tests/data/user_lines.jsonl, each in its conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.engine.dialogue.audit import Scene
from assay_sdk import Fact, Liberty, Reaction, Role, UserLine, UserScript

DATA = Path(__file__).parents[3] / "data"


@dataclass(frozen=True)
class Labelled:
    """`label`: ok, or the kind of what is wrong with `line` as the answer to the last message of `talk`."""

    number: int
    script: str
    talk: tuple[str, ...]
    line: UserLine
    label: str

    def scene(self) -> Scene:
        """The conversation up to the line."""
        script, liberties = scripts()[self.script]
        scene = Scene(Role(script), liberties)
        scene.say(UserLine(script.opening))
        for number, text in enumerate(self.talk):
            if number % 2:
                scene.say(UserLine(text))
            else:
                scene.hear(text)
        return scene


@cache
def scripts() -> dict[str, tuple[UserScript, frozenset[Liberty]]]:
    known = json.loads((DATA / "user_scripts.json").read_text(encoding="utf-8"))
    return {name: (_script(data), frozenset(_liberties(data))) for name, data in known.items()}


def lines() -> Iterator[Labelled]:
    with (DATA / "user_lines.jsonl").open(encoding="utf-8") as file:
        for number, row in enumerate(map(json.loads, file), start=1):
            line = UserLine(row["line"], row["leaves"] == "done", row["leaves"] == "gave_up")
            yield Labelled(number, row["script"], tuple(row["talk"]), line, row["label"])


def _script(data: dict) -> UserScript:  # type: ignore[type-arg]
    return UserScript(
        data["opening"],
        data["goal"],
        tuple(Fact(f["key"], f["value"], tuple(f["aliases"])) for f in data["facts"]),
        tuple(Reaction(r["when"], tuple(r["match"]), r["then"], r["say"]) for r in data["reactions"]),
        tuple(data["follow_ups"]),
        data["closing"],
    )


def _liberties(data: dict) -> set[Liberty]:  # type: ignore[type-arg]
    return {Liberty.LANGUAGE} if data.get("language") else set()
