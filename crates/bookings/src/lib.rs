//! Booking pages: public pages on which guests book time on a calendar.
//!
//! A page has a [`Timetable`], which defines its grid of slots. Slots that overlap no taken time are offered
//! ([`offered`]), and an offered slot can be booked ([`BookingPage::book`]). Everything is pure and synchronous: the
//! current time, the busy time and random bytes are arguments.

mod booking;
mod change;
mod grid;
mod guest;
mod offer;
mod page;
pub mod ports;
mod secret;

pub use booking::{Booking, SlotError};
pub use change::Change;
pub use grid::Timetable;
pub use guest::{Guest, GuestDocumentError, NAME_MAX, NOTES_MAX};
pub use offer::{NEAREST, nearest, offered};
pub use page::{
    BUFFER_MAX_MINUTES, BookingPage, BookingPagePatch, Confidential, ConfidentialError, DESCRIPTION_MAX,
    DURATION_DEFAULT_MINUTES, DURATION_MAX_MINUTES, DURATION_MIN_MINUTES, NOTICE_MAX_MINUTES, NewBookingPage,
    TITLE_MAX, WINDOW_DEFAULT_DAYS, WINDOW_MAX_DAYS,
};
pub use secret::{BookingToken, Purpose, SecretHash, Slug};
