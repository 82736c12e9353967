-- Proposals, who is asked and what they said, and the time that pending ones keep free.

CREATE TABLE proposals (
    org_id         UUID    NOT NULL,
    id             UUID    NOT NULL,
    -- Title, description and metadata, sealed together under a data key.
    content        TEXT    NOT NULL,
    organizer_id   UUID    NOT NULL,
    calendar_id    UUID    NOT NULL,
    -- The times that are offered: JSON.
    slots          TEXT    NOT NULL,
    -- pending, confirmed, cancelled or expired.
    status         TEXT    NOT NULL,
    -- Of a confirmed one, the slot that won and its event.
    slot_id        UUID,
    event_id       UUID,
    -- Of a cancelled one.
    reason         TEXT,
    expires_at     BIGINT NOT NULL,
    hold_slots     BOOLEAN NOT NULL,
    skip_taken     BOOLEAN NOT NULL,
    version        BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    CONSTRAINT proposals_pk PRIMARY KEY (org_id, id)
);
CREATE INDEX proposals_by_creation ON proposals (org_id, created_at, id);
CREATE INDEX proposals_of_organizer ON proposals (org_id, organizer_id, created_at, id);
-- Found by what is over, whoever's it is.
CREATE INDEX proposals_pending ON proposals (expires_at, id) WHERE status = 'pending';

CREATE TABLE proposal_participants (
    org_id       UUID    NOT NULL,
    proposal_id  UUID    NOT NULL,
    agent_id     UUID    NOT NULL,
    -- The participant's place among those who are asked.
    place        BIGINT NOT NULL,
    -- What the participant said; null until then. There is room for one response.
    response_id  UUID,
    response     TEXT,
    slot_id      UUID,
    -- Message and counter-proposals, sealed together under a data key.
    remark       TEXT,
    responded_at BIGINT,
    CONSTRAINT proposal_participants_pk PRIMARY KEY (org_id, proposal_id, agent_id)
);
CREATE INDEX proposal_participants_of_agent ON proposal_participants (org_id, agent_id, proposal_id);

CREATE TABLE reservations (
    org_id      UUID    NOT NULL,
    calendar_id UUID    NOT NULL,
    -- The proposal, and which of its times on this calendar.
    proposal_id UUID    NOT NULL,
    place       BIGINT NOT NULL,
    start_at    BIGINT NOT NULL,
    end_at      BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    -- The calendar's when it was written.
    revision    BIGINT NOT NULL,
    CONSTRAINT reservations_pk PRIMARY KEY (org_id, calendar_id, proposal_id, place)
);
CREATE INDEX reservations_by_expiry ON reservations (expires_at);
