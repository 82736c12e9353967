-- What keys of agents reach beyond their agents, and what they placed there.

-- The scopes of a key, as names with a space in between; null if it has none.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;

-- The agent whose key placed the hold set of the event, if a calendar of the set is not that agent's own.
ALTER TABLE events ADD COLUMN placed_by BLOB;
-- The holds that an agent has placed and that may still be alive.
CREATE INDEX events_placed ON events (org_id, placed_by, hold_expires_at)
    WHERE placed_by IS NOT NULL AND status = 'hold' AND deleted_at IS NULL;
