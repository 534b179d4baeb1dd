"""Point 4 of "a pack proves itself": every value in an expected action can be known before that action."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.engine.packs.findings import shown
from assay.engine.packs.models import Action, Hardness
from assay.engine.packs.problems import Problem
from assay.engine.sandbox import compare
from assay.engine.sandbox.replay import ReplayError, replay
from assay.engine.verifier import prose
from assay.engine.verifier.derivation import BadDerivation, Deriver, equal, facts_by_name, parameters
from assay.engine.verifier.grounds import Grounds
from assay.engine.verifier.hints import Hints
from assay.engine.verifier.knowing import Known, Place, known_to_all, told_by_customer
from assay.engine.verifier.subject import Gold, Subject
from assay_sdk import PackFault

How = Literal["reference", "choice", "known", "wording", "derived", "unknown"]

#: Another text for a free one; as long as the tool's schema wants it.
_OTHER_WORDING = "said in other words, "
_MONEY = re.compile(
    r"amount|fee|price|cost|total|refund|charge|premium|deductible|payout|payment|credit|deposit|balance|penalty|excess|"
    r"reimburse|paid|allowance|value"
)
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
class ProvenanceReport:
    """Every scalar of every argument of the expected actions, by task."""

    traces: Mapping[str, tuple[Trace, ...]]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        every = [trace for traces in self.traces.values() for trace in traces]
        stands = Counter(t.places[0].kind for t in every if t.how == "known" and t.places)
        return {
            "values": len(every),
            "by_how": dict(sorted(Counter(t.how for t in every).items())),
            "known_from": dict(sorted(stands.items())),
            "tasks": {
                task: [
                    {
                        "action": t.action,
                        "argument": t.name,
                        "value": t.value,
                        "how": t.how,
                        "from": [str(p) for p in t.places[:3]],
                    }
                    for t in traces
                    if t.how in ("derived", "unknown")
                ]
                for task, traces in self.traces.items()
                if any(t.how in ("derived", "unknown") for t in traces)
            },
        }


def traces_of(subject: Subject) -> Mapping[str, tuple[Trace, ...]]:
    """The traces of the chosen tasks, made once. Raises OutOfTime."""
    if "traces" not in subject.shared:
        examine_provenance(subject)
    traces: Mapping[str, tuple[Trace, ...]] = subject.shared["traces"]
    return traces


def examine_provenance(subject: Subject) -> ProvenanceReport:
    """Trace every argument of the chosen tasks. Raises OutOfTime."""
    tracer = Tracer(subject)
    traces: dict[str, tuple[Trace, ...]] = {}
    problems: list[Problem] = []
    try:
        for task_id in subject.tasks:
            subject.check_time()
            traces[task_id], found = tracer.task(task_id)
            problems += found
    finally:
        tracer.close()
    subject.shared["traces"] = traces
    return ProvenanceReport(traces, tuple(sorted(problems)))


class Tracer:
    """Traces tasks of one pack. Close it when done."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._all = known_to_all(subject.pack)
        self._grounds = Grounds(subject.pack)
        self._deriver = Deriver(subject.world)
        self._hints = Hints(subject)

    def close(self) -> None:
        self._deriver.close()

    def task(self, task_id: str) -> tuple[tuple[Trace, ...], list[Problem]]:
        """The traces of a task's expected actions, and what is wrong, in its alternatives too."""
        gold = self._subject.gold(task_id)
        main = _Walk(self, task_id, gold, ("expected", "actions"))
        main.run(gold.actions, self._start(gold))
        problems = [*main.problems, *self._replies(task_id, gold, main.known)]
        for number, other in enumerate(gold.task.expected.also_accept):
            # Who reads never fails: what the expected actions look up, or work out, may be known here too.
            known = main.known.more()
            for arguments in gold.arguments:
                known.learn(arguments, Place("result", "the expected actions"))
            walk = _Walk(self, task_id, gold, ("expected", "also_accept", number, "actions"))
            try:
                walk.run(other.actions, known)
            except (ReplayError, PackFault):
                continue  # a finding of the gold check
            problems += walk.problems
        return tuple(main.traces), problems

    def _replies(self, task_id: str, gold: Gold, known: Known) -> Iterator[Problem]:
        """Numbers that the last reply must name and that nobody can know, unless the task says that it is computed."""
        if {Hardness.COMPUTED_AMOUNT, Hardness.COMPUTED_DATE} & set(gold.task.hardness):
            return
        given = known.more()
        given.learn(list(gold.arguments), Place("result", "the expected actions"))
        for index, rule in enumerate(gold.task.reply):
            for at, number in enumerate(rule.numbers):
                if not given.places(number):
                    yield self._subject.problem(
                        task_id,
                        f"The reply must name {number:g}, which stands nowhere that a bot could read and is no argument of an "
                        "expected action: let one look it up or carry it, or say in 'hardness' that it is computed.",
                        "unknowable_reply",
                        "reply",
                        index,
                        "numbers",
                        at,
                    )

    def _start(self, gold: Gold) -> Known:
        known = self._all.more()
        for passage in told_by_customer(gold.task, self._subject.pack.clock):
            known.say(passage.text, passage.place)
        return known

    @property
    def subject(self) -> Subject:
        return self._subject

    @property
    def grounds(self) -> Grounds:
        return self._grounds

    @property
    def deriver(self) -> Deriver:
        return self._deriver

    @property
    def hints(self) -> Hints:
        return self._hints


@dataclass
class _Walk:
    """One list of actions, from the first to the last, with what is known growing on the way."""

    tracer: Tracer
    task_id: str
    gold: Gold
    where: tuple[str | int, ...]
    traces: list[Trace] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def run(self, actions: tuple[Action, ...], known: Known) -> None:
        """Raises ReplayError, PackFault for actions that do not run."""
        self.actions = actions
        self.known = known
        self.results: dict[str, Any] = {}
        self.read: list[str] = []  # sections
        self.said = [p.text for p in told_by_customer(self.gold.task, self.tracer.subject.pack.clock)]
        derivations = [d for action in actions for d in action.derived.values()]
        self.clauses = {*self.gold.task.clauses, *(d.clause for d in derivations if d.clause is not None)}
        self.sections = {d.section for d in derivations if d.section is not None}
        self.facts = facts_by_name(self.gold.task.user.facts)
        self.free = _FreeTexts(self)
        self.reported: list[Any] = []
        outcomes = self.gold.outcomes
        if actions is not self.gold.actions:
            with self.tracer.subject.world.open(self.task_id) as sandbox:
                outcomes = tuple(replay(sandbox, actions))
        for index, action in enumerate(actions):
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
        schema = _input_of(self.tracer.subject, action.tool)
        for name, raw in action.args.items():
            if name in action.derived:
                self._derived(index, action, name, given[name])
                continue
            for path, written, value, inner in _scalars(
                raw, given[name], schema.get("properties", {}).get(name, {})
            ):
                how, places = self._how(index, action, (name, *path), written, value, inner)
                dotted = ".".join(str(p) for p in path)
                self.traces.append(Trace(index + 1, action.tool, name, dotted, value, how, places))
                if how == "unknown" and value not in self.reported:
                    self.reported.append(value)
                    self._unknown(index, action, (name, *path), value, _is_money(name, inner))

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
        if value is None or isinstance(value, bool) or value in ("", 0, 1) or _is_choice(schema):
            return "choice", ()
        places = self.known.places(value, money=_is_money(str(keys[0]), schema))
        if places and (_is_word(value) or self._in_reach(action.tool, value, places)):
            return "known", places
        if isinstance(value, str) and not places:
            if (action.tool, keys[0]) == _SEARCH:
                return "wording", ()
            if _kind(self.tracer.subject, action.tool) == "read":
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
        grounds = self.tracer.grounds
        articles = {*grounds.articles(self.clauses), *(s.split("#")[0] for s in self.sections)}
        for place in places:
            if place.kind == "tools" and place.name == tool:
                return True
            if place.kind == "article" and (place.name in self.read or place.name.split("#")[0] in articles):
                return True
        regions = [ground for name in self.clauses if (ground := grounds.clause(name)) is not None]
        return any(ground.names(value, self.tracer.subject.pack.clock) for ground in regions)

    def _derived(self, index: int, action: Action, name: str, value: Any) -> None:
        derivation = action.derived[name]
        places = tuple(
            Place("fact", p.split(".")[1]) if p.startswith("fact.") else Place("result", p)
            for p in parameters(derivation.value)
        )
        self.traces.append(Trace(index + 1, action.tool, name, "", value, "derived", places))
        keys = (index, "derived", name)
        grounds = self.tracer.grounds
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
            result = self.tracer.deriver.value(derivation, operands, self.facts)
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
        look_up = self.tracer.hints.look_up(self.task_id, index, value) if actions_are_gold(self) else None
        if look_up is not None:
            parts.append(f"{look_up}: write that look-up before, with 'as'.")
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

    def _add(self, message: str, code: str, *keys: str | int) -> None:
        self.problems.append(self.tracer.subject.problem(self.task_id, message, code, *self.where, *keys))


def actions_are_gold(walk: _Walk) -> bool:
    """Whether a walk goes over the expected actions and not over an alternative."""
    return walk.actions is walk.gold.actions


class _FreeTexts:
    """Which texts of a list of actions may be worded in any way: another text leaves an outcome that is equal."""

    def __init__(self, walk: _Walk) -> None:
        self._walk = walk
        self._known: dict[tuple[int, tuple[str | int, ...]], bool] = {}

    def is_free(self, index: int, keys: tuple[str | int, ...]) -> bool:
        key = (index, keys)
        if key not in self._known:
            self._known[key] = any(
                self._same_outcome(index, keys, other) for other in self._others(index, keys)
            )
        return self._known[key]

    def _others(self, index: int, keys: tuple[str | int, ...]) -> Iterator[str]:
        value = str(_at(self._walk.actions[index].args, keys))
        yield (_OTHER_WORDING * (len(value) // len(_OTHER_WORDING) + 1))[: max(len(value), 3)]
        yield "".join(_next_letter(c) for c in value)

    def _same_outcome(self, index: int, keys: tuple[str | int, ...], other: str) -> bool:
        world, walk = self._walk.tracer.subject.world, self._walk
        actions = list(walk.actions)
        changed = actions[index].model_copy(update={"args": _with(actions[index].args, keys, other)})
        actions[index] = changed
        try:
            with world.open(walk.task_id) as sandbox:
                replay(sandbox, actions)
                changes = sandbox.changes()
        except (ReplayError, PackFault):
            return False
        if walk.actions is walk.gold.actions:
            expected = walk.gold.changes
        else:
            expected = world.expected(walk.task_id)[1 + int(walk.where[2])]
        return compare(world.tables, world.pack.comparison, [expected], changes).equal


def _scalars(
    raw: Any, value: Any, schema: Mapping[str, Any], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any, Any, Mapping[str, Any]]]:
    """(path, as written, as given to the tool, schema) of every scalar in an argument."""
    if isinstance(raw, Mapping) and isinstance(value, Mapping):
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        for key, inner in raw.items():
            yield from _scalars(inner, value[key], properties.get(key, {}), (*path, key))
    elif isinstance(raw, list | tuple) and isinstance(value, list | tuple):
        items = schema.get("items", {}) if isinstance(schema, Mapping) else {}
        for number, inner in enumerate(raw):
            yield from _scalars(inner, value[number], items, (*path, number))
    else:
        yield path, raw, value, schema if isinstance(schema, Mapping) else {}


def _is_choice(schema: Mapping[str, Any]) -> bool:
    if "enum" in schema or "const" in schema or schema.get("type") == "boolean":
        return True
    members = [m for key in ("anyOf", "oneOf") for m in schema.get(key, ()) if isinstance(m, Mapping)]
    return bool(members) and all(_is_choice(m) or m.get("type") == "null" for m in members)


def _is_word(value: Any) -> bool:
    """Whether a value is a text that is no date: a name, an id, a code is what it is wherever it stands."""
    return isinstance(value, str) and not prose.is_date(value)


def _is_money(argument: str, schema: Mapping[str, Any]) -> bool:
    """Whether an argument is an amount of money: any number, by its schema, with a name that says so."""
    return schema.get("type") == "number" and _MONEY.search(argument.casefold()) is not None


def _input_of(subject: Subject, tool: str) -> Mapping[str, Any]:
    return next((s.input_schema for s in subject.world.specs if s.name == tool), {})


def _kind(subject: Subject, tool: str) -> str:
    compiled = subject.world.compiled.get(tool)
    return compiled.spec.kind if compiled else "read"


def _at(value: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        value = value[key]
    return value


def _with(value: Any, keys: tuple[str | int, ...], other: Any) -> Any:
    """A copy of a JSON value with another scalar at `keys`."""
    if not keys:
        return other
    if isinstance(value, Mapping):
        return {k: _with(v, keys[1:], other) if k == keys[0] else v for k, v in value.items()}
    return [_with(v, keys[1:], other) if n == keys[0] else v for n, v in enumerate(value)]


def _next_letter(character: str) -> str:
    if character.isascii() and character.isalpha():
        return chr(ord(character) + (1 if character not in "zZ" else -25))
    if character.isdigit():
        return str((int(character) + 1) % 10)
    return character
