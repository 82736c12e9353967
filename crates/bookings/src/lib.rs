//! Booking pages: public pages on which guests book time on a calendar.
//!
//! A page has a [`Timetable`], which defines its grid of slots. Slots that overlap no taken time are offered
//! ([`offered`]), and an offered slot can be booked ([`BookingPage::book`]). Everything is pure and synchronous: the
//! current time, the busy time and random bytes are arguments.

mod booking;
mod cancelled;
mod change;
mod colour;
mod details;
mod embedding;
mod grid;
mod guest;
mod guest_document;
mod listeners;
mod offer;
mod overview;
mod page;
pub mod ports;
mod questions;
mod seats;
mod secret;
mod team;

pub use booking::{Booking, KnownAs, SlotError};
pub use cancelled::{CancelledBy, REASON_MAX};
pub use change::Change;
pub use colour::Colour;
pub use details::{
    GUEST_REMINDERS_MAX, HOST_NAME_MAX, PageDetails, PageDetailsPatch, guest_reminders, host_name, location,
};
pub use embedding::{EMBED_ORIGINS_MAX, ORIGIN_MAX, Origin, embed_origins};
pub use grid::Timetable;
pub use guest::{Guest, NAME_MAX, NOTES_MAX, Sees};
pub use guest_document::{GuestDocument, GuestDocumentError};
pub use listeners::{Consent, ConsentToken, Listener, Listeners, NOTIFY_EMAILS_MAX, notify_emails};
pub use offer::{NEAREST, nearest, offered};
pub use overview::{BOOKINGS_COUNTED_MAX, BookingFilter, BookingNow, BookingsOf, counted_to};
pub use page::{
    BUFFER_MAX_MINUTES, BookingPage, BookingPagePatch, Confidential, ConfidentialError, DESCRIPTION_MAX,
    DURATION_DEFAULT_MINUTES, DURATION_MAX_MINUTES, DURATION_MIN_MINUTES, FORMER_SLUGS_MAX, NOTICE_MAX_MINUTES,
    NamedElsewhere, NewBookingPage, PER_DAY_MAX, TITLE_MAX, WINDOW_DEFAULT_DAYS, WINDOW_MAX_DAYS,
};
pub use questions::{
    ANSWER_MAX, ANSWERS_BYTES_MAX, Answers, LABEL_MAX, LONG_ANSWER_MAX, OPTION_MAX, OPTIONS_MAX, PHONE_MAX,
    QUESTION_ID_MAX, QUESTIONS_BYTES_MAX, QUESTIONS_MAX, Question, QuestionType, Questions,
};
pub use seats::{SEATS_MAX, SharedEvent};
pub use secret::{BookingToken, Purpose, SLUG_MAX, SLUG_MIN, SecretHash, Slug};
pub use team::{Assignment, CALENDARS_MAX, SHARE_DAYS, Taken, Team, TeamPatch, next_in_turn};
