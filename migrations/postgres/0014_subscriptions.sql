-- Subscriptions to iCal feeds, and what was imported.

-- Whether an event takes no time although it takes place: only what was read from iCalendar text does.
ALTER TABLE events ADD COLUMN transparent BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE ical_subscriptions (
    org_id         UUID    NOT NULL,
    id             UUID    NOT NULL,
    -- Of the calendar, which it never leaves.
    agent_id       UUID    NOT NULL,
    calendar_id    UUID    NOT NULL,
    -- The address and the label, sealed together under a data key.
    content        TEXT    NOT NULL,
    -- SHA-256 of the address' host and port, by which hosts are spared.
    host           BYTEA    NOT NULL,
    paused         BOOLEAN NOT NULL,
    -- When it is synced next; the end of the claim while there is one; null while it is paused.
    due_at         BIGINT,
    claimed_until  BIGINT,
    -- The number of the last claim.
    fence          BIGINT NOT NULL,
    -- When somebody asked for a sync.
    asked_at       BIGINT,
    last_synced_at BIGINT,
    -- What went wrong, where the last sync failed, and how many have failed since the last good one.
    last_error     TEXT,
    failures       BIGINT NOT NULL,
    -- What the last good sync brought and saw: JSON.
    seen           TEXT    NOT NULL,
    version        BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    CONSTRAINT ical_subscriptions_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX ical_subscriptions_of_agent ON ical_subscriptions (org_id, agent_id, created_at, id);
CREATE INDEX ical_subscriptions_of_calendar ON ical_subscriptions (org_id, calendar_id);
-- Found by what is due, whoever's it is.
CREATE INDEX ical_subscriptions_due ON ical_subscriptions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ical_subscriptions_claimed ON ical_subscriptions (host, claimed_until) WHERE claimed_until IS NOT NULL;

-- Which event holds which item of a feed or of an imported file.
CREATE TABLE imported_items (
    org_id      UUID NOT NULL,
    -- The subscription, or the calendar into which files were imported.
    origin_id   UUID NOT NULL,
    -- What tells the item apart within its origin, 16 bytes of a SHA-256.
    key         BYTEA NOT NULL,
    event_id    UUID NOT NULL,
    -- What the item said, 16 bytes of a SHA-256.
    fingerprint BYTEA NOT NULL,
    CONSTRAINT imported_items_pk PRIMARY KEY (org_id, origin_id, key)
);

-- Its one row is locked by whoever claims, so that no two nodes spare the same host at the same moment.
CREATE TABLE ical_claims (
    id INTEGER NOT NULL,
    CONSTRAINT ical_claims_pk PRIMARY KEY (id)
);
INSERT INTO ical_claims (id) VALUES (1);
