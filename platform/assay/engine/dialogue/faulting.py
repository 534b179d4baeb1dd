"""The faults on purpose of one conversation, from the profile that was chosen and from what has happened already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from assay.engine.dialogue.transcript import Event, ToolCall
from assay.engine.mishaps import Earlier, Mishaps, Quiet
from assay.engine.sandbox import CallOutcome
from assay_sdk import FaultKind, FaultProfile, FaultProfileType, PluginFault

if TYPE_CHECKING:
    from assay.engine.sandbox import Sandbox


def mishaps_of(
    kind: FaultProfileType | None,
    options: BaseModel | None,
    sandbox: Sandbox,
    seed: int,
    past: Sequence[Event] = (),
) -> Mishaps | None:
    """What goes wrong on purpose in a conversation; None when nothing can.

    `past`: what was said and called before, when a conversation is taken up again; lost answers are still owed then,
    also without a profile. Raises PluginFault.
    """
    earlier = list(_earlier(past))
    if kind is None and all(call.fault is None for call in earlier):
        return None
    if kind is None:
        mishaps = Mishaps(Quiet(), sandbox, seed)
    else:
        mishaps = Mishaps(_built(kind, options, seed), sandbox, seed, _part(kind))
    mishaps.resume(earlier)
    return mishaps


def _built(kind: FaultProfileType, options: BaseModel | None, seed: int) -> FaultProfile:
    part = _part(kind)
    try:
        profile = kind.build(options, seed)
    except Exception as error:
        raise PluginFault(
            f"The fault profile {kind.name!r} could not be built: {type(error).__name__}: {error}", part=part
        ) from error
    if not callable(getattr(profile, "choose", None)):
        raise PluginFault(f"The fault profile {kind.name!r} built something that has no choose().", part=part)
    return profile


def _part(kind: FaultProfileType) -> str:
    return f"fault profile {kind.name}"


def _earlier(past: Sequence[Event]) -> Iterator[Earlier]:
    for call in past:
        if not isinstance(call, ToolCall):
            continue
        fault = None if call.injected is None else FaultKind(call.injected.kind)
        lost = None
        if call.kind == "write" and call.made and call.spoiled:
            lost = CallOutcome(
                True, call.truth["result"], kind="write", wrote=call.wrote, arguments=call.arguments
            )
        yield Earlier(call.call, call.tool, call.arguments, fault, call.spoiled, lost, call.wrote)
