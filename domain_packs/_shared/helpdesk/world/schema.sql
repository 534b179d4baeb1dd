-- The helpdesk that all companies share. The pack's own schema comes first and defines customers(id).
-- Categories and queues are rows, because each company has its own.

CREATE TABLE ticket_categories (
    id    TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL
) STRICT;

CREATE TABLE ticket_queues (
    id      TEXT NOT NULL PRIMARY KEY,
    title   TEXT NOT NULL,
    handles TEXT NOT NULL                 -- what the people behind the queue decide
) STRICT;

CREATE TABLE tickets (
    id          TEXT NOT NULL PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    category    TEXT NOT NULL REFERENCES ticket_categories (id),
    priority    TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    status      TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'escalated', 'resolved')),
    identity    TEXT NOT NULL DEFAULT 'unchecked' CHECK (identity IN ('unchecked', 'verified', 'failed')),
    outcome     TEXT CHECK (outcome IN ('completed', 'partly_completed', 'refused', 'escalated',
                                        'information_given', 'withdrawn', 'unverified')),
    queue_id    TEXT REFERENCES ticket_queues (id),
    reference   TEXT,                     -- id of the record that the ticket is about
    subject     TEXT NOT NULL,
    summary     TEXT,
    opened_at   TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    closed_at   TEXT,
    CHECK ((status = 'open') = (outcome IS NULL)),
    CHECK ((status = 'escalated') = (queue_id IS NOT NULL)),
    CHECK ((status = 'resolved') = (closed_at IS NOT NULL))
) STRICT;

CREATE INDEX tickets_by_customer ON tickets (customer_id);

CREATE TABLE ticket_notes (
    id         TEXT NOT NULL PRIMARY KEY,
    ticket_id  TEXT NOT NULL REFERENCES tickets (id),
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
