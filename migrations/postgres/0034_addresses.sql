-- Users prove their address by email. An address belongs to one user who holds it. Users who have only stated it do not
-- hold it, and several can state the same one.

-- Whether the address belongs to this user. A proved address does.
ALTER TABLE users ADD COLUMN holds_address BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE users ALTER COLUMN holds_address DROP DEFAULT;
-- Accounts that exist now count as proved: their keys may be in use, and a first proof would revoke them.
UPDATE users SET email_verified_at = created_at WHERE email_verified_at IS NULL;

ALTER TABLE users DROP CONSTRAINT users_email_unique;
CREATE UNIQUE INDEX users_email_unique ON users (email) WHERE holds_address;
CREATE INDEX users_by_email ON users (email, created_at, id);

-- The tokens that are mailed to users. Tokens that set a password move here.
CREATE TABLE user_tokens (
    user_id    UUID   NOT NULL,
    -- What the token is for.
    purpose    TEXT   NOT NULL,
    -- SHA-256 of the token.
    token_hash BYTEA  NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT user_tokens_pk PRIMARY KEY (user_id, purpose)
);
CREATE UNIQUE INDEX user_tokens_token_unique ON user_tokens (token_hash);
CREATE INDEX user_tokens_by_expiry ON user_tokens (expires_at);
INSERT INTO user_tokens SELECT user_id, 'password', token_hash, expires_at FROM password_resets;
DROP TABLE password_resets;
