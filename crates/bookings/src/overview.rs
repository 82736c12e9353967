//! Bookings as the owner of their page sees them.

use kalends_kernel::{AgentId, BookingPageId, CalendarId};
use kalends_time::{Span, Timestamp};

use crate::{booking::Booking, cancelled::CancelledBy};

/// A booking with its event as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingNow {
    /// The booking.
    pub booking: Booking,
    /// The calendar on which the event is.
    pub calendar: CalendarId,
    /// The time of the event. A cancelled event keeps it.
    pub span: Span,
    /// When the booking was cancelled, or the event was cancelled or deleted, or went away with its calendar; `None` if the
    /// guest still has a place in it.
    pub gone_at: Option<Timestamp>,
}

impl BookingNow {
    /// When and by whom it was cancelled. If nobody cancelled the booking itself, the owner cancelled the event.
    pub fn cancelled(&self) -> Option<(Timestamp, CancelledBy)> {
        self.gone_at.map(|at| (at, self.booking.cancelled_by.unwrap_or(CancelledBy::Host)))
    }
}

/// Selects the bookings of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BookingFilter {
    /// Only cancelled ones, or only the others.
    pub cancelled: Option<bool>,
    /// Only those that start at this time or later.
    pub start_after: Option<Timestamp>,
    /// Only those that start before this time.
    pub start_before: Option<Timestamp>,
}

/// Selects the pages whose bookings are in one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BookingsOf {
    /// Only pages of calendars of this agent.
    pub agent: Option<AgentId>,
    /// Only this page.
    pub page: Option<BookingPageId>,
    /// Only deleted pages.
    pub only_deleted: bool,
}
