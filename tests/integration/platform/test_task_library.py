"""The task library: tasks are found, switched on and off, and edited as a new version of their pack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from assay.accounts.models import AuditEvent, User
from assay.accounts.services import create_user
from assay.engine.packs import PackError, bundle, load_pack
from assay.packs import services
from assay.packs.models import Pack, PackVersion, TaskEntry
from assay.tenancy.services import in_tenant
from tests.support.companies import PASSWORD
from tests.support.site import LIBRARY


@pytest.fixture
def owner(acme: None) -> Client:
    client = Client(HTTP_HOST="acme.localhost")
    assert client.login(username="owner@acme.example", password=PASSWORD)
    return client


@pytest.fixture
def viewer(acme: None) -> Client:
    if not User.objects.filter(email="looks@acme.example").exists():
        create_user(email="looks@acme.example", password=PASSWORD, role="viewer")
    client = Client(HTTP_HOST="acme.localhost")
    assert client.login(username="looks@acme.example", password=PASSWORD)
    return client


def newest() -> PackVersion:
    found = Pack.objects.get(name="library").latest()
    assert found is not None
    return found


def entry(task_id: str = "LIB-FEE-001") -> TaskEntry:
    return newest().tasks.get(task_id=task_id)


def page(of: TaskEntry) -> str:
    return f"/admin/packs/taskentry/{of.pk}/change/"


def test_an_uploaded_pack_is_kept_byte_for_byte_with_its_tasks_listed(library: PackVersion) -> None:
    found = services.load_world(library).pack
    assert found.content_hash == library.content_hash == load_pack(LIBRARY).content_hash
    assert library.task_count == library.tasks.count() == 6
    fee = library.tasks.get(task_id="LIB-FEE-001")
    lines = (LIBRARY / fee.source_path).read_text().split("\n")
    assert lines[fee.source_line - 1].startswith("- id: LIB-FEE-001")
    assert (
        fee.yaml.split("\n") == lines[fee.source_line - 1 : fee.source_line - 1 + len(fee.yaml.split("\n"))]
    )
    assert fee.clauses == ["LIB-1.1", "LIB-1.3", "LIB-3.1"] and fee.hardness == ["computed_amount"]


def test_the_same_content_as_a_zip_and_as_a_folder_is_one_version(library: PackVersion) -> None:
    count = PackVersion.objects.count()
    assert services.upload_pack(bundle(load_pack(LIBRARY))) == library
    assert PackVersion.objects.count() == count


def test_a_pack_with_problems_leaves_nothing_and_names_every_one_with_its_line(acme: None) -> None:
    files = {str(p.relative_to(LIBRARY)): p.read_bytes() for p in LIBRARY.rglob("*") if p.is_file()}
    files["pack.yaml"] = files["pack.yaml"].replace(b"name: library", b"name: broken")
    tasks = files["tasks/lending.yaml"].decode().replace("tool: loans_renew", "tool: loans_renewal", 1)
    files["tasks/lending.yaml"] = tasks.replace(
        "clauses: [LIB-1.1, LIB-4.2]", "clauses: [LIB-9.9]", 1
    ).encode()
    before = (
        Pack.objects.count(),
        PackVersion.objects.count(),
        TaskEntry.objects.count(),
        AuditEvent.objects.count(),
    )
    with pytest.raises(PackError) as caught:
        services.upload_pack(files)
    said = {(p.path, p.line) for p in caught.value.problems}
    wrong = {n for n, line in enumerate(tasks.split("\n"), 1) if "loans_renewal" in line}
    assert ("tasks/lending.yaml", *wrong) in said
    assert len(caught.value.problems) >= 2
    after = (
        Pack.objects.count(),
        PackVersion.objects.count(),
        TaskEntry.objects.count(),
        AuditEvent.objects.count(),
    )
    assert after == before


def test_tasks_are_listed_and_found_by_what_stands_in_them(library: PackVersion, owner: Client) -> None:
    everything = owner.get("/admin/packs/taskentry/").content.decode()
    assert all(t in everything for t in library.tasks.values_list("task_id", flat=True))
    found = owner.get("/admin/packs/taskentry/?q=lichen").content.decode()
    assert "LIB-MEM-001" in found and "LIB-LOAN-001" not in found
    group = library.tasks.get(task_id="LIB-HOLD-001").group
    in_group = owner.get(f"/admin/packs/taskentry/?group={group}").content.decode()
    assert "LIB-HOLD-001" in in_group and "LIB-FEE-001" not in in_group


def test_tasks_are_switched_off_and_on_and_the_trail_says_by_whom(
    library: PackVersion, owner: Client
) -> None:
    task = entry()
    chosen: dict[str, Any] = {"action": "disable", "_selected_action": [task.pk]}
    assert owner.post("/admin/packs/taskentry/", chosen).status_code == 302
    assert not entry().enabled
    event = AuditEvent.objects.filter(action="task.disabled", target=f"taskentry:{task.pk}").first()
    assert event is not None and event.actor == "owner@acme.example"
    assert owner.post("/admin/packs/taskentry/", {**chosen, "action": "enable"}).status_code == 302
    assert entry().enabled


def test_an_edit_makes_a_new_version_and_leaves_the_old_one_as_it_was(
    library: PackVersion, owner: Client
) -> None:
    before, task = newest(), entry()
    title = f"A late fee, six days, after {before.version}"  # other tests of the session edit this task, too
    text = task.yaml.replace(f"title: {task.title}", f"title: {title}")
    answer = owner.post(page(task), {"yaml": text, "enabled": "on"})
    after = newest()
    assert after != before and after.edited_from == before
    assert answer.status_code == 302 and answer["Location"] == page(entry())
    assert entry().title == title
    assert before.tasks.get(task_id="LIB-FEE-001").title == task.title
    assert [*map(int, after.version.split("."))] > [*map(int, before.version.split("."))]
    assert services.load_world(after).pack.tasks["LIB-FEE-001"].title == title
    others = before.tasks.exclude(task_id="LIB-FEE-001").order_by("task_id").values_list("task_id", "yaml")
    assert list(others) == list(
        after.tasks.exclude(task_id="LIB-FEE-001").order_by("task_id").values_list("task_id", "yaml")
    )


def test_a_task_that_is_off_stays_off_in_the_edited_version(library: PackVersion, owner: Client) -> None:
    task = entry("LIB-HOLD-001")
    text = task.yaml.replace("title: Reservation with a pick-up", f"title: Reservation and pick-up {task.pk}")
    owner.post(page(task), {"yaml": text})
    assert not entry("LIB-HOLD-001").enabled and entry().enabled
    owner.post(page(entry()), {"yaml": entry().yaml.replace("six days", "six whole days"), "enabled": "on"})
    assert not entry("LIB-HOLD-001").enabled
    services.set_enabled(entry("LIB-HOLD-001"), True)


def test_saving_a_task_unchanged_makes_no_version(library: PackVersion, owner: Client) -> None:
    count = PackVersion.objects.count()
    owner.post(
        page(entry()), {"yaml": entry().yaml.replace("\n", "\r\n"), "enabled": "on"}
    )  # as browsers send it
    assert PackVersion.objects.count() == count


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("fees_record", "fees_recorded"), "fees_recorded"),
        (lambda text: text.replace("clauses:", "clausses:"), "clausses"),
        (lambda text: text.replace("LIB-FEE-001", "LIB-FEE-002"), "must be the one task LIB-FEE-001"),
        (
            lambda text: text + "\n" + text.replace("LIB-FEE-001", "LIB-FEE-002"),
            "must be the one task LIB-FEE-001",
        ),
        (lambda text: "- {", "tasks/lending.yaml"),
        (lambda text: "", "required"),
    ],
)
def test_an_edit_with_a_problem_is_shown_with_its_line_and_makes_nothing(
    library: PackVersion, owner: Client, change: Callable[[str], str], said: str
) -> None:
    count, task = PackVersion.objects.count(), entry()
    answer = owner.post(page(task), {"yaml": change(task.yaml), "enabled": "on"})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert PackVersion.objects.count() == count


def test_a_viewer_reads_the_library_and_changes_nothing(library: PackVersion, viewer: Client) -> None:
    task, count = entry(), PackVersion.objects.count()
    assert "computed_amount" in viewer.get(page(task)).content.decode()
    assert viewer.post(page(task), {"yaml": task.yaml + "\n", "enabled": "on"}).status_code == 403
    chosen: dict[str, Any] = {"action": "disable", "_selected_action": [task.pk]}
    viewer.post("/admin/packs/taskentry/", chosen)
    assert entry().enabled and PackVersion.objects.count() == count


def test_one_companys_packs_are_not_another_ones(library: PackVersion, owner: Client, tmp_path: Path) -> None:
    with in_tenant("globex"):
        assert not PackVersion.objects.filter(pk=library.pk, created_at=library.created_at).exists()
    answer = owner.get("/admin/packs/packversion/", HTTP_HOST="globex.localhost")
    assert answer.status_code == 302  # to its sign-in
