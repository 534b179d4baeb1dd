"""A person in the bot's place: what they type is the bot's replies and calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from assay.cli.terminal import Terminal
from assay.cli.typed_calls import completions, describe, find_tool, read_call
from assay_sdk import BotContext, BotEnding, BotReply, OptionsError, ToolResult, ToolSpec

SEARCH, READ = "knowledge_search", "knowledge_read"
_WIDEST = 100  # characters of a result on one line

HELP = """\
What you type goes to the customer. Lines that begin with / are for you:

  /call TOOL key=value ...   call a tool; quotes around a value with spaces, or JSON: /call TOOL {"key": 1}
  /tools [words]             the tools, or those about the words; /tool NAME shows one with its arguments
  /policy [words]            your instructions and the policy, or its paragraphs with the words
  /search words              search the articles;  /read SECTION shows a section (both are calls)
  /more                      the rest of what was too long
  /done [words]              say the words and end the conversation;  /handover [words] hands over to a person
  /help                      this

The end of the input (Ctrl-D) is /done. Ctrl-C stops without a verdict."""


class PersonAsBot:
    """A connector whose bot is whoever sits at the terminal. See assay_sdk.Connector."""

    synthetic = False

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def describe(self) -> Mapping[str, Any]:
        return {"name": "person", "title": "A person at the terminal"}

    async def open(self, context: BotContext) -> BotSeat:
        return BotSeat(self._terminal, context)

    async def aclose(self) -> None:
        """Nothing is held open."""


class BotSeat:
    """One conversation. See assay_sdk.BotSession."""

    def __init__(self, terminal: Terminal, context: BotContext) -> None:
        self._terminal = terminal
        self._context = context
        self._tools: dict[str, ToolSpec] = {spec.name: spec for spec in context.tools.specs}
        self._shown: dict[str, Callable[[str], None]] = {
            "/help": lambda _: terminal.say(HELP),
            "/tools": self._list_tools,
            "/tool": lambda name: terminal.say(describe(find_tool(name, self._tools))),
            "/policy": self._show_policy,
            "/more": lambda _: terminal.more(),
        }
        self._commands = [*self._shown, "/call", "/search", "/read", "/done", "/handover"]

    async def respond(self, message: str) -> BotReply:
        """What the person says next, after as many calls as they like. Raises LimitReached, PackFault, Stopped."""
        self._terminal.say(message, "customer>", "cyan")
        while True:
            # Blocks the event loop on purpose: nothing else goes on, and Ctrl-C gets through.
            line = self._terminal.ask("bot>", self._complete)
            if line is None:
                return BotReply("", BotEnding.CLOSED)
            if not line:
                self._terminal.say("(Type what you say to the customer, or /help.)")
            elif not line.startswith("/"):
                return BotReply(line)
            else:
                reply = await self._command(line)
                if reply is not None:
                    return reply

    async def close(self) -> None:
        """Nothing is held open."""

    def notes(self) -> Mapping[str, Any]:
        return {"played_by": "person"}

    async def _command(self, line: str) -> BotReply | None:
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        if name in ("/done", "/handover"):
            return BotReply(rest, BotEnding.CLOSED if name == "/done" else BotEnding.HANDOVER)
        try:
            if name == "/call":
                await self._call(*read_call(rest, self._tools))
            elif name == "/search":
                await self._look(SEARCH, "query", rest)
            elif name == "/read":
                await self._look(READ, "section", rest)
            elif name in self._shown:
                self._shown[name](rest)
            else:
                self._terminal.say(f"There is no command {name}; /help lists them.")
        except OptionsError as error:
            self._terminal.say(str(error))
        return None

    # --- calls ----------------------------------------------------------------------------------

    async def _look(self, tool: str, argument: str, text: str) -> None:
        if tool not in self._tools:
            raise OptionsError("This pack has no articles.")
        if not text:
            raise OptionsError("Say what to look for: /search words, or /read SECTION as a search names it.")
        await self._call(tool, {argument: text})

    async def _call(self, tool: str, arguments: Mapping[str, Any] | str) -> None:
        result = await self._context.tools.call(tool, arguments)
        self._terminal.say_long(result_text(tool, result))

    # --- what can be looked at without a call ---------------------------------------------------

    def _list_tools(self, words: str) -> None:
        wanted = words.casefold().split()
        found = [
            spec
            for spec in self._tools.values()
            if all(word in f"{spec.name} {spec.description}".casefold() for word in wanted)
        ]
        if not found:
            raise OptionsError(f"No tool is about {words!r}; /tools lists them all.")
        width = max(len(spec.name) for spec in found)
        lines = [
            f"  {spec.name:<{width}}  {'writes' if spec.kind == 'write' else 'reads '}  "
            f"{' '.join(spec.description.split())}"
            for spec in found
        ]
        self._terminal.say_long("\n".join(lines))

    def _show_policy(self, words: str) -> None:
        text = self._context.instructions.strip()
        if words:
            wanted = words.casefold().split()
            parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text)
            found = [part.strip() for part in parts if all(word in part.casefold() for word in wanted)]
            if not found:
                raise OptionsError(f"Nothing in your instructions holds {words!r}; /policy shows them all.")
            text = "\n\n".join(found)
        self._terminal.say_long(f"{text}\n\nIt is now {self._context.now}." if not words else text)

    def _complete(self, line: str) -> list[str]:
        return completions(line, self._tools, self._commands)


def result_text(tool: str, result: ToolResult) -> str:
    """The answer to a call, for people: on one line when it fits."""
    if not result.ok:
        return f"{tool} refused, {result.error}: {result.message}"
    short = json.dumps(result.content, ensure_ascii=False)
    if len(short) <= _WIDEST:
        return f"{tool}: {short}"
    return f"{tool}:\n{json.dumps(result.content, ensure_ascii=False, indent=2)}"
