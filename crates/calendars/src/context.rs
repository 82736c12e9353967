//! What an agent needs to know of its calendar at this moment.

use kalends_kernel::{SignedDuration, Timestamp};

use crate::{Calendar, Event};

/// How many of the most recently ended events the context shows.
pub const RECENT_MAX: u32 = 3;
/// How many of the events to come the context shows.
pub const UPCOMING_MAX: u32 = 5;
/// How far ahead an event may start to count as upcoming.
pub const UPCOMING_WITHIN: SignedDuration = SignedDuration::hours(24);

/// The events around an instant, cancelled and deleted ones left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextEvents {
    /// The event under way that began last.
    pub current: Option<Event>,
    /// The event that starts soonest after the instant, however far ahead.
    pub next: Option<Event>,
    /// Up to [`RECENT_MAX`] that ended at or before the instant, the latest end first.
    pub recent: Vec<Event>,
    /// Up to [`UPCOMING_MAX`] that start after the instant and within [`UPCOMING_WITHIN`], the earliest first.
    pub upcoming: Vec<Event>,
}

/// A calendar at an instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The calendar.
    pub calendar: Calendar,
    /// The instant.
    pub now: Timestamp,
    /// The events around it.
    pub events: ContextEvents,
}
