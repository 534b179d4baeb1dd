"""Lines that a person types, from a terminal or a pipe, and what is printed for them."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

import click

from assay_sdk import AssayError

LONGEST_LINE = 20_000  # characters
MOST_LINES = 2_000  # typed in one conversation
_SHOWN_LINES = 60  # of one result or text, before /more

Completer = Callable[
    [str], Sequence[str]
]  # the line up to the cursor -> the words that could stand at its end


class Stopped(AssayError):
    """The person pressed Ctrl-C instead of typing a line."""


class Terminal:
    """Asks for lines and prints. Input that cannot be used (too long, not UTF-8) counts as its end.

    `stopped`: Ctrl-C was pressed while a line was awaited.
    `out` is where the conversation is shown. On a terminal lines can be edited and completed; from a pipe they are
    printed as they are read, so that what is shown can be followed.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._typed = sys.stdin.isatty()  # who types sees it already
        # Python's input() edits lines only there, and prompts on standard output.
        self._edited = self._typed and out is sys.stdout and out.isatty()
        self.stopped = False
        self._lines = 0
        self._rest: list[str] = []

    def ask(self, prompt: str, complete: Completer | None = None) -> str | None:
        """The next line without its end; None when there is no more input. Raises Stopped."""
        self._lines += 1
        if self._lines > MOST_LINES:
            self.say(f"More than {MOST_LINES:,} lines were typed; this is the end of the input.")
            return None
        try:
            with _interruptible():
                line = self._read(prompt, complete)
        except KeyboardInterrupt:
            self.stopped = True
            self.say("")
            raise Stopped("Stopped.") from None
        except EOFError:
            if self._typed:
                self.say("")
            return None
        except UnicodeDecodeError:
            self.say("What was typed is not UTF-8; this is the end of the input.")
            return None
        line = line.rstrip("\r\n")
        if len(line) > LONGEST_LINE:
            self.say(f"A line has more than {LONGEST_LINE:,} characters; this is the end of the input.")
            return None
        return line.strip()

    def _read(self, prompt: str, complete: Completer | None) -> str:
        if self._edited:
            _prepare(complete)
            return input(f"{prompt} ")
        if self._typed:
            click.echo(f"{prompt} ", file=self._out, nl=False)
        line = sys.stdin.readline(LONGEST_LINE + 2)
        if not line:
            raise EOFError
        if not self._typed:
            self.say(f"{prompt} {line.rstrip()}" if len(line) <= LONGEST_LINE else prompt)
        return line

    def say(self, text: str, label: str = "", colour: str | None = None) -> None:
        """Print a text, its first line behind `label`. Control characters of bots and tools are left out."""
        shown = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")
        start = click.style(f"{label} ", fg=colour, bold=True) if label else ""
        click.echo(f"{start}{shown}", file=self._out)

    def say_long(self, text: str) -> None:
        """Print a text; what goes beyond a screen or two comes with `more`."""
        lines = text.splitlines()
        self.say("\n".join(lines[:_SHOWN_LINES]))
        self._rest = lines[_SHOWN_LINES:]
        if self._rest:
            self.say(f"... {len(self._rest)} more lines: /more")

    def more(self) -> None:
        """What the last long text had left."""
        if self._rest:
            self.say_long("\n".join(self._rest))
        else:
            self.say("There is no more.")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt at once: asyncio's own handler would only note it and wait for the line first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _prepare(complete: Completer | None) -> None:
    """Editing, history and completion, where Python was built with readline."""
    try:
        import readline
    except ImportError:
        return
    words: Sequence[str] = ()

    def give(_: str, state: int) -> str | None:
        nonlocal words
        if state == 0:
            words = complete(readline.get_line_buffer()[: readline.get_endidx()]) if complete else ()
        return words[state] if state < len(words) else None

    readline.set_completer_delims(" \t\n")
    readline.set_completer(give)
    readline.parse_and_bind("tab: complete")
