//! What every page of one booking page tells, and how times are shown.

use kalends_kernel::{Timestamp, Zone};

use crate::link::Path;
use crate::time::{Clock, date_label, day_label, duration_label, zone_label};

/// What a visitor may know of a booking page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Where the page that shows this lies: `/book/<slug>`, or where a booking is moved. Its links and forms lead
    /// there again.
    pub path: &'a Path,
    /// What is booked.
    pub title: &'a str,
    /// What the host says about it, as plain text with line breaks.
    pub description: Option<&'a str>,
    /// Whom it is booked with.
    pub host: Option<&'a str>,
    /// How long it takes, in minutes.
    pub duration_minutes: u32,
    /// The zone of the page's hours.
    pub zone: Zone,
}

/// How the visitor reads times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisplaySettings {
    /// The zone of all dates and times of day.
    pub zone: Zone,
    /// How times of day are written.
    pub clock: Clock,
}

impl Page<'_> {
    pub(crate) fn duration(&self) -> String {
        duration_label(self.duration_minutes)
    }
}

impl DisplaySettings {
    pub(crate) fn time(self, at: Timestamp) -> String {
        self.clock.write(self.zone.to_civil(at).time)
    }

    pub(crate) fn date(self, at: Timestamp) -> String {
        date_label(self.zone.to_civil(at).date)
    }

    pub(crate) fn day(self, at: Timestamp) -> String {
        day_label(self.zone.to_civil(at).date)
    }

    pub(crate) fn zone_at(self, at: Timestamp) -> String {
        zone_label(self.zone, at)
    }

    /// When what begins at `start` ends, with the date where it is another one.
    pub(crate) fn until(self, start: Timestamp, end: Timestamp) -> String {
        let (start, end) = (self.zone.to_civil(start), self.zone.to_civil(end));
        let time = self.clock.write(end.time);
        if start.date == end.date { time } else { format!("{time}, {}", date_label(end.date)) }
    }
}
