-- Publishing: the events of a calendar are copied to a calendar of a connected account.

-- 'none', 'confirmed' or 'confirmed_tentative'; null without a destination.
ALTER TABLE calendars ADD COLUMN publication_policy TEXT;
-- When the calendar is published next; null without a destination. A change on the calendar makes it 0. Other causes,
-- which the revision does not show, make it -1.
ALTER TABLE calendars ADD COLUMN publication_due_at INTEGER;
CREATE INDEX calendars_to_publish ON calendars (publication_due_at) WHERE publication_due_at IS NOT NULL;

CREATE TABLE publication_destinations (
    org_id        BLOB    NOT NULL,
    calendar_id   BLOB    NOT NULL,
    human_id      BLOB    NOT NULL,
    connection_id BLOB    NOT NULL,
    -- The external calendar to which copies are written.
    target_id     BLOB    NOT NULL,
    -- 'none', 'confirmed' or 'confirmed_tentative'.
    policy        TEXT    NOT NULL,
    -- Whether it was removed, and its copies are being deleted.
    ending        BOOLEAN NOT NULL,
    published_at  INTEGER,
    last_error    TEXT,
    -- The number of attempts that have failed in a row.
    failures      INTEGER NOT NULL,
    -- The number of the last claim.
    fence         INTEGER NOT NULL,
    claimed_until INTEGER,
    -- Whether the last attempt did not end, so that copies may exist that are not recorded.
    attempting    BOOLEAN NOT NULL,
    version       INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    CONSTRAINT publication_destinations_pk PRIMARY KEY (org_id, calendar_id)
);
CREATE INDEX publication_destinations_of_connection ON publication_destinations (org_id, connection_id, calendar_id);
-- A server that starts ends the claims that it had before.
CREATE INDEX publication_destinations_claimed ON publication_destinations (org_id, calendar_id)
    WHERE claimed_until IS NOT NULL;

CREATE TABLE publication_copies (
    org_id         BLOB    NOT NULL,
    calendar_id    BLOB    NOT NULL,
    event_id       BLOB    NOT NULL,
    -- Of an occurrence; the minimum for an event that does not repeat.
    original_start INTEGER NOT NULL,
    -- A hash of the calendar, the event and the original start, to which the seal is bound.
    id             BLOB    NOT NULL,
    target_id      BLOB    NOT NULL,
    -- The provider's identifier, sealed under a data key.
    content        TEXT    NOT NULL,
    -- SHA-256 of everything that was written, and of the fields by which a person's change is found.
    digest         BLOB    NOT NULL,
    visible        BLOB    NOT NULL,
    ends_at        INTEGER NOT NULL,
    -- 'published' or 'diverged'.
    state          TEXT    NOT NULL,
    CONSTRAINT publication_copies_pk PRIMARY KEY (org_id, calendar_id, event_id, original_start)
);

-- Whether consent to write events is requested too.
ALTER TABLE connection_attempts ADD COLUMN publishing BOOLEAN NOT NULL DEFAULT FALSE;

-- When copies of our calendars are busy: 16 bytes the calendar, 16 bytes the span; null without any.
ALTER TABLE external_calendars ADD COLUMN copies BLOB;
