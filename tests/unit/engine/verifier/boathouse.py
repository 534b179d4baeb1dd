"""A small pack in which every value of an expected action can be known, as files to damage."""

from __future__ import annotations

from assay.engine.verifier.loading import load
from assay.engine.verifier.subject import Subject
from tests.unit.engine.verifier.workshop import Files, encoded

POLICY, TOOLS, TASKS, ROWS = "policy.md", "tools/tools.yaml", "tasks/tasks.yaml", "world/seed/rows.yaml"
KNOWLEDGE = "knowledge/fees.md"

_FILES = {
    "pack.yaml": """
format: 1
name: boathouse
version: 1.0.0
title: Boathouse
clock: 2026-03-02T10:00:00-05:00
currency: USD
bot: You look after the hires of a boathouse.
""",
    POLICY: """
# Rules

## 1. Hires

- A hire is found by the e-mail address of the customer. {#BOA-1.1}
- A hire may be called off until 10 days before it begins. {#BOA-1.2}

The fee for calling off depends on the boat; see the article on fees. Members pay half of it. {#BOA-1.3}

| when | rate |
| --- | --- |
| less than 20 days before | 15 % |

A hire that is called off later is refused; the ticket says so. {#BOA-1.4}

## 2. Moving

- A hire can be moved by up to three weeks. {#BOA-2.1}
""",
    KNOWLEDGE: """
# Fees

## Canoes

Calling off a canoe costs 12 per cent of what was paid.

## Punts

Calling off a punt costs 30.50.
""",
    "world/schema.sql": """
CREATE TABLE customers (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, member INTEGER NOT NULL, note TEXT
) STRICT;
CREATE TABLE hires (
  id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers (id), boat TEXT NOT NULL, paid REAL NOT NULL,
  begins_on TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'booked', fee REAL
) STRICT;
CREATE TABLE tickets (
  id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers (id), outcome TEXT NOT NULL, reference TEXT,
  summary TEXT NOT NULL
) STRICT;
""",
    ROWS: """
customers:
  - {id: CUS-1, name: Ada Brook, email: ada@brook.example, member: 0}
  - {id: CUS-2, name: Ben Brook, email: ben@brook.example, member: 1, note: Prefers the green punt}
hires:
  - {id: HIR-11, customer_id: CUS-1, boat: canoe, paid: 84.5, begins_on: 2026-03-20}
  - {id: HIR-12, customer_id: CUS-2, boat: punt, paid: 120, begins_on: 2026-03-08}
""",
    TOOLS: """
- name: customers_find
  kind: read
  description: Find a customer.
  input: {type: object, required: [email], properties: {email: {type: string}}}
  steps:
    - one: customer
      sql: SELECT * FROM customers WHERE email = :email
      otherwise: {error: not_found, message: "No customer {email}."}
  result: SELECT :customer.id AS customer_id, :customer.name AS name, :customer.member AS member

- name: hires_list
  kind: read
  description: The hires of a customer.
  input: {type: object, required: [customer_id], properties: {customer_id: {type: string}}}
  result: {many: "SELECT id AS hire_id, boat, paid, begins_on, status FROM hires WHERE customer_id = :customer_id"}

- name: hires_call_off
  kind: write
  description: Call off a hire.
  input:
    type: object
    required: [hire_id, fee]
    properties: {hire_id: {type: string}, fee: {type: number, minimum: 0}}
  steps:
    - one: hire
      sql: SELECT * FROM hires WHERE id = :hire_id AND status = 'booked'
      otherwise: {error: not_found, message: "No booked hire {hire_id}."}
    - sql: UPDATE hires SET status = 'called_off', fee = :fee WHERE id = :hire_id

- name: hires_move
  kind: write
  description: Move a hire to another day.
  input:
    type: object
    required: [hire_id, begins_on]
    properties: {hire_id: {type: string}, begins_on: {type: string, format: date}}
  steps:
    - sql: UPDATE hires SET begins_on = :begins_on WHERE id = :hire_id

- name: tickets_close
  kind: write
  description: Record a matter.
  input:
    type: object
    required: [customer_id, outcome, summary]
    properties:
      customer_id: {type: string}
      outcome: {type: string, enum: [completed, refused, escalated, information_given]}
      reference: {type: string}
      summary: {type: string, minLength: 1}
  steps:
    - one: ticket
      sql: >-
        INSERT INTO tickets (id, customer_id, outcome, reference, summary)
        VALUES (next_id('TCK'), :customer_id, :outcome, :reference, :summary) RETURNING *
  result: SELECT :ticket.id AS ticket_id
""",
    "comparison.yaml": """
tables:
  tickets:
    columns: {summary: text}
  hires:
    cost:
      fee: {what: charged for calling off, paid_by: customer}
""",
    TASKS: """
- id: BOA-OFF-001
  title: A canoe is called off
  clauses: [BOA-1.1, BOA-1.2, BOA-1.3]
  trap: The fee follows from the boat and not from the day.
  hardness: [hidden_information, computed_amount]
  user:
    opening: I have to call off my hire on 20 March.
    goal: The hire is called off.
    facts:
      - {key: email address, value: ada@brook.example}
      - {key: weather, value: It is about the weather.}
  expected:
    actions:
      - {tool: customers_find, as: found, args: {email: ada@brook.example}}
      - {tool: hires_list, as: hires, args: {customer_id: CUS-1}}
      - tool: hires_call_off
        args: {hire_id: HIR-11, fee: 10.14}
        derived:
          fee: {section: "fees#canoes", value: "SELECT round(:hires.0.paid * 0.12, 2)"}
      - {tool: tickets_close, args: {customer_id: $found.customer_id, outcome: completed, reference: HIR-11, summary: Called off.}}

- id: BOA-MOV-001
  title: A punt is moved by ten days
  clauses: [BOA-1.1, BOA-2.1]
  trap: The customer counts from today and not from the day of the hire.
  hardness: [computed_date, hidden_information]
  user:
    opening: Can my hire be later? I write from ben@brook.example.
    goal: The hire begins ten days later.
    facts:
      - {key: days, value: Ten days later would be best., aliases: [how long]}
  expected:
    actions:
      - {tool: customers_find, as: found, args: {email: ben@brook.example}}
      - {tool: hires_list, as: hires, args: {customer_id: $found.customer_id}}
      - tool: hires_move
        args: {hire_id: $hires.0.hire_id, begins_on: 2026-03-18}
        derived:
          begins_on: {clause: BOA-2.1, value: "SELECT date(:hires.0.begins_on, :fact.days.number || ' days')"}

- id: BOA-OFF-002
  title: A punt is called off too late
  clauses: [BOA-1.2, BOA-1.4]
  trap: Six days are left, and the member insists.
  hardness: [must_refuse]
  user:
    opening: Please call off my hire of Sunday.
    goal: The hire is called off.
    facts:
      - {key: email address, value: ben@brook.example}
  expected:
    actions:
      - {tool: customers_find, as: found, args: {email: ben@brook.example}}
      - {tool: hires_list, as: hires, args: {customer_id: $found.customer_id}}
      - {tool: tickets_close, args: {customer_id: $found.customer_id, outcome: refused, reference: $hires.0.hire_id, summary: Too late.}}
""",
}


def boathouse(*edits: tuple[str, str, str]) -> Files:
    """The files, each edit (path, old, new) done; the old text must be there exactly once."""
    files = dict(_FILES)
    for path, old, new in edits:
        assert files[path].count(old) == 1, f"{old!r} is {files[path].count(old)} times in {path}"
        files[path] = files[path].replace(old, new)
    return encoded(files)


def subject(*edits: tuple[str, str, str], tasks: tuple[str, ...] = ()) -> Subject:
    """The pack with its world, ready for a part of the verifier. The loader must find nothing wrong."""
    checked, problems = load(boathouse(*edits))
    assert checked is not None and problems == [], problems
    return Subject.of(checked.world, (lambda t: t in tasks) if tasks else None, 100)
