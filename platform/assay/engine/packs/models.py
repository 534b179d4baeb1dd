"""Domain pack, format 1, as Python objects. The text of the format is docs/reference/pack-format.md.

The `...File` classes mirror the files as they are written (and give the JSON Schema); `Pack` is a whole
pack after loading, immutable, and is what the rest of the engine works with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

FORMAT = 1

PackName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}$")]
ToolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{2,63}$")]
Binding = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
ErrorCode = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{1,39}$")]
ClauseId = Annotated[
    str, StringConstraints(max_length=64, pattern=r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*(\.[A-Z0-9]+)*$")
]
TaskId = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+$")]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
# As long as the platform's columns of the same names.
PackTitle = Annotated[Line, StringConstraints(max_length=200)]
TaskTitle = Annotated[Line, StringConstraints(max_length=300)]
Group = Annotated[Line, StringConstraints(max_length=100)]
Locale = Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]  # ISO 4217
# Strict, because YAML 1.2 says what is a boolean or a number, and pydantic would take "yes" and "1" as well.
Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _form(value: object) -> str:
    """Which member of a union a value is meant to be, by its form alone. The tags are no possible keys."""
    if isinstance(value, Mapping):
        return "<fields>" if "fields" in value else "<mapping>"
    if isinstance(value, list | tuple):
        return "<list>"
    return (
        "<fields>" if isinstance(value, Fields) else "<mapping>" if isinstance(value, BaseModel) else "<text>"
    )


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PackFile(Strict):
    """pack.yaml"""

    format: Literal[1]
    name: PackName
    version: Version
    title: PackTitle
    locale: Locale = "en-US"
    clock: Line  # ISO 8601 with an offset; the loader checks it
    currency: Currency | None = None  # of the amounts under `cost` in comparison.yaml
    bot: Line
    shares: tuple[PackName, ...] = ()


class ToolError(Strict):
    error: ErrorCode
    message: Line


class Step(Strict):
    """One step of a tool: exactly one of the five shapes of the format."""

    one: Binding | None = None
    maybe: Binding | None = None
    many: Binding | None = None
    sql: Line | None = None
    require: Line | None = None
    otherwise: ToolError | None = None

    @model_validator(mode="after")
    def _one_shape(self) -> Step:
        named = [k for k in ("one", "maybe", "many") if getattr(self, k) is not None]
        if len(named) > 1:
            raise ValueError(f"a step is one of one, maybe, many, not {' and '.join(named)}")
        if self.require is not None:
            if named or self.sql is not None:
                raise ValueError("a 'require' step has only 'require' and 'otherwise'")
            if self.otherwise is None:
                raise ValueError("a 'require' step needs 'otherwise: {error: ..., message: ...}'")
        elif self.sql is None:
            raise ValueError("a step needs 'sql' (or 'require')")
        elif self.otherwise is not None and self.one is None:
            raise ValueError("only 'one' and 'require' steps can have 'otherwise'")
        return self

    @property
    def shape(self) -> Literal["one", "maybe", "many", "write", "require"]:
        if self.require is not None:
            return "require"
        if self.one is not None:
            return "one"
        if self.maybe is not None:
            return "maybe"
        return "many" if self.many is not None else "write"

    @property
    def binding(self) -> str | None:
        return self.one or self.maybe or self.many


class ManyRows(Strict):
    many: Line


class Fields(Strict):
    fields: dict[
        str,
        Annotated[
            Annotated[Line, Tag("<text>")] | Annotated[ManyRows, Tag("<mapping>")], Discriminator(_form)
        ],
    ]


Result = Annotated[
    Annotated[Line, Tag("<text>")]
    | Annotated[ManyRows, Tag("<mapping>")]
    | Annotated[Fields, Tag("<fields>")],
    Discriminator(_form),
]


class Tool(Strict):
    name: ToolName
    kind: Literal["read", "write"]
    system: Line | None = None
    description: Line
    input: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    steps: tuple[Step, ...] = ()
    result: Result | None = None

    @model_validator(mode="after")
    def _does_something(self) -> Tool:
        if self.kind == "read" and self.result is None:
            raise ValueError("a read tool needs 'result'")
        if self.kind == "write" and not any(s.sql for s in self.steps):
            raise ValueError("a write tool needs a step that writes")
        return self


class Tolerance(Strict):
    tolerance: Annotated[Number, Field(gt=0)]


ColumnRule = Annotated[
    Annotated[Literal["exact", "ignore", "text", "casefold", "set"], Tag("<text>")]
    | Annotated[Tolerance, Tag("<mapping>")],
    Discriminator(_form),
]
Phrase = Annotated[
    Annotated[Line, Tag("<text>")] | Annotated[tuple[Line, ...], Tag("<list>")], Discriminator(_form)
]


class CostRule(Strict):
    """A column that holds money: what was done with it ("refunded"), and who bears it when it is too much."""

    what: Annotated[Line, StringConstraints(max_length=40)]
    paid_by: Literal["company", "customer"]


class TableRules(Strict):
    key: tuple[Line, ...] = ()
    columns: dict[str, ColumnRule] = Field(default_factory=dict)
    cost: dict[
        str,
        Annotated[
            Annotated[Literal["none"], Tag("<text>")] | Annotated[CostRule, Tag("<mapping>")],
            Discriminator(_form),
        ],
    ] = Field(default_factory=dict)


class ComparisonFile(Strict):
    """comparison.yaml"""

    ignore_tables: tuple[Line, ...] = ()
    tables: dict[str, TableRules] = Field(default_factory=dict)


class FactEntry(Strict):
    """What the customer knows. `decides` names what the fact settles without standing in it: `tool.argument`
    of an expected action, or a clause."""

    key: Line
    value: Line
    aliases: tuple[Line, ...] = ()
    decides: tuple[Line, ...] = ()


class ReactionEntry(Strict):
    when: Line
    match: tuple[Line, ...] = ()
    then: Literal["accept", "refuse", "insist", "give_up", "say"]
    say: Line | None = None

    @model_validator(mode="after")
    def _say(self) -> ReactionEntry:
        if (self.then == "say") != (self.say is not None):
            raise ValueError("'say' goes with 'then: say', and only with it")
        return self


class UserEntry(Strict):
    opening: Line
    goal: Line
    facts: tuple[FactEntry, ...] = ()
    reactions: tuple[ReactionEntry, ...] = ()
    follow_ups: tuple[Line, ...] = ()
    closing: Line = "Thanks, that is all."


class Derivation(Strict):
    """How a computed value follows from what is known.

    The clause of the policy, or the section of an article, that says so, and one SELECT over results of earlier
    actions (`:order.total`), constants and the clock.
    """

    clause: ClauseId | None = None
    section: Line | None = None
    value: Line

    @model_validator(mode="after")
    def _has_ground(self) -> Derivation:
        if self.clause is None and self.section is None:
            raise ValueError(
                "a derivation needs 'clause' (or 'section', for a rule that stands in an article)"
            )
        return self


class Action(Strict):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    tool: ToolName
    args: dict[str, Any] = Field(default_factory=dict)
    as_: Binding | None = Field(default=None, alias="as")
    derived: dict[str, Derivation] = Field(default_factory=dict)  # by argument


class Alternative(Strict):
    why: Line
    actions: tuple[Action, ...]


class Equivalent(Strict):
    """A mutant of the expected actions that is right as well, by its name in the verifier's report."""

    mutant: Line
    why: Line


class Expected(Strict):
    actions: tuple[Action, ...] = ()
    no_change: Flag = False
    also_accept: tuple[Alternative, ...] = ()
    equivalents: tuple[Equivalent, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Expected:
        if not self.actions and not self.no_change:
            raise ValueError("'expected' needs 'actions', or 'no_change: true' when nothing may change")
        return self


class ReplyRule(Strict):
    must: Line | None = None
    must_not: Line | None = None
    must_not_contain_from: Line | None = None
    phrases: tuple[Phrase, ...] = ()
    numbers: tuple[Number, ...] = ()
    contradictions: tuple[Line, ...] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> ReplyRule:
        kinds = [k for k in ("must", "must_not", "must_not_contain_from") if getattr(self, k) is not None]
        if len(kinds) != 1:
            raise ValueError("a reply rule has exactly one of must, must_not, must_not_contain_from")
        if self.must is None and (self.numbers or self.contradictions):
            raise ValueError("'numbers' and 'contradictions' go with 'must'")
        if self.must_not is not None and not self.phrases:
            raise ValueError("'must_not' needs 'phrases'")
        if self.must_not_contain_from is not None and self.phrases:
            raise ValueError("'must_not_contain_from' stands alone")
        return self


class Hardness(StrEnum):
    HIDDEN_INFORMATION = "hidden_information"
    ELIGIBILITY_BRANCH = "eligibility_branch"
    COMPUTED_AMOUNT = "computed_amount"
    COMPUTED_DATE = "computed_date"
    IRREVERSIBLE_STEP = "irreversible_step"
    TOOL_REFUSAL = "tool_refusal"
    TWO_REQUESTS = "two_requests"
    MUST_REFUSE = "must_refuse"
    PARTLY_ALLOWED = "partly_allowed"
    IDENTITY_MISMATCH = "identity_mismatch"
    MISTAKEN_CUSTOMER = "mistaken_customer"


class Task(Strict):
    id: TaskId
    title: TaskTitle
    group: Group | None = None
    clauses: tuple[ClauseId, ...] = ()
    trap: Line | None = None
    hardness: tuple[Hardness, ...] = ()
    tags: tuple[Line, ...] = ()
    world: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    user: UserEntry
    expected: Expected
    reply: tuple[ReplyRule, ...] = ()

    @property
    def group_name(self) -> str:
        """The group of the results table: as given, else the middle part of the id."""
        if self.group:
            return self.group
        parts = re.split("-", self.id)
        return parts[1].lower() if len(parts) > 2 else parts[0].lower()


@dataclass(frozen=True, slots=True)
class Source:
    """Where something stands: path inside the pack, line from 1."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Clause:
    id: str
    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an article: id is `file-stem#slug`."""

    id: str
    article: str  # title of the article
    heading: str
    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class SeedRow:
    table: str
    values: Mapping[str, Any]
    source: Source


@dataclass(frozen=True)
class Pack:
    """A loaded, valid pack version. Immutable; may be shared between threads."""

    manifest: PackFile
    clock: datetime
    policy: str
    clauses: Mapping[str, Clause]
    sections: Sequence[Section]
    schema_sql: Sequence[tuple[str, str]]  # (path, text), in order of execution
    seed: Sequence[SeedRow]
    tools: Mapping[str, Tool]
    comparison: ComparisonFile
    tasks: Mapping[str, Task]
    content_hash: str  # hex SHA-256
    files: Mapping[str, bytes] = field(repr=False)
    sources: Mapping[str, Source] = field(repr=False)  # "task:ID", "tool:NAME" -> where

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def version(self) -> str:
        return self.manifest.version

    @property
    def instructions(self) -> str:
        """What the bot is given: who it is, then the policy."""
        return f"{self.manifest.bot.strip()}\n\n{self.policy.strip()}\n"
