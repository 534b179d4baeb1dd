"""From the files of a pack to a Pack: every file read on its own, then what they say of each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from assay.engine.packs import manifest as manifests
from assay.engine.packs.bounds import canonical, check_paths, check_sizes, content_hash, decode, left_out
from assay.engine.packs.check_references import check_pack_checks
from assay.engine.packs.checks import ChecksFile
from assay.engine.packs.comparing import merge
from assay.engine.packs.findings import Findings
from assay.engine.packs.items import ItemReader
from assay.engine.packs.layout import Layout, sort_files
from assay.engine.packs.markdown import MOST, clauses, sections
from assay.engine.packs.models import (
    Clause,
    ComparisonFile,
    Pack,
    PackFile,
    Section,
    SeedRow,
    Source,
    Task,
    Tool,
)
from assay.engine.packs.problems import Problem
from assay.engine.packs.references import Known
from assay.engine.packs.seed import RowBudget, rows_of_csv, rows_of_yaml
from assay.engine.packs.shapes import validate
from assay.engine.packs.sources import Sources
from assay.engine.packs.yamls import Budget, Document, parse

MANIFEST = manifests.PATH
POLICY = "policy.md"


@dataclass(frozen=True, slots=True)
class Examined:
    """What became of the files.

    `pack` is there when there are no problems. `sound` is there when the world can be prepared all the
    same: the pack without its broken tools and tasks, so that their SQL and actions can be checked, too.
    """

    pack: Pack | None
    sound: Pack | None
    problems: list[Problem]


def examine(files: Mapping[str, bytes]) -> Examined:
    """Read the files of a pack ({path: bytes}, shared parts under `_shared/`) and report every problem."""
    return _Assembly(files).run()


class _Assembly:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._findings = Findings()
        self._given = files
        self._files: dict[str, bytes] = {}
        self._texts: dict[str, str] = {}
        self._documents: dict[str, Document | None] = {}
        self._sources = Sources()

    def run(self) -> Examined:
        if not self._take_files():
            return self._end(None)
        document = self._documents.get(MANIFEST)
        read = manifests.read_manifest(document, self._findings) if document is not None else None
        layout = sort_files(self._files, read[0].shares if read else (), self._findings)
        if read is not None and document is not None:
            manifests.check_shares(read[0], document, layout.shared, self._findings)
        seed = self._seed(layout)
        comparison = self._comparison(layout)
        schema = [(path, self._texts[path]) for path in layout.schemas if path in self._texts]
        articles = self._articles(layout)
        known_clauses = self._clauses()
        items = ItemReader(self._documents, self._sources, self._findings)
        tools = items.tools(layout.tools)
        known = Known(
            tools=tools.good,
            broken=None if tools.unread else frozenset(tools.broken),
            clauses=known_clauses,
            articles=bool(layout.articles),
        )
        checks = self._checks(layout, known)
        tasks = items.tasks(layout.tasks, known, checks)
        # When something of the world is broken, preparing it would only repeat that.
        world = ["world/schema.sql", *layout.schemas, *layout.seeds, *layout.comparisons, *layout.checks]
        if read is None or POLICY not in self._texts or any(self._findings.about(path) for path in world):
            return self._end(None)
        return self._end(
            self._pack(
                read, known_clauses or {}, articles, schema, seed, tools.good, comparison, tasks, checks
            )
        )

    def _end(self, sound: Pack | None) -> Examined:
        problems = self._findings.problems()
        return Examined(None if problems else sound, sound, problems)

    def _pack(
        self,
        read: tuple[PackFile, datetime],
        known_clauses: Mapping[str, Clause],
        articles: list[Section],
        schema: list[tuple[str, str]],
        seed: list[SeedRow],
        tools: Mapping[str, Tool],
        comparison: ComparisonFile,
        tasks: Mapping[str, Task],
        checks: ChecksFile,
    ) -> Pack:
        return Pack(
            manifest=read[0],
            clock=read[1],
            policy=self._texts[POLICY],
            clauses=known_clauses,
            sections=tuple(articles),
            schema_sql=tuple(schema),
            seed=tuple(seed),
            tools=tools,
            comparison=comparison,
            tasks=tasks,
            content_hash=content_hash(self._files),
            files=self._files,
            sources=self._sources,
            checks=checks,
        )

    def _take_files(self) -> bool:
        """Check names and sizes, normalise, decode; False when that is so wrong that nothing else can be said."""
        given = {path: data for path, data in self._given.items() if not left_out(path)}
        check_paths(self._given, self._findings)
        check_sizes({path: len(data) for path, data in given.items()}, self._findings, whole="the pack")
        if self._findings:
            return False
        budget = Budget()
        for path in sorted(given):
            data = canonical(given[path])
            self._files[path] = data
            text = decode(path, data, self._findings)
            if text is not None:
                self._texts[path] = text
                if path.endswith(".yaml"):
                    self._documents[path] = parse(path, text, self._findings, budget)
        return True

    def _seed(self, layout: Layout) -> list[SeedRow]:
        rows: list[SeedRow] = []
        budget = RowBudget()
        for path in layout.seeds:
            if path.endswith(".csv"):
                if path in self._texts:
                    rows += rows_of_csv(path, self._texts[path], self._findings, budget)
                continue
            document = self._documents.get(path)
            if document is not None:
                rows += rows_of_yaml(document, self._findings, budget)
        return rows

    def _comparison(self, layout: Layout) -> ComparisonFile:
        parts: list[tuple[ComparisonFile, Document]] = []
        for path in layout.comparisons:
            document = self._documents.get(path)
            if document is None or document.value is None:
                continue
            part = validate(ComparisonFile, document, self._findings)
            if part is not None:
                parts.append((part, document))
                for table in part.tables:
                    place = document.place.inside["tables"].inside[table]
                    line = document.line("tables", table, key=True)
                    self._sources.note(f"comparison:{table}", Source(path, line), place)
        return merge(parts, self._findings)

    def _checks(self, layout: Layout, known: Known) -> ChecksFile:
        for path in layout.checks:
            document = self._documents.get(path)
            if document is None or document.value is None:
                continue
            checks = validate(ChecksFile, document, self._findings)
            if checks is not None:
                self._sources.note("checks", Source(path, 1), document.place)
                check_pack_checks(checks, document, known, self._findings)
                return checks
        return ChecksFile()

    def _articles(self, layout: Layout) -> list[Section]:
        found: list[Section] = []
        stems: dict[str, str] = {}
        for path in layout.articles:
            stem = path.rsplit("/", 1)[-1]
            if stem in stems:
                message = f"{stems[stem]} is an article of the same name; rename one."
                self._findings.add(path, 0, message, "duplicate_article")
            elif path in self._texts:
                found += sections(path, self._texts[path], self._findings)
                if len(found) > MOST:
                    message = f"The articles have more than {MOST:,} sections; a pack must be smaller."
                    self._findings.add(path, 0, message, "too_many_sections")
                    return []
            stems.setdefault(stem, path)
        return found

    def _clauses(self) -> dict[str, Clause] | None:
        """None when the policy could not be read, so that tasks are not blamed for it."""
        text = self._texts.get(POLICY)
        if text is None:
            return None
        if not text.strip():
            self._findings.add(
                POLICY, 0, "The policy is empty; write what the bot is to keep to.", "empty_policy"
            )
        return clauses(POLICY, text, self._findings)
