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

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

from assay.engine.packs.basics import (
    Binding,
    ClauseId,
    Currency,
    ErrorCode,
    Flag,
    Group,
    Line,
    Locale,
    Number,
    PackName,
    PackTitle,
    Strict,
    TaskId,
    TaskTitle,
    ToolName,
    Version,
    form_of,
    keys_schema,
)
from assay.engine.packs.checks import ChecksFile, ReplyRule, TaskChecks

FORMAT = 1


class PackFile(Strict):
    """pack.yaml"""

    format: Literal[1]
    """The version of the pack format: 1."""
    name: PackName
    """Name of the pack, as the folder's: small letters, digits and _."""
    version: Version
    """MAJOR.MINOR.PATCH; raise it when a task, a clause or a row changes."""
    title: PackTitle
    """Name of the company or the pack, for people."""
    locale: Locale = "en-US"
    """Language tag of the conversations, such as en-US."""
    clock: Line  # ISO 8601 with an offset; the loader checks it
    """The frozen instant of every trial, with an offset: 2026-03-02T10:00:00-05:00."""
    currency: Currency | None = None  # of the amounts under `cost` in comparison.yaml
    """Currency of the amounts under `cost` in comparison.yaml, such as USD (ISO 4217)."""
    bot: Line
    """Who the bot is; the first part of its instructions, before the policy."""
    shares: tuple[PackName, ...] = ()
    """Shared parts, read from _shared/NAME in the pack or beside it."""


class ToolError(Strict):
    error: ErrorCode
    """Code that the bot gets, such as not_found: small letters and _."""
    message: Line
    """Sentence that the bot gets; {argument} and {name.column} are filled in."""


class Step(Strict):
    """One step of a tool: exactly one of the five shapes of the format."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {
                    "if": keys_schema("require"),
                    "then": keys_schema("otherwise", without=("sql", "one", "maybe", "many")),
                    "else": keys_schema("sql"),
                },
                {"if": keys_schema("one"), "then": keys_schema(without=("maybe", "many"))},
                {"if": keys_schema("maybe"), "then": keys_schema(without=("many",))},
                {
                    "if": keys_schema("otherwise"),
                    "then": {"anyOf": [keys_schema("one"), keys_schema("require")]},
                },
            ]
        }
    )

    one: Binding | None = None
    """Name for the row that `sql` gives; exactly one, else the error in `otherwise`. Use it as :NAME.column."""
    maybe: Binding | None = None
    """Name for the row that `sql` gives; without a row every :NAME.column is NULL."""
    many: Binding | None = None
    """Name for the rows that `sql` gives, as a JSON array for json_each(:NAME)."""
    sql: Line | None = None
    """One statement. Arguments are :argument; now(), today() and next_id('PREFIX') are there."""
    require: Line | None = None
    """A SELECT whose first column must be true; else the tool refuses with `otherwise`."""
    otherwise: ToolError | None = None
    """The refusal: {error: code, message: text}."""

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
    """A SELECT; its rows become a list of objects."""


class Fields(Strict):
    fields: dict[
        str,
        Annotated[
            Annotated[Line, Tag("<text>")] | Annotated[ManyRows, Tag("<mapping>")], Discriminator(form_of)
        ],
    ]
    """An object made of queries: name to SELECT (first row), or to {many: SELECT} (list)."""


Result = Annotated[
    Annotated[Line, Tag("<text>")]
    | Annotated[ManyRows, Tag("<mapping>")]
    | Annotated[Fields, Tag("<fields>")],
    Discriminator(form_of),
]


class Tool(Strict):
    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {"if": {"properties": {"kind": {"const": kind}}}, "then": {"required": [key]}}
                for kind, key in (("read", "result"), ("write", "steps"))
            ]
        }
    )

    name: ToolName
    """Name of the tool: 3 to 64 small letters, digits and _."""
    kind: Literal["read", "write"]
    """read looks up and may not write; write changes rows."""
    system: Line | None = None
    """The business system it belongs to, such as orders or billing."""
    description: Line
    """What the tool does, for the bot. Do not write policy here."""
    input: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema of the arguments, of type object. Parameters it does not list are refused."""
    steps: tuple[Step, ...] = ()
    """What the tool does, in order and in one transaction; an error leaves nothing behind."""
    result: Result | None = None
    """What the bot gets back: a SELECT (first row), {many: SELECT}, or {fields: {...}}."""

    @model_validator(mode="after")
    def _does_something(self) -> Tool:
        if self.kind == "read" and self.result is None:
            raise ValueError("a read tool needs 'result'")
        if self.kind == "write" and not any(s.sql for s in self.steps):
            raise ValueError("a write tool needs a step that writes")
        return self


class Tolerance(Strict):
    tolerance: Annotated[Number, Field(gt=0)]
    """Numbers that differ by no more than this are equal."""


ColumnRule = Annotated[
    Annotated[Literal["exact", "ignore", "text", "casefold", "set"], Tag("<text>")]
    | Annotated[Tolerance, Tag("<mapping>")],
    Discriminator(form_of),
]


class CostRule(Strict):
    """A column that holds money: what was done with it ("refunded"), and who bears it when it is too much."""

    what: Annotated[Line, StringConstraints(max_length=40)]
    """What was done with the money, as reports say it: refunded, charged."""
    paid_by: Literal["company", "customer"]
    """Who bears it when the amount is too high."""


class TableRules(Strict):
    key: tuple[Line, ...] = ()
    """Columns that tell rows made in a trial apart (natural key)."""
    columns: dict[str, ColumnRule] = Field(default_factory=dict)
    """How a column is compared: exact (default), ignore, text, casefold, set, {tolerance: N}."""
    cost: dict[
        str,
        Annotated[
            Annotated[Literal["none"], Tag("<text>")] | Annotated[CostRule, Tag("<mapping>")],
            Discriminator(form_of),
        ],
    ] = Field(default_factory=dict)
    """What a wrong amount in a column costs: {what, paid_by}, or none for money counted elsewhere."""


class ComparisonFile(Strict):
    """comparison.yaml"""

    ignore_tables: tuple[Line, ...] = ()
    """Tables that are never compared, such as logs."""
    tables: dict[str, TableRules] = Field(default_factory=dict)
    """Rules by table; what is not listed is compared exactly."""


class FactEntry(Strict):
    """What the customer knows. `decides` names what the fact settles without standing in it: `tool.argument`
    of an expected action, or a clause."""

    key: Line
    """What it is called; the customer tells it when asked for that."""
    value: Line
    """What the customer says, exactly."""
    aliases: tuple[Line, ...] = ()
    """Other words by which a bot may ask for it."""
    decides: tuple[Line, ...] = ()
    """What it settles without standing in it: tool.argument of an expected action, or a clause."""


class ReactionEntry(Strict):
    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"then": {"const": "say"}}},
            "then": keys_schema("say"),
            "else": keys_schema(without=("say",)),
        }
    )

    when: Line
    """What the bot says or does, for people; its content words trigger it when `match` is missing."""
    match: tuple[Line, ...] = ()
    """Words in the bot's message that trigger it."""
    then: Literal["accept", "refuse", "insist", "give_up", "say"]
    """accept, refuse, insist (ask again, twice at most), give_up (leave), or say."""
    say: Line | None = None
    """What the customer says; with `then: say` only."""

    @model_validator(mode="after")
    def _say(self) -> ReactionEntry:
        if (self.then == "say") != (self.say is not None):
            raise ValueError("'say' goes with 'then: say', and only with it")
        return self


class UserEntry(Strict):
    opening: Line
    """The customer's first message. Leave out what the bot should have to ask for."""
    goal: Line
    """What the customer wants, in a sentence."""
    facts: tuple[FactEntry, ...] = ()
    """What the customer knows and tells only when asked."""
    reactions: tuple[ReactionEntry, ...] = ()
    """How the customer answers to what the bot proposes; without one they agree."""
    follow_ups: tuple[Line, ...] = ()
    """Further requests, one after the other, when the one before is dealt with."""
    closing: Line = "Thanks, that is all."
    """Their last message."""


class Derivation(Strict):
    """How a computed value follows from what is known.

    The clause of the policy, or the section of an article, that says so, and one SELECT over results of earlier
    actions (`:order.total`), constants and the clock.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [keys_schema("clause"), keys_schema("section")]})

    clause: ClauseId | None = None
    """The clause of the policy that says how to compute it."""
    section: Line | None = None
    """The section of an article that says so, or holds the figure: file#heading."""
    value: Line
    """One SELECT that gives the value: :name.field of earlier actions, :fact.KEY, constants, today()."""

    @model_validator(mode="after")
    def _has_ground(self) -> Derivation:
        if self.clause is None and self.section is None:
            raise ValueError(
                "a derivation needs 'clause' (or 'section', for a rule that stands in an article)"
            )
        return self


class Action(Strict):
    model_config = ConfigDict(populate_by_name=True)

    tool: ToolName
    """Name of a tool."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Its arguments; $name.field is taken from an earlier action that has `as: name`."""
    as_: Binding | None = Field(default=None, alias="as")
    """Name for the result, for later $name.field and :name.field."""
    derived: dict[str, Derivation] = Field(default_factory=dict)  # by argument
    """By argument: how a computed value follows from what is known."""


class Alternative(Strict):
    why: Line
    """Why policy allows this outcome as well."""
    actions: tuple[Action, ...]
    """The actions that lead to it."""


class Equivalent(Strict):
    """A mutant of the expected actions that is right as well, by its name in the verifier's report."""

    mutant: Line
    """Its key in the verifier's report; * at the end matches any ending."""
    why: Line
    """Why it is right as well."""


class Expected(Strict):
    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {**keys_schema("actions"), "properties": {"actions": {"minItems": 1}}},
                {**keys_schema("no_change"), "properties": {"no_change": {"const": True}}},
            ]
        }
    )

    actions: tuple[Action, ...] = ()
    """What a careful bot calls, look-ups included. What they leave in the database is the expected outcome."""
    no_change: Flag = False
    """true when the right thing is to change nothing."""
    also_accept: tuple[Alternative, ...] = ()
    """Other outcomes that policy allows."""
    equivalents: tuple[Equivalent, ...] = ()
    """Mutants that the verifier lets through and that are right."""

    @model_validator(mode="after")
    def _consistent(self) -> Expected:
        if not self.actions and not self.no_change:
            raise ValueError("'expected' needs 'actions', or 'no_change: true' when nothing may change")
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
    """Unique in the pack, such as RET-RMA-007."""
    title: TaskTitle
    """The case, in a line, for people."""
    group: Group | None = None
    """Group in the table of results; without it the middle part of the id."""
    clauses: tuple[ClauseId, ...] = ()
    """The clauses of policy.md that the case turns on."""
    trap: Line | None = None
    """What a hurried clerk gets wrong, in a sentence."""
    hardness: tuple[Hardness, ...] = ()
    """What makes it hard."""
    tags: tuple[Line, ...] = ()
    """Labels of your own."""
    world: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    """Rows laid over the seed for this task, by table: new, or with the same primary key instead of those there."""
    user: UserEntry
    """The customer: what they say, know and want."""
    expected: Expected
    """The outcome that policy requires."""
    reply: tuple[ReplyRule, ...] = ()
    """Rules for the bot's last words, when they are judged as well."""
    checks: TaskChecks = Field(default_factory=TaskChecks)
    """Beside the pack's checks.yaml: whose data may be told, and process rules of this task alone."""

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
    checks: ChecksFile = field(default_factory=ChecksFile)

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
