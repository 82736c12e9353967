//! What a use case changes of booking pages and bookings: plain data.

use kalends_kernel::Version;

use crate::{booking::Booking, page::BookingPage};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Makes a page. Stale where its calendar is out of sight.
    CreatePage(Box<BookingPage>),
    /// Writes a page, deletion included, over the row that had the version `seen`; otherwise the change-set is stale. How
    /// often it was booked stays what it is.
    UpdatePage {
        /// The page as it shall be.
        page: Box<BookingPage>,
        /// The version that the decision saw.
        seen: Version,
    },
    /// Makes a booking on a page that still has the version `seen`, and counts it there; otherwise the change-set is
    /// stale.
    CreateBooking {
        /// The booking.
        booking: Box<Booking>,
        /// The version of the page that the decision saw.
        seen: Version,
    },
}
