-- The business database of Quillmoor Mutual. Amounts are US dollars; a premium is for a year unless it says otherwise.

-- Customers and identity

CREATE TABLE customers (
    id                 TEXT NOT NULL PRIMARY KEY,
    first_name         TEXT NOT NULL,
    last_name          TEXT NOT NULL,
    date_of_birth      TEXT NOT NULL,
    email              TEXT NOT NULL UNIQUE,
    phone              TEXT NOT NULL,
    city               TEXT NOT NULL,
    state              TEXT NOT NULL,
    postal_code        TEXT NOT NULL CHECK (length(postal_code) = 5),
    customer_since     TEXT NOT NULL,
    tier               TEXT NOT NULL CHECK (tier IN ('core', 'plus', 'prime')),
    tier_since         TEXT NOT NULL,
    previous_tier      TEXT CHECK (previous_tier IN ('core', 'plus', 'prime')),
    contact_changed_on TEXT,              -- last change of e-mail address or phone, NULL if never
    risk_grade         TEXT NOT NULL CHECK (risk_grade IN ('R1', 'R2', 'R3', 'R4'))  -- never shown to customers
) STRICT;

CREATE TABLE lienholders (
    id   TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT NOT NULL
) STRICT;

-- Policies

CREATE TABLE policies (
    id                 TEXT NOT NULL PRIMARY KEY,
    customer_id        TEXT NOT NULL REFERENCES customers (id),  -- the first named insured
    state              TEXT NOT NULL CHECK (state IN ('OH', 'PA', 'TX', 'FL', 'MI', 'NY', 'AZ', 'WA')),
    status             TEXT NOT NULL CHECK (status IN ('active', 'notice', 'cancelled', 'expired')),
    postal_code        TEXT NOT NULL CHECK (length(postal_code) = 5),  -- where the vehicles are kept when nothing else is said
    term_number        INTEGER NOT NULL CHECK (term_number >= 1),      -- 1: never renewed
    effective_on       TEXT NOT NULL,     -- first day of the current term
    expires_on         TEXT NOT NULL,     -- the term ends at the start of this day
    term_premium       REAL NOT NULL CHECK (term_premium >= 0),
    paid_premium       REAL NOT NULL CHECK (paid_premium >= 0),        -- paid towards the current term, without fees
    pending_adjustment REAL NOT NULL DEFAULT 0,  -- from changes in this term; goes onto the next bill
    pay_plan           TEXT NOT NULL CHECK (pay_plan IN ('monthly', 'two_pay', 'full_pay')),
    due_day            INTEGER NOT NULL CHECK (due_day BETWEEN 1 AND 28),
    due_day_changed_on TEXT,
    autopay_method_id  TEXT REFERENCES payment_methods (id),
    notice_sent_on     TEXT,              -- cancellation notice for non-payment
    cancelled_on       TEXT,              -- first day without cover
    cancel_reason      TEXT CHECK (cancel_reason IN ('nonpayment', 'customer_request')),
    CHECK (effective_on < expires_on),
    CHECK ((status = 'cancelled') = (cancelled_on IS NOT NULL)),
    CHECK ((cancelled_on IS NULL) = (cancel_reason IS NULL)),
    CHECK (status <> 'notice' OR notice_sent_on IS NOT NULL)
) STRICT;

CREATE INDEX policies_by_customer ON policies (customer_id);

CREATE TABLE drivers (
    id               TEXT NOT NULL PRIMARY KEY,
    policy_id        TEXT NOT NULL REFERENCES policies (id),
    role             TEXT NOT NULL CHECK (role IN ('named_insured', 'second_named_insured', 'listed_driver', 'permit_driver', 'excluded_driver')),
    first_name       TEXT NOT NULL,
    last_name        TEXT NOT NULL,
    date_of_birth    TEXT NOT NULL,
    relation         TEXT NOT NULL CHECK (relation IN ('self', 'spouse', 'child', 'parent', 'other')),
    licence_no       TEXT NOT NULL,
    annual_surcharge REAL NOT NULL DEFAULT 0 CHECK (annual_surcharge >= 0),
    status           TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'removed')),
    status_reason    TEXT,
    since            TEXT NOT NULL
) STRICT;

CREATE INDEX drivers_by_policy ON drivers (policy_id);

CREATE TABLE driving_records (
    licence_no     TEXT NOT NULL PRIMARY KEY,
    holder         TEXT NOT NULL,
    date_of_birth  TEXT NOT NULL,
    licence_status TEXT NOT NULL CHECK (licence_status IN ('valid', 'permit', 'suspended', 'expired')),
    licence_state  TEXT NOT NULL
) STRICT;

CREATE TABLE violations (
    licence_no  TEXT NOT NULL REFERENCES driving_records (licence_no),
    seq         INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('speeding_minor', 'speeding_major', 'red_light', 'at_fault_accident', 'reckless', 'dui')),
    happened_on TEXT NOT NULL,
    PRIMARY KEY (licence_no, seq)
) STRICT;

CREATE TABLE vin_catalog (
    vin           TEXT NOT NULL PRIMARY KEY CHECK (length(vin) = 17),
    model_year    INTEGER NOT NULL,
    model         TEXT NOT NULL,
    vehicle_class TEXT NOT NULL CHECK (vehicle_class IN ('A', 'B', 'C', 'D')),
    market_value  REAL NOT NULL CHECK (market_value > 0),
    title         TEXT NOT NULL CHECK (title IN ('clean', 'salvage', 'rebuilt'))
) STRICT;

CREATE TABLE vehicles (
    id                TEXT NOT NULL PRIMARY KEY,
    policy_id         TEXT NOT NULL REFERENCES policies (id),
    vin               TEXT NOT NULL REFERENCES vin_catalog (vin),
    model_year        INTEGER NOT NULL,
    model             TEXT NOT NULL,
    vehicle_class     TEXT NOT NULL,
    plate             TEXT NOT NULL,
    usage             TEXT NOT NULL CHECK (usage IN ('commute', 'pleasure', 'business', 'rideshare')),
    postal_code       TEXT NOT NULL CHECK (length(postal_code) = 5),
    ownership         TEXT NOT NULL CHECK (ownership IN ('owned', 'financed', 'leased')),
    lienholder_id     TEXT REFERENCES lienholders (id),
    primary_driver_id TEXT REFERENCES drivers (id),
    status            TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'removed')),
    added_on          TEXT NOT NULL,
    removed_on        TEXT,
    CHECK ((ownership = 'owned') = (lienholder_id IS NULL)),
    CHECK ((status = 'removed') = (removed_on IS NOT NULL))
) STRICT;

CREATE INDEX vehicles_by_policy ON vehicles (policy_id);

-- Coverages and rates

CREATE TABLE rates (
    state          TEXT NOT NULL,
    vehicle_class  TEXT NOT NULL,
    code           TEXT NOT NULL CHECK (code IN ('BI', 'PD', 'COMP', 'COLL', 'GLASS', 'RENT', 'TOW', 'PIP', 'GAP', 'RIDE', 'CDW')),
    option         TEXT NOT NULL,         -- limits in thousands, a deductible, a daily/total limit, or 'std'
    annual_premium REAL NOT NULL CHECK (annual_premium > 0),
    PRIMARY KEY (state, vehicle_class, code, option)
) STRICT;

CREATE TABLE coverages (
    vehicle_id     TEXT NOT NULL REFERENCES vehicles (id),
    code           TEXT NOT NULL,
    option         TEXT NOT NULL,
    annual_premium REAL NOT NULL CHECK (annual_premium > 0),
    since          TEXT NOT NULL,
    PRIMARY KEY (vehicle_id, code)
) STRICT;

CREATE TABLE endorsements (
    id             TEXT NOT NULL PRIMARY KEY,
    policy_id      TEXT NOT NULL REFERENCES policies (id),
    kind           TEXT NOT NULL CHECK (kind IN ('vehicle_added', 'vehicle_removed', 'driver_added', 'driver_excluded', 'driver_removed', 'coverage_changed', 'coverage_removed', 'discount_added', 'discount_removed')),
    subject        TEXT NOT NULL,         -- id of the vehicle, driver or discount
    effective_on   TEXT NOT NULL,
    premium_change REAL NOT NULL,         -- for the rest of the term; negative is a credit
    proof          TEXT,
    made_at        TEXT NOT NULL
) STRICT;

CREATE INDEX endorsements_by_policy ON endorsements (policy_id);

CREATE TABLE discounts (
    id        TEXT NOT NULL PRIMARY KEY,
    policy_id TEXT NOT NULL REFERENCES policies (id),
    code      TEXT NOT NULL CHECK (code IN ('multi_vehicle', 'good_student', 'defensive_course', 'paperless', 'autopay', 'telematics')),
    driver_id TEXT REFERENCES drivers (id),
    percent   REAL NOT NULL CHECK (percent > 0 AND percent <= 30),
    starts_on TEXT NOT NULL,
    ends_on   TEXT,
    status    TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'ended'))
) STRICT;

CREATE TABLE telematics (
    vehicle_id  TEXT NOT NULL PRIMARY KEY REFERENCES vehicles (id),
    device      TEXT NOT NULL CHECK (device IN ('app', 'plug')),
    enrolled_on TEXT NOT NULL,
    trips       INTEGER NOT NULL DEFAULT 0,
    score       INTEGER CHECK (score BETWEEN 0 AND 100),
    status      TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'withdrawn')),
    ended_on    TEXT
) STRICT;

-- Billing

CREATE TABLE payment_methods (
    id          TEXT NOT NULL PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    kind        TEXT NOT NULL CHECK (kind IN ('card', 'bank')),
    holder      TEXT NOT NULL,
    last4       TEXT NOT NULL,
    expires_on  TEXT,                     -- last day a card is good; NULL for a bank account
    status      TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'closed')),
    added_on    TEXT NOT NULL
) STRICT;

CREATE TABLE instalments (
    id              TEXT NOT NULL PRIMARY KEY,
    policy_id       TEXT NOT NULL REFERENCES policies (id),
    number          INTEGER NOT NULL CHECK (number >= 1),
    original_due_on TEXT NOT NULL,
    due_on          TEXT NOT NULL,
    amount          REAL NOT NULL CHECK (amount > 0),
    paid            REAL NOT NULL DEFAULT 0 CHECK (paid >= 0 AND paid <= amount + 0.001),
    status          TEXT NOT NULL CHECK (status IN ('open', 'paid', 'void')),
    UNIQUE (policy_id, number)
) STRICT;

CREATE TABLE payment_extensions (
    id            TEXT NOT NULL PRIMARY KEY,
    policy_id     TEXT NOT NULL REFERENCES policies (id),
    instalment_id TEXT NOT NULL REFERENCES instalments (id),
    new_due_on    TEXT NOT NULL,
    fee           REAL NOT NULL CHECK (fee >= 0),
    basis         TEXT NOT NULL CHECK (basis IN ('tier', 'disaster')),
    status        TEXT NOT NULL DEFAULT 'granted' CHECK (status IN ('granted', 'broken', 'withdrawn')),
    granted_on    TEXT NOT NULL
) STRICT;

CREATE INDEX payment_extensions_by_policy ON payment_extensions (policy_id);

CREATE TABLE payments (
    id            TEXT NOT NULL PRIMARY KEY,
    policy_id     TEXT NOT NULL REFERENCES policies (id),
    instalment_id TEXT REFERENCES instalments (id),
    method_id     TEXT NOT NULL REFERENCES payment_methods (id),
    amount        REAL NOT NULL CHECK (amount > 0),   -- all that was taken
    late_fee      REAL NOT NULL DEFAULT 0 CHECK (late_fee >= 0),  -- the part of it that is a late fee
    refunded      REAL NOT NULL DEFAULT 0 CHECK (refunded >= 0 AND refunded <= amount + 0.001),
    status        TEXT NOT NULL CHECK (status IN ('cleared', 'returned')),
    taken_on      TEXT NOT NULL
) STRICT;

CREATE INDEX payments_by_policy ON payments (policy_id);

CREATE TABLE fees (
    id           TEXT NOT NULL PRIMARY KEY,
    policy_id    TEXT NOT NULL REFERENCES policies (id),
    kind         TEXT NOT NULL CHECK (kind IN ('late', 'returned_payment', 'reinstatement')),
    amount       REAL NOT NULL CHECK (amount > 0),
    for_due_on   TEXT,                    -- the due date of the instalment it is about
    status       TEXT NOT NULL CHECK (status IN ('open', 'paid', 'waived')),
    charged_on   TEXT NOT NULL,
    waived_on    TEXT,
    waive_reason TEXT CHECK (waive_reason IN ('courtesy', 'outage')),
    CHECK ((status = 'waived') = (waived_on IS NOT NULL)),
    CHECK ((waived_on IS NULL) = (waive_reason IS NULL))
) STRICT;

CREATE INDEX fees_by_policy ON fees (policy_id);

CREATE TABLE premium_refunds (
    id         TEXT NOT NULL PRIMARY KEY,
    policy_id  TEXT NOT NULL REFERENCES policies (id),
    payment_id TEXT REFERENCES payments (id),
    method_id  TEXT NOT NULL REFERENCES payment_methods (id),
    amount     REAL NOT NULL CHECK (amount > 0),
    reason     TEXT NOT NULL CHECK (reason IN ('duplicate', 'cancellation')),
    made_on    TEXT NOT NULL
) STRICT;

CREATE TABLE cancellations (
    id           TEXT NOT NULL PRIMARY KEY,
    policy_id    TEXT NOT NULL REFERENCES policies (id),
    effective_on TEXT NOT NULL,
    reason       TEXT NOT NULL CHECK (reason IN ('switched_insurer', 'sold_vehicle', 'moved_away', 'deployment', 'death', 'other', 'nonpayment')),
    basis        TEXT NOT NULL CHECK (basis IN ('flat', 'pro_rata', 'short_rate')),
    refund       REAL NOT NULL CHECK (refund >= 0),
    proof        TEXT,
    made_at      TEXT NOT NULL
) STRICT;

CREATE TABLE reinstatements (
    id           TEXT NOT NULL PRIMARY KEY,
    policy_id    TEXT NOT NULL REFERENCES policies (id),
    mode         TEXT NOT NULL CHECK (mode IN ('without_lapse', 'with_lapse')),
    effective_on TEXT NOT NULL,
    amount       REAL NOT NULL CHECK (amount > 0),
    method_id    TEXT NOT NULL REFERENCES payment_methods (id),
    no_loss      INTEGER NOT NULL CHECK (no_loss IN (0, 1)),  -- the insured states that there was no loss since
    made_on      TEXT NOT NULL
) STRICT;

-- Claims

CREATE TABLE claims (
    id           TEXT NOT NULL PRIMARY KEY,
    policy_id    TEXT NOT NULL REFERENCES policies (id),
    vehicle_id   TEXT NOT NULL REFERENCES vehicles (id),
    driver_id    TEXT REFERENCES drivers (id),        -- NULL: nobody was driving
    kind         TEXT NOT NULL CHECK (kind IN ('collision', 'comprehensive', 'theft', 'glass', 'roadside', 'liability')),
    loss_on      TEXT NOT NULL,
    injuries     INTEGER NOT NULL DEFAULT 0 CHECK (injuries IN (0, 1)),
    drivable     INTEGER NOT NULL DEFAULT 1 CHECK (drivable IN (0, 1)),
    report_no    TEXT,                                -- police report
    cover        TEXT NOT NULL CHECK (cover IN ('confirmed', 'in_question', 'denied')),
    cover_reason TEXT CHECK (cover_reason IN ('lapse', 'excluded_driver', 'usage', 'late_report')),
    deductible   REAL NOT NULL CHECK (deductible >= 0),
    status       TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'total_loss', 'settled', 'closed')),
    repair_days  INTEGER,                             -- the shop's estimate
    liability    TEXT NOT NULL DEFAULT 'open' CHECK (liability IN ('open', 'ours', 'other')),
    adjuster     TEXT,
    hold         TEXT CHECK (hold IN ('new_cover', 'story_changed', 'prior_damage')),
    reported_on  TEXT NOT NULL,
    CHECK ((cover = 'in_question') = (cover_reason IS NOT NULL))
) STRICT;

CREATE INDEX claims_by_policy ON claims (policy_id);

CREATE TABLE claimants (
    claim_id TEXT NOT NULL REFERENCES claims (id),
    seq      INTEGER NOT NULL,
    name     TEXT NOT NULL,
    plate    TEXT NOT NULL,
    insurer  TEXT,
    PRIMARY KEY (claim_id, seq)
) STRICT;

CREATE TABLE claim_payments (
    id       TEXT NOT NULL PRIMARY KEY,
    claim_id TEXT NOT NULL REFERENCES claims (id),
    kind     TEXT NOT NULL CHECK (kind IN ('towing', 'storage', 'repair', 'glass', 'rental', 'total_loss', 'gap')),
    payee    TEXT NOT NULL CHECK (payee IN ('insured', 'claimant', 'lienholder', 'shop')),
    amount   REAL NOT NULL CHECK (amount > 0),
    paid_on  TEXT NOT NULL
) STRICT;

CREATE INDEX claim_payments_by_claim ON claim_payments (claim_id);

CREATE TABLE valuations (
    claim_id      TEXT NOT NULL PRIMARY KEY REFERENCES claims (id),
    market_value  REAL NOT NULL CHECK (market_value > 0),
    salvage_value REAL NOT NULL CHECK (salvage_value >= 0),
    loan_payoff   REAL NOT NULL DEFAULT 0 CHECK (loan_payoff >= 0),  -- what the lienholder is owed today
    offered_on    TEXT NOT NULL
) STRICT;

CREATE TABLE settlements (
    claim_id          TEXT NOT NULL PRIMARY KEY REFERENCES claims (id),
    option            TEXT NOT NULL CHECK (option IN ('surrender', 'keep')),
    lienholder_amount REAL NOT NULL CHECK (lienholder_amount >= 0),
    owner_amount      REAL NOT NULL CHECK (owner_amount >= 0),
    gap_amount        REAL NOT NULL DEFAULT 0 CHECK (gap_amount >= 0),
    made_on           TEXT NOT NULL
) STRICT;

CREATE TABLE rentals (
    id         TEXT NOT NULL PRIMARY KEY,
    claim_id   TEXT NOT NULL UNIQUE REFERENCES claims (id),
    starts_on  TEXT NOT NULL,
    last_day   TEXT NOT NULL,             -- the last day that we pay
    daily_rate REAL NOT NULL CHECK (daily_rate > 0),
    CHECK (starts_on <= last_day)
) STRICT;

CREATE TABLE shops (
    id      TEXT NOT NULL PRIMARY KEY,
    name    TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN ('glass', 'body')),
    network INTEGER NOT NULL CHECK (network IN (0, 1)),
    city    TEXT NOT NULL,
    state   TEXT NOT NULL
) STRICT;

CREATE TABLE shop_slots (
    id      TEXT NOT NULL PRIMARY KEY,
    shop_id TEXT NOT NULL REFERENCES shops (id),
    day     TEXT NOT NULL,
    starts  TEXT NOT NULL,                -- local time, HH:MM
    taken   INTEGER NOT NULL DEFAULT 0 CHECK (taken IN (0, 1))
) STRICT;

CREATE TABLE appointments (
    id       TEXT NOT NULL PRIMARY KEY,
    claim_id TEXT NOT NULL REFERENCES claims (id),
    slot_id  TEXT NOT NULL REFERENCES shop_slots (id),
    service  TEXT NOT NULL CHECK (service IN ('windshield_repair', 'glass_replacement', 'estimate', 'body_repair')),
    status   TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'done', 'cancelled')),
    made_at  TEXT NOT NULL
) STRICT;

-- Documents and filings

CREATE TABLE documents (
    id         TEXT NOT NULL PRIMARY KEY,
    policy_id  TEXT NOT NULL REFERENCES policies (id),
    kind       TEXT NOT NULL CHECK (kind IN ('id_card', 'declarations', 'loss_history', 'lienholder_notice', 'no_loss_letter')),
    vehicle_id TEXT REFERENCES vehicles (id),
    channel    TEXT NOT NULL CHECK (channel IN ('email', 'mail', 'fax')),
    recipient  TEXT NOT NULL CHECK (recipient IN ('named_insured', 'listed_driver', 'lienholder')),
    fee        REAL NOT NULL DEFAULT 0 CHECK (fee >= 0),
    sent_on    TEXT NOT NULL
) STRICT;

CREATE TABLE filings (
    id             TEXT NOT NULL PRIMARY KEY,
    driver_id      TEXT NOT NULL REFERENCES drivers (id),
    form           TEXT NOT NULL CHECK (form IN ('SR-22', 'FR-44')),
    fee            REAL NOT NULL CHECK (fee >= 0),
    filed_on       TEXT NOT NULL,
    required_until TEXT NOT NULL,         -- last day the state wants it
    status         TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'withdrawn'))
) STRICT;

CREATE TABLE identity_checks (
    ticket_id   TEXT NOT NULL,
    subject_id  TEXT NOT NULL,            -- policy or claim
    first_value TEXT NOT NULL,            -- date of birth or plate, as the caller gave it
    postal_code TEXT NOT NULL,            -- '' for a claimant
    result      TEXT NOT NULL CHECK (result IN ('passed', 'failed')),
    role        TEXT,
    PRIMARY KEY (ticket_id, subject_id, first_value, postal_code)
) STRICT;
