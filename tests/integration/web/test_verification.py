"""Pack versions are verified by workers after the upload, and the site and the API say what was found."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from assay.engine.packs.skeleton import make_pack
from assay.engine.packs.zips import read_zip
from assay.packs import verifying
from assay.packs.models import PackVersion, Verification, VerificationStatus
from assay.packs.services import upload_pack
from assay.runs.services import plan_run
from assay.tenancy.services import in_tenant
from tests.support.site import reference_bot


@pytest.fixture
def asked(acme: None, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Messages to workers, which nobody takes."""
    sent: list[tuple[str, int]] = []
    Verification.objects.filter(status__in=["waiting", "running"]).delete()  # of other tests
    monkeypatch.setattr(verifying, "ask", lambda schema, version: sent.append((schema, version)))
    return sent


@pytest.fixture
def uploaded(acme: None, tmp_path: Path) -> Callable[..., PackVersion]:
    """A new pack as `assay pack new` lays it out, which verifies; `changes`: texts to replace in comparison.yaml."""

    def upload(number: str, changes: dict[str, str] | None = None) -> PackVersion:
        folder = tmp_path / "corner_shop"
        if not folder.exists():
            make_pack("corner_shop", tmp_path)
        manifest = folder / "pack.yaml"
        manifest.write_text(re.sub(r"(?m)^version: [0-9.]+", f"version: {number}", manifest.read_text()))
        comparison = folder / "comparison.yaml"
        for old, new in (changes or {}).items():
            assert old in comparison.read_text()
            comparison.write_text(comparison.read_text().replace(old, new))
        return upload_pack(folder)

    return upload


def test_an_upload_is_verified_by_a_worker_and_shown_with_the_version(
    browser: Callable[[str], Client], uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]]
) -> None:
    version = uploaded("1.1.0")
    assert asked == [("acme", version.pk)]
    client = browser("viewer")
    assert "waiting for a worker" in client.get(f"/packs/versions/{version.pk}/").content.decode()
    page = client.get(f"/packs/versions/{version.pk}/verification/").content.decode()
    assert "hx-get" in page
    verifying.run(version.pk)
    found = Verification.objects.get(pack_version=version)
    assert (found.status, found.problem_count, found.note) == (VerificationStatus.SOUND, 0, "")
    page = client.get(f"/packs/versions/{version.pk}/verification/").content.decode()
    assert "No findings" in page
    assert "hx-get" not in page
    report = client.get(f"/packs/versions/{version.pk}/verification/report/")
    assert report.status_code == 200
    assert version.content_hash[:8] in report.content.decode()


def test_a_weak_pack_is_shown_with_file_line_and_task(
    browser: Callable[[str], Client], uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]]
) -> None:
    version = uploaded("1.2.0", {"note: ignore": "refund: ignore\n      note: ignore"})
    verifying.run(version.pk)
    found = Verification.objects.get(pack_version=version)
    assert found.status == VerificationStatus.UNSOUND
    assert found.problem_count == len(found.report["problems"]) > 0
    page = browser("viewer").get(f"/packs/versions/{version.pk}/verification/").content.decode()
    first = found.report["problems"][0]
    assert f"{first['path']}:{first['line']}" in page
    assert first["task"] in page
    assert f"{found.problem_count} finding" in browser("viewer").get("/packs/").content.decode()


def test_a_verification_is_claimed_once_and_again_when_its_worker_is_lost(
    uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]]
) -> None:
    version = uploaded("1.3.0")
    now = timezone.now()
    assert verifying.claim(version.pk, now) is not None
    assert verifying.claim(version.pk, now) is None
    later = now
    for _ in range(verifying.MOST_ATTEMPTS - 1):
        later += verifying.LEASE + timedelta(seconds=1)
        assert verifying.claim(version.pk, later) is not None
    later += verifying.LEASE + timedelta(seconds=1)
    assert verifying.claim(version.pk, later) is None
    found = Verification.objects.get(pack_version=version)
    assert found.status == VerificationStatus.FAILED
    assert "3 times" in found.note


def test_a_company_has_one_version_verified_at_a_time_and_then_the_next(
    uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]]
) -> None:
    Verification.objects.all().delete()
    first, second = uploaded("1.3.1"), uploaded("1.3.2")
    claimed = verifying.claim(first.pk)
    assert claimed is not None
    assert verifying.claim(second.pk) is None
    Verification.objects.filter(pack_version=second).update(due_at=timezone.now() - timedelta(seconds=1))
    assert verifying.sweep("acme") == 0
    Verification.objects.filter(pack_version=first).update(status=VerificationStatus.WAITING, token=None)
    asked.clear()
    verifying.run(first.pk)
    assert asked == [("acme", second.pk)]


def test_a_worker_that_was_given_up_does_not_write_over_the_one_that_took_its_place(
    uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = uploaded("1.4.0")

    def slow(*_: Any, **__: Any) -> Any:
        assert verifying.claim(version.pk, timezone.now() + 2 * verifying.LEASE) is not None
        raise RuntimeError("too late")

    monkeypatch.setattr(verifying, "verify", slow)
    verifying.run(version.pk)
    assert Verification.objects.get(pack_version=version).status == VerificationStatus.RUNNING


def test_a_fault_of_the_verifier_is_said_and_can_be_tried_again(
    browser: Callable[[str], Client],
    uploaded: Callable[..., PackVersion],
    asked: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version = uploaded("1.5.0")
    with monkeypatch.context() as patch:

        def broken(*_: Any, **__: Any) -> Any:
            raise RuntimeError("a mistake of ours")

        patch.setattr(verifying, "verify", broken)
        verifying.run(version.pk)
    page = browser("viewer").get(f"/packs/versions/{version.pk}/verification/").content.decode()
    assert "a mistake of ours" in page
    assert "not the pack&#x27;s fault" in page
    assert browser("viewer").post(f"/packs/versions/{version.pk}/verify/").status_code == 403
    asked.clear()
    browser("author").post(f"/packs/versions/{version.pk}/verify/")
    assert asked == [("acme", version.pk)]
    verifying.run(version.pk)
    assert Verification.objects.get(pack_version=version).status == VerificationStatus.SOUND


def test_the_sweep_asks_again_for_what_no_worker_took(
    uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]]
) -> None:
    version = uploaded("1.6.0")
    Verification.objects.exclude(pack_version=version).delete()
    asked.clear()
    assert verifying.sweep("acme") == 0
    Verification.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert verifying.sweep("acme") == 1
    assert verifying.sweep("acme") == 0
    assert asked == [("acme", version.pk)]


def test_a_stored_pack_that_no_longer_loads_says_why(
    uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = uploaded("1.7.0")
    files = read_zip(bytes(version.bundle))
    files["tools/extra.yaml"] = b"- name: 5"
    monkeypatch.setattr(verifying, "read_zip", lambda _: files)
    verifying.run(version.pk)
    found = Verification.objects.get(pack_version=version)
    assert found.status == VerificationStatus.FAILED
    assert "tools/extra.yaml:1" in found.note


def test_another_company_has_its_own(
    uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]]
) -> None:
    version = uploaded("1.8.0")
    verifying.run(version.pk)
    with in_tenant("globex"):
        assert not Verification.objects.filter(pack_version__version="1.8.0").exists()


def test_a_run_on_a_weak_pack_says_so(
    browser: Callable[[str], Client], uploaded: Callable[..., PackVersion], asked: list[tuple[str, int]]
) -> None:
    version = uploaded("1.9.0", {"note: ignore": "refund: ignore\n      note: ignore"})
    run = plan_run(version, reference_bot("faithful"), trials=1, seed=3)
    client = browser("viewer")
    assert "some verdicts below may be wrong" not in client.get(f"/runs/{run.pk}/").content.decode()
    verifying.run(version.pk)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "some verdicts below may be wrong" in page
    assert f'href="/packs/versions/{version.pk}/verification/"' in page
