-- When keys were last used, and who created them.

-- The UTC day of the last use that was recorded: whole days since 1970. Null if the key was never used.
ALTER TABLE api_keys ADD COLUMN last_used_on INTEGER;
-- Who created the key of an agent, in the form of audit_log.actor_key_prefix. Null for a key of an earlier release.
ALTER TABLE api_keys ADD COLUMN created_by TEXT;
