-- The members of organizations, and the invitations to become one.
--
-- `organization_owners` keeps one owner of each organization, and is all that an earlier version reads during an upgrade.
-- This table has all other members, owners among them. Both are read through the view.

CREATE TABLE organization_members (
    org_id  BLOB NOT NULL,
    user_id BLOB NOT NULL,
    role    TEXT NOT NULL,
    since   INTEGER NOT NULL,
    CONSTRAINT organization_members_pk PRIMARY KEY (org_id, user_id)
);
CREATE INDEX organization_members_by_user ON organization_members (user_id, since, org_id);

CREATE VIEW memberships AS
    SELECT org_id, user_id, 'owner' AS role, owned_since AS since FROM organization_owners
    UNION ALL
    SELECT org_id, user_id, role, since FROM organization_members;

CREATE TABLE member_invitations (
    id         BLOB NOT NULL,
    org_id     BLOB NOT NULL,
    -- Normalized.
    email      TEXT NOT NULL,
    role       TEXT NOT NULL,
    token_hash BLOB NOT NULL,
    invited_by BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT member_invitations_pk PRIMARY KEY (org_id, id),
    CONSTRAINT member_invitations_address_unique UNIQUE (org_id, email),
    CONSTRAINT member_invitations_token_unique UNIQUE (token_hash)
);
CREATE INDEX member_invitations_by_address ON member_invitations (email);
CREATE INDEX member_invitations_by_expiry ON member_invitations (expires_at);
