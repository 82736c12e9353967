//! The events around the present, for an agent that looks at its calendar.

use kalends_time::{SignedDuration, Timestamp};

use crate::{Calendar, Event};

/// The maximum number of recently ended events in the context.
pub const RECENT_MAX: u32 = 3;
/// The maximum number of upcoming events in the context.
pub const UPCOMING_MAX: u32 = 5;
/// How far ahead an event may start to count as upcoming.
pub const UPCOMING_WITHIN: SignedDuration = SignedDuration::hours(24);

/// The events around an instant, without cancelled and deleted ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextEvents {
    /// The event in progress that began last.
    pub current: Option<Event>,
    /// The event that starts soonest after the instant, however far ahead.
    pub next: Option<Event>,
    /// Up to [`RECENT_MAX`] events that ended at or before the instant, latest end first.
    pub recent: Vec<Event>,
    /// Up to [`UPCOMING_MAX`] events that start after the instant and within [`UPCOMING_WITHIN`], earliest first.
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
