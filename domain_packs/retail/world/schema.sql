-- The business database of Harbour & Finch Electronics. Amounts are US dollars with tax included.

CREATE TABLE customers (
    id               TEXT NOT NULL PRIMARY KEY,
    first_name       TEXT NOT NULL,
    last_name        TEXT NOT NULL,
    email            TEXT NOT NULL UNIQUE,
    email_changed_on TEXT,                -- last change of the address, NULL if never
    phone            TEXT NOT NULL,
    street           TEXT NOT NULL,
    city             TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (length(state) = 2),
    postal_code      TEXT NOT NULL CHECK (length(postal_code) = 5),
    customer_since   TEXT NOT NULL,
    account_status   TEXT NOT NULL DEFAULT 'active' CHECK (account_status IN ('active', 'locked', 'closed')),
    internal_grade   TEXT NOT NULL CHECK (internal_grade IN ('G1', 'G2', 'G3', 'G4'))  -- never shown to customers
) STRICT;

CREATE TABLE memberships (
    customer_id     TEXT NOT NULL PRIMARY KEY REFERENCES customers (id),
    tier            TEXT NOT NULL CHECK (tier IN ('basic', 'plus', 'premier')),
    tier_since      TEXT NOT NULL,
    previous_tier   TEXT CHECK (previous_tier IN ('basic', 'plus', 'premier')),
    term_started_on TEXT,                 -- the paid year; NULL for basic
    renews_on       TEXT,
    auto_renew      INTEGER NOT NULL DEFAULT 0 CHECK (auto_renew IN (0, 1)),
    paid_for_term   REAL NOT NULL DEFAULT 0 CHECK (paid_for_term >= 0),
    points          INTEGER NOT NULL DEFAULT 0 CHECK (points >= 0),
    installs_used   INTEGER NOT NULL DEFAULT 0 CHECK (installs_used >= 0),  -- free visits used in this term
    express_used    INTEGER NOT NULL DEFAULT 0 CHECK (express_used >= 0),   -- free express upgrades used in this term
    CHECK ((tier = 'basic') = (term_started_on IS NULL)),
    CHECK ((term_started_on IS NULL) = (renews_on IS NULL))
) STRICT;

CREATE TABLE warehouses (
    id    TEXT NOT NULL PRIMARY KEY,
    name  TEXT NOT NULL,
    kind  TEXT NOT NULL CHECK (kind IN ('fulfilment', 'store')),
    city  TEXT NOT NULL,
    state TEXT NOT NULL
) STRICT;

CREATE TABLE products (
    id              TEXT NOT NULL PRIMARY KEY,
    name            TEXT NOT NULL,
    class           TEXT NOT NULL,
    price           REAL NOT NULL CHECK (price > 0),         -- today's price
    on_clearance    INTEGER NOT NULL DEFAULT 0 CHECK (on_clearance IN (0, 1)),
    battery_wh      REAL CHECK (battery_wh > 0),             -- NULL: no lithium battery
    freight         INTEGER NOT NULL DEFAULT 0 CHECK (freight IN (0, 1)),
    screen_inches   INTEGER,
    fuel            TEXT CHECK (fuel IN ('electric', 'gas')),
    warranty_months INTEGER NOT NULL CHECK (warranty_months >= 0)
) STRICT;

CREATE TABLE inventory (
    product_id   TEXT NOT NULL REFERENCES products (id),
    warehouse_id TEXT NOT NULL REFERENCES warehouses (id),
    on_hand      INTEGER NOT NULL CHECK (on_hand >= 0),
    reserved     INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0 AND reserved <= on_hand),
    PRIMARY KEY (product_id, warehouse_id)
) STRICT;

CREATE TABLE promotions (
    code            TEXT NOT NULL PRIMARY KEY,
    title           TEXT NOT NULL,
    percent         REAL CHECK (percent > 0 AND percent < 100),
    amount_off      REAL CHECK (amount_off > 0),
    product_class   TEXT,                 -- NULL: every class
    minimum         REAL NOT NULL DEFAULT 0,  -- of the goods it applies to, before the discount
    members_of      TEXT CHECK (members_of IN ('plus', 'premier')),  -- lowest tier that may use it
    starts_on       TEXT NOT NULL,
    ends_on         TEXT NOT NULL,
    combinable      INTEGER NOT NULL DEFAULT 0 CHECK (combinable IN (0, 1)),
    CHECK ((percent IS NULL) <> (amount_off IS NULL)),
    CHECK (starts_on <= ends_on)
) STRICT;

CREATE TABLE orders (
    id               TEXT NOT NULL PRIMARY KEY,
    customer_id      TEXT NOT NULL REFERENCES customers (id),
    kind             TEXT NOT NULL DEFAULT 'sale' CHECK (kind IN ('sale', 'replacement')),
    replaces_order   TEXT REFERENCES orders (id),
    placed_at        TEXT NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('processing', 'picking', 'shipped', 'delivered', 'cancelled')),
    shipping_method  TEXT NOT NULL CHECK (shipping_method IN ('standard', 'express', 'next_day', 'freight', 'pickup')),
    promised_on      TEXT NOT NULL,
    ship_street      TEXT NOT NULL,
    ship_city        TEXT NOT NULL,
    ship_state       TEXT NOT NULL,
    ship_postal_code TEXT NOT NULL,
    promo_code       TEXT REFERENCES promotions (code),
    items_total      REAL NOT NULL CHECK (items_total >= 0),   -- goods after discounts
    shipping_fee     REAL NOT NULL CHECK (shipping_fee >= 0),
    total            REAL NOT NULL CHECK (total >= 0),
    refunded         REAL NOT NULL DEFAULT 0 CHECK (refunded >= 0 AND refunded <= total + 0.001),
    cancellation_fee REAL NOT NULL DEFAULT 0 CHECK (cancellation_fee >= 0),
    cancel_reason    TEXT
) STRICT;

CREATE INDEX orders_by_customer ON orders (customer_id);

CREATE TABLE order_lines (
    id           TEXT NOT NULL PRIMARY KEY,
    order_id     TEXT NOT NULL REFERENCES orders (id),
    line_no      INTEGER NOT NULL CHECK (line_no > 0),
    product_id   TEXT NOT NULL REFERENCES products (id),
    qty          INTEGER NOT NULL CHECK (qty > 0),
    unit_price   REAL NOT NULL CHECK (unit_price >= 0),
    discount     REAL NOT NULL DEFAULT 0 CHECK (discount >= 0),  -- for the whole line
    paid         REAL NOT NULL CHECK (paid >= 0),                -- for the whole line, after discount
    sold_as      TEXT NOT NULL DEFAULT 'new' CHECK (sold_as IN ('new', 'open_box', 'clearance', 'made_to_order')),
    bundle       TEXT,                                           -- lines with the same text were sold as a bundle
    serial_no    TEXT,
    returned_qty INTEGER NOT NULL DEFAULT 0 CHECK (returned_qty >= 0 AND returned_qty <= qty),
    UNIQUE (order_id, line_no)
) STRICT;

CREATE TABLE payments (
    id         TEXT NOT NULL PRIMARY KEY,
    order_id   TEXT NOT NULL REFERENCES orders (id),
    method     TEXT NOT NULL CHECK (method IN ('card', 'gift_card', 'store_credit', 'financing')),
    card_last4 TEXT,
    amount     REAL NOT NULL CHECK (amount > 0),
    refunded   REAL NOT NULL DEFAULT 0 CHECK (refunded >= 0 AND refunded <= amount + 0.001)
) STRICT;

CREATE INDEX payments_by_order ON payments (order_id);

CREATE TABLE shipments (
    id             TEXT NOT NULL PRIMARY KEY,
    order_id       TEXT NOT NULL REFERENCES orders (id),
    warehouse_id   TEXT NOT NULL REFERENCES warehouses (id),
    carrier        TEXT NOT NULL CHECK (carrier IN ('Velo Parcel', 'Northline Freight', 'Meridian Post')),
    status         TEXT NOT NULL CHECK (status IN ('label_created', 'in_transit', 'out_for_delivery', 'delivered', 'lost')),
    shipped_on     TEXT,
    delivered_on   TEXT,
    signed_by      TEXT,
    declared_value REAL NOT NULL CHECK (declared_value >= 0),
    deliver_to     TEXT NOT NULL DEFAULT 'address',  -- 'address', or the id of a store it was rerouted to
    reroute_fee    REAL NOT NULL DEFAULT 0 CHECK (reroute_fee >= 0)
) STRICT;

CREATE INDEX shipments_by_order ON shipments (order_id);

CREATE TABLE tracking_events (
    shipment_id TEXT NOT NULL REFERENCES shipments (id),
    seq         INTEGER NOT NULL,
    at          TEXT NOT NULL,
    event       TEXT NOT NULL,
    place       TEXT NOT NULL,
    PRIMARY KEY (shipment_id, seq)
) STRICT;

CREATE TABLE carrier_claims (
    id          TEXT NOT NULL PRIMARY KEY,
    shipment_id TEXT NOT NULL REFERENCES shipments (id),
    reason      TEXT NOT NULL CHECK (reason IN ('loss', 'damage', 'shortage')),
    amount      REAL NOT NULL CHECK (amount > 0),
    status      TEXT NOT NULL DEFAULT 'filed' CHECK (status IN ('filed', 'paid', 'denied')),
    filed_at    TEXT NOT NULL
) STRICT;

CREATE TABLE gift_receipts (
    id        TEXT NOT NULL PRIMARY KEY,  -- the number on the receipt
    line_id   TEXT NOT NULL UNIQUE REFERENCES order_lines (id),
    issued_on TEXT NOT NULL
) STRICT;

CREATE TABLE returns (
    id             TEXT NOT NULL PRIMARY KEY,
    order_id       TEXT NOT NULL REFERENCES orders (id),
    line_id        TEXT NOT NULL REFERENCES order_lines (id),
    qty            INTEGER NOT NULL CHECK (qty > 0),
    reason         TEXT NOT NULL CHECK (reason IN ('changed_mind', 'defective', 'damaged_in_transit', 'wrong_item')),
    condition      TEXT NOT NULL CHECK (condition IN ('unopened', 'opened', 'not_working')),
    method         TEXT NOT NULL CHECK (method IN ('store_dropoff', 'mail_label', 'freight_pickup')),
    restocking_fee REAL NOT NULL CHECK (restocking_fee >= 0),
    transport_fee  REAL NOT NULL CHECK (transport_fee >= 0),
    status         TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'in_transit', 'received', 'refunded', 'cancelled')),
    opened_at      TEXT NOT NULL,
    received_on    TEXT,
    gift_receipt_id TEXT REFERENCES gift_receipts (id)   -- set when the recipient of a gift sends it back
) STRICT;

CREATE TABLE refunds (
    id         TEXT NOT NULL PRIMARY KEY,
    order_id   TEXT NOT NULL REFERENCES orders (id),
    payment_id TEXT NOT NULL REFERENCES payments (id),
    return_id  TEXT REFERENCES returns (id),
    amount     REAL NOT NULL CHECK (amount > 0),
    reason     TEXT NOT NULL CHECK (reason IN ('return', 'cancellation', 'lost', 'late_delivery', 'shortage')),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE store_credits (
    id          TEXT NOT NULL PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    order_id    TEXT REFERENCES orders (id),
    amount      REAL NOT NULL CHECK (amount > 0),
    reason      TEXT NOT NULL CHECK (reason IN ('goodwill', 'missed_visit', 'missed_promotion', 'gift', 'trade_in')),
    created_at  TEXT NOT NULL,
    return_id   TEXT REFERENCES returns (id)             -- the gift return that it pays for
) STRICT;

CREATE TABLE price_adjustments (
    id         TEXT NOT NULL PRIMARY KEY,
    line_id    TEXT NOT NULL REFERENCES order_lines (id),
    amount     REAL NOT NULL CHECK (amount > 0),
    reason     TEXT NOT NULL CHECK (reason IN ('price_drop', 'missed_promotion')),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE warranties (
    id        TEXT NOT NULL PRIMARY KEY,
    line_id   TEXT NOT NULL REFERENCES order_lines (id),
    plan      TEXT NOT NULL CHECK (plan IN ('manufacturer', 'care_standard', 'care_complete')),
    starts_on TEXT NOT NULL,
    ends_on   TEXT NOT NULL,              -- last day of cover
    status    TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'void', 'cancelled')),
    refunded  REAL NOT NULL DEFAULT 0 CHECK (refunded >= 0)  -- of the price of the plan, when it was cancelled
) STRICT;

CREATE TABLE warranty_claims (
    id          TEXT NOT NULL PRIMARY KEY,
    warranty_id TEXT NOT NULL REFERENCES warranties (id),
    fault       TEXT NOT NULL CHECK (fault IN ('no_power', 'display', 'battery', 'overheating', 'noise', 'leak',
                                               'connectivity', 'drop_damage', 'liquid_damage', 'other')),
    remedy      TEXT NOT NULL CHECK (remedy IN ('repair', 'replacement')),
    deductible  REAL NOT NULL CHECK (deductible >= 0),
    status      TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'repaired', 'replaced', 'rejected')),
    filed_at    TEXT NOT NULL,
    closed_on   TEXT
) STRICT;

CREATE TABLE install_slots (
    id       TEXT NOT NULL PRIMARY KEY,
    area     TEXT NOT NULL,               -- first three digits of the postal code
    day      TEXT NOT NULL,
    starts   TEXT NOT NULL,               -- local time, HH:MM
    crew     TEXT NOT NULL CHECK (crew IN ('single', 'double', 'gas')),
    capacity INTEGER NOT NULL CHECK (capacity > 0),
    booked   INTEGER NOT NULL DEFAULT 0 CHECK (booked >= 0 AND booked <= capacity)
) STRICT;

CREATE TABLE install_holds (
    slot_id TEXT NOT NULL PRIMARY KEY REFERENCES install_slots (id),
    until   TEXT NOT NULL                 -- last day on which it is kept for another customer
) STRICT;

CREATE TABLE install_jobs (
    id         TEXT NOT NULL PRIMARY KEY,
    line_id    TEXT NOT NULL REFERENCES order_lines (id),
    kind       TEXT NOT NULL CHECK (kind IN ('tv_mount', 'appliance', 'gas_appliance', 'network')),
    slot_id    TEXT NOT NULL REFERENCES install_slots (id),
    status     TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'done', 'missed', 'cancelled')),
    fee        REAL NOT NULL CHECK (fee >= 0),
    change_fee REAL NOT NULL DEFAULT 0 CHECK (change_fee >= 0),
    free_visit INTEGER NOT NULL DEFAULT 0 CHECK (free_visit IN (0, 1)),
    moves      INTEGER NOT NULL DEFAULT 0 CHECK (moves >= 0)
) STRICT;

CREATE TABLE points_entries (
    id          TEXT NOT NULL PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    points      INTEGER NOT NULL CHECK (points <> 0),
    kind        TEXT NOT NULL CHECK (kind IN ('earned', 'redeemed', 'expired', 'corrected', 'transferred')),
    order_id    TEXT REFERENCES orders (id),
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE trade_in_models (
    id    TEXT NOT NULL PRIMARY KEY,
    name  TEXT NOT NULL,
    class TEXT NOT NULL CHECK (class IN ('laptop', 'tablet', 'phone', 'gaming')),
    value REAL NOT NULL CHECK (value > 0)  -- today's value in the grade like_new
) STRICT;

CREATE TABLE trade_ins (
    id              TEXT NOT NULL PRIMARY KEY,
    customer_id     TEXT NOT NULL REFERENCES customers (id),
    model_id        TEXT NOT NULL REFERENCES trade_in_models (id),
    serial_no       TEXT NOT NULL,
    grade           TEXT NOT NULL CHECK (grade IN ('like_new', 'good', 'worn', 'broken')),
    amount          REAL NOT NULL CHECK (amount >= 0),       -- as quoted
    quoted_on       TEXT NOT NULL,
    valid_until     TEXT NOT NULL,
    status          TEXT NOT NULL DEFAULT 'quoted'
                    CHECK (status IN ('quoted', 'received', 'inspected', 'paid', 'returned', 'cancelled')),
    inspected_grade TEXT CHECK (inspected_grade IN ('like_new', 'good', 'worn', 'broken')),
    finding         TEXT,
    credit          REAL NOT NULL DEFAULT 0 CHECK (credit >= 0)  -- given in the end
) STRICT;

CREATE TABLE financing_plans (
    id            TEXT NOT NULL PRIMARY KEY,
    order_id      TEXT NOT NULL UNIQUE REFERENCES orders (id),
    months        INTEGER NOT NULL CHECK (months IN (6, 12, 24)),
    monthly       REAL NOT NULL CHECK (monthly > 0),
    open_months   INTEGER NOT NULL CHECK (open_months >= 0 AND open_months <= months),
    next_due_on   TEXT,                    -- NULL when nothing is open
    autopay       INTEGER NOT NULL CHECK (autopay IN (0, 1)),
    status        TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'closed')),
    payoff_amount REAL CHECK (payoff_amount > 0),            -- the offer to pay off, if there is one
    payoff_until  TEXT,
    CHECK ((open_months = 0) = (next_due_on IS NULL))
) STRICT;

CREATE TABLE financing_deferrals (
    id         TEXT NOT NULL PRIMARY KEY,
    plan_id    TEXT NOT NULL REFERENCES financing_plans (id),
    old_due_on TEXT NOT NULL,
    new_due_on TEXT NOT NULL,
    fee        REAL NOT NULL CHECK (fee >= 0),
    created_on TEXT NOT NULL
) STRICT;

CREATE TABLE recalls (
    id          TEXT NOT NULL PRIMARY KEY,
    product_id  TEXT NOT NULL REFERENCES products (id),
    title       TEXT NOT NULL,
    fault       TEXT NOT NULL,
    serial_from TEXT NOT NULL,
    serial_to   TEXT NOT NULL,
    remedy      TEXT NOT NULL CHECK (remedy IN ('replacement', 'repair_kit', 'choice')),
    begun_on    TEXT NOT NULL
) STRICT;

CREATE TABLE recall_registrations (
    id            TEXT NOT NULL PRIMARY KEY,
    recall_id     TEXT NOT NULL REFERENCES recalls (id),
    line_id       TEXT NOT NULL REFERENCES order_lines (id),
    serial_no     TEXT NOT NULL UNIQUE,
    remedy        TEXT NOT NULL CHECK (remedy IN ('replacement', 'repair_kit', 'refund')),
    refund_amount REAL NOT NULL CHECK (refund_amount >= 0),
    created_at    TEXT NOT NULL
) STRICT;

CREATE TABLE pickups (
    order_id     TEXT NOT NULL PRIMARY KEY REFERENCES orders (id),
    store_id     TEXT NOT NULL REFERENCES warehouses (id),
    ready_on     TEXT NOT NULL,
    hold_until   TEXT NOT NULL,
    extensions   INTEGER NOT NULL DEFAULT 0 CHECK (extensions >= 0),
    collector    TEXT,                     -- somebody else who may collect it
    collected_on TEXT
) STRICT;
