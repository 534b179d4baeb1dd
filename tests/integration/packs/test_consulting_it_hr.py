"""The world of consulting_it_hr: its books agree, and the wrong person is always near the right one."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from assay.engine.packs.lint import Checked, check

PACK = Path(__file__).parents[3] / "domain_packs" / "consulting_it_hr"
TODAY = "2026-03-18"


@pytest.fixture(scope="module")
def consulting() -> Checked:
    return check(PACK)


# Each finds rows that contradict the rule.
INCONSISTENT = {
    "days taken and booked are the days of annual leave": """
        SELECT b.employee_id FROM leave_balances AS b WHERE year = 2026 AND taken + booked <> (
            SELECT coalesce(sum(days), 0) FROM leave_requests WHERE employee_id = b.employee_id
            AND kind = 'annual' AND status = 'booked' AND substr(starts_on, 1, 4) = '2026')""",
    "leave of one person does not overlap": """
        SELECT a.id FROM leave_requests AS a JOIN leave_requests AS b ON a.employee_id = b.employee_id AND a.id < b.id
        WHERE a.status = 'booked' AND b.status = 'booked' AND a.starts_on <= b.ends_on AND a.ends_on >= b.starts_on""",
    "no session holds more people than it has seats taken": """
        SELECT s.id FROM course_sessions AS s
        WHERE taken > seats OR taken < (SELECT count(*) FROM enrolments WHERE session_id = s.id AND status = 'booked')""",
    "no more licences are assigned than there are seats": """
        SELECT id FROM software AS w WHERE seats < (SELECT count(*) FROM licences WHERE software_id = w.id)""",
    "payslips lie within the time of employment": """
        SELECT s.id FROM payslips AS s JOIN employees AS e ON e.id = s.employee_id
        WHERE s.period < substr(hired_on, 1, 7) OR s.period > coalesce(substr(last_day, 1, 7), '2026-02')""",
    "nobody uses two laptops or two phones": """
        SELECT employee_id FROM devices JOIN device_models AS m ON m.id = model_id
        WHERE status = 'in_use' AND kind IN ('laptop', 'phone') GROUP BY employee_id, kind HAVING count(*) > 1""",
    "a lost device was reported, and only such a one": """
        SELECT id FROM devices WHERE (status IN ('lost', 'stolen')) <> (reported_on IS NOT NULL)""",
    "managers stand above the people they manage": """
        SELECT e.id FROM employees AS e JOIN employees AS m ON m.id = e.manager_id
        WHERE m.grade NOT IN ('senior', 'manager', 'principal', 'partner') OR m.status = 'left'
        OR (e.grade = 'principal' AND m.grade <> 'partner')""",
    "only the head of the firm has no manager": """
        SELECT id FROM employees WHERE manager_id IS NULL AND id <> (SELECT min(id) FROM employees)""",
    "contractors have neither pay nor leave": """
        SELECT id FROM employees AS e WHERE contract = 'contractor' AND (
            EXISTS (SELECT 1 FROM pay_profiles WHERE employee_id = e.id)
            OR EXISTS (SELECT 1 FROM leave_balances WHERE employee_id = e.id))""",
    "benefits are those of the country": """
        SELECT b.id FROM benefit_enrolments AS b JOIN benefit_plans AS p ON p.id = b.plan_id
        JOIN employees AS e ON e.id = b.employee_id JOIN offices AS o ON o.id = e.office_id WHERE o.country <> p.country""",
    "nobody has two running benefits of a kind": """
        SELECT b.employee_id FROM benefit_enrolments AS b JOIN benefit_plans AS p ON p.id = b.plan_id
        WHERE b.ends_on IS NULL GROUP BY b.employee_id, p.kind HAVING count(*) > 1""",
    "timesheets begin on Mondays and hold no more than 60 hours": """
        SELECT t.id FROM timesheets AS t WHERE strftime('%w', week_start) <> '1'
        OR (SELECT sum(hours) FROM timesheet_lines WHERE timesheet_id = t.id) > 60""",
    "nothing lies after the clock": f"""
        SELECT id FROM employees WHERE hired_on > '{TODAY}' UNION ALL
        SELECT id FROM expense_reports WHERE submitted_on > '{TODAY}' UNION ALL
        SELECT id FROM expense_lines WHERE day > '{TODAY}' UNION ALL
        SELECT id FROM approvals WHERE requested_on > '{TODAY}' OR decided_on > '{TODAY}' UNION ALL
        SELECT id FROM tickets WHERE opened_at >= '2026-03-18T10:00' UNION ALL
        SELECT id FROM devices WHERE issued_on > '{TODAY}' UNION ALL
        SELECT id FROM advances WHERE granted_on > '{TODAY}'""",
    "an expense is submitted on its day or later": """
        SELECT l.id FROM expense_lines AS l JOIN expense_reports AS r ON r.id = l.report_id WHERE l.day > r.submitted_on""",
}


@pytest.mark.parametrize("rule", INCONSISTENT)
def test_the_books_of_the_world_agree(consulting: Checked, rule: str) -> None:
    with consulting.world.open() as sandbox:
        assert sandbox.column(INCONSISTENT[rule]) == []


def test_a_last_name_identifies_nobody(consulting: Checked) -> None:
    with consulting.world.open() as sandbox:
        assert sandbox.column("SELECT last_name FROM employees GROUP BY last_name HAVING count(*) < 5") == []


def test_whoever_calls_has_a_namesake_in_the_office(consulting: Checked) -> None:
    """But for a few whose part is to approve and not to call."""
    with consulting.world.open() as sandbox:
        namesakes = set(
            sandbox.column(
                "SELECT staff_no FROM employees AS e WHERE EXISTS (SELECT 1 FROM employees AS o WHERE o.id <> e.id "
                "AND o.first_name = e.first_name AND o.last_name = e.last_name AND o.office_id = e.office_id)"
            )
        )
    callers = {
        fact.value
        for task in consulting.pack.tasks.values()
        for fact in task.user.facts
        if fact.key == "staff number"
    }
    assert len(callers) == len(consulting.pack.tasks)
    assert callers <= namesakes


def test_the_systems_are_those_of_the_policy(consulting: Checked) -> None:
    systems = {tool.system for tool in consulting.pack.tools.values()}
    assert systems == {
        *("service_desk", "identity", "directory", "projects", "approvals", "leave", "payroll", "expenses"),
        *("learning", "people_services", "assets", "software"),
    }
    assert 20 <= len(consulting.pack.tools) <= 45


def test_days_of_leave_are_working_days_of_the_office(consulting: Checked) -> None:
    with consulting.world.open() as sandbox:
        holidays = set(sandbox.column("SELECT country || ' ' || day FROM holidays"))
        rows = sandbox.column(
            "SELECT json_array(o.country, r.starts_on, r.ends_on, r.days) FROM leave_requests AS r "
            "JOIN employees AS e ON e.id = r.employee_id JOIN offices AS o ON o.id = e.office_id "
            "WHERE r.starts_on >= '2026-01-01' AND r.ends_on <= '2026-12-31'"
        )
    assert len(rows) > 100
    for country, first, last, counted in map(json.loads, rows):
        start, end = date.fromisoformat(first), date.fromisoformat(last)
        days = [start + timedelta(n) for n in range((end - start).days + 1)]
        assert counted == sum(d.weekday() < 5 and f"{country} {d}" not in holidays for d in days)


def test_no_look_up_shows_a_date_of_birth(consulting: Checked) -> None:
    """It is what callers are checked by."""
    with consulting.world.open() as sandbox:
        for row in sandbox.column("SELECT json_array(id, staff_no, birth_date) FROM employees LIMIT 60"):
            employee, number, born = json.loads(row)
            for tool, argument in (("people_get", employee), ("people_find", number)):
                name = "employee_id" if tool == "people_get" else "staff_no"
                outcome = sandbox.call(tool, {name: argument})
                assert outcome.ok
                assert born not in json.dumps(outcome.content)


def test_figures_stand_in_the_articles_and_not_in_the_policy(consulting: Checked) -> None:
    articles = "\n".join(section.text for section in consulting.pack.sections)
    for figure in ("2026-03-16", "0.8580", "78.00", "190.00", "Corvid Lite", "1,800.00", "14 May"):
        assert figure in articles
        assert figure not in consulting.pack.policy
