-- Messages that wait to be addressed, apart from what they say: marking a wide row as addressed writes it again.

DROP INDEX outbox_waiting;
CREATE TABLE waiting_messages (
    created_at BIGINT NOT NULL,
    org_id     UUID   NOT NULL,
    id         UUID   NOT NULL,
    event_type TEXT   NOT NULL,
    -- The endpoint that the message is about.
    about      UUID,
    CONSTRAINT waiting_messages_pk PRIMARY KEY (created_at, org_id, id)
);
INSERT INTO waiting_messages (created_at, org_id, id, event_type, about)
    SELECT created_at, org_id, id, event_type, about FROM outbox WHERE NOT fanned;
-- No release has these columns.
ALTER TABLE outbox DROP COLUMN fanned;
ALTER TABLE outbox DROP COLUMN about;
