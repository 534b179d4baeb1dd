"""What must hold in the insurer's world, so that its tasks mean what they say."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from assay.engine.packs.lint import Checked, check

PACK = Path(__file__).parents[3] / "domain_packs" / "auto_insurance"
TODAY = "2026-05-14"
#: Business tables: a task whose right outcome changes none of them ends with its ticket alone.
BOOKKEEPING = {"tickets", "ticket_notes", "identity_checks"}
NO_FAULT = "('FL', 'MI', 'NY', 'PA')"


@pytest.fixture(scope="module")
def insurer() -> Checked:
    return check(PACK)


AGE = f"(CAST('{TODAY}' AS INTEGER) - CAST(d.date_of_birth AS INTEGER) - (substr('{TODAY}', 6) < substr(d.date_of_birth, 6)))"
POINTS = """(SELECT coalesce(sum(CASE kind WHEN 'speeding_minor' THEN 2 WHEN 'red_light' THEN 2 WHEN 'reckless' THEN 6
    WHEN 'dui' THEN 8 ELSE 4 END), 0) FROM violations AS x WHERE x.licence_no = d.licence_no
    AND x.happened_on >= CASE kind WHEN 'dui' THEN '2021-05-14' ELSE '2023-05-14' END)"""

#: Each query lists what contradicts the sentence.
INCONSISTENT = {
    "a term's premium is that of its coverages and surcharges": """
        SELECT p.id FROM policies AS p WHERE abs(term_premium - (
            (SELECT coalesce(sum(annual_premium), 0) FROM coverages JOIN vehicles ON vehicles.id = vehicle_id
             WHERE vehicles.policy_id = p.id)
            + (SELECT sum(annual_surcharge) FROM drivers WHERE drivers.policy_id = p.id))
            * round((julianday(expires_on) - julianday(effective_on)) * 12 / 365.25) / 12) > 0.006""",
    "instalments add up to the term's premium": """
        SELECT id FROM policies AS p WHERE abs(term_premium
            - (SELECT sum(amount) FROM instalments WHERE policy_id = p.id)) > 0.001 AND status <> 'cancelled'""",
    "what was paid towards a term is what its instalments say": """
        SELECT id FROM policies AS p WHERE abs(paid_premium
            - (SELECT sum(paid) FROM instalments WHERE policy_id = p.id)) > 0.001""",
    "a paid instalment has a payment": """
        SELECT id FROM instalments WHERE status = 'paid' AND id NOT IN (SELECT instalment_id FROM payments
            JOIN instalments AS i ON i.id = instalment_id
            WHERE payments.status = 'cleared' AND abs(payments.amount - late_fee - i.paid) < 0.001)""",
    "only an extension moves a due date": """
        SELECT id FROM instalments AS i WHERE due_on <> original_due_on AND NOT EXISTS (SELECT 1 FROM
            payment_extensions WHERE instalment_id = i.id AND new_due_on = i.due_on)""",
    "prices of coverages are those of the rates": """
        SELECT c.vehicle_id FROM coverages AS c JOIN vehicles AS v ON v.id = vehicle_id JOIN policies AS p ON p.id = policy_id
        LEFT JOIN rates AS r ON r.state = p.state AND r.vehicle_class = v.vehicle_class AND r.code = c.code
            AND r.option = c.option WHERE r.annual_premium IS NOT c.annual_premium""",
    "liability limits are the same on all vehicles of a policy": """
        SELECT policy_id FROM coverages JOIN vehicles ON vehicles.id = vehicle_id WHERE code IN ('BI', 'PD', 'PIP')
        GROUP BY policy_id, code HAVING count(DISTINCT option) > 1""",
    "every vehicle has liability, and injury protection in the no-fault states alone": f"""
        SELECT v.id FROM vehicles AS v JOIN policies AS p ON p.id = policy_id
        WHERE (SELECT count(*) FROM coverages WHERE vehicle_id = v.id AND code IN ('BI', 'PD')) <> 2
        OR (p.state IN {NO_FAULT}) <> EXISTS (SELECT 1 FROM coverages WHERE vehicle_id = v.id AND code = 'PIP')""",
    "financed and leased vehicles are fully covered": """
        SELECT v.id FROM vehicles AS v WHERE ownership <> 'owned' AND (SELECT count(*) FROM coverages
            WHERE vehicle_id = v.id AND code IN ('COMP', 'COLL')
            AND CAST(option AS INTEGER) <= CASE v.ownership WHEN 'leased' THEN 500 ELSE 1000 END) <> 2""",
    "additions stand on comprehensive and collision": """
        SELECT vehicle_id FROM coverages AS c WHERE code IN ('RENT', 'TOW', 'GLASS', 'GAP', 'CDW') AND (SELECT count(*)
            FROM coverages WHERE vehicle_id = c.vehicle_id AND code IN ('COMP', 'COLL')) <> 2""",
    "a policy has one named insured, who is its customer": """
        SELECT p.id FROM policies AS p JOIN customers AS c ON c.id = customer_id WHERE 1 <> (SELECT count(*) FROM drivers
            WHERE policy_id = p.id AND role = 'named_insured' AND date_of_birth = c.date_of_birth)""",
    "nobody shares a birthday with somebody else on the policy": """
        SELECT policy_id FROM drivers GROUP BY policy_id, date_of_birth HAVING count(*) > 1""",
    "drivers and licences agree": """
        SELECT d.id FROM drivers AS d JOIN driving_records AS r USING (licence_no)
        WHERE r.date_of_birth <> d.date_of_birth OR r.holder <> d.first_name || ' ' || d.last_name""",
    "surcharges follow age and points": f"""
        SELECT d.id FROM drivers AS d WHERE role NOT IN ('permit_driver', 'excluded_driver') AND annual_surcharge <>
            CASE WHEN {AGE} < 21 THEN 960 WHEN {AGE} < 25 THEN 480 WHEN {AGE} < 75 THEN 0 ELSE 180 END + 60 * {POINTS}""",
    "the main driver of a vehicle is on its policy and not excluded": """
        SELECT v.id FROM vehicles AS v LEFT JOIN drivers AS d ON d.id = primary_driver_id
        WHERE d.policy_id IS NOT v.policy_id OR d.role IN ('excluded_driver', 'permit_driver')""",
    "nobody is excluded where that is not possible": """
        SELECT d.id FROM drivers AS d JOIN policies ON policies.id = policy_id
        WHERE role = 'excluded_driver' AND state IN ('NY', 'MI')""",
    "discounts keep to their limit": """
        SELECT p.id FROM policies AS p JOIN customers AS c ON c.id = customer_id WHERE (SELECT coalesce(sum(percent), 0)
            FROM discounts WHERE policy_id = p.id AND discounts.status = 'active')
            > CASE c.tier WHEN 'prime' THEN 25 ELSE 20 END""",
    "a discount for automatic payment goes with a bank account": """
        SELECT p.id FROM policies AS p JOIN discounts ON policy_id = p.id LEFT JOIN payment_methods AS m
        ON m.id = autopay_method_id WHERE code = 'autopay' AND m.kind IS NOT 'bank'""",
    "claims concern a vehicle and a driver of the policy": """
        SELECT c.id FROM claims AS c JOIN vehicles AS v ON v.id = vehicle_id LEFT JOIN drivers AS d ON d.id = driver_id
        WHERE v.policy_id <> c.policy_id OR d.policy_id <> c.policy_id""",
    "nothing lies after the clock": f"""
        SELECT id FROM payments WHERE taken_on > '{TODAY}' UNION ALL SELECT id FROM fees WHERE charged_on > '{TODAY}'
        UNION ALL SELECT id FROM claims WHERE loss_on > reported_on OR reported_on > '{TODAY}'
        UNION ALL SELECT id FROM payment_extensions WHERE granted_on > '{TODAY}'
        UNION ALL SELECT id FROM policies WHERE effective_on > '{TODAY}' OR expires_on <= '{TODAY}'
        UNION ALL SELECT id FROM tickets WHERE updated_at > '{TODAY}T11:30' UNION ALL
        SELECT id FROM customers WHERE tier_since > '{TODAY}' OR contact_changed_on > '{TODAY}'""",
}


@pytest.mark.parametrize("rule", INCONSISTENT)
def test_the_books_of_the_world_agree(insurer: Checked, rule: str) -> None:
    with insurer.world.open() as sandbox:
        assert sandbox.column(INCONSISTENT[rule]) == []


def test_whoever_calls_has_a_namesake_in_the_same_city(insurer: Checked) -> None:
    with insurer.world.open() as sandbox:
        people = dict(
            zip(
                sandbox.column("SELECT id FROM customers ORDER BY id"),
                sandbox.column("SELECT last_name || ', ' || city FROM customers ORDER BY id"),
                strict=True,
            )
        )
    sharing = Counter(people.values())
    opened = {
        str(row.after["customer_id"])
        for task in insurer.pack.tasks
        for row in insurer.world.expected(task)[0].rows
        if row.table == "tickets" and row.after is not None
    }
    alone = {c for c in opened if sharing[people[c]] < 2}
    assert len(alone) <= 2, alone


def test_the_policy_leaves_the_figures_to_the_articles(insurer: Checked) -> None:
    articles = "\n".join(section.text for section in insurer.pack.sections)
    for figure in ("5.75 %", "960.00", "38.00 a day", "45.00", "LH-16"):
        assert figure in articles
        assert figure not in insurer.pack.policy


def test_a_third_extension_is_given_to_one_customer_and_refused_to_another(insurer: Checked) -> None:
    """The published failure: the number follows the tier on the first day of the term, and broken ones count."""
    outcome = {
        task: any(row.table == "payment_extensions" for row in insurer.world.expected(task)[0].rows)
        for task in ("INS-EXT-001", "INS-EXT-002")
    }
    assert outcome == {"INS-EXT-001": False, "INS-EXT-002": True}
    for task in outcome:
        customer = next(
            str(row.after["customer_id"])
            for row in insurer.world.expected(task)[0].rows
            if row.table == "tickets" and row.after
        )
        with insurer.world.open(task) as sandbox:
            before = sandbox.column(
                "SELECT count(*) FROM payment_extensions JOIN policies ON policies.id = policy_id "
                f"WHERE customer_id = '{customer}' AND payment_extensions.status <> 'withdrawn'"
            )
        assert before == [2]


def test_at_most_two_in_five_conversations_end_with_the_ticket_alone(insurer: Checked) -> None:
    quiet = [
        task
        for task in insurer.pack.tasks
        if {row.table for row in insurer.world.expected(task)[0].rows} <= BOOKKEEPING
    ]
    assert len(insurer.pack.tasks) // 5 <= len(quiet) <= len(insurer.pack.tasks) * 2 // 5


def test_the_check_is_made_unless_a_clause_makes_an_exception(insurer: Checked) -> None:
    for task in insurer.pack.tasks.values():
        checked = any(re.fullmatch(r"(identity|claimants)_verify", a.tool) for a in task.expected.actions)
        assert checked == (not {"INS-1.5", "INS-1.6"} & set(task.clauses)), task.id
