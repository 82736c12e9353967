-- Imported events are limited by what exists of them, deleted ones included until they are purged; and what a deleted
-- subscription leaves is taken over by the next one to the same address.

-- How many events the sync under way is still going to add; counts while the subscription is claimed.
ALTER TABLE ical_subscriptions ADD COLUMN reserved BIGINT NOT NULL DEFAULT 0;

-- Counted by organization, and found with their calendar once that is gone.
CREATE INDEX events_imported ON events (org_id, calendar_id, source) WHERE source = 'external_ical';
-- Purged, whoever's they are.
CREATE INDEX events_imported_deleted ON events (deleted_at) WHERE source = 'external_ical' AND deleted_at IS NOT NULL;

-- Under which identifier its items are kept; null is its own.
ALTER TABLE ical_subscriptions ADD COLUMN origin_id UUID;
-- Which one of its calendar it is; null for those of earlier versions.
ALTER TABLE ical_subscriptions ADD COLUMN place BIGINT;
-- What becomes of its events, where it is deleted: kept or removed.
ALTER TABLE ical_subscriptions ADD COLUMN remains TEXT;
CREATE UNIQUE INDEX ical_subscriptions_places ON ical_subscriptions (org_id, calendar_id, place);
