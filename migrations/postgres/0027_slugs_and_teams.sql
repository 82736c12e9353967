-- Every slug that a booking page has or had. As long as the page exists, no other page gets one of them, because people
-- may still open the old address.
CREATE TABLE booking_slugs (
    -- SHA-256 of the slug.
    slug_hash BYTEA NOT NULL,
    org_id    UUID NOT NULL,
    page_id   UUID NOT NULL,
    CONSTRAINT booking_slugs_pk PRIMARY KEY (slug_hash)
);
CREATE INDEX booking_slugs_of_page ON booking_slugs (org_id, page_id);
INSERT INTO booking_slugs (slug_hash, org_id, page_id)
SELECT slug_hash, org_id, id FROM booking_pages WHERE deleted_at IS NULL;

-- The other calendars that a page books, and which of them take part: JSON. Null if there are none.
ALTER TABLE booking_pages ADD COLUMN team TEXT;
