"""The retail pack: its world is consistent, figures stand where a bot has to look for them, tickets are complete.

What holds for every pack is in test_every_pack.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engine.packs import load_pack
from assay.engine.packs.lint import Checked, check

RETAIL = Path(__file__).parents[3] / "domain_packs" / "retail"
TASKS = sorted(load_pack(RETAIL).tasks)
BOOKKEEPING = {"tickets", "ticket_notes"}


@pytest.fixture(scope="module")
def retail() -> Checked:
    return check(RETAIL)


# --- the pack -------------------------------------------------------------------------------------


def test_the_systems_of_a_retailer_are_there(retail: Checked) -> None:
    systems = {tool.system for tool in retail.pack.tools.values()}
    assert systems == {
        *("customers", "orders", "shipments", "returns", "refunds", "warranties", "installation"),
        *("promotions", "membership", "inventory", "trade_in", "helpdesk"),
    }
    assert 20 <= len(retail.pack.tools) <= 45


def test_every_domain_has_tasks(retail: Checked) -> None:
    groups = {task.group_name for task in retail.pack.tasks.values()}
    assert groups == {
        *("returns", "refunds", "orders", "shipments", "warranties", "installation", "promotions"),
        *("membership", "account", "safety", "gifts", "trade_in", "financing", "recalls"),
    }


def test_often_the_right_thing_is_to_change_nothing_but_the_ticket(retail: Checked) -> None:
    quiet = [t for t in TASKS if {row.table for row in retail.world.expected(t)[0].rows} <= BOOKKEEPING]
    refused = [t for t in quiet if "must_refuse" in retail.pack.tasks[t].hardness]
    assert 20 <= len(quiet) <= 0.4 * len(TASKS)
    assert len(refused) >= 15


def test_figures_stand_in_the_articles_and_not_in_the_policy(retail: Checked) -> None:
    articles = "\n".join(section.text for section in retail.pack.sections)
    for figure in ("129.00", "9.95", "12.50", "45.00 for each unit", "Tulsa", "216.00", "55 %", "9.00 |"):
        assert figure in articles
        assert figure not in retail.pack.policy


# --- the world ------------------------------------------------------------------------------------

INCONSISTENT = {
    "an order's total is its goods and its shipping": (
        "SELECT id FROM orders WHERE abs(total - items_total - shipping_fee) > 0.001"
    ),
    "an order's goods are its lines": (
        "SELECT id FROM orders AS o WHERE abs(items_total - "
        "(SELECT sum(paid) FROM order_lines WHERE order_id = o.id)) > 0.001"
    ),
    "a line's amount is its price less its discount": (
        "SELECT id FROM order_lines WHERE abs(qty * unit_price - discount - paid) > 0.001"
    ),
    "an order is paid in full": (
        "SELECT id FROM orders AS o WHERE abs(total - "
        "(SELECT coalesce(sum(amount), 0) FROM payments WHERE order_id = o.id)) > 0.001"
    ),
    "what an order got back is the sum of its refunds": (
        "SELECT id FROM orders AS o WHERE abs(refunded - "
        "(SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = o.id)) > 0.001"
    ),
    "what a payment got back is the sum of its refunds": (
        "SELECT id FROM payments AS p WHERE abs(refunded - "
        "(SELECT coalesce(sum(amount), 0) FROM refunds WHERE payment_id = p.id)) > 0.001"
    ),
    "returned units are those of refunded returns": (
        "SELECT id FROM order_lines AS l WHERE returned_qty <> "
        "(SELECT coalesce(sum(qty), 0) FROM returns WHERE line_id = l.id AND status = 'refunded')"
    ),
    "a return belongs to the order of its line": (
        "SELECT returns.id FROM returns JOIN order_lines AS l ON l.id = line_id "
        "WHERE returns.order_id <> l.order_id"
    ),
    "a delivered order was collected or brought": (
        "SELECT id FROM orders AS o WHERE status = 'delivered' AND shipping_method <> 'pickup' AND NOT EXISTS "
        "(SELECT 1 FROM shipments WHERE order_id = o.id AND status = 'delivered' AND delivered_on IS NOT NULL)"
    ),
    "an order that has not left has no shipment": (
        "SELECT o.id FROM orders AS o JOIN shipments ON order_id = o.id "
        "WHERE o.status IN ('processing', 'picking', 'cancelled')"
    ),
    "a parcel is delivered on the day of its last scan": (
        "SELECT s.id FROM shipments AS s WHERE delivered_on IS NOT NULL AND delivered_on <> "
        "(SELECT substr(at, 1, 10) FROM tracking_events WHERE shipment_id = s.id ORDER BY seq DESC LIMIT 1)"
    ),
    "scans follow each other in time": (
        "SELECT shipment_id FROM (SELECT shipment_id, at, lag(at) OVER (PARTITION BY shipment_id ORDER BY seq) "
        "AS before FROM tracking_events) WHERE before >= at"
    ),
    "orders come before their parcels, and parcels before their delivery": (
        "SELECT s.id FROM shipments AS s JOIN orders ON orders.id = order_id "
        "WHERE shipped_on < substr(placed_at, 1, 10) OR delivered_on < shipped_on"
    ),
    "nobody bought before they were a customer": (
        "SELECT o.id FROM orders AS o JOIN customers ON customers.id = customer_id "
        "WHERE substr(placed_at, 1, 10) < customer_since"
    ),
    "a balance of points is the sum of its entries": (
        "SELECT customer_id FROM memberships AS m WHERE points <> "
        "(SELECT coalesce(sum(points), 0) FROM points_entries WHERE customer_id = m.customer_id)"
    ),
    "a paid year has begun and not ended": (
        "SELECT customer_id FROM memberships WHERE term_started_on > '2026-03-02' OR renews_on <= '2026-03-02' "
        "OR tier_since > '2026-03-02'"
    ),
    "big batteries were not sent where they may not travel": (
        "SELECT o.id FROM orders AS o JOIN order_lines ON order_id = o.id JOIN products ON products.id = product_id "
        "WHERE battery_wh > 100 AND ship_state IN ('AK', 'HI', 'PR') AND shipping_method <> 'pickup'"
    ),
    "visits have the places they take": (
        "SELECT id FROM install_slots AS s WHERE booked < "
        "(SELECT count(*) FROM install_jobs WHERE slot_id = s.id AND status = 'booked')"
    ),
    "a payment plan pays for the whole of its order": (
        "SELECT f.id FROM financing_plans AS f JOIN payments AS p ON p.order_id = f.order_id AND method = 'financing' "
        "WHERE abs(months * monthly - p.amount) > 0.001"
    ),
    "a plan with a due day has something open, and it was not due long ago": (
        "SELECT id FROM financing_plans WHERE (open_months = 0) <> (next_due_on IS NULL) OR next_due_on < '2026-02-20'"
    ),
    "an instalment was put off to a later day": (
        "SELECT id FROM financing_deferrals WHERE new_due_on <= old_due_on OR created_on >= '2026-03-02'"
    ),
    "a trade-in that was paid for gave store credit": (
        "SELECT id FROM trade_ins AS t WHERE (status = 'paid') <> (credit > 0) OR (status = 'paid' AND NOT EXISTS "
        "(SELECT 1 FROM store_credits WHERE customer_id = t.customer_id AND reason = 'trade_in' AND amount = t.credit))"
    ),
    "a quote lies within the value of the model when it was made": (
        "SELECT id FROM trade_ins WHERE amount <= 0 OR quoted_on > valid_until OR quoted_on >= '2026-03-02'"
    ),
    "the return of a gift is one of the line of its receipt": (
        "SELECT returns.id FROM returns JOIN gift_receipts ON gift_receipts.id = gift_receipt_id "
        "WHERE returns.line_id <> gift_receipts.line_id"
    ),
    "an order waits where it is to be collected": (
        "SELECT order_id FROM pickups JOIN orders ON orders.id = order_id JOIN warehouses ON warehouses.id = store_id "
        "WHERE shipping_method <> 'pickup' OR warehouses.kind <> 'store' OR ship_city <> city OR hold_until < date(ready_on, '+7 days') "
        "OR (collected_on IS NULL) <> (orders.status <> 'delivered')"
    ),
    "visits that are held are free": (
        "SELECT slot_id FROM install_holds JOIN install_slots ON id = slot_id WHERE booked >= capacity OR until > day"
    ),
    "nothing lies after the clock": (
        "SELECT id FROM orders WHERE placed_at >= '2026-03-02T10:00' UNION ALL "
        "SELECT shipment_id FROM tracking_events WHERE at >= '2026-03-02T10:00' UNION ALL "
        "SELECT id FROM returns WHERE opened_at >= '2026-03-02' OR received_on > '2026-03-02' UNION ALL "
        "SELECT id FROM refunds WHERE created_at >= '2026-03-02T10:00' UNION ALL "
        "SELECT id FROM tickets WHERE updated_at >= '2026-03-02T10:00' UNION ALL "
        "SELECT id FROM warranty_claims WHERE filed_at >= '2026-03-02T10:00'"
    ),
}


@pytest.mark.parametrize("rule", INCONSISTENT)
def test_the_books_of_the_world_agree(retail: Checked, rule: str) -> None:
    with retail.world.open() as sandbox:
        assert sandbox.column(INCONSISTENT[rule]) == []


def test_the_world_has_a_believable_size(retail: Checked) -> None:
    with retail.world.open() as sandbox:
        for table, least in (("customers", 200), ("orders", 300), ("order_lines", 350), ("products", 70)):
            assert sandbox.column(f"SELECT count(*) FROM {table}")[0] >= least
    assert len(retail.world.image) < 600_000


def test_a_last_name_identifies_nobody(retail: Checked) -> None:
    with retail.world.open() as sandbox:
        assert sandbox.column("SELECT last_name FROM customers GROUP BY last_name HAVING count(*) < 3") == []
        same = sandbox.column(
            "SELECT count(*) FROM customers GROUP BY first_name, last_name, city HAVING count(*) > 1"
        )
    assert len(same) >= 10


# --- the tasks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_id", TASKS)
def test_what_the_identity_check_needs_is_a_fact_and_not_in_the_opening(
    retail: Checked, task_id: str
) -> None:
    task = retail.pack.tasks[task_id]
    said = {fact.key: fact.value for fact in task.user.facts}
    for action in task.expected.actions:
        if action.tool == "identity_verify":
            assert action.args["email"] == said["email address"]
            assert action.args["postal_code"] in said["postal code"]
            assert action.args["postal_code"] not in task.user.opening
    assert "@" not in task.user.opening


def test_only_one_kind_of_caller_is_not_checked(retail: Checked) -> None:
    unchecked = [
        task_id
        for task_id in TASKS
        if not any(a.tool == "identity_verify" for a in retail.pack.tasks[task_id].expected.actions)
    ]
    assert unchecked
    assert all("RET-1.4" in retail.pack.tasks[task_id].clauses for task_id in unchecked)


@pytest.mark.parametrize("task_id", TASKS)
def test_every_ticket_is_closed_in_the_end(retail: Checked, task_id: str) -> None:
    tickets = [row.after for row in retail.world.expected(task_id)[0].rows if row.table == "tickets"]
    assert tickets
    for ticket in tickets:
        assert ticket is not None
        assert ticket["status"] in ("resolved", "escalated")
        assert ticket["reference"]
