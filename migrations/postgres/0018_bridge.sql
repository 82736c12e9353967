-- The bridge to the calendars of humans: links, consents, connections, their calendars, and for whom those count.

-- Links by which agents ask for a human's calendar.
CREATE TABLE connection_links (
    org_id        UUID    NOT NULL,
    id            UUID    NOT NULL,
    -- Of the calendar, which it never leaves; null for one that the organization shares.
    agent_id      UUID,
    calendar_id   UUID    NOT NULL,
    -- SHA-256 of what the human's address ends with.
    secret_hash   BYTEA    NOT NULL,
    publishing    BOOLEAN NOT NULL,
    -- 'none', 'confirmed' or 'confirmed_tentative'.
    policy        TEXT    NOT NULL,
    -- 'awaiting_human', 'in_progress', 'completed', 'declined', 'expired' or 'cancelled'; of the first two only until expires_at.
    state         TEXT    NOT NULL,
    human_id      UUID,
    connection_id UUID,
    expires_at    BIGINT NOT NULL,
    version       BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    CONSTRAINT connection_links_pk PRIMARY KEY (org_id, id)
);
-- Found by the secret, whoever's it is.
CREATE INDEX connection_links_by_secret ON connection_links (secret_hash);
-- One at a time waits for a human.
CREATE UNIQUE INDEX connection_links_waiting ON connection_links (org_id, calendar_id) WHERE state = 'awaiting_human';
CREATE INDEX connection_links_by_expiry ON connection_links (expires_at);

-- Attempts to get a human's consent: each is good for one answer, for ten minutes.
CREATE TABLE connection_attempts (
    -- SHA-256 of the state, which the browser alone has.
    state_hash    BYTEA    NOT NULL,
    org_id        UUID    NOT NULL,
    human_id      UUID    NOT NULL,
    -- The link that asked for it, or the connection that is consented to again.
    link_id       UUID,
    connection_id UUID,
    -- 'google' or 'microsoft'.
    provider      TEXT    NOT NULL,
    verifier      TEXT    NOT NULL,
    redirect_uri  TEXT    NOT NULL,
    expires_at    BIGINT NOT NULL,
    CONSTRAINT connection_attempts_pk PRIMARY KEY (state_hash)
);
CREATE INDEX connection_attempts_of_org ON connection_attempts (org_id);
CREATE INDEX connection_attempts_by_expiry ON connection_attempts (expires_at);

-- Accounts of humans at providers of calendars.
CREATE TABLE calendar_connections (
    org_id        UUID    NOT NULL,
    id            UUID    NOT NULL,
    human_id      UUID    NOT NULL,
    -- 'google' or 'microsoft'.
    provider      TEXT    NOT NULL,
    -- What the human calls it, sealed under a data key; null without one.
    label         TEXT,
    -- What opens the account, sealed under a data key.
    tokens        TEXT    NOT NULL,
    paused        BOOLEAN NOT NULL,
    -- Whether the provider lets us in no more.
    lapsed        BOOLEAN NOT NULL,
    -- When it is refreshed next; the end of the claim while there is one; null while it is paused or has lapsed.
    due_at        BIGINT,
    claimed_until BIGINT,
    -- The number of the last claim.
    fence         BIGINT NOT NULL,
    -- When somebody asked for a refresh.
    asked_at      BIGINT,
    refreshed_at  BIGINT,
    -- What went wrong, where the last refresh failed, and how many have failed since the last good one.
    last_error    TEXT,
    failures      BIGINT NOT NULL,
    version       BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    CONSTRAINT calendar_connections_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX calendar_connections_of_org ON calendar_connections (org_id, created_at, id);
-- Found by what is due, whoever's it is.
CREATE INDEX calendar_connections_due ON calendar_connections (due_at) WHERE due_at IS NOT NULL;

-- The calendars of such accounts, and when they are busy: nothing but start and end.
CREATE TABLE external_calendars (
    org_id        UUID    NOT NULL,
    id            UUID    NOT NULL,
    connection_id UUID    NOT NULL,
    -- What the provider calls it, and the human, sealed together under a data key.
    content       TEXT    NOT NULL,
    is_primary    BOOLEAN NOT NULL,
    -- Raised whenever what is busy, or the time for which it was asked, is another.
    revision      BIGINT NOT NULL,
    -- When it was read last, and for which time; null before the first time.
    read_at       BIGINT,
    covers_from   BIGINT,
    covers_until  BIGINT,
    -- What is busy: 16 bytes a span, start and end in microseconds, in order.
    spans         BYTEA,
    CONSTRAINT external_calendars_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX external_calendars_of_connection ON external_calendars (org_id, connection_id, id);

-- For which agents calendars of a human count.
CREATE TABLE availability_grants (
    org_id     UUID    NOT NULL,
    id         UUID    NOT NULL,
    human_id   UUID    NOT NULL,
    -- 'selected', 'all_current' or 'all'.
    audience   TEXT    NOT NULL,
    version    BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT availability_grants_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX availability_grants_of_org ON availability_grants (org_id, created_at, id);
-- Those that count for everybody: looked for with each question about availability.
CREATE INDEX availability_grants_for_all ON availability_grants (org_id, id) WHERE audience = 'all';

CREATE TABLE availability_grant_sources (
    org_id               UUID NOT NULL,
    grant_id             UUID NOT NULL,
    external_calendar_id UUID NOT NULL,
    CONSTRAINT availability_grant_sources_pk PRIMARY KEY (org_id, grant_id, external_calendar_id)
);
CREATE INDEX availability_grant_sources_of_calendar ON availability_grant_sources (org_id, external_calendar_id);

-- The agents of a grant, but of one for all of them.
CREATE TABLE availability_grant_agents (
    org_id   UUID NOT NULL,
    grant_id UUID NOT NULL,
    agent_id UUID NOT NULL,
    CONSTRAINT availability_grant_agents_pk PRIMARY KEY (org_id, grant_id, agent_id)
);
CREATE INDEX availability_grant_agents_of_agent ON availability_grant_agents (org_id, agent_id);
