-- The zone of a calendar's series that name none: `utc` or `calendar`. Null means the service's default.
ALTER TABLE calendars ADD COLUMN recurrence_default TEXT;
