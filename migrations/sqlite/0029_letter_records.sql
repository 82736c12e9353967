-- What organizations see of their letters (outgoing mail), also after these were sent or given up.
CREATE TABLE letter_records (
    org_id          BLOB NOT NULL,
    id              BLOB NOT NULL,
    status          TEXT NOT NULL,
    -- How many attempts ended.
    attempts        INTEGER NOT NULL,
    -- The recipient, the subject and the last reply of the mail server, sealed together under a data key.
    envelope        TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    next_attempt_at INTEGER,
    ended_at        INTEGER,
    CONSTRAINT letter_records_pk PRIMARY KEY (org_id, id)
);
-- Found by status.
CREATE INDEX letter_records_by_status ON letter_records (org_id, status, id);
-- Found by age, of all organizations.
CREATE INDEX letter_records_by_age ON letter_records (created_at);
