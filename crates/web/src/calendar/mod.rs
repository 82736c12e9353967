//! The calendar of the console: the events of several calendars in a week, a day or a month, and pages about one of them.
//! The pages are in English, like the console, and work without scripts.

mod days;
mod entry;
mod event;
mod layout;
mod page;
mod range;
pub(crate) mod style;

pub use event::{EventInView, EventKind};
pub use page::{CALENDARS_MAX, CalendarInView, CalendarPage, EVENTS_MAX};
pub use range::{View, Viewed, date_in_range};
