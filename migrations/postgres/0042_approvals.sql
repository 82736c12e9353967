-- Writes that wait until a person allows them.

-- The writes of a key that need approval: "writes", or names of operations with a space in between. Null if none do.
ALTER TABLE api_keys ADD COLUMN requires_approval TEXT;
-- How long an approval of such a key waits.
ALTER TABLE api_keys ADD COLUMN approval_minutes BIGINT;

CREATE TABLE approvals (
    org_id     UUID NOT NULL,
    id         UUID NOT NULL,
    key_id     UUID NOT NULL,
    key_prefix TEXT NOT NULL,
    agent_id   UUID NOT NULL,
    operation  TEXT NOT NULL,
    -- pending, approved, failed, denied, cancelled or expired.
    status     TEXT NOT NULL,
    -- The request, what it would change, and the decision, sealed together under a data key.
    content    TEXT NOT NULL,
    version    BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- When it was decided, or expired undecided. Null while it is pending.
    decided_at BIGINT,
    CONSTRAINT approvals_pk PRIMARY KEY (org_id, id)
);
-- Lists and counts. The columns of their filters are part of it, so that a count reads nothing else.
CREATE INDEX approvals_by_creation ON approvals (org_id, created_at, id, agent_id, status, expires_at);
CREATE INDEX approvals_pending_of_key ON approvals (org_id, key_id, expires_at) WHERE status = 'pending';
-- What waits in an organization, the first to expire first.
CREATE INDEX approvals_pending_of_org ON approvals (org_id, expires_at, id) WHERE status = 'pending';
-- What nobody decided in time, in all organizations.
CREATE INDEX approvals_pending ON approvals (expires_at, id) WHERE status = 'pending';
-- What is over, in all organizations.
CREATE INDEX approvals_ended ON approvals ((COALESCE(decided_at, expires_at)));
