"""What holds on every page, and what somebody does besides running bots."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from assay.packs.models import PackVersion
from assay.runs.models import Run
from tests.support.browsing import Open
from tests.support.serving import Site

# (width, colour scheme, axe's rules): a desk with all of them, a phone with those that depend on colours and room
PLACES = [
    (1280, "light", {}),
    (390, "dark", {"runOnly": ["color-contrast", "scrollable-region-focusable", "target-size"]}),
]


def _pages(run: Run) -> dict[str, str]:
    version = run.pack_version
    task = version.tasks.first()
    failed = run.trials.filter(status="failed").first()
    assert task is not None
    assert failed is not None
    return {
        "home": "/",
        "packs": "/packs/",
        "pack version": f"/packs/versions/{version.pk}/",
        "policy": f"/packs/versions/{version.pk}/policy/",
        "task": f"/tasks/{task.pk}/",
        "bots": "/bots/",
        "bot": f"/bots/{run.bot_version.bot_id}/",
        "runs": "/runs/",
        "new run": "/runs/new/",
        "run": f"/runs/{run.pk}/",
        "task of a run": f"/runs/{run.pk}/tasks/{failed.task_id}/",
        "trial": f"/trials/{failed.pk}/",
        "report": f"/runs/{run.pk}/report/",
        "integrations": "/integrations/",
        "new webhook": "/integrations/webhooks/",
        "ticket system": "/integrations/tickets/",
        "secrets": "/secrets/",
        "tokens": "/tokens/",
        "plugins": "/plugins/",
        "plugin": "/plugins/assay/",
        "REST API": "/api/v1/docs/",
        "admin": "/admin/",
        "task library": "/admin/packs/taskentry/",
        "task in the admin": f"/admin/packs/taskentry/{task.pk}/change/",
    }


@pytest.mark.parametrize(("width", "scheme", "rules"), PLACES, ids=["desk", "phone"])
def test_no_page_has_errors_reaches_elsewhere_or_shuts_anybody_out(
    opened: Open, finished: Callable[..., Run], width: int, scheme: str, rules: dict[str, object]
) -> None:
    """Console, requests (by the watched page), room, and axe's rules on what people with disabilities need."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    pages = _pages(finished("careless", trials=6))
    wrong = []
    with opened("acme", viewport={"width": width, "height": 900}, color_scheme=scheme) as (page, _):
        for name, path in pages.items():
            if rules and path.startswith(("/admin/", "/api/")):
                continue  # not our markup; once is enough
            answer = page.goto(path)
            assert answer.status == 200, name
            if name == "REST API":
                expect(page.get_by_text("/api/v1/runs/", exact=True).first).to_be_visible()
                continue  # not our markup
            across, room = page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            )
            if across > room:
                wrong.append(f"{name} is {across} px wide on {room}")
            wrong += [
                f"{name}: {found['impact']} {found['id']}: {found['nodes'][0]['html']}"
                for found in axe.run(page, options={"preload": False, **rules}).response["violations"]
                if found["impact"] in ("serious", "critical")
                and not (
                    path.startswith("/admin/") and found["id"] == "target-size"
                )  # Django's own filter links
            ]
    assert wrong == []


def test_a_keyboard_reaches_everything_and_shows_where_it_is(
    opened: Open, finished: Callable[..., Run]
) -> None:
    run = finished("careless", trials=6).pk
    reached = """() => {
        const e = document.activeElement, s = getComputedStyle(e);
        return [e.getAttribute('href') || e.name || e.className || e.tagName, s.outlineStyle];
    }"""
    with opened("acme") as (page, _):
        page.goto(f"/runs/{run}/")
        wanted = set(page.eval_on_selector_all("main a[href]", "all => all.map(a => a.getAttribute('href'))"))
        seen = []
        for _ in range(len(wanted) + 60):
            page.keyboard.press("Tab")
            what, outline = page.evaluate(reached)
            if what == "BODY":
                break
            assert outline != "none", what
            seen.append(what)
        assert seen[:3] == ["#content", "/", "/packs/"]  # the skip link comes first
        assert wanted <= set(seen)


def test_a_page_that_is_not_there_signs_nobody_out(opened: Open) -> None:
    with opened("acme") as (page, watched):
        watched.allowed = {404}
        for path in ("/runs/999999999/", "/nothing/here/", "/admin/nothing/"):
            assert page.goto(path).status == 404
            expect(page.get_by_role("heading", name="Not found")).to_be_visible()
            page.get_by_role("link", name="Back to the start").click()
            expect(page.get_by_role("heading", name="Acme")).to_be_visible()


def test_an_outsider_finds_nothing_of_another_company(
    opened: Open, finished: Callable[..., Run], site: Site
) -> None:
    run = finished("careless", trials=6)
    pages = _pages(run)
    ours = [p for p in pages.values() if re.search(r"/\d+/", p) and not p.startswith("/admin/")]
    with opened("globex") as (page, watched):
        watched.allowed = {404}
        for path in ours:
            assert page.goto(path).status == 404, path
        watched.host = site.url("acme", "").removeprefix("http://")
        page.goto(site.url("acme", f"/runs/{run.pk}/"))  # their session means nothing there
        expect(page).to_have_title("Sign in: Assay")


def test_a_token_is_made_shown_once_used_and_revoked(opened: Open) -> None:
    with opened("acme") as (page, watched):
        page.get_by_role("contentinfo").get_by_role("link", name="API tokens").click()
        page.get_by_label("Name").fill("pipeline")
        page.get_by_role("button", name="Make").click()
        token = page.locator("code.secret").inner_text()
        asked = f"""async () => (await fetch("/api/v1/runs/", {{headers: {{Authorization: "Bearer {token}"}}}})).status"""
        assert page.evaluate(asked) == 200
        page.goto("/tokens/")
        assert token not in page.content()
        page.get_by_label("Revoke pipeline").first.click()
        page.get_by_role("button", name="Yes, revoke it").first.click()
        expect(page.get_by_role("status")).to_contain_text("is revoked")
        watched.allowed = {401}
        assert page.evaluate(asked) == 401


def test_tasks_are_found_switched_and_edited_in_the_admin(opened: Open, library: PackVersion) -> None:
    with opened("acme") as (page, _):
        page.goto(f"/admin/packs/taskentry/?version={library.pk}")
        page.locator("#searchbar").fill("LIB-LOAN-001")
        page.get_by_role("button", name="Search").click()
        _choose_all(page, "Disable the chosen tasks")
        expect(page.locator(".messagelist")).to_contain_text("1 task disabled.")
        expect(page.locator(".field-enabled img[alt=False]")).to_be_visible()
        _choose_all(page, "Enable the chosen tasks")
        expect(page.locator(".messagelist")).to_contain_text("1 task enabled.")
        expect(page.locator(".field-enabled img[alt=True]")).to_be_visible()

        page.get_by_role("link", name="LIB-LOAN-001").click()
        box = page.locator("#id_yaml")
        text = box.input_value()
        box.fill(text.replace("tool: loans_renew", "tool: loans_renews"))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".errorlist").last).to_contain_text(re.compile(r"tasks/lending\.yaml:\d+"))
        box.fill(text.replace("days: 7", "days: 8"))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".messagelist")).to_contain_text("LIB-LOAN-001 is saved in library")
        stands_at = page.url
    made = PackVersion.objects.get(edited_from=library, tasks__yaml__contains="days: 8")
    assert f"/admin/packs/taskentry/{made.tasks.get(task_id='LIB-LOAN-001').pk}/" in stands_at


def _choose_all(page: Page, action: str) -> None:
    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option(label=action)
    page.locator(".actions button").click()
