-- Users prove their address by email. An address belongs to one user who holds it. Users who have only stated it do not
-- hold it, and several can state the same one.

CREATE TABLE users_now (
    id                BLOB    NOT NULL,
    -- Normalized.
    email             TEXT    NOT NULL,
    email_verified_at INTEGER,
    -- Whether the address belongs to this user. A proved address does.
    holds_address     BOOLEAN NOT NULL,
    name              TEXT    NOT NULL,
    -- A PHC string; null for users who only sign in with a provider.
    password_hash     TEXT,
    -- Raised by every change of the row and of the user's memberships.
    version           INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    CONSTRAINT users_pk PRIMARY KEY (id)
);

-- Accounts that exist now count as proved: their keys may be in use, and a first proof would revoke them.
INSERT INTO users_now
SELECT id, email, coalesce(email_verified_at, created_at), TRUE, name, password_hash, version, created_at, updated_at
FROM users;

DROP TABLE users;
ALTER TABLE users_now RENAME TO users;
CREATE UNIQUE INDEX users_email_unique ON users (email) WHERE holds_address;
CREATE INDEX users_by_email ON users (email, created_at, id);

-- The tokens that are mailed to users. Tokens that set a password move here.
CREATE TABLE user_tokens (
    user_id    BLOB    NOT NULL,
    -- What the token is for.
    purpose    TEXT    NOT NULL,
    -- SHA-256 of the token.
    token_hash BLOB    NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT user_tokens_pk PRIMARY KEY (user_id, purpose)
);
CREATE UNIQUE INDEX user_tokens_token_unique ON user_tokens (token_hash);
CREATE INDEX user_tokens_by_expiry ON user_tokens (expires_at);
INSERT INTO user_tokens SELECT user_id, 'password', token_hash, expires_at FROM password_resets;
DROP TABLE password_resets;
