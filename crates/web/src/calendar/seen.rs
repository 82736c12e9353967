//! A day of the calendar, as the template shows it.

use kalends_time::{CivilDate, Span, Timestamp};

use super::days::Hour;

/// An event on a day.
pub(crate) struct Entry {
    /// The classes of its place; empty in a list.
    pub place: String,
    /// The classes of its look.
    pub class: &'static str,
    /// The address of its page.
    pub href: Option<String>,
    /// When it takes place on that day.
    pub clock: String,
    /// The first of these times, where there is little space.
    pub begin: String,
    /// The same, in the second zone.
    pub second: Option<String>,
    pub title: String,
    pub calendar: String,
    pub state: String,
    /// Whether everybody sees the state, and not only screen readers.
    pub is_marked: bool,
    /// What the script needs to move it; `None` if it cannot be moved here.
    pub movable: Option<Movable>,
}

/// An event that the script can move.
pub(crate) struct Movable {
    pub id: String,
    pub version: i64,
    pub span: Span,
    /// The version of its series, if it is an occurrence.
    pub series_version: Option<i64>,
    /// Whether it ends on the day, so that its end can be dragged there.
    pub has_end: bool,
}

/// An hour of a day, which leads to the form of a new event.
pub(crate) struct Slot {
    /// The classes of its place.
    pub place: String,
    /// The address of the form.
    pub href: String,
    /// What a clock of the zone shows when it begins, and whether it shows that for the second time.
    pub clock: String,
}

/// A day.
pub(crate) struct DaySeen {
    pub date: CivilDate,
    /// The heading.
    pub name: String,
    /// The day, which screen readers say before each event.
    pub spoken: String,
    /// A shorter heading, where days are columns.
    pub short: Option<String>,
    /// The address of the view of the day.
    pub href: String,
    pub is_today: bool,
    /// Whether it only completes a week of the month.
    pub is_outside: bool,
    /// What is unusual about the day.
    pub note: Option<String>,
    /// The hours beside the day, unless they are those of the day before.
    pub axis: Vec<Hour>,
    /// The row with which its hours open, if it has the first axis.
    pub opens: Option<usize>,
    /// The row of the first event that begins on it.
    pub first_row: Option<usize>,
    /// The number of rows.
    pub rows: usize,
    /// When the first row begins; `None` if the zone skips the day.
    pub begin: Option<Timestamp>,
    /// The address of the form of a new event on that day, if the user may create one.
    pub new_href: Option<String>,
    /// The hours, if the user may create an event.
    pub slots: Vec<Slot>,
    /// The events that take the whole day. In a list or a month: all events.
    pub strip: Vec<Entry>,
    /// The events in rows.
    pub timed: Vec<Entry>,
    /// The events of a single day for which there is no place among its hours.
    pub rest: Vec<Entry>,
    /// The number of events that are not shown.
    pub more: usize,
    /// The address at which they are.
    pub more_href: String,
}

impl DaySeen {
    pub(crate) fn is_empty(&self) -> bool {
        self.strip.is_empty() && self.timed.is_empty() && self.more == 0
    }

    /// Whether the grid opens with that hour.
    pub(crate) fn opens_at(&self, hour: &Hour) -> bool {
        self.opens == Some(hour.row)
    }
}
