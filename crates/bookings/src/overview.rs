//! Bookings as the owner of their page sees them.

use kalends_kernel::{AgentId, BookingPageId, CalendarId, Page};
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

/// The number of bookings that a list of several pages counts. If there are more, its total is only larger than this.
pub const BOOKINGS_COUNTED_MAX: u32 = 1_000;

impl BookingFilter {
    /// Whether a list of several pages begins with the latest start: unless it has only what starts after some time.
    pub const fn latest_first(self) -> bool {
        self.start_after.is_none()
    }
}

/// The most that a list of several pages counts, so that it is known whether there is a next page.
pub fn counted_to(page: Page) -> u32 {
    page.offset.saturating_add(page.limit).max(BOOKINGS_COUNTED_MAX).saturating_add(1)
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
