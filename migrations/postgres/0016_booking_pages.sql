-- Booking pages, and what guests booked on them.

CREATE TABLE booking_pages (
    org_id             UUID    NOT NULL,
    id                 UUID    NOT NULL,
    calendar_id        UUID    NOT NULL,
    -- Of the calendar, which it never leaves; null where the organization shares it.
    agent_id           UUID,
    -- The slug, the title and the description, sealed together under a data key.
    content            TEXT    NOT NULL,
    -- SHA-256 of the slug.
    slug_hash          BYTEA   NOT NULL,
    duration_minutes   BIGINT NOT NULL,
    buffer_minutes     BIGINT NOT NULL,
    window_days        BIGINT NOT NULL,
    min_notice_minutes BIGINT NOT NULL,
    timezone           TEXT    NOT NULL,
    -- When each weekday is open: JSON, null where nothing is restricted.
    constraints        TEXT,
    active             BOOLEAN NOT NULL,
    -- How many bookings were made.
    bookings           BIGINT NOT NULL,
    version            BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    deleted_at         BIGINT,
    CONSTRAINT booking_pages_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX booking_pages_by_creation ON booking_pages (org_id, created_at, id) WHERE deleted_at IS NULL;
-- Found by the slug, whoever's it is.
CREATE UNIQUE INDEX booking_pages_slug_unique ON booking_pages (slug_hash);

CREATE TABLE bookings (
    org_id      UUID    NOT NULL,
    id          UUID    NOT NULL,
    page_id     UUID    NOT NULL,
    calendar_id UUID    NOT NULL,
    -- Tells when it takes place, and whether.
    event_id    UUID    NOT NULL,
    -- SHA-256 of the tokens by which the guest cancels it, or moves it.
    cancel_hash BYTEA   NOT NULL,
    move_hash   BYTEA   NOT NULL,
    -- The guest, sealed under a data key.
    guest       TEXT    NOT NULL,
    created_at  BIGINT NOT NULL,
    CONSTRAINT bookings_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX bookings_of_page ON bookings (org_id, page_id, created_at, id);
-- Found by their tokens, whoever's they are.
CREATE UNIQUE INDEX bookings_cancel_unique ON bookings (cancel_hash);
CREATE UNIQUE INDEX bookings_move_unique ON bookings (move_hash);
