//! The pages about booking pages, from the side of their owners. They are in English, like the console, and work without
//! scripts.

mod bookings;
mod fields;
mod forms;
mod pages;
mod questions;

pub use bookings::{
    ALL_BOOKINGS_FILTER_FIELDS, AllBookings, BOOKING_FILTER_FIELDS, BookingShown, CANCELLATION_FIELDS,
    CancelBookingForm, DELETED_PAGES, PageBookings,
};
pub use fields::{BOOKING_PAGE_TEXTS, BookingPageGiven, OPENING_HOURS, OpeningHours};
pub use forms::{BookingPageForm, EditedBookingPage, NoPreview};
pub use pages::{BookingPageDetail, BookingPageShown, BookingPages, DeleteBookingPage};
pub use questions::QuestionGiven;
