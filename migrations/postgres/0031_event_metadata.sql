-- The metadata by which lists find events: a keyed hash (digest) of each entry, so that nothing of it is in clear. A row
-- is written with its event, under the data key that seals the event.
CREATE TABLE event_metadata (
    org_id      UUID   NOT NULL,
    event_id    UUID   NOT NULL,
    digest      BIGINT NOT NULL,
    calendar_id UUID   NOT NULL,
    CONSTRAINT event_metadata_pk PRIMARY KEY (org_id, event_id, digest)
);
-- Lists.
CREATE INDEX event_metadata_by_digest ON event_metadata (org_id, calendar_id, digest, event_id);

-- The version of the event whose metadata has its rows. Another one, or none: the event was written by an earlier
-- release.
ALTER TABLE events ADD COLUMN indexed_version BIGINT;
CREATE INDEX events_not_indexed ON events (org_id, id) WHERE indexed_version IS DISTINCT FROM version;
