-- Who cancelled a booking: guest or host. Null if nobody did, or if the owner deleted or cancelled the event itself.
ALTER TABLE bookings ADD COLUMN cancelled_by TEXT;
