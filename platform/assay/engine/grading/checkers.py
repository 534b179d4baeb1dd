"""Checks that plugins bring: run apart from the platform, so that one that breaks or hangs takes nothing with it."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from assay.engine.blame import given_up, hung, in_time
from assay.engine.dialogue.transcript import Transcript
from assay.engine.packs.models import Task
from assay.engine.sandbox.changes import ChangeSet, RowChange
from assay_sdk import Checker, CheckResult, Evidence, Outcome, PlatformFault, PluginFault, TrialView
from assay_sdk.checks import MOST_PARTS, PART

#: Seconds a check may take.
PATIENCE = 30.0

Configured = tuple[str, Checker, bool]  # name, checker, required


def trial_views(task: Task, transcript: Transcript, changes: ChangeSet) -> Iterator[TrialView]:
    """Views of one trial without end, each with data of its own: a check that writes into it harms nobody."""
    while True:
        yield TrialView(
            task=task.model_dump(mode="json", by_alias=True),
            events=[event.as_json() for event in transcript.events],
            changes=[change_as_json(change) for change in changes.rows],
            termination=transcript.termination.value,
        )


def change_as_json(change: RowChange) -> dict[str, Any]:
    """A changed row in plain JSON values; blobs as hexadecimal text."""

    def plain(value: Any) -> Any:
        return value.hex() if isinstance(value, bytes) else value

    def row(values: Any) -> dict[str, Any] | None:
        return None if values is None else {column: plain(value) for column, value in values.items()}

    return {
        "table": change.table,
        "op": change.op,
        "key": [plain(value) for value in change.key],
        "before": row(change.before),
        "after": row(change.after),
        "call": change.call,
    }


def run_checkers(checkers: Sequence[Configured], views: Iterator[TrialView]) -> list[CheckResult]:
    """Run them one after the other, here. Raises PlatformFault when a required one breaks."""
    found: list[CheckResult] = []
    for name, checker, required in checkers:
        found += _settle(name, required, _here(name, checker, next(views)))
    return found


def _here(name: str, checker: Checker, view: TrialView) -> Callable[[], Any]:
    """A function that gives what the check gives in time, or raises what it raises."""
    part = f"check {name}"

    def answer() -> Any:
        try:
            return in_time(part, lambda: checker.check(view), PATIENCE)
        except PluginFault as fault:
            if fault.part != part:
                raise
            raise PluginFault(str(fault).removeprefix(f"The {part} ").rstrip(".")) from fault

    return answer


async def run_checkers_aside(
    checkers: Sequence[Configured],
    views: Iterator[TrialView],
    patience: float | None = None,
    on_fault: Callable[[PluginFault], None] = lambda fault: None,
) -> list[CheckResult]:
    """The same in a thread of their own, `patience` seconds (PATIENCE) for each, so that the loop goes on meanwhile.

    `on_fault` is told of each check that is not required and broke; its result is "cannot tell".
    """
    found: list[CheckResult] = []
    for name, checker, required in checkers:
        answer = await _aside(name, checker, next(views), PATIENCE if patience is None else patience)
        found += _settle(name, required, answer, on_fault)
    return found


async def _aside(name: str, checker: Checker, view: TrialView, patience: float) -> Any:
    """A function that gives what the check gave, or raises what it raised."""
    if given_up(f"check {name}"):
        return _here(name, checker, view)  # says so, and calls nothing
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def tell(result: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((result, error))

    def work() -> None:
        result, error = None, None
        try:
            result = checker.check(view)
        except BaseException as raised:  # noqa: BLE001 - SystemExit too: it is the plugin's and stays here
            error = (
                raised if isinstance(raised, Exception) else PluginFault(f"raised {type(raised).__name__}")
            )
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, result, error)

    # A thread of its own and not one of a pool: one that hangs must hold up neither others nor the exit.
    threading.Thread(target=work, name="check", daemon=True).start()
    try:
        result, error = await asyncio.wait_for(done, patience)
    except TimeoutError:
        hung(f"check {name}")
        error = PluginFault(f"did not answer within {patience:g} seconds")
        result = None

    def answer() -> Any:
        if error is not None:
            raise error
        return result

    return answer


def _settle(
    name: str, required: bool, answer: Any, on_fault: Callable[[PluginFault], None] = lambda fault: None
) -> list[CheckResult]:
    try:
        return _all_fit(name, required, answer())
    except PlatformFault as fault:
        broke, cause = str(fault), fault.cause
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is the plugin's
        broke, cause = f"raised {type(error).__name__}: {error}", PluginFault.cause
    sentence = f"The check {name!r} {broke}."
    found = PluginFault(sentence, part=f"check {name}") if cause == PluginFault.cause else None
    if required:
        raise found or PlatformFault(sentence, cause=cause)
    if found is not None:
        on_fault(found)
    return [
        CheckResult(name, Outcome.CANNOT_TELL, required=False, reward=0.0, evidence=(Evidence(sentence),))
    ]


def _all_fit(name: str, required: bool, given: Any) -> list[CheckResult]:
    """The results under the configured name; of a checker with parts one for each, as "name.part"."""
    if isinstance(given, CheckResult) or not isinstance(given, Sequence) or isinstance(given, str | bytes):
        return [_fits(name, required, given)]
    if not 1 <= len(given) <= MOST_PARTS:
        raise PluginFault(f"returned {len(given)} results; it must be from 1 to {MOST_PARTS}")
    found = []
    for part in given:
        said = getattr(part, "name", None)
        if not isinstance(said, str) or not PART.fullmatch(said):
            raise PluginFault(
                f"named a part {said!r}; it must be of lower-case letters, digits, - and _, at most 64"
            )
        found.append(_fits(f"{name}.{said}", required, part))
    if len({result.name for result in found}) < len(found):
        raise PluginFault("gave two results for one part")
    return found


def _fits(name: str, required: bool, given: Any) -> CheckResult:
    """The result under this name; whether it is required is the run's choice, not the plugin's."""
    if not isinstance(given, CheckResult) or not isinstance(given.outcome, Outcome):
        raise PluginFault(f"returned a {type(given).__name__} that is no CheckResult")
    reward = given.reward
    if not isinstance(reward, int | float) or not math.isfinite(reward) or not 0 <= reward <= 1:
        raise PluginFault(f"gave the reward {reward!r}; it must be from 0 to 1")
    evidence = tuple(given.evidence)
    if not all(isinstance(item, Evidence) for item in evidence):
        raise PluginFault("gave evidence that is no Evidence")
    try:
        json.dumps([asdict(item) for item in evidence])
    except (TypeError, ValueError) as error:
        raise PluginFault(f"gave evidence that cannot be kept: {error}") from error
    return CheckResult(name, given.outcome, required, float(reward), evidence)
