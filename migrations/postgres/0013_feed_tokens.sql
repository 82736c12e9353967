-- The tokens of feeds: found by their hash, and sealed to be shown again.
--
-- What calendars hold in feed_token begins with 'v1.' once it is sealed; what does not is a token in the clear, of
-- before, which sealing anew seals and hashes.

-- SHA-256 of the token.
ALTER TABLE calendars ADD COLUMN feed_token_hash BYTEA;
CREATE UNIQUE INDEX calendars_feed_token_hash_unique ON calendars (feed_token_hash) WHERE feed_token_hash IS NOT NULL;
