-- Series: events that repeat, and the occurrences that were changed on their own.
--
-- A series is an event with a recurrence; its start and end are those of the first occurrence, and it takes no
-- time of its own (busy is null). A changed occurrence is an event that names the series and the start that the
-- rule gave it. The recurrence lists those starts too, so that a series tells when it takes place alone.

-- A JSON object: rule, zone, exdates, overridden, last_start. Null for what is no series.
ALTER TABLE events ADD COLUMN recurrence TEXT;
-- The end of the last occurrence, the largest number where the rule has no end. Null for what is no series.
ALTER TABLE events ADD COLUMN reaches INTEGER;
-- Of a changed occurrence: the series, and the start that the rule gave it.
ALTER TABLE events ADD COLUMN series_id BLOB;
ALTER TABLE events ADD COLUMN original_start INTEGER;

-- Series that reach into a window, and those that have not ended.
CREATE INDEX events_series ON events (org_id, calendar_id, reaches, start_at)
    WHERE recurrence IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX events_overrides ON events (org_id, series_id, original_start)
    WHERE series_id IS NOT NULL AND deleted_at IS NULL;
-- What lasts longer than a day, for windows of instances.
CREATE INDEX events_long ON events (org_id, calendar_id, end_at)
    WHERE deleted_at IS NULL AND end_at - start_at > 86400000000;
-- Lists leave changed occurrences out, and go on counting on the index alone.
DROP INDEX events_by_start;
CREATE INDEX events_by_start ON events (org_id, calendar_id, start_at, id, series_id) WHERE deleted_at IS NULL;
