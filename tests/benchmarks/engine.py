"""The engine alone: packs, sandboxes, comparison, whole trials, statistics."""

from __future__ import annotations

import asyncio
import gc
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import scipy.stats
import yaml

from assay.engine.packs import load_pack
from assay.engine.packs.lint import check
from assay.engine.sandbox import Sandbox, World, compare
from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.engine.trial import Lab, run_trial
from assay.engine.verifier import verify
from assay.engine.verifier.mutation import FATES
from assay.plugins.bots import build_connector
from tests.benchmarks.measure import Measure, median_seconds

RETAIL = Path(__file__).parents[2] / "domain_packs" / "retail"


def measures() -> Iterator[Measure]:
    pack = load_pack(RETAIL)
    world = World.prepare(pack)
    yield from _packs()
    yield from _sandboxes(world)
    yield from _comparison(world)
    yield from _trials(world)
    yield from _statistics()


def _packs() -> Iterator[Measure]:
    texts = [path.read_bytes() for path in sorted(RETAIL.rglob("*.yaml"))]

    def plain() -> None:
        for text in texts:
            yaml.load(text, Loader=yaml.CSafeLoader)

    load = median_seconds(lambda: load_pack(RETAIL), repeat=5)
    yield Measure(
        "load the retail pack", load * 1e3, "ms", None, False, median_seconds(plain, repeat=5) * 1e3,
        "its YAML read by the C parser, unchecked",
    )  # fmt: skip
    pack = load_pack(RETAIL)
    yield Measure("prepare its world", median_seconds(lambda: World.prepare(pack), repeat=5) * 1e3, "ms")
    yield _verification()


def _verification() -> Measure:
    """All tasks with their mutants; a fresh world each time, as the command has."""
    checked = [check(RETAIL) for _ in range(3)]
    found = verify(checked[0])
    assert found.mutation is not None
    mutants = found.mutation.count(*FATES)
    left = iter(checked[1:])
    # five packs of some 105 tasks are to be verified within a minute
    goal = 60 / 525 * len(found.tasks)
    taken = median_seconds(lambda: verify(next(left)), repeat=1)
    return Measure(
        f"verify the retail pack, {len(found.tasks)} tasks and {mutants} mutants", taken, "s", goal
    )


def _sandboxes(world: World) -> Iterator[Measure]:
    tasks = list(world.pack.tasks)
    turn = iter(range(10**9))

    def open_and_close() -> None:
        world.open(tasks[next(turn) % len(tasks)]).close()

    def fresh_copy() -> None:
        connection = apsw.Connection(":memory:")
        connection.deserialize("main", world.image)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.close()

    fresh = median_seconds(fresh_copy, repeat=500) * 1e6
    against = f"a fresh copy of the {len(world.image) / 1024:.0f} kB image, its schema read"
    yield Measure(
        "sandbox, reset to disposal",
        median_seconds(open_and_close, repeat=3000) * 1e6, "µs", 200, False, fresh, against,
    )  # fmt: skip

    def replay() -> None:
        with world.open(tasks[next(turn) % len(tasks)]) as sandbox:
            for call in _calls(world, sandbox):
                sandbox.call(*call)
            sandbox.changes()

    yield Measure(
        "the same with the task's calls and change set",
        median_seconds(replay, repeat=1000) * 1e6, "µs", None, False, fresh, against,
    )  # fmt: skip


def _calls(world: World, sandbox: Sandbox) -> list[tuple[str, dict[str, Any]]]:
    """The expected calls of the sandbox's task whose arguments need no earlier result, and a search."""
    assert sandbox.task_id is not None
    actions = world.pack.tasks[sandbox.task_id].expected.actions
    calls = [(a.tool, dict(a.args)) for a in actions if "$" not in str(a.args)]
    return [("knowledge_search", {"query": "restocking fee"}), *calls]


def _comparison(world: World) -> Iterator[Measure]:
    task = max(world.pack.tasks.values(), key=lambda t: len(t.expected.actions))
    expected = world.expected(task.id)
    seconds = median_seconds(
        lambda: compare(world.tables, world.pack.comparison, expected, expected[0]), repeat=1000
    )
    with world.open(task.id) as sandbox:

        def dump() -> None:
            for table in world.tables:
                sandbox.column(f'SELECT * FROM "{table}" ORDER BY 1')

        whole = 2 * median_seconds(dump, repeat=30)  # a diff of dumps reads both worlds
    yield Measure(
        f"compare an outcome of {len(expected[0].rows)} rows", seconds * 1e6, "µs", None, False, whole * 1e6,
        "reading both worlds table by table",
    )  # fmt: skip


def _trials(world: World) -> Iterator[Measure]:
    tasks = list(world.pack.tasks)
    for target in ("faithful", "careless"):
        lab = Lab(world, build_connector(f"reference:{target}", {}))

        async def all_tasks(lab: Lab = lab, seed: int = 0) -> None:
            for task in tasks:
                await run_trial(lab, task, 0, seed, 0)

        asyncio.run(all_tasks())
        gc.collect()
        per_trial = []
        for seed in range(1, 8):
            start = time.process_time()
            asyncio.run(all_tasks(seed=seed))
            per_trial.append((time.process_time() - start) / len(tasks))
        bare = median_seconds(lambda: [_bare(world, t) for t in tasks], repeat=7, clock=time.process_time)
        yield Measure(
            f"CPU of a trial, reference:{target}, with its verdict",
            statistics.median(per_trial) * 1e3, "ms", 5, False, bare / len(tasks) * 1e3,
            "the expected calls alone, without conversation and verdict",
        )  # fmt: skip


def _bare(world: World, task: str) -> None:
    with world.open(task) as sandbox:
        for call in _calls(world, sandbox):
            sandbox.call(*call)


def _statistics() -> Iterator[Measure]:
    draw = random.Random(1)
    for tasks in (30, 507):
        rates = [draw.betavariate(2, 1) for _ in range(tasks)]
        outcomes = [
            TrialOutcome(f"T-{t}", f"g{t % 5}", "passed" if draw.random() < rates[t] else "failed")
            for t in range(tasks)
            for _ in range(20)
        ]
        passed = np.array(
            [sum(o.status == "passed" for o in outcomes[20 * t : 20 * t + 20]) for t in range(tasks)]
        )
        seconds = median_seconds(lambda o=outcomes: summarise(o), repeat=5)  # type: ignore[misc]
        theirs = median_seconds(
            lambda c=passed: scipy.stats.bootstrap((c / 20,), np.mean, method="BCa", n_resamples=9999, rng=1),  # type: ignore[misc]
            repeat=3,
        )
        yield Measure(
            f"summary of {tasks} tasks x 20 trials, all k", seconds * 1e3, "ms", None, False, theirs * 1e3,
            "scipy's BCa interval of pass@1 alone",
        )  # fmt: skip
