-- Webhooks: endpoints, their queues, and the deliveries of messages to them.

CREATE TABLE webhooks (
    org_id      BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    -- The address and the secrets, sealed together under a data key.
    content     TEXT    NOT NULL,
    -- A JSON array of event types, or of '*' alone.
    events      TEXT    NOT NULL,
    active      BOOLEAN NOT NULL,
    -- Why the service switched it off: 'gone' or 'failing'.
    deactivated TEXT,
    version     INTEGER  NOT NULL,
    created_at  INTEGER  NOT NULL,
    updated_at  INTEGER  NOT NULL,
    CONSTRAINT webhooks_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX webhooks_by_creation ON webhooks (org_id, created_at, id);
-- Whether anybody listens at all, which every change asks that has a message.
CREATE INDEX webhooks_active ON webhooks (org_id) WHERE active;

-- One row for each endpoint, apart from it, since this one is written all the time.
CREATE TABLE webhook_queues (
    org_id        BLOB   NOT NULL,
    webhook_id    BLOB   NOT NULL,
    -- When a worker may next look; the end of the claim while there is one; null where nothing is to be sent.
    due_at        INTEGER,
    claimed_until INTEGER,
    -- The number of the last claim.
    fence         INTEGER NOT NULL,
    -- The first failure after the last success.
    failing_since INTEGER,
    CONSTRAINT webhook_queues_pk PRIMARY KEY (org_id, webhook_id)
);
-- Found by what is due, whoever's it is.
CREATE INDEX webhook_queues_due ON webhook_queues (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE webhook_deliveries (
    org_id          BLOB    NOT NULL,
    webhook_id      BLOB    NOT NULL,
    -- Follows from the message and the endpoint, so that none is made twice.
    id              BLOB    NOT NULL,
    message_id      BLOB    NOT NULL,
    event_type      TEXT    NOT NULL,
    -- 'pending', 'delivered', 'failed' or 'skipped'.
    status          TEXT    NOT NULL,
    attempts        INTEGER NOT NULL,
    last_attempt_at INTEGER,
    -- While it is pending.
    next_attempt_at INTEGER,
    response_status INTEGER,
    created_at      INTEGER  NOT NULL,
    CONSTRAINT webhook_deliveries_pk PRIMARY KEY (org_id, webhook_id, id)
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (org_id, webhook_id, next_attempt_at, id)
    WHERE status = 'pending';
CREATE INDEX webhook_deliveries_by_creation ON webhook_deliveries (created_at);

-- What was written before nobody could hear.
DELETE FROM outbox;
ALTER TABLE outbox ADD COLUMN fanned BOOLEAN NOT NULL DEFAULT FALSE;
-- The endpoint that the message is about.
ALTER TABLE outbox ADD COLUMN about BLOB;
CREATE INDEX outbox_waiting ON outbox (created_at) WHERE NOT fanned;
CREATE INDEX outbox_by_creation ON outbox (created_at);
