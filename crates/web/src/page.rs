//! The facts that every page of a booking page shows, and how times are shown.

use kalends_bookings::{Colour, Question};
use kalends_time::{Timestamp, Zone};

use crate::link::Path;
use crate::time::{Clock, date_label, day_label, duration_label, zone_label};

/// The public facts of a booking page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The path of the page that shows these facts: `/book/<slug>`, or the page that moves a booking. The page's links
    /// and forms lead there.
    pub path: &'a Path,
    /// The title of the booking page.
    pub title: &'a str,
    /// The host's description, as plain text with line breaks.
    pub description: Option<&'a str>,
    /// The host's name.
    pub host: Option<&'a str>,
    /// The duration in minutes.
    pub duration_minutes: u32,
    /// The zone of the page's availability rules.
    pub zone: Zone,
    /// Where bookings take place.
    pub location: Option<&'a str>,
    /// Whether bookings take place in a call. Its address is shown only to those who have booked.
    pub has_call: bool,
    /// The colour of the page's buttons.
    pub accent: Option<Colour>,
    /// Whether other sites may show the page in a frame. Links to pages that they may not show open in a window of their
    /// own.
    pub embedded: bool,
    /// What guests are asked.
    pub questions: &'a [Question],
}

/// How times are shown to the visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisplaySettings {
    /// The zone of all dates and times.
    pub zone: Zone,
    /// The format of times of day.
    pub clock: Clock,
}

impl Page<'_> {
    /// The style sheet of the page's own colour.
    pub(crate) fn style(&self) -> Option<String> {
        self.accent.map(crate::accent::style)
    }

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

    /// The end of a span that begins at `start`, with its date if the date differs.
    pub(crate) fn until(self, start: Timestamp, end: Timestamp) -> String {
        let (start, end) = (self.zone.to_civil(start), self.zone.to_civil(end));
        let time = self.clock.write(end.time);
        if start.date == end.date { time } else { format!("{time}, {}", date_label(end.date)) }
    }
}
