"""The whole way of somebody who sees Assay for the first time, in a browser."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.browsing import Open
from tests.support.serving import Site
from tests.support.site import LIBRARY, PASSWORD

TRIALS = 10


def zipped(change: tuple[str, str, str] | None = None) -> dict[str, str | bytes]:
    """The library pack as a file to upload; `change`: (file, what to replace, by what)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(p for p in LIBRARY.rglob("*") if p.is_file()):
            name = path.relative_to(LIBRARY).as_posix()
            text = path.read_text(encoding="utf-8")
            if change and change[0] == name:
                assert change[1] in text
                text = text.replace(change[1], change[2], 1)
            archive.writestr(name, text)
    return {"name": "library.zip", "mimeType": "application/zip", "buffer": out.getvalue()}


def line_of(path: Path, words: str) -> int:
    return next(n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if words in line)


def test_a_newcomer_goes_from_signing_in_to_a_failed_trial(newcomer: str, site: Site, opened: Open) -> None:
    with opened(newcomer, sign_in=False) as (page, watched):
        _signs_in(page)
        watched.allowed = {422}  # what is refused on purpose, below
        _uploads_a_pack(page)
        _adds_a_bot(page)
        watched.allowed = set()
        _starts_a_run_and_watches_it(page, site)
        run = page.url
        _opens_the_report(page)
        page.goto(run)
        _opens_a_failed_trial(page)
        watched.allowed = {422}
        _edits_the_task(page)


def _signs_in(page: Page) -> None:
    page.goto("/")
    expect(page).to_have_title("Sign in: Assay")
    page.get_by_label("E-mail address").fill("owner@newcomer.example")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not belong together")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    expect(page.get_by_role("heading", name="Newcomer")).to_be_visible()


def _uploads_a_pack(page: Page) -> None:
    page.get_by_role("link", name="Upload a pack").click()
    page.get_by_label("A pack's folder").set_input_files(
        zipped(("tasks/lending.yaml", "tool: loans_renew", "tool: loans_renews"))
    )
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="The pack was not stored")).to_be_visible()
    problem = page.get_by_role("row").filter(has_text="loans_renews")
    expect(problem).to_contain_text("tasks/lending.yaml")
    expect(problem).to_contain_text(str(line_of(LIBRARY / "tasks" / "lending.yaml", "tool: loans_renew")))
    page.get_by_label("A pack's folder").set_input_files(zipped())
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("status")).to_contain_text("is ready")

    off = page.get_by_role("button", name=re.compile("^Switch off LIB-LOAN-001"))
    off.click()
    expect(page.locator("tr.off")).to_contain_text("LIB-LOAN-001")
    page.reload()
    expect(page.get_by_text("1 task is off")).to_be_visible()
    page.get_by_role("button", name="Switch on LIB-LOAN-001").click()
    expect(off).to_be_visible()


def _adds_a_bot(page: Page) -> None:
    page.get_by_role("link", name="Assay", exact=True).click()
    page.get_by_role("link", name="Add a bot").click()
    page.get_by_label("Name").fill("First try")
    page.get_by_label("Bot", exact=True).fill("reference:carelss")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_contain_text("careless")
    page.get_by_label("Bot", exact=True).fill("reference:careless")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="First try")).to_be_visible()


def _starts_a_run_and_watches_it(page: Page, site: Site) -> None:
    page.get_by_role("link", name="Run the latest version").click()
    page.get_by_label("Trials of each task").fill(str(TRIALS))
    page.get_by_label("Seed").fill("7")
    page.get_by_label("Figure").select_option("pass_hat")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#progress")).to_contain_text(re.compile(r"\b0 of \d+ trials over"))
    site.start_worker()
    expect(page.locator("#progress")).not_to_contain_text(
        re.compile(r"\b0 of \d+ trials over"), timeout=60_000
    )
    expect(page.locator("#progress .status.finished")).to_be_visible(timeout=60_000)
    # The page has noticed by itself that the run is over.
    expect(page.get_by_text(f"pass^{TRIALS}", exact=True).first).to_be_visible()
    expect(page.get_by_text("Gate not met.")).to_be_visible()


def _opens_the_report(page: Page) -> None:
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.get_by_role("heading", name="First try v1 on")).to_be_visible()
    expect(page.get_by_text("Synthetic reference bot.")).to_be_visible()
    expect(page.get_by_role("heading", name="Why they failed")).to_be_visible()


def _opens_a_failed_trial(page: Page) -> None:
    failure = page.get_by_role("row").filter(has_text="Incorrect state update.").first
    failure.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Failed: incorrect state update")).to_be_visible()
    table = page.locator(".difference.wrong").first
    row = table.get_by_role("row").nth(1)
    expected, actual = row.locator(".expected").inner_text(), row.locator(".actual").inner_text()
    assert expected != actual
    explanation = page.locator(".verdict.bad p").first.inner_text()
    assert actual in explanation
    assert expected in explanation
    table.get_by_role("link", name=re.compile("^call")).click()  # to the call that wrote it
    expect(page.locator("li.tool:target")).to_be_visible()
    expect(page.get_by_role("heading", name="What the task tests")).to_be_visible()


def _edits_the_task(page: Page) -> None:
    page.get_by_role("link", name="The whole task").click()
    box = page.get_by_role("textbox", name="Task")
    text = box.input_value()
    box.fill(f"{text}\n  colour: red")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("alert").first).to_contain_text("Nothing was changed")
    expect(page.get_by_text(f"(line {len(text.splitlines()) + 1} of the text here)")).to_be_visible()
    box.fill(re.sub("title: .*", "title: Said in other words", text, count=1))
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("status")).to_contain_text("is changed in the new version library 1.0.1")
    expect(page.get_by_role("heading", name="Said in other words")).to_be_visible()
