-- Publishing: the events of a calendar are copied to a calendar of a connected account.

-- The events that are published: 'none', 'confirmed' or 'confirmed_tentative'. Null without a destination.
ALTER TABLE calendars ADD COLUMN publication_policy TEXT;
-- When the destination is published next; the end of the claim while there is one. What is written to the calendar sets
-- it to 0, which is at once. Other causes, which the revision does not show, set it to -1. The largest number while the
-- connection is paused or lapsed. Null without a destination.
ALTER TABLE calendars ADD COLUMN publication_due_at BIGINT;
-- What is due, in all organizations.
CREATE INDEX calendars_publication_due ON calendars (publication_due_at, id) WHERE publication_due_at IS NOT NULL;

CREATE TABLE publication_destinations (
    org_id        UUID    NOT NULL,
    calendar_id   UUID    NOT NULL,
    -- The user who allowed it.
    human_id      UUID    NOT NULL,
    connection_id UUID    NOT NULL,
    -- The calendar of the connection to which copies are written.
    target_id     UUID    NOT NULL,
    -- 'none', 'confirmed' or 'confirmed_tentative'.
    policy        TEXT    NOT NULL,
    -- Whether it was removed, and its copies are being deleted.
    ending        BOOLEAN NOT NULL,
    published_at  BIGINT,
    -- The error of the last attempt, and the number of attempts that failed in a row.
    last_error    TEXT,
    failures      BIGINT NOT NULL,
    -- The number of the last claim.
    fence         BIGINT NOT NULL,
    claimed_until BIGINT,
    -- Whether an attempt began that has not ended, so that copies may exist that are not recorded.
    attempting    BOOLEAN NOT NULL,
    version       BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    CONSTRAINT publication_destinations_pk PRIMARY KEY (org_id, calendar_id)
);
CREATE INDEX publication_destinations_of_connection ON publication_destinations (org_id, connection_id, calendar_id);

CREATE TABLE publication_copies (
    org_id         UUID   NOT NULL,
    calendar_id    UUID   NOT NULL,
    -- The event, or the series of the occurrence.
    event_id       UUID   NOT NULL,
    -- The original start of the occurrence; the smallest number for an event that does not repeat.
    original_start BIGINT NOT NULL,
    -- A hash of the key, under which the content is sealed.
    id             UUID   NOT NULL,
    target_id      UUID   NOT NULL,
    -- The provider's identifier, sealed under a data key.
    content        TEXT   NOT NULL,
    -- SHA-256 of everything that was written, and of the fields by which a person's change is found.
    digest         BYTEA  NOT NULL,
    visible        BYTEA  NOT NULL,
    ends_at        BIGINT NOT NULL,
    -- 'published' or 'diverged'.
    state          TEXT   NOT NULL,
    CONSTRAINT publication_copies_pk PRIMARY KEY (org_id, calendar_id, event_id, original_start)
);
CREATE INDEX publication_copies_by_id ON publication_copies (org_id, id);

-- Whether consent to write events is requested too.
ALTER TABLE connection_attempts ADD COLUMN publishing BOOLEAN NOT NULL DEFAULT false;
-- The busy times of copies: 16 bytes of the calendar and 16 bytes of the span each. Null if there are none.
ALTER TABLE external_calendars ADD COLUMN copies BYTEA;
