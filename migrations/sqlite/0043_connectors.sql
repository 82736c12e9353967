-- Programs that act for agents by OAuth, and what people granted them.

-- The client that holds the key; null for a key that a person or a program of the organization keeps.
ALTER TABLE api_keys ADD COLUMN client_id BLOB;
-- From this instant on, the present text of a client's key is refused.
ALTER TABLE api_keys ADD COLUMN access_expires_at INTEGER;

-- The keys that each client holds, in all organizations.
CREATE INDEX api_keys_of_client ON api_keys (client_id) WHERE client_id IS NOT NULL AND revoked_at IS NULL;
-- The keys of clients, by when their present texts expire.
CREATE INDEX api_keys_of_clients_by_expiry ON api_keys (access_expires_at)
    WHERE client_id IS NOT NULL AND revoked_at IS NULL;

-- The clients. They belong to no organization.
CREATE TABLE connector_clients (
    id         BLOB NOT NULL,
    -- What it calls itself.
    name       TEXT NOT NULL,
    -- The addresses to which codes may be sent: JSON.
    redirects  TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    CONSTRAINT connector_clients_pk PRIMARY KEY (id)
);
CREATE INDEX connector_clients_by_use ON connector_clients (used_at);
-- Those for which nobody ever approved anything.
CREATE INDEX connector_clients_never_used ON connector_clients (created_at) WHERE used_at = created_at;

CREATE TABLE authorization_codes (
    org_id     BLOB NOT NULL,
    -- SHA-256 of the code.
    hash       BLOB NOT NULL,
    client_id  BLOB NOT NULL,
    redirect   TEXT NOT NULL,
    -- SHA-256 of the verifier.
    challenge  BLOB NOT NULL,
    agent_id   BLOB NOT NULL,
    scopes     TEXT,
    user_id    BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    -- The key that it was exchanged for.
    key_id     BLOB,
    CONSTRAINT authorization_codes_pk PRIMARY KEY (hash)
);
CREATE INDEX authorization_codes_by_org ON authorization_codes (org_id);
CREATE INDEX authorization_codes_by_user ON authorization_codes (user_id);
CREATE INDEX authorization_codes_by_expiry ON authorization_codes (expires_at);

CREATE TABLE refresh_tokens (
    org_id     BLOB NOT NULL,
    -- SHA-256 of the token.
    hash       BLOB NOT NULL,
    key_id     BLOB NOT NULL,
    client_id  BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- When it was exchanged for another one.
    spent_at   INTEGER,
    CONSTRAINT refresh_tokens_pk PRIMARY KEY (hash)
);
CREATE INDEX refresh_tokens_by_key ON refresh_tokens (org_id, key_id);
CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
