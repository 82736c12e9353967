-- The availability rules of calendars: buffers, working hours, and dates that differ.
--
-- One row a calendar that has any. They are read with the calendar's busy times, by the key.

CREATE TABLE availability_rules (
    org_id      BLOB    NOT NULL,
    calendar_id BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    -- A JSON document of everything that the rules say.
    rules       TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    CONSTRAINT availability_rules_pk PRIMARY KEY (org_id, calendar_id)
);
