-- The limits on the work that is claimed for one organization at the same time.

CREATE INDEX calendar_connections_claimed ON calendar_connections (org_id, claimed_until)
    WHERE claimed_until IS NOT NULL;
