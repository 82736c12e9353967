-- What waits in one organization: its live holds, and its pending proposals.

CREATE INDEX events_holds_of_org ON events (org_id, hold_expires_at, id) WHERE status = 'hold' AND deleted_at IS NULL;
CREATE INDEX proposals_pending_of_org ON proposals (org_id, created_at, id, expires_at) WHERE status = 'pending';
