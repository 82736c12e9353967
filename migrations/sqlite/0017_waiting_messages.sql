-- Messages that wait to be addressed, apart from what they say: marking a wide row as addressed writes it again.

DROP INDEX outbox_waiting;
CREATE TABLE waiting_messages (
    created_at INTEGER NOT NULL,
    org_id     BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    event_type TEXT    NOT NULL,
    -- The endpoint that the message is about.
    about      BLOB,
    CONSTRAINT waiting_messages_pk PRIMARY KEY (created_at, org_id, id)
) WITHOUT ROWID;
INSERT INTO waiting_messages (created_at, org_id, id, event_type, about)
    SELECT created_at, org_id, id, event_type, about FROM outbox WHERE NOT fanned;
-- No release has these columns.
ALTER TABLE outbox DROP COLUMN fanned;
ALTER TABLE outbox DROP COLUMN about;
