-- The original start of the occurrence that a letter is about. Null if it is about its whole event.
ALTER TABLE letters ADD COLUMN occurrence BIGINT;
