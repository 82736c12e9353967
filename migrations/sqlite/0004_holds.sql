-- Holds: events that take time until an instant.
--
-- A hold takes no time of its own in events.busy, because that stands whatever the time is: holds are read
-- beside it, with their expiry. The columns are null on what is no hold; a hold that expired keeps them.

ALTER TABLE events ADD COLUMN hold_expires_at INTEGER;
ALTER TABLE events ADD COLUMN hold_priority INTEGER;
-- 'calendar' or 'agent': which calendars the hold must fit.
ALTER TABLE events ADD COLUMN hold_scope TEXT;
-- The holds with which it was placed together; it stays when the event is no hold any more.
ALTER TABLE events ADD COLUMN hold_set_id BLOB;

-- The holds of a calendar.
CREATE INDEX events_holds ON events (org_id, calendar_id, start_at) WHERE status = 'hold' AND deleted_at IS NULL;
-- Those of all organizations that are over.
CREATE INDEX events_holds_by_expiry ON events (hold_expires_at) WHERE status = 'hold' AND deleted_at IS NULL;
CREATE INDEX events_hold_sets ON events (org_id, hold_set_id) WHERE hold_set_id IS NOT NULL;
