-- Amounts are in the currency of the hotel; columns that end in _eur hold the same money at the group's house rate.
-- Nights are dated by their evening: a stay from the 3rd to the 5th has the nights of the 3rd and the 4th.

CREATE TABLE properties (
    id             TEXT NOT NULL PRIMARY KEY,
    name           TEXT NOT NULL,
    city           TEXT NOT NULL,
    country        TEXT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('city', 'airport', 'resort')),
    stars          INTEGER NOT NULL CHECK (stars BETWEEN 3 AND 5),
    currency       TEXT NOT NULL,
    eur_rate       REAL NOT NULL,            -- house rate: euros for one unit of the currency
    utc_offset     TEXT NOT NULL,            -- until the end of October
    checkin_from   TEXT NOT NULL,
    checkout_until TEXT NOT NULL,
    award_category INTEGER NOT NULL CHECK (award_category BETWEEN 1 AND 5),
    pets_allowed   INTEGER NOT NULL CHECK (pets_allowed IN (0, 1)),
    parking        INTEGER NOT NULL CHECK (parking IN (0, 1)),
    phone          TEXT NOT NULL
) STRICT;

CREATE TABLE room_types (
    id          TEXT NOT NULL PRIMARY KEY,
    property_id TEXT NOT NULL REFERENCES properties (id),
    name        TEXT NOT NULL,
    class       INTEGER NOT NULL CHECK (class BETWEEN 1 AND 3),
    suite       INTEGER NOT NULL CHECK (suite IN (0, 1)),
    extra_bed   INTEGER NOT NULL CHECK (extra_bed IN (0, 1)),
    max_persons INTEGER NOT NULL,
    UNIQUE (property_id, class)
) STRICT;

CREATE TABLE rooms (
    id           TEXT NOT NULL PRIMARY KEY,
    property_id  TEXT NOT NULL REFERENCES properties (id),
    room_type_id TEXT NOT NULL REFERENCES room_types (id),
    number       INTEGER NOT NULL,
    floor        INTEGER NOT NULL,
    accessible   INTEGER NOT NULL CHECK (accessible IN (0, 1)),
    quiet_side   INTEGER NOT NULL CHECK (quiet_side IN (0, 1)),
    status       TEXT NOT NULL DEFAULT 'in_service' CHECK (status IN ('in_service', 'out_of_order')),
    held         INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),   -- held back by housekeeping at the hotel
    UNIQUE (property_id, number)
) STRICT;

CREATE TABLE availability (
    room_type_id TEXT NOT NULL REFERENCES room_types (id),
    night        TEXT NOT NULL,
    free         INTEGER NOT NULL CHECK (free >= 0),
    price        REAL NOT NULL,              -- today's flexible price of the night
    PRIMARY KEY (room_type_id, night)
) STRICT;

CREATE TABLE companies (
    id               TEXT NOT NULL PRIMARY KEY,
    name             TEXT NOT NULL,
    discount_percent INTEGER NOT NULL,
    direct_bill      INTEGER NOT NULL CHECK (direct_bill IN (0, 1))
) STRICT;

CREATE TABLE agencies (
    id    TEXT NOT NULL PRIMARY KEY,
    name  TEXT NOT NULL,
    phone TEXT NOT NULL
) STRICT;

CREATE TABLE customers (
    id               TEXT NOT NULL PRIMARY KEY,
    first_name       TEXT NOT NULL,
    last_name        TEXT NOT NULL,
    email            TEXT NOT NULL UNIQUE,
    email_changed_on TEXT,
    phone            TEXT NOT NULL,
    birth_date       TEXT NOT NULL,
    city             TEXT NOT NULL,
    country          TEXT NOT NULL,
    company_id       TEXT REFERENCES companies (id),
    status           TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'merged')),
    merged_into      TEXT,
    created_on       TEXT NOT NULL,
    internal_grade   TEXT NOT NULL
) STRICT;

CREATE TABLE guest_flags (
    id       TEXT NOT NULL PRIMARY KEY,
    guest_id TEXT NOT NULL REFERENCES customers (id),
    code     TEXT NOT NULL,                  -- for the staff only
    note     TEXT NOT NULL,
    noted_on TEXT NOT NULL
) STRICT;

CREATE TABLE authorised_contacts (
    guest_id TEXT NOT NULL REFERENCES customers (id),
    name     TEXT NOT NULL,
    since    TEXT NOT NULL,
    ends_on  TEXT,
    PRIMARY KEY (guest_id, name)
) STRICT;

CREATE TABLE identity_checks (
    id         TEXT NOT NULL PRIMARY KEY,
    ticket_id  TEXT NOT NULL REFERENCES tickets (id),
    email      TEXT NOT NULL,                -- as the caller gave it
    birth_date TEXT NOT NULL,
    result     TEXT NOT NULL CHECK (result IN ('verified', 'failed'))
) STRICT;

CREATE TABLE memberships (
    guest_id   TEXT NOT NULL PRIMARY KEY REFERENCES customers (id),
    member_no  TEXT NOT NULL UNIQUE,
    tier       TEXT NOT NULL CHECK (tier IN ('walker', 'rambler', 'voyager')),
    tier_since TEXT NOT NULL,
    points     INTEGER NOT NULL CHECK (points >= 0),
    pin        TEXT NOT NULL,
    joined_on  TEXT NOT NULL
) STRICT;

CREATE TABLE pin_checks (
    id        TEXT NOT NULL PRIMARY KEY,
    ticket_id TEXT NOT NULL REFERENCES tickets (id),
    pin       TEXT NOT NULL,
    result    TEXT NOT NULL CHECK (result IN ('passed', 'failed'))
) STRICT;

CREATE TABLE points_entries (
    id             TEXT NOT NULL PRIMARY KEY,
    guest_id       TEXT NOT NULL REFERENCES customers (id),
    points         INTEGER NOT NULL CHECK (points <> 0),
    kind           TEXT NOT NULL CHECK (kind IN ('earned', 'redeemed', 'clawback', 'expired', 'reinstated', 'merged')),
    reservation_id TEXT REFERENCES reservations (id),
    created_at     TEXT NOT NULL
) STRICT;

CREATE TABLE awards (
    id             TEXT NOT NULL PRIMARY KEY,
    guest_id       TEXT NOT NULL REFERENCES customers (id),
    max_category   INTEGER NOT NULL,
    expires_on     TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('available', 'used', 'lost')),
    reservation_id TEXT REFERENCES reservations (id),
    night          TEXT
) STRICT;

CREATE TABLE group_blocks (
    id               TEXT NOT NULL PRIMARY KEY,
    name             TEXT NOT NULL,
    guest_id         TEXT NOT NULL REFERENCES customers (id),   -- the contact person
    property_id      TEXT NOT NULL REFERENCES properties (id),
    arrival          TEXT NOT NULL,
    departure        TEXT NOT NULL,
    rooms_contracted INTEGER NOT NULL CHECK (rooms_contracted >= 10),
    rooms_released   INTEGER NOT NULL DEFAULT 0,
    rate             REAL NOT NULL,          -- for a room and night
    cutoff_on        TEXT NOT NULL,
    status           TEXT NOT NULL DEFAULT 'confirmed' CHECK (status IN ('confirmed', 'cancelled'))
) STRICT;

CREATE TABLE block_releases (
    id         TEXT NOT NULL PRIMARY KEY,
    group_id   TEXT NOT NULL REFERENCES group_blocks (id),
    rooms      INTEGER NOT NULL CHECK (rooms > 0),
    fee        REAL NOT NULL,
    fee_eur    REAL NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE reservations (
    id               TEXT NOT NULL PRIMARY KEY,
    guest_id         TEXT NOT NULL REFERENCES customers (id),
    property_id      TEXT NOT NULL REFERENCES properties (id),
    room_type_id     TEXT NOT NULL REFERENCES room_types (id),
    rate_plan        TEXT NOT NULL CHECK (rate_plan IN ('FLEX', 'MEMBER', 'SEMI', 'NRF', 'CORP', 'GROUP')),
    channel          TEXT NOT NULL CHECK (channel IN ('direct', 'agency', 'corporate', 'group')),
    agency_id        TEXT REFERENCES agencies (id),
    agency_reference TEXT,
    company_id       TEXT REFERENCES companies (id),
    group_id         TEXT REFERENCES group_blocks (id),
    lead_first_name  TEXT NOT NULL,
    lead_last_name   TEXT NOT NULL,
    arrival          TEXT NOT NULL,
    departure        TEXT NOT NULL,
    adults           INTEGER NOT NULL CHECK (adults > 0),
    children         INTEGER NOT NULL,
    total            REAL NOT NULL,          -- room charges; city tax and extras come on top
    status           TEXT NOT NULL CHECK (status IN ('booked', 'in_house', 'checked_out', 'cancelled', 'no_show')),
    booked_at        TEXT NOT NULL,
    tier_at_booking  TEXT CHECK (tier_at_booking IN ('walker', 'rambler', 'voyager')),
    moves            INTEGER NOT NULL DEFAULT 0,   -- how often the dates were changed
    room_id          TEXT REFERENCES rooms (id),
    CHECK (departure > arrival),
    CHECK ((channel = 'agency') = (agency_id IS NOT NULL)),
    CHECK ((channel = 'group') = (group_id IS NOT NULL))
) STRICT;

CREATE INDEX reservations_by_guest ON reservations (guest_id);
CREATE INDEX reservations_by_room ON reservations (room_id);

CREATE TABLE reservation_nights (
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    night          TEXT NOT NULL,
    price          REAL NOT NULL,            -- of an added night: the list price of the day it was added
    origin         TEXT NOT NULL DEFAULT 'booked' CHECK (origin IN ('booked', 'added', 'award')),
    PRIMARY KEY (reservation_id, night)
) STRICT;

CREATE TABLE occupants (
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    seq            INTEGER NOT NULL,
    first_name     TEXT NOT NULL,
    last_name      TEXT NOT NULL,
    birth_date     TEXT NOT NULL,
    PRIMARY KEY (reservation_id, seq)
) STRICT;

CREATE TABLE payments (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    kind           TEXT NOT NULL CHECK (kind IN ('deposit', 'prepayment', 'settlement')),
    method         TEXT NOT NULL CHECK (method IN ('card', 'voucher', 'bank_transfer')),
    card_last4     TEXT,
    amount         REAL NOT NULL CHECK (amount > 0),
    refunded       REAL NOT NULL DEFAULT 0,
    paid_at        TEXT NOT NULL
) STRICT;

CREATE INDEX payments_by_reservation ON payments (reservation_id);

CREATE TABLE refunds (
    id             TEXT NOT NULL PRIMARY KEY,
    payment_id     TEXT NOT NULL REFERENCES payments (id),
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    amount         REAL NOT NULL CHECK (amount > 0),
    amount_eur     REAL NOT NULL,
    reason         TEXT NOT NULL CHECK (reason IN ('cancellation', 'rate_difference', 'overcharge', 'city_tax',
                                                   'no_show_waived')),
    created_at     TEXT NOT NULL
) STRICT;

CREATE TABLE charges (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    kind           TEXT NOT NULL CHECK (kind IN ('cancellation_fee', 'no_show_fee', 'early_departure', 'minibar',
                                                 'restaurant', 'parking', 'damage', 'city_tax')),
    amount         REAL NOT NULL CHECK (amount > 0),
    amount_eur     REAL NOT NULL,
    status         TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled', 'void')),
    posted_at      TEXT NOT NULL,
    void_reason    TEXT CHECK (void_reason IN ('no_show_waived', 'duplicate', 'posted_in_error')),
    voided_at      TEXT,
    CHECK ((status = 'void') = (void_reason IS NOT NULL)),
    CHECK ((status = 'void') = (voided_at IS NOT NULL))
) STRICT;

CREATE INDEX charges_by_reservation ON charges (reservation_id);

CREATE TABLE deposits (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL UNIQUE REFERENCES reservations (id),
    amount         REAL NOT NULL,
    due_on         TEXT NOT NULL,
    extensions     INTEGER NOT NULL DEFAULT 0,
    status         TEXT NOT NULL CHECK (status IN ('due', 'paid'))
) STRICT;

CREATE TABLE cancellations (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL UNIQUE REFERENCES reservations (id),
    reason         TEXT NOT NULL CHECK (reason IN ('guest_request', 'cooling_off', 'force_majeure', 'relocation')),
    fee            REAL NOT NULL CHECK (fee >= 0),
    fee_eur        REAL NOT NULL,
    cancelled_at   TEXT NOT NULL
) STRICT;

CREATE TABLE date_changes (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    reason         TEXT NOT NULL CHECK (reason IN ('guest_request', 'extension', 'early_departure', 'force_majeure')),
    old_arrival    TEXT NOT NULL,
    old_departure  TEXT NOT NULL,
    new_arrival    TEXT NOT NULL,
    new_departure  TEXT NOT NULL,
    old_total      REAL NOT NULL,
    new_total      REAL NOT NULL,
    difference_eur REAL NOT NULL,
    change_fee     REAL NOT NULL CHECK (change_fee >= 0),
    change_fee_eur REAL NOT NULL,
    changed_at     TEXT NOT NULL
) STRICT;

CREATE TABLE name_changes (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    kind           TEXT NOT NULL CHECK (kind IN ('correction', 'transfer')),
    first_name     TEXT NOT NULL,
    last_name      TEXT NOT NULL,
    changed_at     TEXT NOT NULL
) STRICT;

CREATE TABLE price_matches (
    id               TEXT NOT NULL PRIMARY KEY,
    reservation_id   TEXT NOT NULL UNIQUE REFERENCES reservations (id),
    competitor_total REAL NOT NULL CHECK (competitor_total > 0),
    new_total        REAL NOT NULL CHECK (new_total > 0),
    saving_eur       REAL NOT NULL,
    created_at       TEXT NOT NULL
) STRICT;

CREATE TABLE special_requests (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    kind           TEXT NOT NULL CHECK (kind IN ('late_checkout', 'early_checkin', 'late_arrival', 'pet',
                                                 'assistance_dog', 'parking', 'crib', 'extra_bed', 'quiet_room',
                                                 'high_floor', 'feather_free', 'accessible_room')),
    until          TEXT,                     -- HH:MM, of a late check-out
    detail         TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('noted', 'confirmed', 'withdrawn')),
    fee            REAL NOT NULL CHECK (fee >= 0),
    fee_eur        REAL NOT NULL,
    created_at     TEXT NOT NULL,
    CHECK ((kind = 'late_checkout') = (until IS NOT NULL))
) STRICT;

CREATE INDEX requests_by_reservation ON special_requests (reservation_id);

CREATE TABLE upgrades (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    from_type      TEXT NOT NULL REFERENCES room_types (id),
    to_type        TEXT NOT NULL REFERENCES room_types (id),
    kind           TEXT NOT NULL CHECK (kind IN ('complimentary', 'paid', 'accessible')),
    fee            REAL NOT NULL CHECK (fee >= 0),
    fee_eur        REAL NOT NULL,
    created_at     TEXT NOT NULL
) STRICT;

CREATE TABLE notices (
    id             TEXT NOT NULL PRIMARY KEY,
    property_id    TEXT NOT NULL REFERENCES properties (id),
    kind           TEXT NOT NULL CHECK (kind IN ('facility_closed', 'building_work', 'relocation')),
    facility       TEXT,
    reservation_id TEXT REFERENCES reservations (id),   -- of a relocation
    starts_on      TEXT NOT NULL,
    ends_on        TEXT NOT NULL,
    published_at   TEXT NOT NULL,
    text           TEXT NOT NULL,
    CHECK ((kind = 'relocation') = (reservation_id IS NOT NULL))
) STRICT;

CREATE TABLE partner_hotels (
    id          TEXT NOT NULL PRIMARY KEY,
    property_id TEXT NOT NULL REFERENCES properties (id),
    name        TEXT NOT NULL,
    stars       INTEGER NOT NULL,
    distance_km REAL NOT NULL
) STRICT;

CREATE TABLE partner_rooms (
    partner_id TEXT NOT NULL REFERENCES partner_hotels (id),
    night      TEXT NOT NULL,
    free       INTEGER NOT NULL,
    PRIMARY KEY (partner_id, night)
) STRICT;

CREATE TABLE relocations (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL UNIQUE REFERENCES reservations (id),
    partner_id     TEXT NOT NULL REFERENCES partner_hotels (id),
    created_at     TEXT NOT NULL
) STRICT;

CREATE TABLE incidents (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    kind           TEXT NOT NULL CHECK (kind IN ('noise', 'cleanliness', 'heating', 'no_hot_water', 'wrong_room')),
    reported_at    TEXT NOT NULL,
    text           TEXT NOT NULL
) STRICT;

CREATE TABLE vouchers (
    id             TEXT NOT NULL PRIMARY KEY,
    guest_id       TEXT NOT NULL REFERENCES customers (id),
    reservation_id TEXT REFERENCES reservations (id),
    amount         REAL NOT NULL CHECK (amount > 0),
    currency       TEXT NOT NULL,
    amount_eur     REAL NOT NULL,
    reason         TEXT NOT NULL CHECK (reason IN ('relocation', 'facility_closed', 'service_failure', 'refund', 'gift')),
    status         TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'used')),
    issued_at      TEXT NOT NULL,
    expires_on     TEXT NOT NULL,
    extensions     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE invoices (
    id             TEXT NOT NULL PRIMARY KEY,
    reservation_id TEXT NOT NULL REFERENCES reservations (id),
    addressee      TEXT NOT NULL,
    vat_id         TEXT,
    room_total     REAL NOT NULL,
    city_tax       REAL NOT NULL,
    status         TEXT NOT NULL DEFAULT 'current' CHECK (status IN ('current', 'replaced')),
    replaces       TEXT REFERENCES invoices (id),
    issued_at      TEXT NOT NULL
) STRICT;
