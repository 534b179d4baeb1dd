-- The business database. Every table needs a PRIMARY KEY; CHECK, UNIQUE, NOT NULL and REFERENCES are enforced.
-- Dates are text: 2026-03-02. Money is REAL.

CREATE TABLE customers (
    id    TEXT PRIMARY KEY NOT NULL,
    name  TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE bookings (
    id          TEXT PRIMARY KEY NOT NULL,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    item        TEXT NOT NULL,
    starts_on   TEXT NOT NULL,
    paid        REAL NOT NULL CHECK (paid >= 0),
    status      TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'cancelled'))
) STRICT;

CREATE TABLE cancellations (
    id         TEXT PRIMARY KEY NOT NULL,
    booking_id TEXT NOT NULL UNIQUE REFERENCES bookings (id),
    reason     TEXT NOT NULL CHECK (reason IN ('illness', 'weather', 'plans')),
    refund     REAL NOT NULL CHECK (refund >= 0),
    note       TEXT,
    made_at    TEXT NOT NULL
) STRICT;
