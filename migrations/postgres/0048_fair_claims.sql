-- The limits on the work that is claimed for one organization at the same time.

CREATE INDEX calendar_connections_claimed ON calendar_connections (org_id, claimed_until)
    WHERE claimed_until IS NOT NULL;
-- Without the end of the claim, which each group of copies moves.
CREATE INDEX publication_destinations_attempted ON publication_destinations (org_id) WHERE attempting;

-- A node locks the row of what it claims, so that two nodes together do not claim more than the limit.
CREATE TABLE bridge_claims (
    -- 'publications' or 'refreshes'.
    kind TEXT NOT NULL,
    CONSTRAINT bridge_claims_pk PRIMARY KEY (kind)
);
INSERT INTO bridge_claims (kind) VALUES ('publications'), ('refreshes');
