-- Timers: when to look at an event next, because something falls due by itself.
--
-- One row an event that still has something to tell, or a hold that will expire. Whatever writes an event writes its
-- row in the same transaction; what looks at the row raises neither the event's version nor its calendar's revision.

CREATE TABLE timers (
    org_id         BLOB    NOT NULL,
    calendar_id    BLOB    NOT NULL,
    event_id       BLOB    NOT NULL,
    -- A hold, which only expires.
    hold           BOOLEAN NOT NULL,
    -- Its reminders are its calendar's.
    inherits       BOOLEAN NOT NULL,
    -- Its calendar's reminders were written anew: due_at has to be found again.
    again          BOOLEAN NOT NULL,
    due_at         INTEGER NOT NULL,
    -- Everything due until then was told, or is not to be; of reminders everything until the second.
    told_until     INTEGER NOT NULL,
    reminded_until INTEGER NOT NULL,
    -- A mark of what of the event decides all this: a write that leaves it as it is leaves the row alone.
    timing         INTEGER NOT NULL,
    -- Raised by every write but a claim.
    version        INTEGER NOT NULL,
    -- Until then whoever claimed it looks at it, and nobody else.
    claimed_until  INTEGER NOT NULL,
    PRIMARY KEY (org_id, calendar_id, event_id)
);

-- What is due in all organizations.
CREATE INDEX timers_due ON timers (due_at) WHERE NOT hold;
CREATE INDEX timers_of_holds ON timers (due_at) WHERE hold;
CREATE INDEX timers_again ON timers (org_id, calendar_id, event_id) WHERE again;

-- What is out of sight, so that its timers can be removed.
CREATE INDEX calendars_deleted ON calendars (org_id, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX agents_decommissioned ON agents (org_id, id) WHERE status = 'decommissioned';

-- How far the events that are older than this table have got their timers: all up to this one, by organization and
-- identifier. One row.
CREATE TABLE timer_seeding (
    id             INTEGER NOT NULL PRIMARY KEY,
    seeded_org     BLOB    NOT NULL,
    seeded_event   BLOB    NOT NULL,
    done           BOOLEAN NOT NULL
);
INSERT INTO timer_seeding (id, seeded_org, seeded_event, done) VALUES (1, zeroblob(16), zeroblob(16), 0);
