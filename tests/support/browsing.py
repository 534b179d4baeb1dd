"""A real Chromium, whose pages are watched for errors and for requests to elsewhere."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, sync_playwright

Open = Callable[..., AbstractContextManager[tuple[Page, "Watched"]]]
PATIENCE = 30_000  # milliseconds that a page may take to show what is waited for
_ANSWER = re.compile(r"the server responded with a status of (\d+)")


@dataclass
class Watched:
    """What went wrong in a page. `allowed`: the statuses that the test asks for on purpose."""

    host: str
    allowed: set[int] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def on_console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        answer = _ANSWER.search(message.text)
        if answer is None or int(answer[1]) not in self.allowed:
            self.problems.append(f"{message.location['url']}: {message.type}: {message.text}")

    def on_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data" and parts.netloc != self.host:
            self.problems.append(f"a request to elsewhere: {request.url}")


def program() -> str:
    """Where Chromium is; skips the test where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium is installed: apt-get install chromium")


@contextmanager
def watched_page(base_url: str, **options: Any) -> Iterator[tuple[Page, Watched]]:
    """A page in a browser of its own. At the end nothing may have gone wrong in it.

    The browser's loop runs in this thread, so Django's database is used before and after the block only.
    """
    watched = Watched(urlsplit(base_url).netloc)
    quiet = [
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=quiet)
        context = browser.new_context(base_url=base_url, **options)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("console", watched.on_console)
        page.on("pageerror", lambda error: watched.problems.append(f"a script failed: {error}"))
        page.on("request", watched.on_request)
        yield page, watched
        browser.close()
    if watched.problems:
        pytest.fail("\n".join(watched.problems))
