-- The audit log of one agent in the order in which it is read.

CREATE INDEX audit_log_by_agent ON audit_log (org_id, agent_id, created_at, id) WHERE agent_id IS NOT NULL;
