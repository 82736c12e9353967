-- Humans who sign in with a provider.

-- Attempts to sign in with a provider: each is good for one answer, for ten minutes.
CREATE TABLE oauth_attempts (
    -- SHA-256 of the state, which the browser alone has.
    state_hash    BYTEA   NOT NULL,
    -- 'google' or 'microsoft'.
    provider      TEXT    NOT NULL,
    nonce         TEXT    NOT NULL,
    verifier      TEXT    NOT NULL,
    redirect_uri  TEXT    NOT NULL,
    -- The terms that the human accepts, should they be new.
    terms_version TEXT,
    expires_at    BIGINT  NOT NULL,
    CONSTRAINT oauth_attempts_pk PRIMARY KEY (state_hash)
);
CREATE INDEX oauth_attempts_by_expiry ON oauth_attempts (expires_at);

-- With what humans sign in beside a password. A subject is one human's; a human may have several.
CREATE TABLE user_identities (
    provider TEXT    NOT NULL,
    issuer   TEXT    NOT NULL,
    subject  TEXT    NOT NULL,
    user_id  UUID    NOT NULL,
    since    BIGINT  NOT NULL,
    CONSTRAINT user_identities_pk PRIMARY KEY (provider, issuer, subject)
);
CREATE INDEX user_identities_by_user ON user_identities (user_id);
