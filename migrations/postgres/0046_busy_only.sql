-- Subscriptions that import only the times of the feed's events.

-- Whether titles and all other texts are dropped when the feed is read.
ALTER TABLE ical_subscriptions ADD COLUMN busy_only BOOLEAN NOT NULL DEFAULT FALSE;
