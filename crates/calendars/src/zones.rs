//! The zones that the events of a calendar follow.

use kalends_time::Zone;

use crate::named_values;

named_values! {
    /// The zone that a series follows if its request names none.
    #[derive(Default)]
    pub enum RecurrenceDefault {
        /// UTC, so that its wall-clock time in other zones changes with their clocks.
        #[default]
        Utc = "utc",
        /// The zone of its calendar.
        Calendar = "calendar",
    }
}

/// The zones that the events of a calendar follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zones {
    /// The zone of the calendar, for all-day events.
    pub calendar: Zone,
    /// The zone of series that name none and are not all-day.
    pub series: Zone,
}

/// A calendar in this zone, whose series follow UTC if they name no zone.
impl From<Zone> for Zones {
    fn from(calendar: Zone) -> Self {
        Self { calendar, series: Zone::UTC }
    }
}
