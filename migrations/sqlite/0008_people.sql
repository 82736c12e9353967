-- People: humans with console accounts, the organizations that they own, and their sessions.
--
-- A human belongs to no organization, so that these tables are found by the human, the address or the session.

CREATE TABLE users (
    id                BLOB    NOT NULL,
    -- Normalized.
    email             TEXT    NOT NULL,
    email_verified_at INTEGER,
    name              TEXT    NOT NULL,
    -- A PHC string; null for whoever signs in with a provider only.
    password_hash     TEXT,
    -- Raised by whatever changes the row, and what the human owns.
    version           INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    CONSTRAINT users_pk PRIMARY KEY (id),
    CONSTRAINT users_email_unique UNIQUE (email)
);

-- An organization has one owner at most; a human may own several.
CREATE TABLE organization_owners (
    org_id      BLOB    NOT NULL,
    user_id     BLOB    NOT NULL,
    owned_since INTEGER NOT NULL,
    CONSTRAINT organization_owners_pk PRIMARY KEY (org_id)
);
CREATE INDEX organization_owners_by_user ON organization_owners (user_id, owned_since, org_id);

-- A token whose session has no row here is worth nothing.
CREATE TABLE sessions (
    -- The token's jti.
    id         BLOB    NOT NULL,
    user_id    BLOB    NOT NULL,
    -- The organization that the session is switched to, if any.
    org_id     BLOB,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    CONSTRAINT sessions_pk PRIMARY KEY (id)
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_org ON sessions (org_id) WHERE org_id IS NOT NULL;
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
