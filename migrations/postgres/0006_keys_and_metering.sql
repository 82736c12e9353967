-- Keys that speak for one agent.
--
-- Such a key has the kind 'agent' and names its agent; it opens nothing once the agent is decommissioned. The
-- counters from which nodes debit blocks are those of 0001.

ALTER TABLE api_keys ADD COLUMN agent_id UUID;
-- What the holder calls the key, if anything.
ALTER TABLE api_keys ADD COLUMN label TEXT;

-- The keys in force that speak for agents.
CREATE INDEX api_keys_of_agents ON api_keys (org_id, agent_id) WHERE agent_id IS NOT NULL AND revoked_at IS NULL;
