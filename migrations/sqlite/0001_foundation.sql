-- The foundation: accounts, agents, calendars, events, and what every change leaves behind.
--
-- Instants are microseconds since 1970-01-01T00:00:00Z. Identifiers are bare UUIDs (version 7).
-- Keys and indexes of tenant tables begin with org_id, so that they can be distributed by it; the
-- look-ups that know no organization yet (key hash, feed token, address, scope) have their own.

CREATE TABLE organizations (
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    plan            TEXT    NOT NULL,
    -- A JSON object of limits that differ from the plan's, or null.
    limit_overrides TEXT,
    test            BOOLEAN NOT NULL,
    email           TEXT,
    verified_at     INTEGER,
    waitlisted_at   INTEGER,
    accepted_terms  TEXT,
    accepted_at     INTEGER,
    version         INTEGER  NOT NULL,
    created_at      INTEGER  NOT NULL,
    CONSTRAINT organizations_pk PRIMARY KEY (id),
    CONSTRAINT organizations_email_unique UNIQUE (email)
);

CREATE TABLE api_keys (
    org_id     BLOB   NOT NULL,
    id         BLOB   NOT NULL,
    kind       TEXT   NOT NULL,
    -- SHA-256 of the whole key.
    hash       BLOB  NOT NULL,
    prefix     TEXT   NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    CONSTRAINT api_keys_pk PRIMARY KEY (org_id, id),
    CONSTRAINT api_keys_hash_unique UNIQUE (hash)
);

CREATE TABLE verification_codes (
    org_id     BLOB    NOT NULL,
    hash       BLOB   NOT NULL,
    expires_at INTEGER  NOT NULL,
    attempts   INTEGER NOT NULL,
    version    INTEGER  NOT NULL,
    CONSTRAINT verification_codes_pk PRIMARY KEY (org_id)
);

CREATE TABLE terms_acceptances (
    org_id      BLOB,
    version     TEXT   NOT NULL,
    accepted_at INTEGER NOT NULL
);
CREATE INDEX terms_acceptances_by_org ON terms_acceptances (org_id, accepted_at);

-- One row. Raised by whatever changes whom a key speaks for; see the look-up of principals.
CREATE TABLE principals_epoch (
    one   INTEGER NOT NULL,
    epoch INTEGER  NOT NULL,
    CONSTRAINT principals_epoch_pk PRIMARY KEY (one),
    CONSTRAINT principals_epoch_one CHECK (one = 1)
);
INSERT INTO principals_epoch (one, epoch) VALUES (1, 1);

CREATE TABLE agents (
    org_id      BLOB   NOT NULL,
    id          BLOB   NOT NULL,
    name        TEXT   NOT NULL,
    type        TEXT   NOT NULL,
    description TEXT,
    status      TEXT   NOT NULL,
    metadata    TEXT   NOT NULL,
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    CONSTRAINT agents_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX agents_by_creation ON agents (org_id, created_at, id);

CREATE TABLE calendars (
    org_id            BLOB   NOT NULL,
    id                BLOB   NOT NULL,
    -- Null for a calendar that the organization shares.
    agent_id          BLOB,
    name              TEXT   NOT NULL,
    timezone          TEXT   NOT NULL,
    metadata          TEXT   NOT NULL,
    external_id       TEXT,
    provider          TEXT,
    agent_status      TEXT   NOT NULL,
    -- A JSON array of minutes, or null for the default.
    default_reminders TEXT,
    feed_token        TEXT   NOT NULL,
    revision          INTEGER NOT NULL,
    version           INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    deleted_at        INTEGER,
    CONSTRAINT calendars_pk PRIMARY KEY (org_id, id),
    CONSTRAINT calendars_feed_token_unique UNIQUE (feed_token)
);
CREATE INDEX calendars_by_creation ON calendars (org_id, created_at, id);
CREATE INDEX calendars_by_agent ON calendars (org_id, agent_id, created_at, id);

CREATE TABLE events (
    org_id      BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    calendar_id BLOB    NOT NULL,
    -- Title, description and metadata, sealed together under a data key.
    content     TEXT    NOT NULL,
    start_at    INTEGER  NOT NULL,
    end_at      INTEGER  NOT NULL,
    -- The span in one piece, 32 hexadecimal digits, where the event takes that time; else null. Written with
    -- every change of the event, so that the time of a thousand events is one pass over an index.
    busy        TEXT,
    all_day     BOOLEAN NOT NULL,
    status      TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    -- A JSON array of minutes, or null to inherit the calendar's.
    reminders   TEXT,
    version     INTEGER  NOT NULL,
    created_at  INTEGER  NOT NULL,
    updated_at  INTEGER  NOT NULL,
    deleted_at  INTEGER,
    CONSTRAINT events_pk PRIMARY KEY (org_id, id),
    CONSTRAINT events_end_after_start CHECK (end_at > start_at)
);
-- Lists and contexts.
CREATE INDEX events_by_start ON events (org_id, calendar_id, start_at, id) WHERE deleted_at IS NULL;
-- Contexts: what ends after or before an instant.
CREATE INDEX events_by_end ON events (org_id, calendar_id, end_at, start_at)
    WHERE deleted_at IS NULL AND status <> 'cancelled';
-- Busy times, without touching the rows: what starts in a window or at most a day before it, and what lasts
-- longer than a day.
CREATE INDEX events_busy ON events (org_id, calendar_id, start_at, busy) WHERE busy IS NOT NULL;
CREATE INDEX events_busy_long ON events (org_id, calendar_id, end_at)
    WHERE busy IS NOT NULL AND end_at - start_at > 86400000000;

-- What is busy, once more, by the UTC day (since 1970) on which it begins, without what lasts longer than a
-- day: derived from the events in the transaction that changes them.
CREATE TABLE busy_days (
    org_id      BLOB NOT NULL,
    calendar_id BLOB NOT NULL,
    day         INTEGER NOT NULL,
    -- The spans one after the other, each as in events; null where they are too many, so that the events
    -- have to be read.
    spans       TEXT,
    CONSTRAINT busy_days_pk PRIMARY KEY (org_id, calendar_id, day)
) WITHOUT ROWID;

-- Use of the metrics that a plan limits by the month. period is year * 100 + month (UTC).
CREATE TABLE usage_counters (
    org_id BLOB    NOT NULL,
    metric TEXT    NOT NULL,
    period INTEGER  NOT NULL,
    used   INTEGER  NOT NULL,
    CONSTRAINT usage_counters_pk PRIMARY KEY (org_id, metric, period)
);

-- Messages to webhook endpoints, stored with the change that they announce.
CREATE TABLE outbox (
    org_id           BLOB   NOT NULL,
    id               BLOB   NOT NULL,
    event_type       TEXT   NOT NULL,
    -- Sealed JSON.
    payload          TEXT   NOT NULL,
    resource_version INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    CONSTRAINT outbox_pk PRIMARY KEY (org_id, id)
);

CREATE TABLE audit_log (
    org_id           BLOB   NOT NULL,
    id               BLOB   NOT NULL,
    action           TEXT   NOT NULL,
    actor_key_prefix TEXT,
    agent_id         BLOB,
    resource         TEXT   NOT NULL,
    ip               TEXT,
    status           INTEGER NOT NULL,
    method           TEXT   NOT NULL,
    path             TEXT   NOT NULL,
    duration_us      INTEGER NOT NULL,
    request_id       BLOB   NOT NULL,
    created_at       INTEGER NOT NULL,
    CONSTRAINT audit_log_pk PRIMARY KEY (org_id, id)
);

-- Answers kept for 24 hours under an Idempotency-Key. The scope is the SHA-256 of caller, route and key.
CREATE TABLE idempotent_answers (
    scope            BLOB  NOT NULL,
    org_id           BLOB   NOT NULL,
    -- SHA-256 of the concrete address and the body.
    fingerprint      BLOB  NOT NULL,
    status           INTEGER NOT NULL,
    resource_version INTEGER,
    -- Sealed, or null for an answer without a body.
    body             TEXT,
    created_at       INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    CONSTRAINT idempotent_answers_pk PRIMARY KEY (scope)
);
CREATE INDEX idempotent_answers_by_expiry ON idempotent_answers (expires_at);

-- The data keys that seal fields, each wrapped under a master key.
CREATE TABLE data_keys (
    id         BLOB   NOT NULL,
    -- Which master key wraps it: the first bytes of that key's SHA-256, in hexadecimal.
    master     TEXT   NOT NULL,
    wrapped    TEXT   NOT NULL,
    -- 'reading' (published, not yet used to write) or 'writing'.
    state      TEXT   NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT data_keys_pk PRIMARY KEY (id)
);
