//! The writes of a use case to booking pages and bookings, as plain data.

use kalends_kernel::{BookingId, EventId, OrgId, Version};
use kalends_time::Timestamp;

use crate::{booking::Booking, cancelled::CancelledBy, page::BookingPage};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new page. Stale if its calendar is not visible.
    CreatePage(Box<BookingPage>),
    /// The changed page. This includes deletion. Stale if the row no longer has the version `seen`. The number of
    /// bookings in the row does not change.
    UpdatePage {
        /// The row to write.
        page: Box<BookingPage>,
        /// The version that was read.
        seen: Version,
    },
    /// A new booking, which is also counted in the row of its page. Stale if the page no longer has the version `seen`, or
    /// no longer has `count` bookings.
    CreateBooking {
        /// The booking.
        booking: Box<Booking>,
        /// The version of the page that was read.
        seen: Version,
        /// The number of bookings of the page that was read, if the booking depends on the others: a turn is taken once.
        count: Option<u64>,
    },
    /// A booking whose guest left its event for another one. Stale if it has another event than `from` by now, or was
    /// cancelled.
    MoveBooking {
        /// The booking.
        booking: Box<Booking>,
        /// The event that it had.
        from: EventId,
    },
    /// Who cancelled a booking. Stale if it has another event than `from` by now, or was cancelled before.
    CancelBooking {
        /// The organization.
        org: OrgId,
        /// The booking.
        booking: BookingId,
        /// The event that it has.
        from: EventId,
        /// Who cancelled it.
        by: CancelledBy,
        /// When.
        at: Timestamp,
    },
}
