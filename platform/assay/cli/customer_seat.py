"""A person in the customer's place, and a look at what the bot calls meanwhile."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.cli.bot_seat import result_text
from assay.cli.terminal import Terminal
from assay_sdk import BotContext, BotSession, Connector, ToolDoor, ToolResult, ToolSpec, UserLine, UserScript

HELP = """\
What you type goes to the bot. An empty first line says the opening as the task has it. Lines that begin with /:

  /facts            who you are, what you want and what you know
  /done [words]     you have what you came for: say the words (or the task's closing) and leave
  /give_up [words]  leave without it
  /help             this

The end of the input (Ctrl-D) is /done. Ctrl-C stops without a verdict."""

_REACTIONS = {
    "accept": "you agree",
    "refuse": "you say no",
    "insist": "you ask for it again, twice at most",
    "give_up": "you give up and leave",
    "say": "",
}


class CustomerSeat:
    """One conversation. See assay_sdk.SimulatedUser. Its methods raise Stopped."""

    def __init__(self, terminal: Terminal, script: UserScript) -> None:
        self._terminal = terminal
        self._script = script

    async def open(self) -> UserLine:
        self._terminal.say(self._hints())
        while True:
            line = self._terminal.ask("you>", _complete)
            if line is None:  # nothing was said: the opening, so that there is a conversation to judge
                return UserLine(self._script.opening)
            if not line:
                self._terminal.say(self._script.opening, "you>", "cyan")
                return UserLine(self._script.opening)
            if not line.startswith("/"):
                return UserLine(line, facts_given=self._facts_in(line))
            self._look(line)

    async def answer(self, bot_message: str) -> UserLine:
        self._terminal.say(bot_message, "bot>", "green")
        while True:
            line = self._terminal.ask("you>", _complete)
            if line is None:
                return UserLine(self._script.closing, done=True)
            name, _, rest = line.partition(" ")
            if name in ("/done", "/give_up"):
                words = rest.strip() or (self._script.closing if name == "/done" else "I give up. Goodbye.")
                return UserLine(words, done=name == "/done", gave_up=name == "/give_up")
            if line and not line.startswith("/"):
                return UserLine(line, facts_given=self._facts_in(line))
            self._look(line)

    def _look(self, line: str) -> None:
        name = line.partition(" ")[0]
        if not name:
            self._terminal.say("(Type what you say to the bot, or /help.)")
        elif name == "/facts":
            self._terminal.say(self._hints())
        elif name == "/help":
            self._terminal.say(HELP)
        elif name in ("/done", "/give_up"):
            self._terminal.say("Nothing has been said yet; type your opening first, or Ctrl-C to stop.")
        else:
            self._terminal.say(f"There is no command {name}; /help lists them.")

    def _hints(self) -> str:
        script = self._script
        lines = [
            "You are the customer.",
            f"  What you want:  {script.goal}",
            f"  Your opening:   {script.opening}",
        ]
        if script.facts:
            lines.append("  What you know, and say when you are asked:")
            lines += [f"    {fact.key}: {fact.value}" for fact in script.facts]
        if script.reactions:
            lines.append("  How you answer:")
            lines += [f"    {r.when}: {r.say or _REACTIONS[r.then]}" for r in script.reactions]
        if script.follow_ups:
            lines.append("  What you ask for next:")
            lines += [f"    {request}" for request in script.follow_ups]
        return "\n".join(lines)

    def _facts_in(self, line: str) -> tuple[str, ...]:
        said = line.casefold()
        return tuple(fact.key for fact in self._script.facts if fact.value.casefold() in said)


class Watched:
    """A connector that shows the calls of its bot's sessions. See assay_sdk.Connector."""

    def __init__(self, connector: Connector, terminal: Terminal) -> None:
        self._connector = connector
        self._terminal = terminal
        self.synthetic = connector.synthetic

    def describe(self) -> Mapping[str, Any]:
        return self._connector.describe()

    async def open(self, context: BotContext) -> BotSession:
        return await self._connector.open(replace(context, tools=_WatchedDoor(context.tools, self._terminal)))

    async def aclose(self) -> None:
        await self._connector.aclose()


class _WatchedDoor:
    def __init__(self, door: ToolDoor, terminal: Terminal) -> None:
        self._door = door
        self._terminal = terminal

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return self._door.specs

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolResult:
        result = await self._door.call(name, arguments)
        given = (
            arguments
            if isinstance(arguments, str)
            else json.dumps(arguments, ensure_ascii=False, default=str)
        )
        self._terminal.say(f"{name} {given}", "call>", "yellow")
        self._terminal.say_long(result_text(str(name), result))
        return result


def _complete(line: str) -> list[str]:
    commands = ("/facts", "/done", "/give_up", "/help")
    return [f"{c} " for c in commands if line.startswith("/") and " " not in line and c.startswith(line)]
