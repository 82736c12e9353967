-- What organizations see of their letters (outgoing mail), also after these were sent or given up.
CREATE TABLE letter_records (
    org_id          UUID NOT NULL,
    id              UUID NOT NULL,
    status          TEXT NOT NULL,
    -- How many attempts ended.
    attempts        BIGINT NOT NULL,
    -- The recipient, the subject and the last reply of the mail server, sealed together under a data key.
    envelope        TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    next_attempt_at BIGINT,
    ended_at        BIGINT,
    CONSTRAINT letter_records_pk PRIMARY KEY (org_id, id)
);
-- Found by status.
CREATE INDEX letter_records_by_status ON letter_records (org_id, status, id);
-- Found by age, of all organizations.
CREATE INDEX letter_records_by_age ON letter_records (created_at);
