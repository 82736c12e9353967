//! The calendar of the console: the events of several calendars in a week, a day or a month, and pages about one of them.
//! The pages are in English, like the console, and work without scripts.

mod days;
mod layout;
pub(crate) mod style;
