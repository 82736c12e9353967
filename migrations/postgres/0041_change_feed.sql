-- The change feeds of organizations that somebody reads.

-- One row for each feed. A commit raises last_seq and writes its entries in one transaction.
CREATE TABLE change_feed_heads (
    org_id    UUID   NOT NULL,
    -- The position before the oldest entry that is certainly kept.
    first_seq BIGINT NOT NULL,
    -- The position of the newest entry.
    last_seq  BIGINT NOT NULL,
    -- When it was last noted that somebody reads.
    read_at   BIGINT NOT NULL,
    CONSTRAINT change_feed_heads_pk PRIMARY KEY (org_id)
);
-- Finds feeds that nobody reads.
CREATE INDEX change_feed_heads_by_reading ON change_feed_heads (read_at);

CREATE TABLE change_feed (
    org_id      UUID   NOT NULL,
    id          UUID   NOT NULL,
    -- The position, without gaps.
    seq         BIGINT NOT NULL,
    change_type TEXT   NOT NULL,
    version     BIGINT NOT NULL,
    -- The resource, sealed under a data key.
    body        TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    CONSTRAINT change_feed_pk PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX change_feed_by_position ON change_feed (org_id, seq);
CREATE INDEX change_feed_by_time ON change_feed (created_at);
