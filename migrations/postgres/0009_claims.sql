-- Claims of humans on organizations that agents signed up.

-- A claim is a human's, and knows no organization where the address had nothing to claim.
CREATE TABLE account_claims (
    id         UUID    NOT NULL,
    org_id     UUID,
    user_id    UUID    NOT NULL,
    -- SHA-256 of the address that was named.
    address    BYTEA   NOT NULL,
    -- 'initiated', 'held', 'effective', 'revoked' or 'void'.
    state      TEXT    NOT NULL,
    -- SHA-256 of the code and the claim's identifier, while it waits for the code.
    code       BYTEA,
    attempts   INTEGER NOT NULL,
    -- When the code stops working, or the hold ends.
    due_at     BIGINT,
    -- SHA-256 of the token that revokes it, once it is on hold.
    revocation BYTEA,
    -- When it took effect, was revoked or became void.
    ended_at   BIGINT,
    version    BIGINT  NOT NULL,
    created_at BIGINT  NOT NULL,
    CONSTRAINT account_claims_pk PRIMARY KEY (id)
);
CREATE INDEX account_claims_by_user ON account_claims (user_id, created_at, id);
CREATE INDEX account_claims_by_org ON account_claims (org_id) WHERE org_id IS NOT NULL;
CREATE INDEX account_claims_by_creation ON account_claims (created_at);
CREATE INDEX account_claims_due ON account_claims (due_at, id) WHERE state = 'held';
-- However many verify at once, one claim on an organization is on hold; and a human waits for one code an address.
CREATE UNIQUE INDEX account_claims_one_held ON account_claims (org_id) WHERE state = 'held';
CREATE UNIQUE INDEX account_claims_one_waits ON account_claims (user_id, address) WHERE state = 'initiated';
