"""Faults on purpose are recoverable, deterministic and bounded, and never change the world by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.mishaps import IN_A_ROW, MOST, PROFILES, Answer, MishapOptions, Mishaps
from assay.engine.mishaps.profiles import Seeded
from assay.engine.sandbox import ChangeSet, Sandbox, World
from assay_sdk import CallAhead, FaultKind, PackFault, PluginFault
from tests.unit.engine.actors import library

TASK = "LIB-HOLD-001"
TRANSIENT = {"timeout", "rate_limited", "server_error"}
WRITES = {"loans_renew", "fees_record", "holds_place", "holds_cancel", "pickups_book", "members_update"}
Call = tuple[str, dict[str, Any]]


@cache
def world() -> World:
    return library()


def call(tool: str, **arguments: Any) -> Call:
    return tool, arguments


CALLS = st.one_of(
    st.builds(lambda m: call("loans_list", member_id=m), st.sampled_from(["MEM-1", "MEM-2", "MEM-99"])),
    st.builds(
        lambda m: call("members_find", email=m), st.sampled_from(["ada.brook@example.org", "nobody@x.y"])
    ),
    st.builds(lambda t: call("catalogue_search", text=t), st.sampled_from(["the", "o", "zzz"])),
    st.builds(
        lambda loan, days: call("loans_renew", loan_id=loan, days=days),
        st.sampled_from(["LN-1", "LN-2", "LN-99"]),
        st.sampled_from([7, 14, -1]),
    ),
    st.builds(
        lambda m, b: call("holds_place", member_id=m, book_id=b),
        st.sampled_from(["MEM-1", "MEM-5"]),
        st.sampled_from(["BK-3", "BK-4", "BK-99"]),
    ),
    st.just(call("holds_cancel", hold_ids=["HD-1"])),
    st.just(call("loans_renew", loan_id="LN-1")),  # an argument is missing
    st.just(call("loans_burn", loan_id="LN-1")),  # there is no such tool
)
OPTIONS = st.builds(
    MishapOptions,
    rate=st.sampled_from([0.2, 0.6, 1.0]),
    kinds=st.lists(st.sampled_from(list(FaultKind)), min_size=1, unique=True).map(tuple),
    most=st.integers(1, MOST),
    in_a_row=st.integers(1, IN_A_ROW),
)
SEEDS = st.integers(0, 2**63 - 1)


class Desk:
    """A sandbox behind mishaps, with the numbers that a door would give."""

    def __init__(self, sandbox: Sandbox, profile: Any, seed: int) -> None:
        self.sandbox = sandbox
        self.mishaps = Mishaps(profile, sandbox, seed)
        self.answers: list[Answer] = []

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        answer = self.mishaps.call(len(self.answers), tool, arguments)
        self.answers.append(answer)
        return answer

    def patiently(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """As a careful bot calls: again after a passing error, and after a notice on a look-up."""
        for _ in range(IN_A_ROW + 1):
            answer = self.call(tool, arguments)
            wanting = answer.outcome.error in TRANSIENT or (answer.notice and tool not in WRITES)
            if not wanting:
                return answer
        raise AssertionError(f"{tool} {arguments} was not answered in {IN_A_ROW + 1} tries")


def rows(changes: ChangeSet) -> list[tuple[Any, ...]]:
    """The rows changed, whichever call changed them."""
    return [(r.table, r.op, r.key, r.before, r.after) for r in changes.rows]


def straight(calls: Sequence[Call]) -> tuple[list[Any], list[tuple[Any, ...]]]:
    with world().open(TASK) as sandbox:
        return [sandbox.call(*c) for c in calls], rows(sandbox.changes())


@given(st.lists(CALLS, min_size=1, max_size=12), OPTIONS, SEEDS)
@settings(deadline=None, max_examples=150)
def test_a_patient_bot_gets_every_answer_and_leaves_the_same_world(
    calls: list[Call], options: MishapOptions, seed: int
) -> None:
    outcomes, expected = straight(calls)
    with world().open(TASK) as sandbox:
        desk = Desk(sandbox, Seeded(options, seed), seed)
        for (tool, arguments), outcome in zip(calls, outcomes, strict=True):
            answer = desk.patiently(tool, arguments)
            assert (answer.outcome.ok, answer.outcome.error) == (outcome.ok, outcome.error)
            while (
                answer.fault is FaultKind.RENAMED
            ):  # comes without a notice; another call has the usual names
                answer = desk.patiently(tool, arguments)
            assert answer.outcome.content == outcome.content
        assert rows(sandbox.changes()) == expected
        assert sum(a.fault is not None for a in desk.answers) <= options.most


@given(st.lists(CALLS, min_size=1, max_size=12), OPTIONS, SEEDS)
@settings(deadline=None, max_examples=150)
def test_the_world_holds_what_the_calls_that_were_made_wrote_and_nothing_else(
    calls: list[Call], options: MishapOptions, seed: int
) -> None:
    """A bot that never repeats anything."""
    with world().open(TASK) as sandbox:
        desk = Desk(sandbox, Seeded(options, seed), seed)
        for tool, arguments in calls:
            desk.call(tool, arguments)
        made = [c for c, answer in zip(calls, desk.answers, strict=True) if answer.reached]
        assert rows(sandbox.changes()) == straight(made)[1]
        numbers = {row.call for row in sandbox.changes().rows}
        assert numbers <= {n for n, answer in enumerate(desk.answers) if answer.outcome.wrote}


@given(st.lists(CALLS, min_size=1, max_size=12), OPTIONS, SEEDS)
@settings(deadline=None, max_examples=60)
def test_the_same_seed_and_calls_give_the_same_faults(
    calls: list[Call], options: MishapOptions, seed: int
) -> None:
    def run() -> list[Answer]:
        with world().open(TASK) as sandbox:
            desk = Desk(sandbox, Seeded(options, seed), seed)
            return [desk.call(tool, arguments) for tool, arguments in calls]

    assert run() == run()


@given(st.lists(CALLS, min_size=1, max_size=12), OPTIONS, SEEDS)
@settings(deadline=None, max_examples=60)
def test_the_bots_own_mistakes_are_never_taken_for_faults(
    calls: list[Call], options: MishapOptions, seed: int
) -> None:
    with world().open(TASK) as sandbox:
        desk = Desk(sandbox, Seeded(options, seed), seed)
        for tool, arguments in calls:
            answer = desk.call(tool, arguments)
            if tool == "loans_burn":
                assert answer.fault is None and answer.outcome.error == "unknown_tool"
            if answer.truth is not None:  # only a call that worked is told otherwise
                assert answer.truth.ok


def test_another_trial_meets_other_faults() -> None:
    options = MishapOptions(rate=0.5)
    met = {
        tuple(bool(Seeded(options, seed).choose(CallAhead(n, "loans_list", False, {}))) for n in range(20))
        for seed in range(30)
    }
    assert len(met) == 30


def test_what_happens_to_a_call_does_not_depend_on_the_calls_before_it() -> None:
    profile = Seeded(MishapOptions(rate=0.5), 11)
    ahead = [CallAhead(n, "loans_list", False, {}) for n in range(20)]
    forwards = [list(profile.choose(a)) for a in ahead]
    assert [list(profile.choose(a)) for a in reversed(ahead)] == forwards[::-1]


def test_calls_go_wrong_about_as_often_as_the_rate_says() -> None:
    ahead = [CallAhead(n, "loans_list", False, {}) for n in range(4000)]
    hit = sum(bool(Seeded(MishapOptions(rate=0.15), 5).choose(a)) for a in ahead)
    assert 0.12 < hit / len(ahead) < 0.18  # five standard deviations


# --- each kind ------------------------------------------------------------------------------------


class Always:
    """Chooses one kind for every call, as often as the engine lets it."""

    def __init__(self, *kinds: FaultKind) -> None:
        self.kinds = kinds

    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        return self.kinds


def desk_of(sandbox: Sandbox, *kinds: FaultKind, seed: int = 1) -> Desk:
    return Desk(sandbox, Always(*kinds), seed)


@pytest.mark.parametrize(
    ("kind", "error"), [(FaultKind.RATE_LIMIT, "rate_limited"), (FaultKind.SERVER_ERROR, "server_error")]
)
def test_a_refused_call_was_not_carried_out_and_says_so(kind: FaultKind, error: str) -> None:
    with world().open(TASK) as sandbox:
        answer = desk_of(sandbox, kind).call("loans_renew", {"loan_id": "LN-1", "days": 7})
        assert (answer.outcome.ok, answer.outcome.error, answer.reached) == (False, error, False)
        assert "Nothing was done" in str(answer.outcome.message)
        assert sandbox.changes().rows == ()


def test_a_write_that_timed_out_says_whether_it_happened_and_is_not_made_twice() -> None:
    seen = set()
    for seed in range(20):
        with world().open(TASK) as sandbox:
            desk = desk_of(sandbox, FaultKind.TIMEOUT, seed=seed)
            first = desk.call("holds_place", {"member_id": "MEM-5", "book_id": "BK-4"})
            assert (first.outcome.error, first.latency) == ("timeout", 30.0)
            placed = len(sandbox.changes().rows)
            if first.reached:
                assert placed and first.outcome.wrote and "was carried out" in str(first.outcome.message)
                again = desk.call("holds_place", {"book_id": "BK-4", "member_id": "MEM-5"})
                assert (again.outcome.ok, again.reached, again.repeats) == (True, False, 0)
                assert again.outcome.content == first.truth.content  # type: ignore[union-attr]
                assert not again.outcome.wrote and "nothing was done again" in str(again.notice)
                assert len(sandbox.changes().rows) == placed
            else:
                assert not placed and "was not carried out" in str(first.outcome.message)
            seen.add(first.reached)
    assert seen == {True, False}


def test_a_write_that_the_system_refuses_is_refused_and_not_timed_out_as_carried_out() -> None:
    for seed in range(10):
        with world().open(TASK) as sandbox:
            answer = desk_of(sandbox, FaultKind.TIMEOUT, seed=seed).call(
                "loans_renew", {"loan_id": "LN-99", "days": 7}
            )
            assert answer.fault is None or not answer.reached


def test_a_list_is_cut_short_with_a_notice_and_comes_whole_when_asked_again() -> None:
    with world().open(TASK) as sandbox:
        whole = sandbox.call("catalogue_search", {"text": "o"}).content
        desk = desk_of(sandbox, FaultKind.TRUNCATED)
        answers = [desk.call("catalogue_search", {"text": "o"}) for _ in range(IN_A_ROW + 1)]
        assert all(a.fault is FaultKind.TRUNCATED for a in answers[:-1])
        assert answers[0].outcome.content == whole[: len(whole) // 2]
        assert f"first {len(whole) // 2} of {len(whole)}" in str(answers[0].notice)
        assert (answers[-1].fault, answers[-1].outcome.content) == (None, whole)


def test_a_stale_look_up_shows_the_world_before_the_bots_own_writes() -> None:
    with world().open(TASK) as sandbox:
        desk = desk_of(sandbox, FaultKind.STALE)
        before = sandbox.call("loans_list", {"member_id": "MEM-1"}).content
        sandbox.skip_call()
        desk.call("loans_renew", {"loan_id": "LN-1", "days": 7})
        answer = desk.call("loans_list", {"member_id": "MEM-1"})
        assert (answer.fault, answer.outcome.content) == (FaultKind.STALE, before)
        assert answer.truth is not None and answer.truth.content != before
        assert "lags behind" in str(answer.notice)


def test_a_stale_look_up_before_any_write_lacks_the_row_and_leaves_the_world_alone() -> None:
    with world().open(TASK) as sandbox:
        answer = desk_of(sandbox, FaultKind.STALE).call("members_find", {"email": "ada.brook@example.org"})
        assert answer.fault is FaultKind.STALE
        assert answer.outcome.content != answer.truth.content  # type: ignore[union-attr]
        assert sandbox.changes().rows == ()
        assert sandbox.call("members_find", {"email": "ada.brook@example.org"}).content


def test_a_renamed_field_keeps_its_value_and_is_the_same_in_every_row() -> None:
    with world().open(TASK) as sandbox:
        answer = desk_of(sandbox, FaultKind.RENAMED).call("catalogue_search", {"text": "o"})
        told, true = answer.outcome.content, answer.truth.content  # type: ignore[union-attr]
        assert len(told) > 1
        assert [list(row.values()) for row in told] == [list(row.values()) for row in true]
        (old,) = true[0].keys() - told[0].keys()
        (new,) = told[0].keys() - true[0].keys()
        assert "_" not in new and new.startswith(old.split("_")[0])
        assert {frozenset(row) for row in told} == {frozenset(told[0])}


@pytest.mark.parametrize("kind", [FaultKind.TRUNCATED, FaultKind.STALE, FaultKind.RENAMED])
def test_answers_of_writes_are_never_altered(kind: FaultKind) -> None:
    with world().open(TASK) as sandbox:
        answer = desk_of(sandbox, kind).call("loans_renew", {"loan_id": "LN-1", "days": 7})
        assert (answer.fault, answer.outcome.ok) == (None, True)


def test_the_first_kind_that_applies_is_injected() -> None:
    with world().open(TASK) as sandbox:
        desk = desk_of(sandbox, FaultKind.TRUNCATED, FaultKind.STALE, FaultKind.SLOW)
        assert desk.call("loans_renew", {"loan_id": "LN-1", "days": 7}).fault is FaultKind.SLOW
        assert desk.call("catalogue_search", {"text": "o"}).fault is FaultKind.TRUNCATED


# --- bounds, whatever a profile says --------------------------------------------------------------


def test_no_profile_disturbs_the_same_call_more_often_in_a_row_than_the_bound() -> None:
    with world().open(TASK) as sandbox:
        desk = desk_of(sandbox, FaultKind.SERVER_ERROR)
        faults = [desk.call("loans_list", {"member_id": "MEM-1"}).fault is not None for _ in range(8)]
        assert faults == [True, True, True, False] * 2


def test_no_profile_injects_more_than_the_bound() -> None:
    with world().open(TASK) as sandbox:
        desk = desk_of(sandbox, FaultKind.RATE_LIMIT)
        for number in range(2 * MOST):
            desk.call("catalogue_search", {"text": f"t{number}"})
        assert sum(a.fault is not None for a in desk.answers) == MOST


class Raising:
    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        raise RuntimeError("out of order")


class Rubbish:
    def choose(self, call: CallAhead) -> Any:
        return ["timeout", 7]


class Meddling:
    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        call.arguments["member_id"] = "MEM-2"  # type: ignore[index]
        return []


@pytest.mark.parametrize(("profile", "says"), [(Raising(), "out of order"), (Rubbish(), "no FaultKind")])
def test_a_profile_that_breaks_is_the_plugins_fault(profile: Any, says: str) -> None:
    with world().open(TASK) as sandbox, pytest.raises(PluginFault, match=says):
        Desk(sandbox, profile, 1).call("loans_list", {"member_id": "MEM-1"})


def test_a_profile_cannot_change_what_the_bot_asked() -> None:
    with world().open(TASK) as sandbox:
        answer = Desk(sandbox, Meddling(), 1).call("loans_list", {"member_id": "MEM-1"})
        assert answer.outcome.content == sandbox.call("loans_list", {"member_id": "MEM-1"}).content


def test_the_profile_none_does_nothing() -> None:
    none = PROFILES[0]
    with world().open(TASK) as sandbox:
        desk = Desk(sandbox, none.build(none.options(), 1), 1)
        assert all(desk.call("loans_list", {"member_id": "MEM-1"}).fault is None for _ in range(20))


def test_a_fault_of_the_pack_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Sandbox, tool: str, arguments: Any) -> Any:
        raise PackFault("too many steps")

    with world().open(TASK) as sandbox:
        monkeypatch.setattr(Sandbox, "call", broken)
        with pytest.raises(PackFault, match="too many steps"):
            desk_of(sandbox, FaultKind.SLOW).call("loans_list", {"member_id": "MEM-1"})
