-- What changed on a calendar, in order.
--
-- Whatever writes an event raises its calendar's revision in the same transaction, under the lock of the
-- calendar's row. So (revision, id) orders the events of a calendar by their last change, without a gap that could
-- be filled later: whoever has read everything up to a revision finds everything else above it.

-- The calendar's revision at which the event was last written; 0 for those written before there was one.
ALTER TABLE events ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
CREATE INDEX events_by_revision ON events (org_id, calendar_id, revision, id);

-- The calendar's revision at which its availability rules were last put or removed.
ALTER TABLE calendars ADD COLUMN rules_revision BIGINT NOT NULL DEFAULT 0;

-- One row: which database this is, so that what was read from another one is told apart. Made here and never
-- changed; a copy of the database is the same one.
CREATE TABLE database_identity (
    one      INTEGER NOT NULL,
    identity UUID    NOT NULL,
    CONSTRAINT database_identity_pk PRIMARY KEY (one),
    CONSTRAINT database_identity_one CHECK (one = 1)
);
INSERT INTO database_identity (one, identity) VALUES (1, gen_random_uuid());
