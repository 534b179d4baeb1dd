"""The travel pack that ships with Assay: its books agree, and its traps stand in the world as the tasks say."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from assay.engine.packs.lint import Checked, check

TRAVEL = Path(__file__).parents[3] / "domain_packs" / "travel"

INCONSISTENT = {
    "a reservation's total is the sum of its nights": (
        "SELECT id FROM reservations AS r WHERE abs(total - "
        "(SELECT coalesce(sum(price), 0) FROM reservation_nights WHERE reservation_id = r.id)) > 0.001"
    ),
    "a reservation has a night for each day from arrival to departure": (
        "SELECT id FROM reservations AS r WHERE julianday(departure) - julianday(arrival) <> "
        "(SELECT count(*) FROM reservation_nights WHERE reservation_id = r.id AND night >= r.arrival "
        "AND night < r.departure)"
    ),
    "nobody is listed in a reservation who is not counted, or counted and not listed": (
        "SELECT id FROM reservations AS r WHERE adults + children <> "
        "(SELECT count(*) FROM occupants WHERE reservation_id = r.id)"
    ),
    "children are under eighteen on the day of arrival": (
        "SELECT r.id FROM reservations AS r WHERE children <> (SELECT count(*) FROM occupants "
        "WHERE reservation_id = r.id AND date(birth_date, '+18 years') > r.arrival)"
    ),
    "a room type belongs to the hotel of its reservation, and so does the room": (
        "SELECT r.id FROM reservations AS r JOIN room_types AS t ON t.id = r.room_type_id "
        "LEFT JOIN rooms ON rooms.id = r.room_id WHERE t.property_id <> r.property_id "
        "OR (rooms.id IS NOT NULL AND (rooms.property_id <> r.property_id OR rooms.room_type_id <> r.room_type_id))"
    ),
    "no room is given to two reservations for the same night": (
        "SELECT a.id FROM reservations AS a JOIN reservations AS b ON a.room_id = b.room_id AND a.id < b.id "
        "WHERE a.arrival < b.departure AND b.arrival < a.departure AND a.status IN ('booked', 'in_house') "
        "AND b.status IN ('booked', 'in_house')"
    ),
    "a direct SEMI deposit is three tenths of the total, and NRF is paid in full": (
        "SELECT r.id FROM reservations AS r JOIN payments ON reservation_id = r.id AND kind <> 'settlement' "
        "WHERE channel = 'direct' GROUP BY r.id HAVING abs(sum(amount) - "
        "CASE rate_plan WHEN 'SEMI' THEN total * 0.3 ELSE total END) > 0.51"
    ),
    "a deposit that is due is not paid": (
        "SELECT deposits.id FROM deposits JOIN payments USING (reservation_id) "
        "WHERE status = 'due' AND kind = 'deposit'"
    ),
    "what a payment got back is the sum of its refunds": (
        "SELECT id FROM payments AS p WHERE abs(refunded - "
        "(SELECT coalesce(sum(amount), 0) FROM refunds WHERE payment_id = p.id)) > 0.001"
    ),
    "a balance of points is the sum of its entries": (
        "SELECT guest_id FROM memberships AS m WHERE points <> "
        "(SELECT coalesce(sum(points), 0) FROM points_entries WHERE guest_id = m.guest_id)"
    ),
    "a cancelled reservation says so, and no other": (
        "SELECT r.id FROM reservations AS r LEFT JOIN cancellations AS c ON c.reservation_id = r.id "
        "WHERE (r.status = 'cancelled') <> (c.id IS NOT NULL)"
    ),
    "rooms given back are those of the releases": (
        "SELECT id FROM group_blocks AS g WHERE rooms_released <> "
        "(SELECT coalesce(sum(rooms), 0) FROM block_releases WHERE group_id = g.id)"
    ),
    "euros are the amount at the house rate": (
        "SELECT charges.id FROM charges JOIN reservations AS r ON r.id = reservation_id "
        "JOIN properties AS p ON p.id = property_id WHERE abs(amount_eur - amount * eur_rate) > 0.006 "
        "UNION ALL SELECT refunds.id FROM refunds JOIN reservations AS r ON r.id = reservation_id "
        "JOIN properties AS p ON p.id = property_id WHERE abs(amount_eur - amount * eur_rate) > 0.006"
    ),
    "yen have no fractions": (
        "SELECT r.id FROM reservations AS r JOIN properties AS p ON p.id = property_id "
        "JOIN reservation_nights ON reservation_id = r.id WHERE currency = 'JPY' AND price <> round(price)"
    ),
    "booking comes before arrival": ("SELECT id FROM reservations WHERE substr(booked_at, 1, 10) > arrival"),
    "guests who are in the house have arrived and not left": (
        "SELECT id FROM reservations WHERE status = 'in_house' AND NOT (arrival <= '2026-05-12' "
        "AND departure > '2026-05-12')"
    ),
    "stays that are over lie in the past, those to come do not": (
        "SELECT id FROM reservations WHERE (status = 'checked_out' AND departure > '2026-05-12') "
        "OR (status = 'booked' AND arrival < '2026-05-12')"
    ),
    "nothing lies after the clock": (
        "SELECT id FROM tickets WHERE julianday(updated_at) > julianday('2026-05-12T17:30:00+02:00') UNION ALL "
        "SELECT id FROM reservations WHERE julianday(booked_at) > julianday('2026-05-12T17:30:00+02:00') UNION ALL "
        "SELECT id FROM charges WHERE julianday(posted_at) > julianday('2026-05-12T17:30:00+02:00') UNION ALL "
        "SELECT id FROM notices WHERE julianday(published_at) > julianday('2026-05-12T17:30:00+02:00') UNION ALL "
        "SELECT id FROM invoices WHERE julianday(issued_at) > julianday('2026-05-12T17:30:00+02:00')"
    ),
}


@pytest.fixture(scope="module")
def travel() -> Checked:
    return check(TRAVEL)


@pytest.mark.parametrize("rule", INCONSISTENT)
def test_the_books_of_the_world_agree(travel: Checked, rule: str) -> None:
    with travel.world.open() as sandbox:
        assert sandbox.column(INCONSISTENT[rule]) == []


def test_the_limits_of_the_hour_differ_between_hotels(travel: Checked) -> None:
    """At the frozen instant it is before six in Lisbon, past six in Athens, and tomorrow in Osaka."""
    with travel.world.open() as sandbox:
        rows = sandbox.column("SELECT json_array(city, utc_offset) FROM properties ORDER BY id")
    local = {}
    for city, offset in map(json.loads, rows):
        hours = int(offset[:3])
        local[city] = travel.pack.clock.astimezone(timezone(timedelta(hours=hours)))
    assert local["Lisbon"].hour == 16
    assert local["Vienna"].hour == 17
    assert local["Athens"].hour == 18
    assert local["Montreal"].hour < 12
    assert local["Osaka"].date() == datetime(2026, 5, 13, tzinfo=local["Osaka"].tzinfo).date()


def test_who_books_has_namesakes_in_the_same_city(travel: Checked) -> None:
    """Of the guests that tasks are about, nearly all share their last name and city with somebody."""
    addresses = {
        fact.value
        for task in travel.pack.tasks.values()
        for fact in task.user.facts
        if fact.key == "email address" and "@" in fact.value
    }
    with travel.world.open() as sandbox:
        alone = sandbox.column(
            "SELECT email FROM customers AS c WHERE NOT EXISTS (SELECT 1 FROM customers AS other WHERE "
            "other.id <> c.id AND other.last_name = c.last_name AND other.city = c.city)"
        )
    assert len(addresses) >= 100
    assert len(addresses & set(alone)) <= len(addresses) * 0.15


def test_near_every_reservation_of_a_task_lies_another_one(travel: Checked) -> None:
    """The same last name in the same city within a few days: what a hurried clerk would take instead."""
    with travel.world.open() as sandbox:
        near = set(
            sandbox.column(
                "SELECT DISTINCT a.id FROM reservations AS a JOIN properties AS p ON p.id = a.property_id "
                "JOIN customers AS c ON c.id = a.guest_id JOIN customers AS d ON d.last_name = c.last_name "
                "JOIN reservations AS b ON b.guest_id = d.id AND b.id <> a.id "
                "JOIN properties AS q ON q.id = b.property_id AND q.city = p.city "
                "WHERE abs(julianday(a.arrival) - julianday(b.arrival)) <= 8"
            )
        )
    meant = {
        fact.value
        for task in travel.pack.tasks.values()
        for fact in task.user.facts
        if fact.key == "reservation number"
    }
    assert len(meant) >= 70
    assert len(meant & near) >= len(meant) * 0.95


def test_what_staff_write_about_guests_is_never_a_common_word(travel: Checked) -> None:
    """A grade that is an everyday word would be found in harmless replies."""
    with travel.world.open() as sandbox:
        codes = sandbox.column("SELECT internal_grade FROM customers UNION SELECT code FROM guest_flags")
    assert len(codes) >= 6
    assert all("-" in code or "_" in code for code in codes)


def test_many_tasks_judge_the_last_reply_and_some_guard_the_staff_notes(travel: Checked) -> None:
    judged = [task for task in travel.pack.tasks.values() if task.reply]
    guarded = [t for t in judged if any(rule.must_not_contain_from for rule in t.reply)]
    assert len(judged) >= 16
    assert len(guarded) >= 4


def test_figures_stand_in_the_articles_and_not_in_the_policy(travel: Checked) -> None:
    articles = "\n".join(section.text for section in travel.pack.sections)
    for figure in ("26.00", "180.00", "27.50", "3.2 %", "70 %", "80 % of the total", "1.95 m"):
        assert figure in articles
        assert figure not in travel.pack.policy
