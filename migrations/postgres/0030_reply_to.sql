-- The addresses for replies to emails: the one in use, and one that was asked, as JSON.
ALTER TABLE organizations ADD COLUMN reply_to TEXT;
