-- Tags of external calendars.

-- A digest of the provider's tag for the state that was read (a sync token or a CTag). While the tag stays the same, the
-- busy times need not be read again. Null if the provider has no tag.
ALTER TABLE external_calendars ADD COLUMN tag BYTEA;
