-- Whether the event of a booking can have other guests.
ALTER TABLE bookings ADD COLUMN shared BOOLEAN NOT NULL DEFAULT FALSE;
-- When a booking was cancelled. Null also if that was before this column existed; its event was deleted then.
ALTER TABLE bookings ADD COLUMN cancelled_at BIGINT;
