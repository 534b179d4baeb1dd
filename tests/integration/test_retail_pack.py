"""The retail pack that ships with Assay: sound as a pack, consistent as a world, and its tasks prove something."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.engine.packs import load_pack
from assay.engine.packs.lint import Checked, check
from assay.engine.packs.models import Action, Task
from assay.engine.sandbox import ChangeSet, compare
from assay.engine.sandbox.replay import resolve

RETAIL = Path(__file__).parents[2] / "domain_packs" / "retail"
TASKS = sorted(load_pack(RETAIL).tasks)
BOOKKEEPING = {"tickets", "ticket_notes"}
#: What a check was given leaves no trace but its result: other values that fail are the same outcome.
SAME_OUTCOME = {("RET-ACC-003", "identity_verify")}


@pytest.fixture(scope="module")
def retail() -> Checked:
    return check(RETAIL)


# --- the pack -------------------------------------------------------------------------------------


def test_the_pack_has_the_breadth_it_promises(retail: Checked) -> None:
    systems = {tool.system for tool in retail.pack.tools.values()}
    assert len(retail.pack.tools) >= 25
    assert systems >= {
        *("orders", "shipments", "tracking", "returns", "refunds", "warranties", "installation"),
        *("promotions", "membership", "inventory", "helpdesk"),
    }
    assert len(TASKS) >= 30
    assert len({section.article for section in retail.pack.sections}) >= 10


def test_every_domain_has_tasks(retail: Checked) -> None:
    groups = {task.group_name for task in retail.pack.tasks.values()}
    assert groups == {
        *("returns", "refunds", "orders", "shipments", "warranties", "installation", "promotions"),
        *("membership", "account", "safety"),
    }


def test_every_task_is_a_combination_of_clause_and_trap_of_its_own(retail: Checked) -> None:
    combinations = [(frozenset(task.clauses), task.trap) for task in retail.pack.tasks.values()]
    assert all(clauses and trap for clauses, trap in combinations)
    assert len(set(combinations)) == len(combinations)
    traps = [trap for _, trap in combinations]
    assert len(set(traps)) == len(traps)


def test_every_clause_is_exercised_and_every_clause_named_exists(retail: Checked) -> None:
    named = {clause for task in retail.pack.tasks.values() for clause in task.clauses}
    assert named == set(retail.pack.clauses)


def test_often_the_right_thing_is_to_change_nothing_but_the_ticket(retail: Checked) -> None:
    quiet = [t for t in TASKS if {row.table for row in retail.world.expected(t)[0].rows} <= BOOKKEEPING]
    refused = [t for t in quiet if "must_refuse" in retail.pack.tasks[t].hardness]
    assert len(quiet) >= 8
    assert len(refused) >= 8


def test_some_tasks_judge_the_last_reply_as_well(retail: Checked) -> None:
    assert sum(bool(task.reply) for task in retail.pack.tasks.values()) >= 5


def test_figures_stand_in_the_articles_and_not_in_the_policy(retail: Checked) -> None:
    articles = "\n".join(section.text for section in retail.pack.sections)
    for figure in ("129.00", "9.95", "12.50", "45.00 for each unit", "Tulsa"):
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
def test_doing_nothing_fails(retail: Checked, task_id: str) -> None:
    assert not retail.pack.tasks[task_id].expected.no_change
    assert not accepted(retail, task_id, ChangeSet(()))


@pytest.mark.parametrize("task_id", TASKS)
def test_the_expected_actions_pass_and_leave_the_same_world_twice(retail: Checked, task_id: str) -> None:
    actions = retail.pack.tasks[task_id].expected.actions
    first, second = play(retail, task_id, actions), play(retail, task_id, actions)
    assert first == second
    assert accepted(retail, task_id, first)


@pytest.mark.parametrize("task_id", TASKS)
def test_each_write_left_out_fails(retail: Checked, task_id: str) -> None:
    actions = retail.pack.tasks[task_id].expected.actions
    for index in range(len(actions)):
        rest = [*actions[:index], *actions[index + 1 :]]
        assert not accepted(retail, task_id, play(retail, task_id, rest)), actions[index].tool


@pytest.mark.parametrize("task_id", TASKS)
def test_each_argument_changed_fails(retail: Checked, task_id: str) -> None:
    actions = retail.pack.tasks[task_id].expected.actions
    allowed = [other.actions for other in retail.pack.tasks[task_id].expected.also_accept]
    neighbours = ids_by_table(retail)
    for index, action in enumerate(actions):
        if (task_id, action.tool) in SAME_OUTCOME:
            continue
        for name, value in action.args.items():
            for other in others(retail, action, name, value, neighbours):
                changed = action.model_copy(update={"args": {**action.args, name: other}})
                wrong = (*actions[:index], changed, *actions[index + 1 :])
                if wrong in allowed:
                    continue
                outcome = play(retail, task_id, wrong)
                assert not accepted(retail, task_id, outcome), f"{action.tool}: {name} {value} as {other}"


@pytest.mark.parametrize("task_id", TASKS)
def test_other_words_and_more_reading_pass(retail: Checked, task_id: str) -> None:
    task = retail.pack.tasks[task_id]
    reworded = [
        a.model_copy(
            update={"args": {k: v + ", in other words" if k in WORDING else v for k, v in a.args.items()}}
        )
        for a in task.expected.actions
    ]
    read = [Action(tool="stores_list"), Action(tool="ticket_queues_list"), *look_ups(task)]
    mixed = [step for action in reworded for step in (*read, action)]
    assert accepted(retail, task_id, play(retail, task_id, mixed))


@pytest.mark.parametrize("task_id", TASKS)
def test_what_the_identity_check_needs_is_a_fact_and_not_in_the_opening(
    retail: Checked, task_id: str
) -> None:
    task = retail.pack.tasks[task_id]
    said = {fact.key: fact.value for fact in task.user.facts}
    for action in task.expected.actions:
        if action.tool == "identity_verify":
            assert action.args["email"] == said["email address"]
            assert action.args["postal_code"] == said["postal code"]
    assert "@" not in task.user.opening
    assert said["postal code"] not in task.user.opening


def test_only_one_kind_of_caller_is_not_checked(retail: Checked) -> None:
    unchecked = [
        task_id
        for task_id in TASKS
        if not any(a.tool == "identity_verify" for a in retail.pack.tasks[task_id].expected.actions)
    ]
    assert all("RET-1.4" in retail.pack.tasks[task_id].clauses for task_id in unchecked)


@pytest.mark.parametrize("task_id", TASKS)
def test_every_ticket_is_closed_in_the_end(retail: Checked, task_id: str) -> None:
    tickets = [row.after for row in retail.world.expected(task_id)[0].rows if row.table == "tickets"]
    assert tickets
    for ticket in tickets:
        assert ticket is not None
        assert ticket["status"] in ("resolved", "escalated")
        assert ticket["reference"]


# --- helpers --------------------------------------------------------------------------------------

WORDING = {"subject", "summary", "body"}


def play(retail: Checked, task_id: str, actions: Sequence[Action]) -> ChangeSet:
    """What is changed when `actions` are called one after the other, whatever is refused on the way."""
    results: dict[str, Any] = {}
    with retail.world.open(task_id) as sandbox:
        for action in actions:
            try:
                arguments = resolve(action.args, results)
            except LookupError:
                continue  # refers to an action that is left out
            outcome = sandbox.call(action.tool, arguments)
            if outcome.ok and action.as_:
                results[action.as_] = outcome.content
        return sandbox.changes()


def accepted(retail: Checked, task_id: str, outcome: ChangeSet) -> bool:
    world = retail.world
    return compare(world.tables, world.pack.comparison, world.expected(task_id), outcome).equal


def ids_by_table(retail: Checked) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for row in retail.pack.seed:
        if isinstance(row.values.get("id"), str):
            found[row.table].append(row.values["id"])
    return found


def others(
    retail: Checked, action: Action, name: str, value: Any, neighbours: Mapping[str, list[str]]
) -> Iterator[Any]:
    """Wrong values of an argument: another choice, a neighbouring row, an amount that is a little off."""
    schema = retail.pack.tools[action.tool].input["properties"][name]
    if name in WORDING or (isinstance(value, str) and value.startswith("$")):
        return
    if "enum" in schema:
        yield from (choice for choice in schema["enum"] if choice != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1)
        if schema["type"] == "number":
            yield from (round(value + 0.01, 2), value * 2 or 5)
    else:
        rows = next((ids for ids in neighbours.values() if value in ids), [])
        if rows:
            at = rows.index(value)
            yield from (rows[at - 1], rows[(at + 1) % len(rows)])
        else:
            yield value + "9"


def look_ups(task: Task) -> Iterator[Action]:
    for fact in task.user.facts:
        if fact.key == "email address":
            yield Action(tool="customers_find", args={"email": fact.value})
        if fact.key == "order number":
            yield Action(tool="orders_get", args={"order_id": fact.value})
