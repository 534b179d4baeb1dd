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
    """The texts under the fields are what editors show (json_schema.py)."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def _keys(*required: str, without: Sequence[str] = ()) -> dict[str, Any]:
    """JSON Schema: these keys are there and those are not. What a validator below demands, as editors are told it."""
    absent = {"not": {"anyOf": [{"required": [key]} for key in without]}} if without else {}
    return {"required": list(required), **absent}


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
                    "if": _keys("require"),
                    "then": _keys("otherwise", without=("sql", "one", "maybe", "many")),
                    "else": _keys("sql"),
                },
                {"if": _keys("one"), "then": _keys(without=("maybe", "many"))},
                {"if": _keys("maybe"), "then": _keys(without=("many",))},
                {"if": _keys("otherwise"), "then": {"anyOf": [_keys("one"), _keys("require")]}},
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
            Annotated[Line, Tag("<text>")] | Annotated[ManyRows, Tag("<mapping>")], Discriminator(_form)
        ],
    ]
    """An object made of queries: name to SELECT (first row), or to {many: SELECT} (list)."""


Result = Annotated[
    Annotated[Line, Tag("<text>")]
    | Annotated[ManyRows, Tag("<mapping>")]
    | Annotated[Fields, Tag("<fields>")],
    Discriminator(_form),
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
    Discriminator(_form),
]
Phrase = Annotated[
    Annotated[Line, Tag("<text>")] | Annotated[tuple[Line, ...], Tag("<list>")], Discriminator(_form)
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
            Discriminator(_form),
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
            "then": _keys("say"),
            "else": _keys(without=("say",)),
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

    model_config = ConfigDict(json_schema_extra={"anyOf": [_keys("clause"), _keys("section")]})

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
                {**_keys("actions"), "properties": {"actions": {"minItems": 1}}},
                {**_keys("no_change"), "properties": {"no_change": {"const": True}}},
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


class ReplyRule(Strict):
    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                _keys("must", without=("must_not", "must_not_contain_from")),
                _keys(
                    "must_not",
                    "phrases",
                    without=("must", "must_not_contain_from", "numbers", "contradictions"),
                ),
                _keys(
                    "must_not_contain_from",
                    without=("must", "must_not", "phrases", "numbers", "contradictions"),
                ),
            ]
        }
    )

    must: Line | None = None
    """What the bot's last words must say, for people; `phrases` and `numbers` decide."""
    must_not: Line | None = None
    """What they must not say, for people; `phrases` decides."""
    must_not_contain_from: Line | None = None
    """A SELECT; no value of its first column may be said at any time."""
    phrases: tuple[Phrase, ...] = ()
    """Each must be said (under must_not: none may be); of a list inside, any one."""
    numbers: tuple[Number, ...] = ()
    """Each must be named, in any usual notation."""
    contradictions: tuple[Line, ...] = ()
    """Phrases that may not stand beside it."""

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
