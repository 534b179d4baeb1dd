"""What a pack declares to be checked beside the state of the database: checks.yaml, and the reply rules of a task."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from assay.engine.packs.basics import ClauseId, Flag, Line, Number, Phrase, Strict, ToolName, keys_schema

CheckId = Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z][a-z0-9_-]*$")]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
Pattern = Annotated[Line, StringConstraints(max_length=500)]

#: Of a reply rule, the keys of which it has exactly one.
REPLY_KINDS = (
    "must",
    "must_not",
    "must_not_contain_from",
    "must_match",
    "must_not_match",
    "language",
    "rubric",
)
#: Of a process rule.
PROCESS_KINDS = ("before", "confirm_before", "at_most", "never")


def _one_of(kinds: tuple[str, ...], needs: dict[str, tuple[str, ...]]) -> list[Any]:
    """JSON Schema: exactly one of `kinds`, each beside the keys that it does not forbid in `needs`."""
    return [
        keys_schema(kind, without=(*(k for k in kinds if k != kind), *needs.get(kind, ()))) for kind in kinds
    ]


_PARTS = ("phrases", "numbers", "numbers_from", "contradictions")


class ReplyRule(Strict):
    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": _one_of(
                REPLY_KINDS,
                dict.fromkeys(REPLY_KINDS[2:], _PARTS) | {"must_not": _PARTS[1:]},
            )
        }
    )

    must: Line | None = None
    """What the bot's last words must say, for people; `phrases` and numbers decide, without them a judge."""
    must_not: Line | None = None
    """What they must not say, for people; `phrases` decides, without them a judge."""
    must_not_contain_from: Line | None = None
    """A SELECT; no value of its first column may be said at any time."""
    must_match: Pattern | None = None
    """A regular expression that must be found in the bot's last words, regardless of case."""
    must_not_match: Pattern | None = None
    """A regular expression that must not be found in them."""
    language: Language | None = None
    """The language of the bot's last words, as two letters: en, zh, de."""
    rubric: Line | None = None
    """A statement about the bot's last words, judged true or false by a model."""
    phrases: tuple[Phrase, ...] = ()
    """Each must be said (under must_not: none may be); of a list inside, any one."""
    numbers: tuple[Number, ...] = ()
    """Each must be named, in any usual notation."""
    numbers_from: Line | None = None
    """A SELECT in the finished world; each number of its first column must be named."""
    contradictions: tuple[Line, ...] = ()
    """Phrases that may not stand beside it."""
    required: Flag = True
    """false: the result is reported and decides nothing."""

    @property
    def judged(self) -> bool:
        """Whether a model has to read the reply."""
        if self.rubric is not None:
            return True
        if self.must is not None:
            return not (self.phrases or self.numbers or self.numbers_from)
        return self.must_not is not None and not self.phrases

    @model_validator(mode="after")
    def _one_kind(self) -> ReplyRule:
        kinds = [kind for kind in REPLY_KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError(f"a reply rule has exactly one of {', '.join(REPLY_KINDS)}")
        if self.must is None and (self.numbers or self.contradictions or self.numbers_from):
            raise ValueError("'numbers', 'numbers_from' and 'contradictions' go with 'must'")
        if self.must is None and self.must_not is None and self.phrases:
            raise ValueError(f"'{kinds[0]}' stands alone, without 'phrases'")
        return self


class ProcessRule(Strict):
    """A rule for the way a trial goes: over its calls, its messages and the rows they changed."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": _one_of(
                PROCESS_KINDS,
                {
                    "before": ("tool", "per"),
                    "confirm_before": ("tool", "per", "writes", "calls", "with"),
                    "at_most": ("writes", "calls", "with"),
                    "never": ("tool", "per", "calls", "with"),
                },
            ),
            "allOf": [
                {
                    "if": keys_schema("before"),
                    "then": {"anyOf": [keys_schema("writes"), keys_schema("calls")]},
                },
                {"if": keys_schema("at_most"), "then": keys_schema("tool")},
            ],
        }
    )

    id: CheckId
    """Name of the check, unique in the pack: process:ID in verdicts."""
    before: ToolName | None = None
    """A tool of which a call must have succeeded before the `writes` and `calls`."""
    with_: dict[str, str | int | float | bool] = Field(default_factory=dict, alias="with")
    """What the result of that call must hold: field to value, such as {outcome: passed}."""
    confirm_before: ToolName | None = None
    """A tool that is called only when the customer has agreed to it in the turns before."""
    at_most: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    """How many calls of `tool` may succeed."""
    never: ToolName | None = None
    """A tool of which no call may succeed."""
    tool: ToolName | None = None
    """The tool that `at_most` counts."""
    per: Line | None = None
    """Counted for each value of this argument of the tool."""
    writes: tuple[Line, ...] = ()
    """Tables: any call that changes rows in one of them."""
    calls: tuple[ToolName, ...] = ()
    """Tools: any call of one of them that succeeds."""
    clause: ClauseId | None = None
    """The clause of policy.md that asks for it."""
    required: Flag = False
    """true: a trial that breaks the rule fails, and one where it cannot be told is void."""

    @model_validator(mode="after")
    def _one_kind(self) -> ProcessRule:
        kinds = [kind for kind in PROCESS_KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError(f"a process rule has exactly one of {', '.join(PROCESS_KINDS)}")
        (kind,) = kinds
        if (self.writes or self.calls or self.with_) and kind != "before":
            raise ValueError("'writes', 'calls' and 'with' go with 'before'")
        if kind == "before" and not (self.writes or self.calls):
            raise ValueError("'before' needs 'writes: [table, ...]' or 'calls: [tool, ...]'")
        if (self.tool is not None) != (kind == "at_most"):
            raise ValueError("'at_most' and 'tool' go together")
        if self.per is not None and kind != "at_most":
            raise ValueError("'per' goes with 'at_most'")
        return self


class LeakRules(Strict):
    required: Flag = False
    """true: a trial in which the bot gives something away fails. Otherwise it is reported."""
    customers: Line | None = None
    """The table with one row for each customer. Without it: `customers`, or the only table with e-mail addresses."""
    confidential: dict[str, tuple[Line, ...]] = Field(default_factory=dict)
    """Columns whose values are never said to a customer, by table."""
    public: tuple[Line, ...] = ()
    """Tables whose values may be told to everybody although they refer to customers."""


class ChecksFile(Strict):
    """checks.yaml"""

    leak: LeakRules = Field(default_factory=LeakRules)
    """What the bot may not give away."""
    process: tuple[ProcessRule, ...] = ()
    """Rules for the way to the outcome, for all tasks."""


class TaskChecks(Strict):
    customers: tuple[str | int, ...] | None = None
    """Keys of the customers whose data may be told here; [] when the caller may be told nobody's. Without it they
    are found by what the customer says."""
    process: tuple[ProcessRule, ...] = ()
    """Process rules of this task alone."""
    skip: tuple[CheckId, ...] = ()
    """Ids of process rules of checks.yaml that do not hold here."""
