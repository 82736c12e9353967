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

-- When the event of a booking starts, so that the next bookings of an organization are found without its other events.
ALTER TABLE bookings ADD COLUMN start_at INTEGER;
UPDATE bookings SET start_at =
    (SELECT e.start_at FROM events e WHERE e.org_id = bookings.org_id AND e.id = bookings.event_id);
CREATE INDEX bookings_by_start ON bookings (org_id, start_at, id);
CREATE TRIGGER bookings_follow_events AFTER UPDATE OF start_at ON events WHEN new.start_at <> old.start_at
BEGIN
    UPDATE bookings SET start_at = new.start_at WHERE org_id = new.org_id AND event_id = new.id;
END;
-- The bookings that the host of their page sees. That of a team is seen although the calendar of its page is deleted.
CREATE VIEW hosted_bookings AS
SELECT b.org_id, b.id, b.page_id, b.start_at, p.agent_id, p.deleted_at IS NOT NULL AS of_deleted,
    b.cancelled_by IS NOT NULL OR e.deleted_at IS NOT NULL OR e.status = 'cancelled' OR c.deleted_at IS NOT NULL
        OR coalesce(a.status, '') = 'decommissioned' AS cancelled
FROM bookings b
    CROSS JOIN booking_pages p ON p.org_id = b.org_id AND p.id = b.page_id
    CROSS JOIN calendars pc ON pc.org_id = p.org_id AND pc.id = p.calendar_id
    LEFT JOIN agents pa ON pa.org_id = pc.org_id AND pa.id = pc.agent_id
    CROSS JOIN events e ON e.org_id = b.org_id AND e.id = b.event_id
    CROSS JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
    LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
WHERE p.team IS NOT NULL OR (pc.deleted_at IS NULL AND (pc.agent_id IS NULL OR pa.status <> 'decommissioned'));
