-- Events that moved to another calendar, for mirrors of the calendar that they left. An event that comes back has no
-- row. Kept as long as deletions.
CREATE TABLE moved_events (
    org_id         UUID   NOT NULL,
    -- The calendar that the event left.
    calendar_id    UUID   NOT NULL,
    event_id       UUID   NOT NULL,
    -- The occurrence that it is, if it is an override.
    series_id      UUID,
    original_start BIGINT,
    -- The revision of the calendar at which it left.
    revision       BIGINT NOT NULL,
    moved_at       BIGINT NOT NULL,
    CONSTRAINT moved_events_pk PRIMARY KEY (org_id, calendar_id, event_id)
);
CREATE INDEX moved_events_by_revision ON moved_events (org_id, calendar_id, revision, event_id);
CREATE INDEX moved_events_by_time ON moved_events (moved_at);
