//! iCalendar text (RFC 5545) to and from events.
//!
//! [`read`] understands the feeds of others: whatever is in them, in bounded work. [`write`] renders a calendar for
//! others to read. Both are pure: no clock, no network, no storage.

pub mod limits;
pub mod read;
pub mod write;
