"""Packs and tasks on the site."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from assay.accounts.models import AuditEvent
from assay.packs.models import Pack, PackVersion
from tests.support.site import LIBRARY


def zipped(folder: Path, **changed: bytes) -> SimpleUploadedFile:
    """The folder as a zip, with some files replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                archive.writestr(name, changed.get(name, path.read_bytes()))
    return SimpleUploadedFile("library.zip", buffer.getvalue(), "application/zip")


def test_an_uploaded_pack_is_there_with_its_tasks(browser: Callable[[str], Client]) -> None:
    client = browser("author")
    response = client.post("/packs/upload/", {"file": zipped(LIBRARY)}, follow=True)
    text = response.content.decode()
    version = PackVersion.objects.get(pack__name="library", version="1.0.0")
    assert response.redirect_chain == [(f"/packs/versions/{version.pk}/", 302)]
    assert version.content_hash in text
    for task in version.tasks.all():
        assert task.task_id in text


def test_a_broken_pack_is_answered_with_file_and_line_and_leaves_nothing(
    browser: Callable[[str], Client],
) -> None:
    name = "tasks/" + min(p.name for p in (LIBRARY / "tasks").glob("*.yaml"))
    text = (LIBRARY / name).read_text(encoding="utf-8")
    tool = text.split("tool: ")[1].split(",")[0].split("\n")[0].strip()
    line = next(n for n, row in enumerate(text.splitlines(), 1) if f"tool: {tool}" in row)
    broken = text.replace(f"tool: {tool}", "tool: no_such_tool", 1).encode()
    version = b"version: 9.9.9"
    manifest = (LIBRARY / "pack.yaml").read_bytes().replace(b"version: 1.0.0", version)
    before = (Pack.objects.count(), PackVersion.objects.count(), AuditEvent.objects.count())
    client = browser("author")
    response = client.post(
        "/packs/upload/", {"file": zipped(LIBRARY, **{name: broken, "pack.yaml": manifest})}
    )
    page = response.content.decode()
    assert response.status_code == 422
    assert name in page
    assert f'data-label="Line">{line}</td>' in page
    assert "no_such_tool" in page
    assert (Pack.objects.count(), PackVersion.objects.count(), AuditEvent.objects.count()) == before


def test_something_that_is_no_zip_is_refused_with_a_sentence(browser: Callable[[str], Client]) -> None:
    client = browser("author")
    file = SimpleUploadedFile("pack.zip", b"this is no zip", "application/zip")
    response = client.post("/packs/upload/", {"file": file})
    assert response.status_code == 422
    assert "zip" in response.content.decode()
    assert client.post("/packs/upload/", {}).status_code == 422


def test_tasks_are_found_by_words_and_group(browser: Callable[[str], Client], library: PackVersion) -> None:
    client = browser("viewer")
    first = library.tasks.order_by("task_id").first()
    assert first is not None
    page = client.get(f"/packs/versions/{library.pk}/", {"q": first.task_id}).content.decode()
    others = library.tasks.exclude(task_id=first.task_id)
    assert first.title in page
    assert not any(f'href="/tasks/{o.pk}/"' in page for o in others)
    grouped = client.get(f"/packs/versions/{library.pk}/", {"group": first.group}).content.decode()
    for task in library.tasks.all():
        assert (f'href="/tasks/{task.pk}/"' in grouped) == (task.group == first.group)


def test_a_task_is_switched_off_and_on(browser: Callable[[str], Client], library: PackVersion) -> None:
    task = library.tasks.first()
    assert task is not None
    client = browser("author")
    piece = {"HX-Request": "true"}
    row = client.post(f"/tasks/{task.pk}/switch/", {"enabled": "0"}, headers=piece).content.decode()
    task.refresh_from_db()
    assert not task.enabled
    assert 'class="off"' in row
    assert row.strip().startswith("<tr")
    page = client.post(f"/tasks/{task.pk}/switch/", {"enabled": "1"}, follow=True)  # without JavaScript
    assert page.redirect_chain == [(f"/tasks/{task.pk}/", 302)]
    assert "new runs take it" in page.content.decode()
    task.refresh_from_db()
    assert task.enabled


def test_the_policy_shows_each_clause_with_the_tasks_that_exercise_it(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    client = browser("viewer")
    page = client.get(f"/packs/versions/{library.pk}/policy/").content.decode()
    rows = {row.split('"')[1]: row for row in page.split("<tr id=")[1:]}
    assert len(rows) == library.clause_count
    for task in library.tasks.all():
        for name in task.clauses:
            assert f"/tasks/{task.pk}/" in rows[name]
    task = library.tasks.first()
    assert task is not None
    shown = client.get(f"/tasks/{task.pk}/").content.decode()
    assert task.trap in shown
    for name in task.clauses:
        assert f"/packs/versions/{library.pk}/policy/#{name}" in shown


def test_a_clause_is_shown_with_the_table_or_list_that_belongs_to_it(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    with zipfile.ZipFile(io.BytesIO(bytes(library.bundle))) as archive:
        policy = archive.read("policy.md").decode()
    more = """

Priority: the first that fits. {#LIB-8.1}

| priority | when |
| --- | --- |
| high | a child is waiting |

Say who you are. {#LIB-8.2}

- your name
  and your desk
- the library {#LIB-8.3}

An ordinary sentence.
"""
    manifest = (LIBRARY / "pack.yaml").read_bytes().replace(b"version: 1.0.0", b"version: 7.0.0")
    client = browser("author")
    file = zipped(LIBRARY, **{"policy.md": (policy + more).encode(), "pack.yaml": manifest})
    made = client.post("/packs/upload/", {"file": file}).headers["Location"]
    page = client.get(f"{made}policy/").content.decode()
    rows = {row.split('"')[1]: row.split("</td>")[0] for row in page.split("<tr id=")[1:]}
    assert "<ul><li>high: a child is waiting</li></ul>" in rows["LIB-8.1"]
    assert "<ul><li>your name and your desk</li></ul>" in rows["LIB-8.2"]
    assert "<ul>" not in rows["LIB-8.3"]


def test_an_older_version_leads_to_the_newest(browser: Callable[[str], Client], library: PackVersion) -> None:
    task = library.tasks.first()
    assert task is not None
    client = browser("author")
    client.post(f"/tasks/{task.pk}/", {"yaml": task.yaml.replace(task.title, "Said once more")})
    made = library.pack.latest()
    assert made is not None
    assert made != library
    for path in (f"/packs/versions/{library.pk}/", f"/tasks/{task.pk}/"):
        assert (
            f'not the newest version of the pack: <a href="/packs/versions/{made.pk}/"'
            in client.get(path).content.decode()
        )
    assert "not the newest" not in client.get(f"/packs/versions/{made.pk}/").content.decode()


def test_an_edited_task_makes_a_new_version_and_leaves_the_old_one(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    task = library.tasks.first()
    assert task is not None
    client = browser("author")
    changed = task.yaml.replace(task.title, "Said in another way")
    response = client.post(f"/tasks/{task.pk}/", {"yaml": changed}, follow=True)
    made = PackVersion.objects.get(edited_from=library, tasks__title="Said in another way")
    assert "Said in another way" in response.content.decode()
    assert made.content_hash != library.content_hash
    task.refresh_from_db()
    assert task.title != "Said in another way"


def test_an_edit_that_does_not_fit_says_where_and_changes_nothing(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    task = library.tasks.first()
    assert task is not None
    versions = PackVersion.objects.count()
    text = task.yaml + "\n  colour: red"
    response = browser("author").post(f"/tasks/{task.pk}/", {"yaml": text})
    page = response.content.decode()
    assert response.status_code == 422
    assert "colour" in page
    assert f"(line {len(text.splitlines())} of the text here)" in page
    assert PackVersion.objects.count() == versions
    assert "colour: red" in page  # what was typed is still there


def test_a_pack_can_be_downloaded_and_uploaded_again(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    client = browser("author")
    response = client.get(f"/packs/versions/{library.pk}/download/")
    assert response.headers["Content-Disposition"] == 'attachment; filename="library-1.0.0.zip"'
    again = SimpleUploadedFile("again.zip", response.content, "application/zip")
    same = client.post("/packs/upload/", {"file": again})
    assert same.headers["Location"] == f"/packs/versions/{library.pk}/"


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "{{ 7 * 7 }}"])
def test_text_of_a_pack_is_shown_and_not_run(
    browser: Callable[[str], Client], library: PackVersion, text: str
) -> None:
    task = library.tasks.first()
    assert task is not None
    client = browser("author")
    changed = task.yaml.replace(task.title, f'"{text}"')
    client.post(f"/tasks/{task.pk}/", {"yaml": changed})
    made = PackVersion.objects.filter(tasks__title=text).last()
    assert made is not None
    page = client.get(f"/packs/versions/{made.pk}/").content.decode()
    assert "<script>alert(1)" not in page
    assert "49" not in page.split("Clauses")[-1].split("Trap")[0]
    assert text.replace("<", "&lt;").replace(">", "&gt;") in page


def test_a_zero_byte_in_a_search_finds_nothing(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    client = browser("viewer")
    url = f"/packs/versions/{library.pk}/"
    assert "LIB-LOAN-001" in client.get(url).content.decode()
    for query in ("q=LIB%00", "q=%00", "group=%00", "group=loan%00&q=LIB", "page=%00&q=%00"):
        response = client.get(f"{url}?{query}")
        assert response.status_code == 200, query
        assert "LIB-LOAN-001" not in response.content.decode(), query


def test_a_version_in_the_library_s_address_that_is_no_number_is_left_out(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    client = browser("author")
    for version in ("²", "9" * 30, "x"):
        response = client.get("/admin/packs/taskentry/", {"version": version})
        assert response.status_code == 200, version
        assert "LIB-LOAN-001" in response.content.decode(), version
