-- The systems of Alderquay's IT service desk. Amounts are euros. Days are YYYY-MM-DD.

-- Directory ------------------------------------------------------------------------------------------

CREATE TABLE sites (
    id               TEXT NOT NULL PRIMARY KEY,
    city             TEXT NOT NULL,
    country          TEXT NOT NULL CHECK (country IN ('DE', 'IE', 'PL', 'PT')),
    visitor_capacity INTEGER NOT NULL CHECK (visitor_capacity > 0)    -- visitors a day
) STRICT;

CREATE TABLE employees (
    id               TEXT NOT NULL PRIMARY KEY,
    first_name       TEXT NOT NULL,
    last_name        TEXT NOT NULL,
    work_email       TEXT NOT NULL UNIQUE,
    personnel_no     TEXT NOT NULL UNIQUE CHECK (length(personnel_no) = 6),
    kind             TEXT NOT NULL CHECK (kind IN ('employee', 'contractor')),
    agency           TEXT,                                            -- of a contractor
    site             TEXT NOT NULL REFERENCES sites (id),
    country          TEXT NOT NULL CHECK (country IN ('DE', 'IE', 'PL', 'PT')),
    department       TEXT NOT NULL CHECK (department IN ('engineering', 'payments', 'cards', 'finance', 'people', 'risk', 'marketing', 'operations')),
    job_title        TEXT NOT NULL,
    manager_id       TEXT REFERENCES employees (id),                  -- NULL for the head of the bank
    cost_centre      TEXT NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('active', 'on_leave', 'suspended', 'left', 'not_started')),
    started_on       TEXT NOT NULL,
    contract_ends_on TEXT,                                            -- of a contractor
    phone            TEXT NOT NULL,                                   -- the registered number for callbacks
    phone_changed_on TEXT,
    risk_score       INTEGER NOT NULL CHECK (risk_score BETWEEN 100 AND 999),  -- internal, never said
    CHECK ((kind = 'contractor') = (contract_ends_on IS NOT NULL)),
    CHECK ((kind = 'contractor') = (agency IS NOT NULL))
) STRICT;

CREATE INDEX employees_by_name ON employees (last_name, first_name);

-- Secrets of the desk check. No tool returns them.
CREATE TABLE desk_pins (
    employee_id TEXT NOT NULL PRIMARY KEY REFERENCES employees (id),
    pin         TEXT NOT NULL CHECK (length(pin) = 5),
    changed_on  TEXT NOT NULL
) STRICT;

-- What happens when a number is called.
CREATE TABLE phone_lines (
    number TEXT NOT NULL PRIMARY KEY,
    answer TEXT NOT NULL CHECK (answer IN ('confirmed', 'no_answer', 'denied'))
) STRICT;

CREATE TABLE people_cases (
    id           TEXT NOT NULL PRIMARY KEY,
    employee_id  TEXT NOT NULL REFERENCES employees (id),
    kind         TEXT NOT NULL CHECK (kind IN ('joiner', 'mover', 'leaver')),
    effective_on TEXT NOT NULL,
    department   TEXT,                                                -- the new department of a mover
    status       TEXT NOT NULL CHECK (status IN ('open', 'closed'))
) STRICT;

CREATE TABLE investigations (
    id         TEXT NOT NULL PRIMARY KEY,
    code_name  TEXT NOT NULL UNIQUE,
    subject_id TEXT NOT NULL REFERENCES employees (id),
    opened_on  TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('open', 'closed'))
) STRICT;

CREATE TABLE security_reports (
    id          TEXT NOT NULL PRIMARY KEY,
    subject_id  TEXT NOT NULL REFERENCES employees (id),
    reporter    TEXT NOT NULL,                                        -- name of the person who reported
    received_on TEXT NOT NULL,
    what        TEXT NOT NULL
) STRICT;

CREATE TABLE holidays (
    country TEXT NOT NULL CHECK (country IN ('DE', 'IE', 'PL', 'PT')),
    day     TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (country, day)
) STRICT;

-- Accounts -------------------------------------------------------------------------------------------

CREATE TABLE accounts (
    id              TEXT NOT NULL PRIMARY KEY,
    employee_id     TEXT NOT NULL REFERENCES employees (id),
    kind            TEXT NOT NULL CHECK (kind IN ('standard', 'privileged')),
    username        TEXT NOT NULL UNIQUE,
    status          TEXT NOT NULL CHECK (status IN ('active', 'locked', 'disabled')),
    lock_reason     TEXT CHECK (lock_reason IN ('failed_sign_ins', 'dormant', 'security_hold')),
    last_sign_in_on TEXT,
    disabled_reason TEXT CHECK (disabled_reason IN ('leaver', 'contract_end', 'compromise')),
    changed_by      TEXT,                                             -- ticket of the last change
    UNIQUE (employee_id, kind),
    CHECK ((status = 'locked') = (lock_reason IS NOT NULL)),
    CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL))
) STRICT;

CREATE TABLE mfa_devices (
    id             TEXT NOT NULL PRIMARY KEY,
    account_id     TEXT NOT NULL REFERENCES accounts (id),
    kind           TEXT NOT NULL CHECK (kind IN ('authenticator', 'security_key')),
    label          TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('active', 'revoked')),
    enrolled_on    TEXT NOT NULL,
    revoked_reason TEXT CHECK (revoked_reason IN ('lost', 'stolen', 'replaced')),
    revoked_by     TEXT,                                              -- ticket
    CHECK ((status = 'revoked') = (revoked_reason IS NOT NULL))
) STRICT;

CREATE TABLE temp_passes (
    id         TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    minutes    INTEGER NOT NULL CHECK (minutes BETWEEN 5 AND 480),
    issued_on  TEXT NOT NULL,
    ticket_id  TEXT
) STRICT;

CREATE TABLE vpn_profiles (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    profile     TEXT NOT NULL CHECK (profile IN ('standard', 'admin')),
    expires_on  TEXT NOT NULL,
    renewed_by  TEXT,                                                 -- ticket of the last renewal
    UNIQUE (employee_id, profile)
) STRICT;

CREATE TABLE travel_registrations (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    country     TEXT NOT NULL CHECK (length(country) = 2),
    from_on     TEXT NOT NULL,
    to_on       TEXT NOT NULL CHECK (to_on >= from_on),
    access      TEXT NOT NULL CHECK (access IN ('full', 'mail_only')),
    work_days   INTEGER NOT NULL CHECK (work_days > 0),
    ticket_id   TEXT
) STRICT;

-- Access ---------------------------------------------------------------------------------------------

CREATE TABLE applications (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    data_class TEXT NOT NULL CHECK (data_class IN ('internal', 'confidential', 'restricted')),
    department TEXT NOT NULL,
    owner_id   TEXT NOT NULL REFERENCES employees (id),
    residency  TEXT NOT NULL CHECK (residency IN ('EU', 'DE', 'IE', 'PL', 'PT'))
) STRICT;

CREATE TABLE entitlements (
    id                TEXT NOT NULL PRIMARY KEY,
    application_id    TEXT NOT NULL REFERENCES applications (id),
    name              TEXT NOT NULL,
    level             TEXT NOT NULL CHECK (level IN ('read', 'write', 'maker', 'checker', 'admin', 'production')),
    max_business_days INTEGER CHECK (max_business_days > 0)           -- NULL: without end
) STRICT;

CREATE TABLE sod_pairs (
    entitlement_a TEXT NOT NULL REFERENCES entitlements (id),
    entitlement_b TEXT NOT NULL REFERENCES entitlements (id),
    weight        TEXT NOT NULL CHECK (weight IN ('hard', 'soft')),
    PRIMARY KEY (entitlement_a, entitlement_b)
) STRICT;

CREATE TABLE approvals (
    id           TEXT NOT NULL PRIMARY KEY,
    kind         TEXT NOT NULL CHECK (kind IN ('access', 'sod_exception', 'software', 'purchase', 'export', 'freeze_exception', 'unlock', 'vpn', 'true_up')),
    employee_id  TEXT NOT NULL REFERENCES employees (id),             -- for whom
    subject_id   TEXT NOT NULL,                                       -- the entitlement, product, item, dataset, change, account, profile or pool
    approver_id  TEXT NOT NULL REFERENCES employees (id),
    status       TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
    requested_on TEXT NOT NULL,
    decided_on   TEXT,
    ticket_id    TEXT,
    CHECK ((status = 'pending') = (decided_on IS NULL))
) STRICT;

CREATE TABLE grants (
    id             TEXT NOT NULL PRIMARY KEY,
    employee_id    TEXT NOT NULL REFERENCES employees (id),
    entitlement_id TEXT NOT NULL REFERENCES entitlements (id),
    starts_on      TEXT NOT NULL,
    ends_on        TEXT,
    extensions     INTEGER NOT NULL DEFAULT 0 CHECK (extensions >= 0),
    status         TEXT NOT NULL CHECK (status IN ('active', 'revoked', 'ended')),
    revoked_reason TEXT CHECK (revoked_reason IN ('sod_conflict', 'mover', 'not_needed')),
    approval_id    TEXT REFERENCES approvals (id),
    incident_id    TEXT,
    ticket_id      TEXT,                                              -- of the last change
    CHECK ((status = 'revoked') = (revoked_reason IS NOT NULL))
) STRICT;

CREATE INDEX grants_by_employee ON grants (employee_id);
CREATE INDEX grants_by_entitlement ON grants (entitlement_id);

-- Operations -----------------------------------------------------------------------------------------

CREATE TABLE incidents (
    id             TEXT NOT NULL PRIMARY KEY,
    application_id TEXT NOT NULL REFERENCES applications (id),
    severity       INTEGER NOT NULL CHECK (severity BETWEEN 1 AND 4),
    title          TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('open', 'mitigated', 'closed')),
    opened_at      TEXT NOT NULL
) STRICT;

CREATE TABLE oncall_shifts (
    id             TEXT NOT NULL PRIMARY KEY,
    application_id TEXT NOT NULL REFERENCES applications (id),
    employee_id    TEXT NOT NULL REFERENCES employees (id),
    role           TEXT NOT NULL CHECK (role IN ('primary', 'secondary')),
    starts_at      TEXT NOT NULL,
    ends_at        TEXT NOT NULL
) STRICT;

CREATE TABLE changes (
    id                    TEXT NOT NULL PRIMARY KEY,
    application_id        TEXT NOT NULL REFERENCES applications (id),
    title                 TEXT NOT NULL,
    type                  TEXT NOT NULL CHECK (type IN ('standard', 'normal', 'emergency')),
    requester_id          TEXT NOT NULL REFERENCES employees (id),
    window_start          TEXT NOT NULL,
    window_end            TEXT NOT NULL,
    moves                 INTEGER NOT NULL DEFAULT 0 CHECK (moves >= 0),
    status                TEXT NOT NULL CHECK (status IN ('approved', 'scheduled', 'done', 'withdrawn')),
    exception_approval_id TEXT REFERENCES approvals (id),
    moved_by              TEXT                                        -- ticket
) STRICT;

-- Assets ---------------------------------------------------------------------------------------------

CREATE TABLE asset_models (
    id          TEXT NOT NULL PRIMARY KEY,
    kind        TEXT NOT NULL CHECK (kind IN ('laptop', 'phone', 'security_key')),
    name        TEXT NOT NULL,
    life_months INTEGER NOT NULL CHECK (life_months > 0)
) STRICT;

CREATE TABLE assets (
    id           TEXT NOT NULL PRIMARY KEY,
    model_id     TEXT NOT NULL REFERENCES asset_models (id),
    serial       TEXT NOT NULL UNIQUE,
    status       TEXT NOT NULL CHECK (status IN ('in_use', 'on_loan', 'in_stock', 'in_repair', 'lost', 'stolen', 'retired')),
    holder_id    TEXT REFERENCES employees (id),
    site         TEXT NOT NULL REFERENCES sites (id),
    purchased_on TEXT NOT NULL,
    price        REAL NOT NULL CHECK (price > 0),
    CHECK (status NOT IN ('in_use', 'on_loan', 'in_repair') OR holder_id IS NOT NULL),
    CHECK (status <> 'in_stock' OR holder_id IS NULL)
) STRICT;

CREATE INDEX assets_by_holder ON assets (holder_id);

CREATE TABLE loss_reports (
    id               TEXT NOT NULL PRIMARY KEY,
    asset_id         TEXT NOT NULL REFERENCES assets (id),
    employee_id      TEXT NOT NULL REFERENCES employees (id),
    kind             TEXT NOT NULL CHECK (kind IN ('lost', 'stolen')),
    occurred_on      TEXT NOT NULL,
    reported_on      TEXT NOT NULL,
    police_reference TEXT,
    wiped            INTEGER NOT NULL CHECK (wiped IN (0, 1)),
    charge           REAL NOT NULL CHECK (charge >= 0),
    charged_to       TEXT NOT NULL CHECK (charged_to IN ('employee', 'agency', 'nobody')),
    ticket_id        TEXT
) STRICT;

CREATE TABLE handouts (
    id          TEXT NOT NULL PRIMARY KEY,
    asset_id    TEXT NOT NULL REFERENCES assets (id),
    employee_id TEXT NOT NULL REFERENCES employees (id),
    mode        TEXT NOT NULL CHECK (mode IN ('replacement', 'loan', 'first_device')),
    due_on      TEXT,
    deposit     REAL NOT NULL DEFAULT 0 CHECK (deposit >= 0),
    returned_on TEXT,
    ticket_id   TEXT,
    CHECK ((mode = 'loan') = (due_on IS NOT NULL))
) STRICT;

-- Software -------------------------------------------------------------------------------------------

CREATE TABLE software (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    class        TEXT NOT NULL CHECK (class IN ('open', 'approval', 'restricted')),
    yearly_price REAL NOT NULL CHECK (yearly_price >= 0)              -- one seat
) STRICT;

CREATE TABLE licence_pools (
    id          TEXT NOT NULL PRIMARY KEY,
    software_id TEXT NOT NULL REFERENCES software (id),
    country     TEXT NOT NULL CHECK (country IN ('DE', 'IE', 'PL', 'PT')),
    seats_total INTEGER NOT NULL CHECK (seats_total >= 0),
    renews_on   TEXT NOT NULL,
    owner_id    TEXT NOT NULL REFERENCES employees (id),
    UNIQUE (software_id, country)
) STRICT;

CREATE TABLE seats (
    id              TEXT NOT NULL PRIMARY KEY,
    pool_id         TEXT NOT NULL REFERENCES licence_pools (id),
    employee_id     TEXT NOT NULL REFERENCES employees (id),
    status          TEXT NOT NULL CHECK (status IN ('active', 'released')),
    assigned_on     TEXT NOT NULL,
    last_used_on    TEXT,
    released_reason TEXT CHECK (released_reason IN ('idle', 'not_needed')),
    approval_id     TEXT REFERENCES approvals (id),
    ticket_id       TEXT,                                             -- of the last change
    CHECK ((status = 'released') = (released_reason IS NOT NULL))
) STRICT;

CREATE INDEX seats_by_pool ON seats (pool_id);

CREATE TABLE true_ups (
    id          TEXT NOT NULL PRIMARY KEY,
    pool_id     TEXT NOT NULL REFERENCES licence_pools (id),
    seats       INTEGER NOT NULL CHECK (seats > 0),
    amount      REAL NOT NULL CHECK (amount > 0),
    cost_centre TEXT NOT NULL,
    approval_id TEXT REFERENCES approvals (id),
    ticket_id   TEXT
) STRICT;

-- Data -----------------------------------------------------------------------------------------------

CREATE TABLE datasets (
    id             TEXT NOT NULL PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE,
    classification TEXT NOT NULL CHECK (classification IN ('internal', 'confidential', 'restricted')),
    residency      TEXT NOT NULL CHECK (residency IN ('EU', 'DE', 'IE', 'PL', 'PT')),
    owner_id       TEXT NOT NULL REFERENCES employees (id),
    row_count      INTEGER NOT NULL CHECK (row_count > 0)
) STRICT;

CREATE TABLE exports (
    id          TEXT NOT NULL PRIMARY KEY,
    dataset_id  TEXT NOT NULL REFERENCES datasets (id),
    employee_id TEXT NOT NULL REFERENCES employees (id),
    destination TEXT NOT NULL CHECK (destination IN ('workspace', 'laptop', 'secure_room')),
    row_limit   INTEGER NOT NULL CHECK (row_limit > 0),
    masked      INTEGER NOT NULL CHECK (masked IN (0, 1)),
    expires_on  TEXT NOT NULL,
    approval_id TEXT REFERENCES approvals (id),
    ticket_id   TEXT
) STRICT;

-- Card console ---------------------------------------------------------------------------------------

CREATE TABLE console_actions (
    id         TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('limit_raise', 'fee_reversal', 'merchant_block', 'chargeback_release')),
    card_ref   TEXT NOT NULL,
    amount     REAL NOT NULL CHECK (amount >= 0),
    maker_id   TEXT NOT NULL REFERENCES employees (id),
    checker_id TEXT NOT NULL REFERENCES employees (id),
    status     TEXT NOT NULL CHECK (status IN ('pending', 'done', 'expired', 'withdrawn')),
    entered_on TEXT NOT NULL,
    ticket_id  TEXT                                                   -- of the last change by the desk
) STRICT;

-- Purchasing -----------------------------------------------------------------------------------------

CREATE TABLE cost_centres (
    id       TEXT NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL,
    owner_id TEXT NOT NULL REFERENCES employees (id),
    budget   REAL NOT NULL CHECK (budget >= 0),                       -- peripherals, this quarter
    spent    REAL NOT NULL DEFAULT 0 CHECK (spent >= 0)
) STRICT;

CREATE TABLE shop_items (
    id                 TEXT NOT NULL PRIMARY KEY,
    name               TEXT NOT NULL UNIQUE,
    class              TEXT NOT NULL CHECK (class IN ('peripheral', 'monitor', 'headset', 'ergonomic')),
    price              REAL NOT NULL CHECK (price > 0),
    lead_business_days INTEGER NOT NULL CHECK (lead_business_days > 0),
    weight_kg          REAL NOT NULL CHECK (weight_kg > 0)
) STRICT;

CREATE TABLE purchase_orders (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    item_id     TEXT NOT NULL REFERENCES shop_items (id),
    qty         INTEGER NOT NULL CHECK (qty > 0),
    total       REAL NOT NULL CHECK (total > 0),
    cost_centre TEXT NOT NULL REFERENCES cost_centres (id),
    ordered_on  TEXT NOT NULL,
    deliver_on  TEXT NOT NULL,
    approval_id TEXT REFERENCES approvals (id),
    ticket_id   TEXT
) STRICT;

-- Premises -------------------------------------------------------------------------------------------

CREATE TABLE badges (
    id              TEXT NOT NULL PRIMARY KEY,
    employee_id     TEXT NOT NULL REFERENCES employees (id),
    zone            TEXT NOT NULL CHECK (zone IN ('office', 'cage')),
    status          TEXT NOT NULL CHECK (status IN ('active', 'blocked')),
    issued_on       TEXT NOT NULL,
    expires_on      TEXT,                                             -- of a contractor
    blocked_reason  TEXT CHECK (blocked_reason IN ('lost', 'stolen', 'damaged')),
    blocked_on      TEXT,
    fee             REAL NOT NULL DEFAULT 0 CHECK (fee >= 0),         -- what its holder paid for it
    ticket_id       TEXT,                                             -- of the last change
    CHECK ((status = 'blocked') = (blocked_reason IS NOT NULL))
) STRICT;

CREATE TABLE visits (
    id        TEXT NOT NULL PRIMARY KEY,
    site      TEXT NOT NULL REFERENCES sites (id),
    day       TEXT NOT NULL,
    host_id   TEXT NOT NULL REFERENCES employees (id),
    visitor   TEXT NOT NULL,
    zone      TEXT NOT NULL CHECK (zone IN ('meeting', 'office', 'cage')),
    escort_id TEXT REFERENCES employees (id),
    ticket_id TEXT
) STRICT;

-- Service desk ---------------------------------------------------------------------------------------

CREATE TABLE tickets (
    id          TEXT NOT NULL PRIMARY KEY,
    caller_id   TEXT NOT NULL REFERENCES employees (id),
    category    TEXT NOT NULL CHECK (category IN ('account', 'access', 'hardware', 'software', 'network', 'change', 'data', 'cards', 'purchase', 'premises', 'security', 'general')),
    priority    TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    status      TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'escalated', 'resolved')),
    outcome     TEXT CHECK (outcome IN ('completed', 'partly_completed', 'refused', 'awaiting_approval', 'information_given', 'withdrawn', 'unverified', 'escalated')),
    queue       TEXT CHECK (queue IN ('identity_desk', 'security_response', 'people_desk', 'asset_desk', 'platform_desk', 'data_office', 'card_risk', 'premises_desk')),
    reference   TEXT,
    subject     TEXT NOT NULL,
    summary     TEXT,
    opened_at   TEXT NOT NULL,
    CHECK ((status = 'open') = (outcome IS NULL)),
    CHECK ((status = 'escalated') = (queue IS NOT NULL))
) STRICT;

CREATE INDEX tickets_by_caller ON tickets (caller_id);

CREATE TABLE identity_checks (
    ticket_id    TEXT NOT NULL PRIMARY KEY REFERENCES tickets (id),   -- one check for a ticket
    personnel_no TEXT NOT NULL,                                       -- as the caller gave it
    pin_matches  INTEGER NOT NULL CHECK (pin_matches IN (0, 1)),
    pin_given    TEXT NOT NULL,
    passed       INTEGER NOT NULL CHECK (passed IN (0, 1))
) STRICT;

CREATE TABLE callbacks (
    ticket_id TEXT NOT NULL PRIMARY KEY REFERENCES tickets (id),      -- one call for a ticket
    number    TEXT NOT NULL,
    answer    TEXT NOT NULL CHECK (answer IN ('confirmed', 'no_answer', 'denied'))
) STRICT;
