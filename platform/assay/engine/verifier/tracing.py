"""Trace the values of one list of actions, from the first to the last, with what is known growing on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.engine.packs.findings import shown
from assay.engine.packs.models import Action, Task
from assay.engine.packs.problems import Problem
from assay.engine.sandbox import CallOutcome
from assay.engine.verifier import prose
from assay.engine.verifier.arguments import input_of, is_choice, is_money, is_word, kind_of, scalars
from assay.engine.verifier.derivation import BadDerivation, Deriver, equal, facts_by_name, parameters
from assay.engine.verifier.free_texts import FreeTexts
from assay.engine.verifier.grounds import Grounds
from assay.engine.verifier.hints import Hints
from assay.engine.verifier.knowing import Known, Place
from assay.engine.verifier.subject import Subject
from assay.engine.verifier.told import told_by_customer
from assay.engine.verifier.wording import reads_as_wording

How = Literal["reference", "choice", "known", "wording", "derived", "unknown"]

#: The tool whose query is a bot's own words.
_SEARCH = ("knowledge_search", "query")


@dataclass(frozen=True, slots=True)
class Trace:
    """Where one scalar of an argument comes from. `action` counts from 1; `path`: inside the argument, "" for itself.

    `places`: where it stands, or where the operands of its derivation do.
    """

    action: int
    tool: str
    argument: str
    path: str
    value: Any
    how: How
    places: tuple[Place, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.tool}.{self.argument}" + (f".{self.path}" if self.path else "")


@dataclass(frozen=True)
class Bench:
    """What the traces of one pack share."""

    subject: Subject
    grounds: Grounds
    deriver: Deriver
    hints: Hints


@dataclass
class Walk:
    """One list of actions, from the first to the last, with what is known growing on the way.

    `where`: the keys that lead to the actions in the task. `known`: what is known before the first; it is added to.
    `hinted`: look for look-ups that would have made an unknown value known.
    """

    bench: Bench
    task: Task
    where: tuple[str | int, ...]
    known: Known
    free: FreeTexts
    hinted: bool
    traces: list[Trace] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def run(self, actions: Sequence[Action], outcomes: Sequence[CallOutcome]) -> None:
        """Fill `traces` and `problems`. `outcomes`: of the actions, as they ran. Raises OutOfTime."""
        self.results: dict[str, Any] = {}
        self.read: list[str] = []  # sections
        self.said = [p.text for p in told_by_customer(self.task, self.bench.subject.pack.clock)]
        derivations = [d for action in actions for d in action.derived.values()]
        self.clauses = {*self.task.clauses, *(d.clause for d in derivations if d.clause is not None)}
        self.sections = {d.section for d in derivations if d.section is not None}
        self.facts = facts_by_name(self.task.user.facts)
        self.reported: list[Any] = []
        known = self.known
        for index, action in enumerate(actions):
            self.bench.subject.check_time()
            given = outcomes[index].arguments
            self._action(index, action, given)
            content = outcomes[index].content
            known.learn(content, Place("result", action.as_ or f"action {index + 1} ({action.tool})"))
            if action.as_ is not None:
                self.results[action.as_] = content
            if action.tool == "knowledge_read":
                self.read.append(str(given.get("section")))

    def _action(self, index: int, action: Action, given: Mapping[str, Any]) -> None:
        self.known_arguments = {n: v for n, v in given.items() if n not in action.derived}
        schema = input_of(self.bench.subject, action.tool)
        for name, raw in action.args.items():
            if name in action.derived:
                self._derived(index, action, name, given[name])
                continue
            for path, written, value, inner in scalars(
                raw, given[name], schema.get("properties", {}).get(name, {})
            ):
                how, places = self._how(index, action, (name, *path), written, value, inner)
                dotted = ".".join(str(p) for p in path)
                self.traces.append(Trace(index + 1, action.tool, name, dotted, value, how, places))
                if how == "unknown" and value not in self.reported:
                    self.reported.append(value)
                    self._unknown(index, action, (name, *path), value, is_money(name, inner))

    def _how(
        self,
        index: int,
        action: Action,
        keys: tuple[str | int, ...],
        written: Any,
        value: Any,
        schema: Mapping[str, Any],
    ) -> tuple[How, tuple[Place, ...]]:
        if isinstance(written, str) and written.startswith("$") and not written.startswith("$$"):
            return "reference", (Place("result", written[1:]),)
        if value is None or isinstance(value, bool) or value in ("", 0, 1) or is_choice(schema):
            return "choice", ()
        places = self.known.places(value, money=is_money(str(keys[0]), schema))
        if places and (is_word(value) or self._in_reach(action.tool, value, places)):
            return "known", places
        if isinstance(value, str) and not places:
            if (action.tool, keys[0]) == _SEARCH:
                return "wording", ()
            if kind_of(self.bench.subject, action.tool) == "read":
                return ("known", ()) if self.known.knows_words(value) else ("unknown", ())
            if self.free.is_free(index, keys):
                return "wording", ()
        return "unknown", places

    def _in_reach(self, tool: str, value: Any, places: Sequence[Place]) -> bool:
        """Whether a number or a date stands where this task leads, and not only in some other clause or article.

        A policy of thirty pages holds nearly every round number.
        """
        if any(place.kind not in ("article", "policy", "tools") for place in places):
            return True
        grounds = self.bench.grounds
        articles = {*grounds.articles(self.clauses), *(s.split("#")[0] for s in self.sections)}
        for place in places:
            if place.kind == "tools" and place.name == tool:
                return True
            if place.kind == "article" and (place.name in self.read or place.name.split("#")[0] in articles):
                return True
        regions = [ground for name in self.clauses if (ground := grounds.clause(name)) is not None]
        return any(ground.names(value, self.bench.subject.pack.clock) for ground in regions)

    def _derived(self, index: int, action: Action, name: str, value: Any) -> None:
        derivation = action.derived[name]
        places = tuple(
            Place("fact", p.split(".")[1]) if p.startswith("fact.") else Place("result", p)
            for p in parameters(derivation.value)
        )
        self.traces.append(Trace(index + 1, action.tool, name, "", value, "derived", places))
        keys = (index, "derived", name)
        grounds = self.bench.grounds
        for what, key, found in (
            ("clause", derivation.clause, grounds.clause),
            ("section", derivation.section, grounds.section),
        ):
            if key is not None and found(key) is None:
                self._add(
                    f"{action.tool}.{name} is derived by {what} {key}, which does not exist: correct its id.",
                    "unknown_ground",
                    *keys,
                )
        try:
            operands = {"args": self.known_arguments, **self.results}
            result = self.bench.deriver.value(derivation, operands, self.facts)
        except BadDerivation as error:
            self._add(
                f"The derivation of {action.tool}.{name} cannot be worked out: {error}",
                "bad_derivation",
                *keys,
                "value",
            )
            return
        if not equal(result, value):
            self._add(
                f"The derivation of {action.tool}.{name} gives {shown(result)}, but the action says {shown(value)}: correct one of them.",
                "wrong_derivation",
                *keys,
                "value",
            )
        else:
            self.known_arguments[name] = value
        missing = grounds.without_ground(
            derivation, self.clauses, [*self.sections, *self.read], self._texts()
        )
        if missing:
            named = " and ".join(n for n in (derivation.clause, derivation.section) if n)
            listed = ", ".join(c.text for c in missing)
            self._add(
                f"The derivation of {action.tool}.{name} uses {listed}, which {'stands' if len(missing) == 1 else 'stand'} neither in {named} nor in "
                "the task's other clauses and sections, a section read before or the customer's words: name the clause or "
                "section with the figure, or take it from an earlier result.",
                "ungrounded_constant",
                *keys,
                "value",
            )

    def _texts(self) -> list[str]:
        """What the customer says, and the arguments that are known by now."""
        return [*self.said, *(v for v in self.known_arguments.values() if isinstance(v, str))]

    def _unknown(
        self, index: int, action: Action, keys: tuple[str | int, ...], value: Any, money: bool
    ) -> None:
        name = ".".join(str(k) for k in keys)
        said = f"Action {index + 1}: {action.tool}.{name} is {shown(value)}, which"
        elsewhere = self.known.places(value, money=money)
        if elsewhere:
            parts = [f"{said} stands only in {elsewhere[0]}, where this task does not lead."]
            parts.append("List the clause that says it, or that refers to the article, under 'clauses'.")
        else:
            parts = [f"{said} cannot be known by then."]
            near = self.known.nearest(value, money=money)
            if near is not None:
                parts.append(f"The nearest known value is {shown(near[0])} in {near[1]}.")
        look_up = self.bench.hints.look_up(self.task.id, index, value) if self.hinted else None
        if look_up is not None:
            parts.append(f"{look_up}: write that look-up before, with 'as'.")
        elif isinstance(value, str) and not elsewhere and self._is_phrase(action, value):
            columns = self.free.columns(index, value)
            stored = " and ".join(columns) or "the column that stores it"
            self._add(
                f"Action {index + 1}: {action.tool}.{name} is {shown(value)}, words that nobody can know, and other words do not "
                f"lead to the same outcome: give {stored} the rule 'text' in comparison.yaml, or the argument an 'enum', or let "
                "the customer say these words.",
                "wording_counts", index, "args", *keys,
            )  # fmt: skip
            return
        elif isinstance(value, str):
            worked_out = ", say under 'derived' how it is worked out" if prose.is_date(value[:10]) else ""
            parts.append(
                f"Write the look-up that returns it before, with 'as'{worked_out}, or let the customer know it."
            )
        else:
            parts.append(
                "Say under 'derived' by which clause it is worked out, or write the look-up that returns it before."
            )
        self._add(" ".join(parts), "stray_value" if elsewhere else "unknowable", index, "args", *keys)

    def _is_phrase(self, action: Action, value: str) -> bool:
        return kind_of(self.bench.subject, action.tool) == "write" and reads_as_wording(value)

    def _add(self, message: str, code: str, *keys: str | int) -> None:
        self.problems.append(self.bench.subject.problem(self.task.id, message, code, *self.where, *keys))
