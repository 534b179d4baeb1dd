"""Clauses of a policy and sections of articles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.engine.packs.findings import Findings, shown
from assay.engine.packs.models import Clause, Section, Source

#: Sections and clauses of a pack; nobody reads more.
MOST = 10_000

_ID = re.compile(r"\{#([^{}\n]*)\}")
_CLAUSE = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*(?:\.[A-Z0-9]+)*")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class _Block:
    """A heading, a paragraph or an item: its lines, and the number of the first."""

    line: int
    lines: list[str]


def clauses(path: str, text: str, findings: Findings) -> dict[str, Clause]:
    """The clauses of a policy by id; text without the id. Ids that are malformed or misplaced become problems."""
    found: dict[str, Clause] = {}
    for block in _blocks(text):
        if findings.enough(path):
            break
        if len(found) > MOST:
            message = f"The policy has more than {MOST:,} clauses; shorten it."
            findings.add(path, block.line, message, "too_many_clauses")
            break
        for number, line in enumerate(block.lines):
            end = len(line.rstrip()) if number == len(block.lines) - 1 else -1
            for match in _ID.finditer(line):
                source = Source(path, block.line + number)
                wrong = _wrong_id(match.group(1), found, last=match.end() == end)
                if wrong is None:
                    found[match.group(1)] = Clause(match.group(1), _words(block, match.group()), source)
                    continue
                findings.add(path, source.line, wrong[0], wrong[1])
                if wrong[1] == "misplaced_clause_id":  # tasks that name it are not to blame
                    found.setdefault(match.group(1), Clause(match.group(1), "", source))
                break
    return found


def _wrong_id(name: str, found: dict[str, Clause], *, last: bool) -> tuple[str, str] | None:
    """A sentence and a code for an id that cannot be one; None for a good one."""
    if len(name) > 64 or not _CLAUSE.fullmatch(name):
        sentence = (
            f"{shown(name)} is no clause id; write capital letters, digits, '-' and '.', like {{#RET-4.2}}."
        )
        return sentence, "bad_clause_id"
    if not last:
        sentence = f"{{#{name}}} must stand at the end of its paragraph, list item or heading; move it there."
        return sentence, "misplaced_clause_id"
    if name in found:
        line = found[name].source.line
        return f"The clause id {name} appears twice, first in line {line}; change one.", "duplicate_clause"
    return None


def _words(block: _Block, mark: str) -> str:
    """The text of a block on one line, without its clause id and the mark of an item or heading."""
    words = " ".join(" ".join(block.lines).split()).removesuffix(mark).strip()
    item = _ITEM.match(words)
    return words[item.end() :] if item else words.lstrip("#").strip()


def sections(path: str, text: str, findings: Findings) -> list[Section]:
    """The sections of an article, in order; nothing when it has no title or no text, which is a problem."""
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    title = ""
    parts: list[tuple[str, int, list[str]]] = [("", 1, [])]
    for number, line, fenced in _lines(text):
        level, words = (0, "") if fenced else _heading(line)
        if level == 1 and not title:
            title = words
        elif level == 2:
            if len(parts) > MOST:
                message = f"The article has more than {MOST:,} sections; shorten it."
                findings.add(path, number, message, "too_many_sections")
                return []
            if not words:
                findings.add(path, number, "A section needs a heading: write '## Heading'.", "empty_heading")
            parts.append((words, number, []))
        else:
            parts[-1][2].append(line)
    if not title:
        findings.add(path, 1, "The article needs a title: begin it with '# Title'.", "no_title")
        return []
    made: list[Section] = []
    taken: dict[str, int] = {}
    for heading_text, number, lines in parts:
        body = "\n".join(lines).strip()
        if not body and not heading_text:
            continue
        name = _unique(_slug(heading_text), taken)
        made.append(Section(f"{stem}#{name}", title, heading_text or title, body, Source(path, number)))
    if not made:
        findings.add(
            path, 1, "The article has a title and no text; write some, or delete the file.", "empty_article"
        )
    return made


def _heading(line: str) -> tuple[int, str]:
    """The level of a heading and its words without closing marks; level 0 for any other line."""
    mark = _HEADING.match(line)
    if mark is None:
        return 0, ""
    words = line[mark.end() :].strip()
    open_end = words.rstrip("#")
    return len(mark.group(1)), open_end.strip() if not open_end or open_end[-1] in " \t" else words


def _slug(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.casefold()).strip("-")


def _unique(name: str, taken: dict[str, int]) -> str:
    """The second `## Rates` of an article becomes `rates-2`. `taken` counts how often a name was asked for."""
    unique = name
    while unique in taken:
        taken[name] += 1
        unique = f"{name}-{taken[name]}"
    taken[unique] = 1
    return unique


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """(number, line, whether it belongs to a fenced code block)."""
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if fence:
            yield number, line, True
            closes = mark is not None and mark.group(1)[0] == fence[0] and len(mark.group(1)) >= len(fence)
            if closes and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark.group(1)
            yield number, line, True
        else:
            yield number, line, False


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of a text outside of fenced code. A line that begins an item or a heading begins a block."""
    block: _Block | None = None
    for number, line, fenced in _lines(text):
        heading = not fenced and _HEADING.match(line) is not None
        if fenced or not line.strip() or heading or _ITEM.match(line):
            if block is not None:
                yield block
            block = None
        if fenced or not line.strip():
            continue
        if heading:
            yield _Block(number, [line])
        elif block is None:
            block = _Block(number, [line])
        else:
            block.lines.append(line)
    if block is not None:
        yield block
