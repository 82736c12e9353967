-- What the operator reads across organizations.

-- The newest organizations, and those that wait longest.
CREATE INDEX organizations_by_creation ON organizations (created_at, id);
CREATE INDEX organizations_by_wait ON organizations (waitlisted_at, id) WHERE waitlisted_at IS NOT NULL;
-- The newest letters that failed.
CREATE INDEX letter_records_by_failure ON letter_records (created_at, id)
    WHERE status IN ('refused', 'expired') OR (status = 'pending' AND attempts > 0);

-- When the last backup was made that the operator recorded. One row at most.
CREATE TABLE backups (
    one     INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    CONSTRAINT backups_pk PRIMARY KEY (one),
    CONSTRAINT backups_one CHECK (one = 1)
);

-- When every value had been sealed again with this key; null if a rotation has not come so far since the key writes. It
-- is null too for keys from before this migration. A first key has the time at which it was made.
ALTER TABLE data_keys ADD COLUMN resealed_at INTEGER;
