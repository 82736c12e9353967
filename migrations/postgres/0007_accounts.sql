-- Accounts: the audit log in the order in which it is read, where an organization came from, what is counted beside
-- the plans' metrics, and organizations on their way out.

-- Newest first, and the oldest first for the purge.
CREATE INDEX audit_log_by_time ON audit_log (org_id, created_at, id);

-- 'agent', 'waitlist' or 'operator'. Of an organization made before this column the code of its sign-up tells.
ALTER TABLE organizations ADD COLUMN signup_source TEXT NOT NULL DEFAULT 'operator';
UPDATE organizations SET signup_source = 'agent' WHERE id IN (SELECT org_id FROM verification_codes);

-- How much of an allowance is used: sign-ups of a mail domain, exports and feedback of an organization.
CREATE TABLE allowances (
    -- SHA-256 of what is limited and for whom.
    scope      BYTEA   NOT NULL,
    -- The organization, where it is one's.
    org_id     UUID,
    -- What the rule makes of it: a count, or when the rate has made up for everything.
    state      BIGINT NOT NULL,
    -- From when on the row says no more than none would.
    expires_at BIGINT NOT NULL,
    CONSTRAINT allowances_pk PRIMARY KEY (scope)
);
CREATE INDEX allowances_by_expiry ON allowances (expires_at);
CREATE INDEX allowances_by_org ON allowances (org_id) WHERE org_id IS NOT NULL;

-- Accounts that were deleted and whose rows are still being removed.
CREATE TABLE account_deletions (
    org_id     UUID    NOT NULL,
    deleted_at BIGINT NOT NULL,
    CONSTRAINT account_deletions_pk PRIMARY KEY (org_id)
);
-- The removal finds an organization's stored answers by it.
CREATE INDEX idempotent_answers_by_org ON idempotent_answers (org_id);
