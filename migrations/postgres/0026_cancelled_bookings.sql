-- Who cancelled a booking: guest or host. Null if nobody did, or if the owner deleted or cancelled the event itself.
ALTER TABLE bookings ADD COLUMN cancelled_by TEXT;
-- Finds the bookings among the events of a day.
CREATE INDEX bookings_of_event ON bookings (org_id, event_id);
