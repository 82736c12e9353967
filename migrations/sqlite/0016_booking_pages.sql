-- Booking pages, and what guests booked on them.

CREATE TABLE booking_pages (
    org_id             BLOB    NOT NULL,
    id                 BLOB    NOT NULL,
    calendar_id        BLOB    NOT NULL,
    -- Of the calendar, which it never leaves; null where the organization shares it.
    agent_id           BLOB,
    -- The slug, the title and the description, sealed together under a data key.
    content            TEXT    NOT NULL,
    -- SHA-256 of the slug.
    slug_hash          BLOB    NOT NULL,
    duration_minutes   INTEGER NOT NULL,
    buffer_minutes     INTEGER NOT NULL,
    window_days        INTEGER NOT NULL,
    min_notice_minutes INTEGER NOT NULL,
    timezone           TEXT    NOT NULL,
    -- When each weekday is open: JSON, null where nothing is restricted.
    constraints        TEXT,
    active             BOOLEAN NOT NULL,
    -- How many bookings were made.
    bookings           INTEGER NOT NULL,
    version            INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    deleted_at         INTEGER,
    CONSTRAINT booking_pages_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX booking_pages_by_creation ON booking_pages (org_id, created_at, id) WHERE deleted_at IS NULL;
-- Found by the slug, whoever's it is.
CREATE UNIQUE INDEX booking_pages_slug_unique ON booking_pages (slug_hash);

CREATE TABLE bookings (
    org_id      BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    page_id     BLOB    NOT NULL,
    calendar_id BLOB    NOT NULL,
    -- Tells when it takes place, and whether.
    event_id    BLOB    NOT NULL,
    -- SHA-256 of the tokens by which the guest cancels it, or moves it.
    cancel_hash BLOB    NOT NULL,
    move_hash   BLOB    NOT NULL,
    -- The guest, sealed under a data key.
    guest       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    CONSTRAINT bookings_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX bookings_of_page ON bookings (org_id, page_id, created_at, id);
-- Found by their tokens, whoever's they are.
CREATE UNIQUE INDEX bookings_cancel_unique ON bookings (cancel_hash);
CREATE UNIQUE INDEX bookings_move_unique ON bookings (move_hash);
