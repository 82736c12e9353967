//! The calendar of the console: the events of several calendars in a week, a day or a month, and pages about one of
//! them. The pages are in English, like the console, and work without scripts. `calendar.js` makes the hours a grid, and
//! `moves.js` lets events be moved there.

mod days;
mod detail;
mod entry;
mod event;
mod explain;
mod fields;
mod forms;
mod layout;
mod moving;
mod page;
mod people;
mod range;
mod repeat;
mod seen;
pub(crate) mod style;

pub(crate) use days::{Day, clock};
pub use detail::{CancelEvent, EventDetail, EventPage, SeriesPart};
pub use event::{EventInView, EventKind, event_time};
pub use explain::{Answer, ExplainPage, Obstacle, SHOWN_CALENDARS, WhyNot};
pub use fields::{EVENT_FIELDS, EventGiven, clock_text, read_clock, read_reminders, reminders_text};
pub use forms::{EditEventForm, NewEventForm};
pub use moving::MoveEvent;
pub use page::{CALENDARS_MAX, CalendarInView, CalendarPage, EVENTS_MAX};
pub use people::{AttendeeLine, AttendeeShown};
pub use range::{View, Viewed, date_in_range};
pub use repeat::{Repeat, RepeatGiven};
