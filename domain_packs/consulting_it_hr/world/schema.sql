-- Tindalwick Consulting on one day: people and organisation, approvals, leave, payroll, expenses, learning,
-- benefits, letters, timesheets, devices, accounts and access, referrals, service desk. Amounts are euros.

-- People and organisation ----------------------------------------------------------------------------

CREATE TABLE offices (
    id      TEXT NOT NULL PRIMARY KEY,
    city    TEXT NOT NULL,
    country TEXT NOT NULL CHECK (country IN ('AT', 'IE', 'PT', 'FI', 'EE'))
) STRICT;

CREATE TABLE holidays (                   -- public holidays that fall on a weekday
    country TEXT NOT NULL,
    day     TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (country, day)
) STRICT;

CREATE TABLE employees (
    id                TEXT NOT NULL PRIMARY KEY,
    staff_no          TEXT NOT NULL UNIQUE,
    first_name        TEXT NOT NULL,
    last_name         TEXT NOT NULL,
    email             TEXT NOT NULL UNIQUE,
    birth_date        TEXT NOT NULL,
    office_id         TEXT NOT NULL REFERENCES offices (id),
    department        TEXT NOT NULL CHECK (department IN ('consulting', 'it_operations', 'people_team', 'finance')),
    grade             TEXT NOT NULL CHECK (grade IN ('intern', 'analyst', 'consultant', 'senior', 'manager',
                                                     'principal', 'partner')),
    grade_since       TEXT NOT NULL,
    previous_grade    TEXT,
    manager_id        TEXT REFERENCES employees (id),
    contract          TEXT NOT NULL CHECK (contract IN ('permanent', 'fixed_term', 'intern', 'contractor')),
    fte               REAL NOT NULL CHECK (fte > 0 AND fte <= 1),
    hired_on          TEXT NOT NULL,
    contract_ends_on  TEXT,
    probation_ends_on TEXT NOT NULL,
    status            TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'notice', 'left')),
    leaving_by        TEXT CHECK (leaving_by IN ('resignation', 'redundancy', 'contract_end')),
    last_day          TEXT,
    permit_kind       TEXT,
    permit_expires_on TEXT,
    CHECK ((permit_kind IS NULL) = (permit_expires_on IS NULL)),
    CHECK ((status = 'active') = (last_day IS NULL)),
    CHECK ((last_day IS NULL) = (leaving_by IS NULL))
) STRICT;
CREATE INDEX employees_by_name ON employees (last_name, first_name);

CREATE TABLE clients (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    sector       TEXT NOT NULL,
    confidential INTEGER NOT NULL DEFAULT 0 CHECK (confidential IN (0, 1))
) STRICT;

CREATE TABLE walls (                      -- two clients that must not share people
    id        TEXT NOT NULL PRIMARY KEY,
    client_a  TEXT NOT NULL REFERENCES clients (id),
    client_b  TEXT NOT NULL REFERENCES clients (id),
    since     TEXT NOT NULL
) STRICT;

CREATE TABLE projects (
    id            TEXT NOT NULL PRIMARY KEY,
    client_id     TEXT NOT NULL REFERENCES clients (id),
    name          TEXT NOT NULL,
    lead_id       TEXT NOT NULL REFERENCES employees (id),
    starts_on     TEXT NOT NULL,
    ends_on       TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('running', 'closed')),
    blackout_from TEXT,
    blackout_to   TEXT
) STRICT;

CREATE TABLE assignments (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    project_id  TEXT NOT NULL REFERENCES projects (id),
    percent     INTEGER NOT NULL CHECK (percent BETWEEN 5 AND 100),
    starts_on   TEXT NOT NULL,
    ends_on     TEXT NOT NULL
) STRICT;
CREATE INDEX assignments_by_employee ON assignments (employee_id);

-- Approvals ------------------------------------------------------------------------------------------

CREATE TABLE approvals (
    id           TEXT NOT NULL PRIMARY KEY,
    employee_id  TEXT NOT NULL REFERENCES employees (id),
    kind         TEXT NOT NULL CHECK (kind IN ('leave', 'expense', 'learning', 'access', 'hardware', 'timesheet')),
    approver_id  TEXT NOT NULL REFERENCES employees (id),
    amount       REAL NOT NULL CHECK (amount >= 0),
    status       TEXT NOT NULL CHECK (status IN ('pending', 'granted', 'rejected')),
    about        TEXT NOT NULL,
    requested_on TEXT NOT NULL,
    decided_on   TEXT,
    CHECK ((status = 'pending') = (decided_on IS NULL))
) STRICT;
CREATE INDEX approvals_by_employee ON approvals (employee_id);

CREATE TABLE delegations (
    id          TEXT NOT NULL PRIMARY KEY,
    approver_id TEXT NOT NULL REFERENCES employees (id),
    delegate_id TEXT NOT NULL REFERENCES employees (id),
    scope       TEXT NOT NULL CHECK (scope IN ('leave', 'expense', 'learning', 'access', 'hardware', 'timesheet')),
    starts_on   TEXT NOT NULL,
    ends_on     TEXT NOT NULL,
    CHECK (approver_id <> delegate_id),
    CHECK (starts_on <= ends_on)
) STRICT;

-- Leave ----------------------------------------------------------------------------------------------

CREATE TABLE leave_balances (
    employee_id  TEXT NOT NULL REFERENCES employees (id),
    year         INTEGER NOT NULL,
    entitlement  REAL NOT NULL,
    carried_over REAL NOT NULL DEFAULT 0,  -- days of the year before that can still be used
    expired      REAL NOT NULL DEFAULT 0,  -- days of the year before that have been lost
    taken        REAL NOT NULL DEFAULT 0,  -- days before today
    booked       REAL NOT NULL DEFAULT 0,  -- days from today on
    PRIMARY KEY (employee_id, year)
) STRICT;

CREATE TABLE leave_requests (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    kind        TEXT NOT NULL CHECK (kind IN ('annual', 'sick', 'parental', 'sabbatical', 'special')),
    starts_on   TEXT NOT NULL,
    ends_on     TEXT NOT NULL,
    days        REAL NOT NULL,             -- working days, counted by the system
    certificate INTEGER CHECK (certificate IN (0, 1)),
    status      TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'cancelled')),
    created_at  TEXT NOT NULL,
    CHECK (starts_on <= ends_on)
) STRICT;
CREATE INDEX leave_by_employee ON leave_requests (employee_id);

CREATE TABLE leave_credits (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    year        INTEGER NOT NULL,
    days        REAL NOT NULL,
    reason      TEXT NOT NULL CHECK (reason IN ('entitlement_correction', 'sick_during_leave', 'carry_over_extension')),
    created_at  TEXT NOT NULL
) STRICT;

-- Payroll --------------------------------------------------------------------------------------------

CREATE TABLE pay_profiles (
    employee_id    TEXT NOT NULL PRIMARY KEY REFERENCES employees (id),
    monthly_gross  REAL NOT NULL CHECK (monthly_gross > 0),
    iban           TEXT NOT NULL,
    iban_since     TEXT NOT NULL
) STRICT;

CREATE TABLE payslips (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    period      TEXT NOT NULL,
    gross_due   REAL NOT NULL,             -- by the contract in force
    gross_paid  REAL NOT NULL,
    UNIQUE (employee_id, period)
) STRICT;

CREATE TABLE advances (
    id              TEXT NOT NULL PRIMARY KEY,
    employee_id     TEXT NOT NULL REFERENCES employees (id),
    amount          REAL NOT NULL CHECK (amount > 0),
    instalments     INTEGER NOT NULL CHECK (instalments BETWEEN 1 AND 12),
    first_deduction TEXT NOT NULL,
    outstanding     REAL NOT NULL,
    granted_on      TEXT NOT NULL
) STRICT;

CREATE TABLE payroll_items (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    kind        TEXT NOT NULL CHECK (kind IN ('back_pay', 'overpayment', 'leave_payout', 'training_clawback',
                                              'on_call', 'equipment')),
    amount      REAL NOT NULL CHECK (amount <> 0),
    period      TEXT NOT NULL,
    off_cycle   INTEGER NOT NULL CHECK (off_cycle IN (0, 1)),
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE bank_changes (
    id               TEXT NOT NULL PRIMARY KEY,
    employee_id      TEXT NOT NULL REFERENCES employees (id),
    iban             TEXT NOT NULL,
    effective_period TEXT NOT NULL,
    created_at       TEXT NOT NULL
) STRICT;

-- Travel and expenses --------------------------------------------------------------------------------

CREATE TABLE expense_reports (
    id           TEXT NOT NULL PRIMARY KEY,
    employee_id  TEXT NOT NULL REFERENCES employees (id),
    project_id   TEXT REFERENCES projects (id),
    title        TEXT NOT NULL,
    submitted_on TEXT NOT NULL
) STRICT;

CREATE TABLE expense_lines (
    id              TEXT NOT NULL PRIMARY KEY,
    report_id       TEXT NOT NULL REFERENCES expense_reports (id),
    kind            TEXT NOT NULL CHECK (kind IN ('hotel', 'meal', 'taxi', 'rail', 'flight', 'entertainment', 'other')),
    day             TEXT NOT NULL,
    place           TEXT NOT NULL,
    merchant        TEXT NOT NULL,
    quantity        INTEGER NOT NULL DEFAULT 1,  -- nights of a hotel, people at a table
    amount          REAL NOT NULL CHECK (amount > 0),
    currency        TEXT NOT NULL,
    receipt         INTEGER NOT NULL CHECK (receipt IN (0, 1)),
    status          TEXT NOT NULL CHECK (status IN ('review', 'decided', 'paid')),
    approved_amount REAL,                        -- in euros
    reason          TEXT CHECK (reason IN ('within_policy', 'late', 'no_receipt', 'private', 'over_limit', 'duplicate',
                                           'not_eligible')),
    CHECK ((status = 'review') = (approved_amount IS NULL))
) STRICT;
CREATE INDEX lines_by_report ON expense_lines (report_id);

CREATE TABLE per_diems (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    project_id  TEXT NOT NULL REFERENCES projects (id),
    city        TEXT NOT NULL,
    first_day   TEXT NOT NULL,
    last_day    TEXT NOT NULL,
    amount      REAL NOT NULL CHECK (amount > 0),
    created_at  TEXT NOT NULL,
    UNIQUE (employee_id, first_day)
) STRICT;

CREATE TABLE mileage_claims (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    project_id  TEXT NOT NULL REFERENCES projects (id),
    day         TEXT NOT NULL,
    km          REAL NOT NULL CHECK (km > 0),
    passengers  INTEGER NOT NULL,
    amount      REAL NOT NULL CHECK (amount > 0),
    created_at  TEXT NOT NULL
) STRICT;

-- Learning -------------------------------------------------------------------------------------------

CREATE TABLE courses (
    id        TEXT NOT NULL PRIMARY KEY,
    title     TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('mandatory', 'course', 'certification', 'retake')),
    fee       REAL NOT NULL CHECK (fee >= 0)
) STRICT;

CREATE TABLE course_sessions (
    id        TEXT NOT NULL PRIMARY KEY,
    course_id TEXT NOT NULL REFERENCES courses (id),
    city      TEXT NOT NULL,
    starts_on TEXT NOT NULL,
    ends_on   TEXT NOT NULL,
    seats     INTEGER NOT NULL,
    taken     INTEGER NOT NULL CHECK (taken <= seats)
) STRICT;

CREATE TABLE enrolments (
    id               TEXT NOT NULL PRIMARY KEY,
    employee_id      TEXT NOT NULL REFERENCES employees (id),
    session_id       TEXT NOT NULL REFERENCES course_sessions (id),
    budget_amount    REAL NOT NULL CHECK (budget_amount >= 0),
    own_share        REAL NOT NULL CHECK (own_share >= 0),
    bond_until       TEXT,
    status           TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'passed', 'failed', 'cancelled')),
    cancellation_fee REAL,
    created_at       TEXT NOT NULL
) STRICT;

-- Benefits -------------------------------------------------------------------------------------------

CREATE TABLE benefit_plans (
    id      TEXT NOT NULL PRIMARY KEY,
    country TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN ('health', 'dental', 'mobility')),
    title   TEXT NOT NULL
) STRICT;

CREATE TABLE benefit_enrolments (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    plan_id     TEXT NOT NULL REFERENCES benefit_plans (id),
    level       TEXT NOT NULL CHECK (level IN ('single', 'couple', 'family')),
    starts_on   TEXT NOT NULL,
    reason      TEXT NOT NULL,
    ends_on     TEXT,
    end_reason  TEXT
) STRICT;

-- Letters --------------------------------------------------------------------------------------------

CREATE TABLE letters (
    id             TEXT NOT NULL PRIMARY KEY,
    employee_id    TEXT NOT NULL REFERENCES employees (id),
    kind           TEXT NOT NULL CHECK (kind IN ('employment', 'salary', 'visa_support', 'service_certificate')),
    addressee      TEXT NOT NULL,
    include_salary INTEGER NOT NULL CHECK (include_salary IN (0, 1)),
    issued_on      TEXT NOT NULL
) STRICT;

-- Timesheets -----------------------------------------------------------------------------------------

CREATE TABLE timesheets (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    week_start  TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('open', 'submitted', 'approved', 'locked')),
    UNIQUE (employee_id, week_start)
) STRICT;

CREATE TABLE timesheet_lines (
    timesheet_id TEXT NOT NULL REFERENCES timesheets (id),
    project_id   TEXT NOT NULL REFERENCES projects (id),
    hours        REAL NOT NULL CHECK (hours >= 0),
    PRIMARY KEY (timesheet_id, project_id)
) STRICT;

-- Devices --------------------------------------------------------------------------------------------

CREATE TABLE device_models (
    id    TEXT NOT NULL PRIMARY KEY,
    kind  TEXT NOT NULL CHECK (kind IN ('laptop', 'phone', 'monitor', 'headset')),
    title TEXT NOT NULL,
    price REAL NOT NULL
) STRICT;

CREATE TABLE stock (
    model_id  TEXT NOT NULL REFERENCES device_models (id),
    office_id TEXT NOT NULL REFERENCES offices (id),
    quantity  INTEGER NOT NULL CHECK (quantity >= 0),
    PRIMARY KEY (model_id, office_id)
) STRICT;

CREATE TABLE devices (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    model_id    TEXT NOT NULL REFERENCES device_models (id),
    issued_on   TEXT NOT NULL,
    from_office TEXT NOT NULL REFERENCES offices (id),
    reason      TEXT NOT NULL CHECK (reason IN ('first_issue', 'refresh', 'lost_or_stolen', 'defect', 'accident')),
    charge      REAL NOT NULL DEFAULT 0 CHECK (charge >= 0),
    restricted  INTEGER NOT NULL DEFAULT 0 CHECK (restricted IN (0, 1)),  -- holds restricted client data
    status      TEXT NOT NULL DEFAULT 'in_use' CHECK (status IN ('in_use', 'lost', 'stolen', 'returned')),
    reported_on TEXT,
    wiped       INTEGER NOT NULL DEFAULT 0 CHECK (wiped IN (0, 1))
) STRICT;
CREATE INDEX devices_by_employee ON devices (employee_id);

-- Accounts, software, groups -------------------------------------------------------------------------

CREATE TABLE accounts (
    id           TEXT NOT NULL PRIMARY KEY,
    employee_id  TEXT NOT NULL REFERENCES employees (id),
    system       TEXT NOT NULL CHECK (system IN ('windows', 'vpn', 'finance_portal', 'client_portal')),
    status       TEXT NOT NULL CHECK (status IN ('active', 'locked', 'suspended')),
    lock_reason  TEXT CHECK (lock_reason IN ('failed_logins', 'security_hold', 'inactivity', 'contract_ended')),
    mfa_reset_on TEXT,
    CHECK ((status = 'active') = (lock_reason IS NULL))
) STRICT;
CREATE INDEX accounts_by_employee ON accounts (employee_id);

CREATE TABLE software (
    id           TEXT NOT NULL PRIMARY KEY,
    title        TEXT NOT NULL,
    department   TEXT,                    -- reserved for a department
    monthly_cost REAL NOT NULL,
    seats        INTEGER NOT NULL
) STRICT;

CREATE TABLE licences (
    software_id  TEXT NOT NULL REFERENCES software (id),
    employee_id  TEXT NOT NULL REFERENCES employees (id),
    assigned_on  TEXT NOT NULL,
    last_used_on TEXT,
    PRIMARY KEY (software_id, employee_id)
) STRICT;

CREATE TABLE groups (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('mailing_list', 'project_space', 'department')),
    owner_id   TEXT NOT NULL REFERENCES employees (id),
    project_id TEXT REFERENCES projects (id)
) STRICT;

CREATE TABLE group_members (
    group_id    TEXT NOT NULL REFERENCES groups (id),
    employee_id TEXT NOT NULL REFERENCES employees (id),
    since       TEXT NOT NULL,
    PRIMARY KEY (group_id, employee_id)
) STRICT;

-- Referrals ------------------------------------------------------------------------------------------

CREATE TABLE referrals (
    id              TEXT NOT NULL PRIMARY KEY,
    referrer_id     TEXT NOT NULL REFERENCES employees (id),
    candidate_name  TEXT NOT NULL,
    candidate_email TEXT NOT NULL UNIQUE,
    applied_on      TEXT,
    registered_on   TEXT NOT NULL,
    hired_id        TEXT REFERENCES employees (id),
    first_amount    REAL CHECK (first_amount > 0),   -- the halves of the bonus, once paid
    first_period    TEXT,
    second_amount   REAL CHECK (second_amount > 0),
    second_period   TEXT
) STRICT;

-- Service desk ---------------------------------------------------------------------------------------

CREATE TABLE tickets (
    id          TEXT NOT NULL PRIMARY KEY,
    employee_id TEXT NOT NULL REFERENCES employees (id),
    category    TEXT NOT NULL CHECK (category IN ('leave', 'payroll', 'expenses', 'learning', 'benefits', 'letters',
                                                  'timesheets', 'devices', 'access', 'referrals', 'approvals')),
    priority    TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    status      TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'escalated', 'resolved')),
    identity    TEXT NOT NULL DEFAULT 'unchecked' CHECK (identity IN ('unchecked', 'verified', 'failed')),
    outcome     TEXT CHECK (outcome IN ('completed', 'partly_completed', 'awaiting_approval', 'refused', 'withdrawn',
                                        'information_given', 'unverified', 'escalated')),
    queue       TEXT CHECK (queue IN ('security_desk', 'payroll_desk', 'travel_desk', 'people_partners',
                                      'mobility_desk', 'project_finance', 'risk_office')),
    reference   TEXT,
    subject     TEXT NOT NULL,
    summary     TEXT,
    opened_at   TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    CHECK ((status = 'open') = (outcome IS NULL)),
    CHECK ((status = 'escalated') = (queue IS NOT NULL))
) STRICT;
CREATE INDEX tickets_by_employee ON tickets (employee_id);

CREATE TABLE identity_checks (
    id         TEXT NOT NULL PRIMARY KEY,
    ticket_id  TEXT NOT NULL REFERENCES tickets (id),
    staff_no   TEXT NOT NULL,
    birth_date TEXT NOT NULL,
    passed     INTEGER NOT NULL CHECK (passed IN (0, 1)),
    checked_at TEXT NOT NULL
) STRICT;
