"""The pack's articles, searched with SQLite's FTS5. One read-only index for a world, shared by its sandboxes."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from assay.engine.packs.models import Section
from assay.engine.sandbox.arguments import ArgumentChecker
from assay_sdk import ToolSpec

#: A question of a bot is cut to so many words.
MOST_WORDS = 32
SNIPPET_WORDS = 24
#: Answers kept: bots ask the same again and again, and the articles never change.
MOST_REMEMBERED = 1_000

_WORD = re.compile(r"\w+")

SEARCH = "knowledge_search"
READ = "knowledge_read"

_SEARCH_INPUT = {
    "type": "object",
    "required": ["query"],
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Words to look for."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 20,
            "default": 5,
            "description": "At most so many sections.",
        },
    },
}
_READ_INPUT = {
    "type": "object",
    "required": ["section"],
    "properties": {
        "section": {"type": "string", "description": "The id of a section, as knowledge_search gives it."}
    },
}


class Knowledge:
    """The two tools. Safe to use from several threads."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = {s.id: s for s in sections}
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, int], list[tuple[Any, ...]]] = {}
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE sections USING fts5(id UNINDEXED, article, heading, text,"
            " tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self._connection.executemany(
            "INSERT INTO sections VALUES (?, ?, ?, ?)",
            [(s.id, s.article, s.heading, s.text) for s in sections],
        )
        self.checkers: Mapping[str, ArgumentChecker] = {
            SEARCH: ArgumentChecker(_SEARCH_INPUT),
            READ: ArgumentChecker(_READ_INPUT),
        }
        self.specs = (
            ToolSpec(
                SEARCH,
                "Search the knowledge articles. Returns the sections that fit best, each with a snippet; "
                "read one in full with knowledge_read.",
                self.checkers[SEARCH].schema,
                "read",
            ),
            ToolSpec(
                READ, "Read a section of a knowledge article in full.", self.checkers[READ].schema, "read"
            ),
        )

    def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Up to `limit` sections by BM25, those whose headings match first among equals."""
        words = _WORD.findall(query)[:MOST_WORDS]
        if not words:
            return []
        # Each word quoted: what the bot writes is never read as FTS5 syntax.
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(w.casefold() for w in words))
        with self._lock:
            rows = self._answers.get((match, limit))
            if rows is None:
                if len(self._answers) >= MOST_REMEMBERED:
                    self._answers.clear()
                rows = self._answers[(match, limit)] = self._connection.execute(
                    "SELECT id, article, heading, snippet(sections, 3, '', '', '...', ?) FROM sections"
                    " WHERE sections MATCH ? ORDER BY bm25(sections, 0.0, 2.0, 3.0, 1.0), rowid LIMIT ?",
                    (SNIPPET_WORDS, match, limit),
                ).fetchall()
        names = ("section", "article", "heading", "snippet")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def read(self, section: str) -> dict[str, Any] | None:
        """One section in full; None when there is none with this id."""
        found = self._sections.get(section)
        if found is None:
            return None
        return {"section": found.id, "article": found.article, "heading": found.heading, "text": found.text}
