"""Calls of plugins come back in time, and their faults name the part."""

from __future__ import annotations

import threading
import time

import pytest

from assay.engine import blame
from assay.engine.blame import blamed, built_in_time, in_time
from assay_sdk import PluginFault


def test_what_a_call_gives_comes_back_and_what_it_raises_too() -> None:
    assert in_time("persona quick", lambda: 7) == 7
    with pytest.raises(KeyError):
        in_time("persona quick", lambda: {}["x"])


def test_a_call_that_hangs_is_given_up_and_after_some_more_the_part_is_called_no_more() -> None:
    over, called = threading.Event(), []

    def hang() -> None:
        called.append(1)
        over.wait(60)

    started = time.monotonic()
    for _ in range(blame.MOST_HANGING):
        with pytest.raises(PluginFault, match=r"persona stuck did not come back within 0\.05 s") as stuck:
            in_time("persona stuck", hang, 0.05)
        assert stuck.value.part == "persona stuck"
    with pytest.raises(PluginFault, match="not called for a while"):
        in_time("persona stuck", hang, 0.05)
    assert len(called) == blame.MOST_HANGING
    assert time.monotonic() - started < 10
    assert in_time("persona other", lambda: "fine") == "fine"
    over.set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blame, "FORGIVEN_AFTER", 0.0)
        assert in_time("persona stuck", lambda: "again") == "again"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_a_call_that_wants_to_end_the_process_is_a_fault_of_the_plugin(error: BaseException) -> None:
    def leave() -> None:
        raise error

    with pytest.raises(PluginFault, match=type(error).__name__):
        in_time("persona leaver", leave)


def test_a_fault_keeps_the_part_that_it_names() -> None:
    for named, part in (("", "persona outer"), ("check inner", "check inner")):
        with pytest.raises(PluginFault) as found, blamed("persona outer"):
            raise PluginFault("It broke.", part=named)
        assert found.value.part == part


def test_secrets_are_resolved_in_the_thread_that_builds() -> None:
    asked: list[tuple[str, int]] = []

    def secret(reference: str) -> str:
        asked.append((reference, threading.get_ident()))
        if reference == "secret:none":
            raise LookupError("There is no such secret.")
        return reference.upper()

    assert (
        built_in_time("connector c", lambda ask: ask("secret:a") + ask("secret:b"), secret)
        == "SECRET:ASECRET:B"
    )
    assert {thread for _, thread in asked} == {threading.get_ident()}
    with pytest.raises(LookupError, match="no such secret"):
        built_in_time("connector c", lambda ask: ask("secret:none"), secret)


def test_what_does_not_get_built_is_given_up() -> None:
    over = threading.Event()
    with pytest.raises(PluginFault, match=r"connector slow was not built within 0\.1 s") as found:
        built_in_time("connector slow", lambda ask: over.wait(60), str, 0.1)
    assert found.value.part == "connector slow"
    over.set()
    with pytest.raises(PluginFault, match=r"connector gone could not be built: SystemExit"):
        built_in_time("connector gone", lambda ask: (_ for _ in ()).throw(SystemExit(3)), str)
