-- How many acceptances a slot of a proposal needs, who gets an event, and the events of participants.
ALTER TABLE proposals ADD COLUMN min_accepts INTEGER NOT NULL DEFAULT 0;
-- organizer or all.
ALTER TABLE proposals ADD COLUMN placement TEXT NOT NULL DEFAULT 'organizer';
-- The calendar that the participant named for its event.
ALTER TABLE proposal_participants ADD COLUMN calendar_id BLOB;
-- The participant's event, once the proposal is confirmed. Null if it got none.
ALTER TABLE proposal_participants ADD COLUMN event_id BLOB;
