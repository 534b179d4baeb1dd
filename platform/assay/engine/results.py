"""The results of a run in a folder: manifest.json, trials.jsonl and void_attempts.jsonl.

trials.jsonl has one line for each trial that is over, void_attempts.jsonl one for each attempt that a platform fault
made void and that was tried again. A line is written in one piece and only ever appended, so a run that is
interrupted keeps all that was done: what stands after the last newline was being written then and is dropped.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from assay.engine.trial import TrialRecord
from assay_sdk import AssayError

FORMAT = 1
MANIFEST = "manifest.json"
TRIALS = "trials.jsonl"
VOID_ATTEMPTS = "void_attempts.jsonl"
JUDGEMENTS = "judgements.jsonl"  # of a judge, by statement and text, so that nothing is asked twice

#: Keys of a manifest that must be the same for a run to be continued.
IDENTITY = (
    "assay",
    "pack",
    "bot",
    "plugins",
    "seed",
    "trials",
    "max_attempts",
    "limits",
    "persona",
    "user",
    "faults",
    "checkers",
    "judge",
    "tasks",
)


class ResultsError(AssayError):
    """The folder cannot be read or written; the message says where and what to do."""


@dataclass(frozen=True)
class Results:
    """What a folder holds. `trials` by (task, index), the manifest's tasks first to last."""

    manifest: dict[str, Any]
    trials: tuple[TrialRecord, ...]
    void_attempts: tuple[TrialRecord, ...] = ()

    @property
    def planned(self) -> int:
        return len(self.manifest["tasks"]) * int(self.manifest["trials"])

    @property
    def missing(self) -> int:
        """Trials that are not over yet."""
        return self.planned - len(self.trials)

    def plugin_failures(self) -> list[tuple[str, int, str]]:
        """Parts of plugins that failed, as often as they did and with what was said last; void attempts included."""
        found: dict[str, tuple[int, str]] = {}
        for record in (*self.void_attempts, *self.trials):
            for failure in record.plugin_failures:
                part = failure.get("part", "")
                found[part] = (found.get(part, (0, ""))[0] + 1, failure.get("sentence", ""))
        return [(part, count, said) for part, (count, said) in sorted(found.items())]

    def void_causes(self) -> dict[str, int]:
        """Every attempt that was void, by cause: those tried again and those that stayed void."""
        void = [*self.void_attempts, *(t for t in self.trials if t.status == "void")]
        return dict(Counter(t.void_cause or "internal_error" for t in void).most_common())

    def simulator_faults(self) -> dict[str, int]:
        """The kinds of simulator faults among void_causes."""
        void = [*self.void_attempts, *(t for t in self.trials if t.status == "void")]
        kinds = [
            (t.transcript.get("user") or {}).get("fault") for t in void if t.void_cause == "simulator_fault"
        ]
        return dict(Counter(str(kind or "broken") for kind in kinds).most_common())


def read_results(folder: Path) -> Results:
    """Read a folder, also of a run that is still going on or was interrupted. Raises ResultsError."""
    manifest = read_manifest(folder)
    order = {task["id"]: number for number, task in enumerate(manifest["tasks"])}
    found: dict[tuple[str, int], TrialRecord] = {}
    for line, record in _records(folder / TRIALS):
        if record.task not in order:
            raise ResultsError(f"{folder / TRIALS}:{line}: the task {record.task} is not in {MANIFEST}.")
        if (record.task, record.index) in found:
            raise ResultsError(
                f"{folder / TRIALS}:{line}: trial {record.index} of {record.task} stands there twice; delete one line."
            )
        found[record.task, record.index] = record
    trials = sorted(found.values(), key=lambda t: (order[t.task], t.index))
    return Results(manifest, tuple(trials), tuple(record for _, record in _records(folder / VOID_ATTEMPTS)))


def iterate(folder: Path) -> Iterator[TrialRecord]:
    """The trials of a folder one by one, in the order they ended, whatever their number. Raises ResultsError."""
    known = {task["id"] for task in read_manifest(folder)["tasks"]}
    for line, record in _records(folder / TRIALS):
        if record.task not in known:
            raise ResultsError(f"{folder / TRIALS}:{line}: the task {record.task} is not in {MANIFEST}.")
        yield record


def read_beside(folder: Path, name: str) -> Any:
    """A JSON file that stands beside the manifest (ResultsFolder.keep); None where there is none. ResultsError."""
    try:
        return json.loads((folder / name).read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ResultsError(f"{folder / name} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise ResultsError(f"{folder / name} is damaged: {error}.") from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder. Raises ResultsError."""
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ResultsError(
            f"{folder} holds no results: there is no {MANIFEST}. Name a folder that `assay run` wrote."
        ) from None
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise ResultsError(f"{path} is damaged: {error}.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ResultsError(
            f"{path} is not a manifest of format {FORMAT}; it may come from another version of Assay."
        )
    problem = _manifest_problem(data)
    if problem:
        raise ResultsError(f"{path} is damaged: {problem}.")
    return data


class ResultsFolder:
    """A folder that a run writes to; one process at a time. Use as a context manager.

    `done` holds what an earlier, interrupted run left there.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Take the folder, making it if need be. When it holds a run already, that run is continued and must be the
        same one (IDENTITY). Raises ResultsError."""
        self.folder = folder
        self._open: dict[str, int] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ResultsError(f"Results cannot be written to {folder}: {error.strerror}.") from None
        try:
            self._take()
            self.manifest = self._agree(dict(manifest))
            for name in (TRIALS, VOID_ATTEMPTS):
                _drop_unfinished(folder / name)
            self.done = read_results(folder)
        except BaseException:
            self.close()
            raise

    def add(self, record: TrialRecord) -> None:
        """Keep a trial that is over."""
        self._append(TRIALS, record)

    def add_void_attempt(self, record: TrialRecord) -> None:
        """Keep an attempt that is tried again."""
        self._append(VOID_ATTEMPTS, record)

    def note(self, key: str, value: Any) -> None:
        """Put something into the manifest that is not part of what the run is (IDENTITY): its gate, its end."""
        if key in IDENTITY:
            raise ValueError(f"{key} is part of what the run is")
        if self.manifest.get(key) != value:
            self.manifest[key] = value
            self._write_manifest()

    def keep(self, name: str, value: Any) -> None:
        """Put a JSON file beside the manifest, for what is too large to stand in it. Raises ResultsError."""
        _write(self.folder / name, value)

    def close(self) -> None:
        for descriptor in [*self._open.values(), self._lock]:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._open.clear()

    def __enter__(self) -> ResultsFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ResultsError(
                f"Another run is writing to {self.folder}; wait for it or name another folder."
            ) from None

    def _agree(self, manifest: dict[str, Any]) -> dict[str, Any]:
        if not (self.folder / MANIFEST).exists():
            if any((self.folder / name).exists() for name in (TRIALS, VOID_ATTEMPTS)):
                raise ResultsError(f"{self.folder} holds trials without a {MANIFEST}; name an empty folder.")
            self.manifest = manifest
            self._write_manifest()
            return manifest
        there = read_manifest(self.folder)
        plain = json.loads(json.dumps(manifest))  # as it would be read back
        other = [key for key in IDENTITY if there.get(key) != plain.get(key)]
        if other:
            raise ResultsError(
                f"{self.folder} holds another run: {', '.join(other)} differ{'s' if len(other) == 1 else ''}. "
                "Name another folder, or repeat the command that made this one to continue it."
            )
        return there

    def _append(self, name: str, record: TrialRecord) -> None:
        descriptor = self._open.get(name)
        try:
            if descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                descriptor = self._open[name] = os.open(self.folder / name, flags, 0o644)
            line = (
                json.dumps(record.as_json(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
                + "\n"
            )
            data = memoryview(line.encode("utf-8", "backslashreplace"))
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError as error:
            raise ResultsError(f"{self.folder / name} cannot be written: {error.strerror}.") from None

    def _write_manifest(self) -> None:
        _write(self.folder / MANIFEST, self.manifest)


def _write(path: Path, value: Any) -> None:
    """In one piece: a reader finds what was there before or all of this."""
    draft = path.with_suffix(".json.new")
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise ResultsError(f"{path} cannot be written: {error.strerror}.") from None


def _records(path: Path) -> Iterator[tuple[int, TrialRecord]]:
    """(line, record); a last line without its newline is not there yet."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                yield number, _record(path, number, line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}.") from None


def _record(path: Path, number: int, line: bytes) -> TrialRecord:
    try:
        data = json.loads(line)
        return TrialRecord.from_json(data if isinstance(data, dict) else {})
    except ValueError as error:
        raise ResultsError(
            f"{path}:{number}: this line is damaged ({error}). Delete the line and repeat the run's "
            "command: the trial is tried again."
        ) from None


def _drop_unfinished(path: Path) -> None:
    """Cut off what stands after the last newline: the line that was being written when the run was interrupted."""
    try:
        with path.open("r+b") as file:
            data = file.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                file.truncate(whole)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ResultsError(f"{path} cannot be written: {error.strerror}.") from None


def _manifest_problem(data: Mapping[str, Any]) -> str | None:
    tasks = data.get("tasks")
    if not isinstance(tasks, list) or not all(
        isinstance(t, dict) and isinstance(t.get("id"), str) for t in tasks
    ):
        return "'tasks' is not a list of tasks"
    if not isinstance(data.get("trials"), int):
        return "'trials' is not a number"
    for key in ("pack", "bot"):
        if not isinstance(data.get(key), dict):
            return f"{key!r} is missing"
    return None
