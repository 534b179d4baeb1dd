"""A small pack whose tasks meet every kind of mutant, as files to damage."""

from __future__ import annotations

from collections.abc import Mapping

Files = dict[str, bytes]

_FILES = {
    "pack.yaml": """
format: 1
name: workshop
version: 1.0.0
title: Workshop
clock: 2026-03-02T10:00:00-05:00
currency: USD
bot: You book repairs for a workshop.
""",
    "policy.md": """
# Repairs

- A repair is booked for the machine that the customer names. {#WRK-1.1}
- A loom takes 2 hours and 80.00, less 5.50 for whoever waits a week; it needs a new belt (12.50) and a new reed, written
  as belt and reed. {#WRK-1.2}
- Urgent repairs are called for at 14:30. {#WRK-1.3}
""",
    "world/schema.sql": """
CREATE TABLE customers (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, town TEXT NOT NULL
) STRICT;
CREATE TABLE machines (
  id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers (id), model TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'running'
) STRICT;
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, machine_id TEXT NOT NULL REFERENCES machines (id), kind TEXT NOT NULL, price REAL NOT NULL,
  hours INTEGER NOT NULL, urgent INTEGER NOT NULL, due_on TEXT NOT NULL, call_at TEXT NOT NULL,
  street TEXT NOT NULL, parts TEXT NOT NULL, note TEXT, discount REAL NOT NULL
) STRICT;
CREATE TABLE charges (
  id INTEGER PRIMARY KEY, job_id TEXT NOT NULL REFERENCES jobs (id), amount REAL NOT NULL, label TEXT NOT NULL,
  balance REAL
) STRICT;
CREATE TABLE visits (id INTEGER PRIMARY KEY, machine_id TEXT NOT NULL, seen_at TEXT) STRICT;
""",
    "world/seed/rows.yaml": """
customers:
  - {id: CUS-1, name: Ada Brook, email: ada@brook.example, town: Lowmill}
  - {id: CUS-2, name: Ben Brook, email: ben@brook.example, town: Lowmill}
  - {id: CUS-3, name: Mei Chan, email: mei@chan.example, town: Highmill}
machines:
  - {id: MAC-1, customer_id: CUS-1, model: Loom}
  - {id: MAC-2, customer_id: CUS-2, model: Loom}
  - {id: MAC-3, customer_id: CUS-3, model: Press}
""",
    "tools/tools.yaml": """
- name: customers_find
  kind: read
  description: Find a customer with their machines.
  input: {type: object, required: [email], properties: {email: {type: string}}}
  steps:
    - one: customer
      sql: SELECT * FROM customers WHERE email = :email
      otherwise: {error: not_found, message: "No customer {email}."}
  result:
    fields:
      customer: SELECT :customer.id AS customer_id, :customer.name AS name
      machines:
        many: SELECT id AS machine_id, model FROM machines WHERE customer_id = :customer.id ORDER BY id

- name: machines_stop
  kind: write
  description: Note that a machine has stopped.
  input:
    type: object
    required: [machine_id]
    properties: {machine_id: {type: string}, guarded: {type: boolean}, model: {type: string, enum: [Loom, Press]}}
  steps:
    - one: machine
      sql: SELECT id FROM machines WHERE id = :machine_id
      otherwise: {error: not_found, message: "No machine {machine_id}."}
    - sql: UPDATE machines SET status = 'stopped' WHERE id = :machine_id
    - sql: >-
        UPDATE machines SET model = coalesce(:model, model) || iif(:guarded, ' (guarded)', '') WHERE id = :machine_id

- name: jobs_open
  kind: write
  description: Book a repair.
  input:
    type: object
    required: [machine_id, kind, price, hours, urgent, due_on, call_at, street, parts]
    properties:
      machine_id: {type: string}
      kind: {type: string, enum: [repair, inspection, cleaning]}
      price: {type: number}
      hours: {type: integer}
      urgent: {type: boolean}
      due_on: {type: string, format: date}
      call_at: {type: string}
      street: {type: string}
      parts: {type: array, items: {type: string}}
      note: {type: string}
      discount: {type: number, default: 0}
  steps:
    - one: job
      sql: >-
        INSERT INTO jobs (id, machine_id, kind, price, hours, urgent, due_on, call_at, street, parts, note, discount)
        VALUES (next_id('JOB'), :machine_id, :kind, :price, :hours, :urgent, :due_on, :call_at, :street, :parts, :note,
          :discount) RETURNING *
  result: SELECT :job.id AS job_id

- name: charges_add
  kind: write
  description: Charge an amount for a repair.
  input:
    type: object
    required: [job_id, amount, label]
    properties: {job_id: {type: string}, amount: {type: number, exclusiveMinimum: 0}, label: {type: string}}
  steps:
    - one: job
      sql: SELECT id FROM jobs WHERE id = :job_id
      otherwise: {error: not_found, message: "No job {job_id}."}
    - sql: INSERT INTO charges (job_id, amount, label) VALUES (:job_id, :amount, :label)
""",
    "comparison.yaml": """
tables:
  jobs:
    columns: {note: text, parts: set}
    cost:
      price: {what: charged for repairs, paid_by: customer}
      discount: {what: given as discount, paid_by: company}
  charges:
    columns: {label: text}
    cost: {amount: none, balance: none}
""",
    "tasks/tasks.yaml": """
- id: WRK-JOB-001
  title: A repair with two charges
  clauses: [WRK-1.1, WRK-1.2, WRK-1.3]
  hardness: [hidden_information]
  user:
    opening: My loom has stopped and I need it soon.
    goal: A repair is booked.
    facts:
      - {key: email, value: ada@brook.example}
      - {key: street, value: 7 Mill Lane}
      - {key: day, value: "2026-03-09"}
  expected:
    actions:
      - {tool: customers_find, as: found, args: {email: ada@brook.example}}
      - {tool: machines_stop, args: {machine_id: $found.machines.0.machine_id}}
      - tool: jobs_open
        as: job
        args: {machine_id: $found.machines.0.machine_id, kind: repair, price: 80, hours: 2, urgent: true,
          due_on: 2026-03-09, call_at: "14:30", street: 7 Mill Lane, parts: [belt, reed], note: Shuttle sticks when cold,
          discount: 5.5}
      - {tool: charges_add, args: {job_id: $job.job_id, amount: 80.00, label: Two hours of work}}
      - {tool: charges_add, args: {job_id: $job.job_id, amount: 12.5, label: Belt exchanged}}

- id: WRK-JOB-002
  title: A press has stopped
  clauses: [WRK-1.1]
  user:
    opening: The press MAC-3 has stopped.
    goal: The press is noted as stopped.
    facts: [{key: email, value: mei@chan.example}]
  expected:
    actions:
      - {tool: machines_stop, args: {machine_id: MAC-3}}

- id: WRK-JOB-003
  title: Somebody asks for a repair of another customer's machine
  clauses: [WRK-1.1]
  user:
    opening: Please repair the loom of my neighbour.
    goal: Nothing.
    facts: [{key: email, value: mei@chan.example}]
  expected:
    no_change: true
    actions:
      - {tool: customers_find, args: {email: mei@chan.example}}
""",
}


def workshop(*edits: tuple[str, str, str]) -> Files:
    """The files, each edit (path, old, new) done; the old text must be there exactly once."""
    files: dict[str, str] = dict(_FILES)
    for path, old, new in edits:
        assert files[path].count(old) == 1, f"{old!r} is {files[path].count(old)} times in {path}"
        files[path] = files[path].replace(old, new)
    return encoded(files)


def encoded(files: Mapping[str, str]) -> Files:
    return {path: text.encode() for path, text in files.items()}
