-- Letters to people outside that wait to be sent, and the tokens with which humans set a password.

CREATE TABLE letters (
    org_id     UUID NOT NULL,
    id         UUID NOT NULL,
    -- A hash of the recipient's address.
    recipient  BYTEA NOT NULL,
    -- The event that the letter is about.
    about      UUID NOT NULL,
    -- The recipient and the text, sealed together under a data key.
    content    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- From when on a worker may claim it; while it is claimed, the end of the claim.
    due_at     BIGINT NOT NULL,
    -- The number of the last claim.
    fence      BIGINT NOT NULL,
    -- How often it was put off.
    put_off    BIGINT NOT NULL,
    CONSTRAINT letters_pk PRIMARY KEY (org_id, id)
);
-- Found by what is due, whoever's it is.
CREATE INDEX letters_due ON letters (due_at);
CREATE INDEX letters_of_recipient ON letters (org_id, recipient, about, created_at);

CREATE TABLE password_resets (
    user_id    UUID NOT NULL,
    -- SHA-256 of the token.
    token_hash BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT password_resets_pk PRIMARY KEY (user_id)
);
CREATE UNIQUE INDEX password_resets_token_unique ON password_resets (token_hash);
CREATE INDEX password_resets_by_expiry ON password_resets (expires_at);
