"""Uploading, editing and opening packs."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.db import connection, transaction

from assay.accounts.audit import record
from assay.accounts.models import User
from assay.engine.packs import Pack as EnginePack
from assay.engine.packs import PackError, Problem, bundle, load_pack_bytes
from assay.engine.packs.lint import check
from assay.engine.packs.zips import read_zip
from assay.engine.sandbox import World
from assay.packs import verifying
from assay.packs.models import Pack, PackVersion, TaskEntry

_VERSION_LINE = re.compile(rb"(?m)^version:[ \t]*[\"']?(\d+)\.(\d+)\.(\d+)[\"']?")


def upload_pack(data: bytes | Path | Mapping[str, bytes], *, by: User | None = None) -> PackVersion:
    """Store a pack version from a zip, a folder, or files {path in the pack: bytes}.

    A pack with the same content as an earlier version gives that version. Raises PackError with every problem,
    each with file and line; then nothing was stored.
    """
    if isinstance(data, Path):
        checked = check(data).pack
    else:
        checked = check(read_zip(data) if isinstance(data, bytes) else dict(data)).pack
    return _store(checked, by=by, edited_from=None)


@dataclass(frozen=True, slots=True)
class Edit:
    """A checked edit that is not stored yet. `pack` is None when the text says what it said before."""

    version: PackVersion
    task_id: str
    pack: EnginePack | None


def draft_edit(version: PackVersion, task_id: str, yaml: str) -> Edit:
    """Check what the pack would be if one task read `yaml`, an item of a task file ("- id: ...").

    The version number's last part is raised in pack.yaml. Raises PackError, whose lines count in the whole file
    (the task starts at `TaskEntry.source_line`), and TaskEntry.DoesNotExist.
    """
    entry = version.tasks.get(task_id=task_id)
    files = read_zip(bytes(version.bundle))
    lines = files[entry.source_path].decode().split("\n")
    start = entry.source_line - 1
    end = start + len(entry.yaml.split("\n"))
    new = yaml.replace("\r\n", "\n").strip("\n").split("\n")
    if new == lines[start:end]:
        return Edit(version, task_id, None)
    files[entry.source_path] = "\n".join([*lines[:start], *new, *lines[end:]]).encode()
    files["pack.yaml"] = _with_version(files["pack.yaml"], _next_version(version))
    checked = check(files).pack
    if set(checked.tasks) != set(version.tasks.values_list("task_id", flat=True)):
        raise PackError(
            [
                Problem(
                    path=entry.source_path,
                    line=entry.source_line,
                    message=f"The text must be the one task {task_id}; other tasks are added or removed by an upload.",
                    code="task_id_changed",
                    task=task_id,
                )
            ]
        )
    return Edit(version, task_id, checked)


def store_edit(edit: Edit, *, by: User | None = None) -> PackVersion:
    """Make the edit a new pack version; an edit that changes nothing gives the version it was made from."""
    return edit.version if edit.pack is None else _store(edit.pack, by=by, edited_from=edit.version)


def edit_task(version: PackVersion, task_id: str, yaml: str, *, by: User | None = None) -> PackVersion:
    """draft_edit and store_edit in one go; raises what draft_edit raises."""
    return store_edit(draft_edit(version, task_id, yaml), by=by)


def set_enabled(entry: TaskEntry, enabled: bool, *, by: User | None = None) -> TaskEntry:
    """Switch a task on or off for new runs; runs that are planned already keep it."""
    with transaction.atomic():
        entry = TaskEntry.objects.select_for_update().get(pk=entry.pk)
        if entry.enabled != enabled:
            entry.enabled = enabled
            entry.save(update_fields=["enabled"])
            record(
                "task.enabled" if enabled else "task.disabled",
                actor=by,
                target=entry,
                data={"task": entry.task_id, "pack_version": entry.pack_version_id},
            )
    return entry


_WORLDS_KEPT = 4
_worlds: OrderedDict[tuple[str, str], World] = OrderedDict()
_worlds_lock = threading.Lock()


def load_world(version: PackVersion) -> World:
    """The version's pack, ready for trials. The last few stay in this process. Raises PackError."""
    key = (str(connection.schema_name), version.content_hash)
    with _worlds_lock:
        if key in _worlds:
            _worlds.move_to_end(key)
            return _worlds[key]
    world = World.prepare(load_pack_bytes(read_zip(bytes(version.bundle))))
    with _worlds_lock:
        _worlds[key] = world
        _worlds.move_to_end(key)
        while len(_worlds) > _WORLDS_KEPT:
            _worlds.popitem(last=False)
    return world


def _store(checked: EnginePack, *, by: User | None, edited_from: PackVersion | None) -> PackVersion:
    with transaction.atomic():
        # Two uploads of one pack at once take turns here, so the second finds the first one's version.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.packs'), hashtext(%s))",
                [checked.name],
            )
        same = PackVersion.objects.filter(content_hash=checked.content_hash).first()
        if same is not None:
            return same
        pack, _ = Pack.objects.get_or_create(name=checked.name, defaults={"title": checked.manifest.title})
        previous = edited_from or pack.latest()
        off = (
            set(previous.tasks.filter(enabled=False).values_list("task_id", flat=True)) if previous else set()
        )
        version = PackVersion.objects.create(
            pack=pack,
            version=checked.version,
            title=checked.manifest.title,
            content_hash=checked.content_hash,
            bundle=bundle(checked),
            locale=checked.manifest.locale,
            task_count=len(checked.tasks),
            tool_count=len(checked.tools),
            clause_count=len(checked.clauses),
            article_count=len({s.article for s in checked.sections}),
            edited_from=edited_from,
            uploaded_by=by,
        )
        if pack.title != checked.manifest.title:
            pack.title = checked.manifest.title
            pack.save(update_fields=["title"])
        # A task that was switched off stays off in the next version.
        TaskEntry.objects.bulk_create(_entries(checked, version, off))
        verifying.queue(version)
        record(
            "pack.edited" if edited_from else "pack.uploaded",
            actor=by,
            target=version,
            data={"pack": pack.name, "version": version.version, "content_hash": version.content_hash},
        )
    return version


def _entries(checked: EnginePack, version: PackVersion, off: set[str]) -> list[TaskEntry]:
    starts: dict[str, list[int]] = {}
    for name, source in checked.sources.items():
        if name.startswith("task:"):
            starts.setdefault(source.path, []).append(source.line)
    entries = []
    for task in checked.tasks.values():
        source = checked.sources[f"task:{task.id}"]
        lines = checked.files[source.path].decode().split("\n")
        end = min((line for line in starts[source.path] if line > source.line), default=len(lines) + 1) - 1
        text = "\n".join(lines[source.line - 1 : end]).rstrip()
        entries.append(
            TaskEntry(
                pack_version=version,
                task_id=task.id,
                title=task.title,
                group=task.group_name,
                clauses=list(task.clauses),
                hardness=[h.value for h in task.hardness],
                trap=task.trap or "",
                source_path=source.path,
                source_line=source.line,
                yaml=text,
                enabled=task.id not in off,
            )
        )
    return entries


def _next_version(version: PackVersion) -> str:
    major, minor, patch = (int(part) for part in version.version.split("."))
    taken = [
        int(number.rsplit(".", 1)[1])
        for number in version.pack.versions.values_list("version", flat=True)
        if number.startswith(f"{major}.{minor}.")
    ]
    return f"{major}.{minor}.{max([patch, *taken]) + 1}"


def _with_version(manifest: bytes, number: str) -> bytes:
    changed, count = _VERSION_LINE.subn(b"version: " + number.encode(), manifest, count=1)
    if count != 1:
        raise PackError(
            [
                Problem(
                    "pack.yaml",
                    0,
                    "Write the version on a line of its own, like 'version: 1.0.0', to edit here.",
                )
            ]
        )
    return changed
