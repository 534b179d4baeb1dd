"""The neobank pack: its world is consistent, secrets stay secret, days and figures stand where a bot has to look.

What holds for every pack is in test_every_pack.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engine.packs import load_pack
from assay.engine.packs.lint import Checked, check

NEOBANK = Path(__file__).parents[3] / "domain_packs" / "neobank_it"
TASKS = sorted(load_pack(NEOBANK).tasks)
BOOKKEEPING = {"tickets", "identity_checks", "callbacks"}
#: Tasks whose caller gives no PIN, so that no check is made.
UNCHECKED = {"NBK-IDN-002"}


@pytest.fixture(scope="module")
def neobank() -> Checked:
    return check(NEOBANK)


# --- the pack -------------------------------------------------------------------------------------


def test_the_systems_of_a_bank_are_there(neobank: Checked) -> None:
    systems = {tool.system for tool in neobank.pack.tools.values()}
    assert systems == {
        *("service_desk", "directory", "network", "access", "approvals", "operations"),
        *("assets", "licences", "data", "card_console", "purchasing", "premises"),
    }
    assert 20 <= len(neobank.pack.tools) <= 45


def test_every_subject_has_tasks(neobank: Checked) -> None:
    groups = {task.group_name for task in neobank.pack.tasks.values()}
    assert groups == {
        *("identity", "accounts", "confidence", "access", "production", "devices", "software", "network"),
        *("changes", "data", "people", "cards", "purchases", "premises"),
    }


def test_seldom_only_the_record_of_the_conversation_changes(neobank: Checked) -> None:
    quiet = [t for t in TASKS if {row.table for row in neobank.world.expected(t)[0].rows} <= BOOKKEEPING]
    assert 30 <= len(quiet) <= 0.36 * len(TASKS)


def test_every_ticket_that_is_made_is_closed_and_its_caller_checked(neobank: Checked) -> None:
    wrong = []
    for task in TASKS:
        rows = neobank.world.expected(task)[0].rows
        tickets = [row.after for row in rows if row.table == "tickets" and row.after is not None]
        checks = [row for row in rows if row.table == "identity_checks"]
        if any(ticket.get("status", "open") == "open" for ticket in tickets):
            wrong.append(task)
        if task not in UNCHECKED and len(checks) != len(tickets):
            wrong.append(task)
    assert wrong == []


def test_figures_and_names_stand_in_the_articles_and_not_in_the_policy(neobank: Checked) -> None:
    articles = "\n".join(section.text for section in neobank.pack.sections)
    for figure in ("35.00", "12.5 %", "14.40", "sabine.marek", "CC-900", "Malta (MT)", "2026-05-18T00:00"):
        assert figure in articles
        assert figure not in neobank.pack.policy


def test_what_may_not_be_said_is_there_to_be_kept_back(neobank: Checked) -> None:
    rules = [
        (task.id, rule.must_not_contain_from)
        for task in neobank.pack.tasks.values()
        for rule in task.reply
        if rule.must_not_contain_from is not None
    ]
    assert len(rules) >= 12
    for task_id, query in rules:
        with neobank.world.open(task_id) as sandbox:
            values = sandbox.column(query)
        assert [v for v in values if v not in (None, "")], (task_id, query)


def test_at_least_sixteen_tasks_judge_the_reply(neobank: Checked) -> None:
    assert sum(bool(task.reply) for task in neobank.pack.tasks.values()) >= 16


def test_no_tool_returns_a_pin(neobank: Checked) -> None:
    naming = {
        tool.name
        for tool in neobank.pack.tools.values()
        if "desk_pins" in str(tool.steps) or "desk_pins" in str(tool.result)
    }
    assert naming == {"identity_verify"}
    assert "pin" not in str(neobank.pack.tools["identity_verify"].result).lower()


@pytest.mark.parametrize(
    ("country", "days"),
    [
        ("DE", ["2026-05-13", "2026-05-18", "2026-05-19"]),
        ("IE", ["2026-05-13", "2026-05-14", "2026-05-15"]),
    ],
)
def test_business_days_leave_out_the_closed_ones_of_the_country(
    neobank: Checked, country: str, days: list[str]
) -> None:
    with neobank.world.open() as sandbox:
        ahead = sandbox.call("calendar_business_days", {"country": country, "day": "2026-05-12"})
        back = sandbox.call("calendar_business_days", {"country": country, "day": "2026-05-18", "back": True})
    assert [entry["day"] for entry in ahead.content["days"][:3]] == days
    assert back.content["days"][0]["day"] == ("2026-05-13" if country == "DE" else "2026-05-15")


# --- the world ------------------------------------------------------------------------------------

INCONSISTENT = {
    "a pool has no more active seats than it holds": (
        "SELECT p.id FROM licence_pools AS p WHERE seats_total < "
        "(SELECT count(*) FROM seats WHERE pool_id = p.id AND status = 'active')"
    ),
    "a person has one seat in a pool": (
        "SELECT pool_id FROM seats WHERE status = 'active' GROUP BY pool_id, employee_id HAVING count(*) > 1"
    ),
    "a seat lies in the country of its holder": (
        "SELECT s.id FROM seats AS s JOIN licence_pools AS p ON p.id = s.pool_id "
        "JOIN employees AS e ON e.id = s.employee_id WHERE p.country <> e.country"
    ),
    "people work in the country of their site": (
        "SELECT e.id FROM employees AS e JOIN sites AS s ON s.id = e.site WHERE e.country <> s.country"
    ),
    "managers were there before today, and nobody manages themselves": (
        "SELECT e.id FROM employees AS e JOIN employees AS m ON m.id = e.manager_id "
        "WHERE m.id = e.id OR m.started_on > date('now') OR m.kind <> 'employee'"
    ),
    "everybody who works here has a PIN, and a number that can be called": (
        "SELECT id FROM employees WHERE id NOT IN (SELECT employee_id FROM desk_pins) "
        "OR phone NOT IN (SELECT number FROM phone_lines)"
    ),
    "a device lies where its holder works": (
        "SELECT a.id FROM assets AS a JOIN employees AS e ON e.id = a.holder_id WHERE a.site <> e.site"
    ),
    "a device on loan has one hand-out that is not over": (
        "SELECT a.id FROM assets AS a WHERE status = 'on_loan' AND 1 <> (SELECT count(*) FROM handouts "
        "WHERE asset_id = a.id AND employee_id = a.holder_id AND mode = 'loan' AND returned_on IS NULL)"
    ),
    "who has a loan has a laptop in repair": (
        "SELECT h.id FROM handouts AS h WHERE mode = 'loan' AND returned_on IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM assets WHERE holder_id = h.employee_id AND status = 'in_repair')"
    ),
    "a loss is one of a device that is gone": (
        "SELECT r.id FROM loss_reports AS r JOIN assets AS a ON a.id = r.asset_id "
        "WHERE a.status NOT IN ('lost', 'stolen') OR r.occurred_on > r.reported_on"
    ),
    "in Poland employees paid nothing, in Germany no more than 200": (
        "SELECT r.id FROM loss_reports AS r JOIN employees AS e ON e.id = r.employee_id "
        "WHERE e.kind = 'employee' AND ((e.country = 'PL' AND charge > 0) OR (e.country = 'DE' AND charge > 200))"
    ),
    "a stay counts the business days of its person's country": (
        "WITH RECURSIVE d(id, country, day, to_on) AS ("
        "SELECT t.id, e.country, from_on, to_on FROM travel_registrations AS t JOIN employees AS e ON e.id = employee_id "
        "UNION ALL SELECT id, country, date(day, '+1 day'), to_on FROM d WHERE day < to_on) "
        "SELECT t.id FROM travel_registrations AS t WHERE work_days <> (SELECT count(*) FROM d WHERE d.id = t.id "
        "AND strftime('%w', day) NOT IN ('0', '6') AND NOT EXISTS "
        "(SELECT 1 FROM holidays AS h WHERE h.country = d.country AND h.day = d.day))"
    ),
    "only employees are abroad": (
        "SELECT t.id FROM travel_registrations AS t JOIN employees AS e ON e.id = employee_id WHERE kind <> 'employee'"
    ),
    "hard conflicts are held only by people who have just moved": (
        "SELECT a.employee_id FROM grants AS a JOIN grants AS b ON b.employee_id = a.employee_id "
        "JOIN sod_pairs AS p ON p.entitlement_a = a.entitlement_id AND p.entitlement_b = b.entitlement_id "
        "WHERE p.weight = 'hard' AND a.status = 'active' AND b.status = 'active' AND a.employee_id NOT IN "
        "(SELECT employee_id FROM people_cases WHERE kind = 'mover')"
    ),
    "a grant of limited time has not ended": (
        "SELECT id FROM grants WHERE status = 'active' AND ends_on < date('now')"
    ),
    "nobody checks what they entered": "SELECT id FROM console_actions WHERE maker_id = checker_id",
    "a pending action waits for somebody who may check it": (
        "SELECT c.id FROM console_actions AS c WHERE status = 'pending' AND NOT EXISTS (SELECT 1 FROM grants AS g "
        "JOIN entitlements AS e ON e.id = g.entitlement_id WHERE g.employee_id = c.checker_id "
        "AND g.status = 'active' AND e.level = 'checker')"
    ),
    "no site has more visitors on a day than it takes": (
        "SELECT s.id FROM sites AS s JOIN visits AS v ON v.site = s.id GROUP BY s.id, v.day "
        "HAVING count(*) > s.visitor_capacity"
    ),
    "visits are on business days": (
        "SELECT v.id FROM visits AS v JOIN sites AS s ON s.id = v.site WHERE strftime('%w', day) IN ('0', '6') "
        "OR EXISTS (SELECT 1 FROM holidays AS h WHERE h.country = s.country AND h.day = v.day)"
    ),
    "no cost centre has spent more than its budget": "SELECT id FROM cost_centres WHERE spent > budget",
    "a window ends after it begins": (
        "SELECT id FROM changes WHERE julianday(window_end) <= julianday(window_start)"
    ),
    "approvals are decided after they were asked for": "SELECT id FROM approvals WHERE decided_on < requested_on",
}


@pytest.mark.parametrize("what", INCONSISTENT)
def test_the_world_is_consistent(neobank: Checked, what: str) -> None:
    with neobank.world.open() as sandbox:
        assert sandbox.column(INCONSISTENT[what]) == []


def test_a_full_name_identifies_few(neobank: Checked) -> None:
    """Many share their full name with somebody else, some of them at the same site."""
    with neobank.world.open() as sandbox:
        shared = sandbox.column(
            "SELECT count(*) FROM employees GROUP BY first_name, last_name HAVING count(*) > 1"
        )
        at_one_site = sandbox.column(
            "SELECT count(*) FROM employees GROUP BY last_name, site HAVING count(*) > 1"
        )
    assert sum(shared) >= 60
    assert sum(at_one_site) >= 200
