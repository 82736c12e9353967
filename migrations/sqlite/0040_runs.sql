-- The writes of runs, so that they can be taken back. Kept for 7 days.
CREATE TABLE run_writes (
    org_id        BLOB    NOT NULL,
    id            BLOB    NOT NULL,
    -- The agent whose key made the run; zeros for other callers.
    owner         BLOB    NOT NULL,
    name          TEXT    NOT NULL,
    operation     TEXT    NOT NULL,
    resource_type TEXT    NOT NULL,
    resource_id   BLOB    NOT NULL,
    -- The resource before the write, sealed under a data key. Null if it did not exist.
    state         TEXT,
    -- Its version after the write.
    version       INTEGER NOT NULL,
    written_at    INTEGER NOT NULL,
    undone_at     INTEGER,
    CONSTRAINT run_writes_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX run_writes_by_run ON run_writes (org_id, owner, name, written_at, id);
CREATE INDEX run_writes_by_time ON run_writes (written_at);
