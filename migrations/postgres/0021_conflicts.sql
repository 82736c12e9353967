-- Whether the events of a calendar may overlap: `allow` or `refuse`.
ALTER TABLE calendars ADD COLUMN conflicts TEXT NOT NULL DEFAULT 'allow';
