-- Second factors of users who sign in with a password (TOTP), and their recovery codes.

CREATE TABLE second_factors (
    user_id      UUID   NOT NULL,
    -- The secret of the authenticator app, sealed.
    secret       TEXT   NOT NULL,
    -- Null until the user has entered the first code.
    confirmed_at BIGINT,
    -- The step of the last accepted code: whole 30 seconds since 1970. Only codes of later steps are accepted.
    last_step    BIGINT,
    created_at   BIGINT NOT NULL,
    CONSTRAINT second_factors_pk PRIMARY KEY (user_id)
);

-- The recovery codes that are left.
CREATE TABLE recovery_codes (
    user_id   UUID  NOT NULL,
    -- SHA-256 of the code.
    code_hash BYTEA NOT NULL,
    CONSTRAINT recovery_codes_pk PRIMARY KEY (user_id, code_hash)
);
