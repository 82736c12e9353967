//! Writing calendars as feeds (RFC 5545).
//!
//! A [`FeedWriter`] takes a calendar and its events in any order and returns the text in pieces. Equal input gives
//! equal text, because nothing in it comes from a clock or from randomness. So the versions of its content identify a
//! feed ([`etag`]).
//!
//! The crate `icalendar` is not used to write the lines. It folds the last of several lines at 76 octets, although 75
//! are allowed. It lets a bare carriage return through. It gives zones and alarms identifiers and time stamps that
//! change with each rendering. It searches for every fold from the beginning of the line.

mod event;
mod invitation;
mod line;
mod party;
mod series;
mod stamp;
mod zones;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use kalends_calendars::{Calendar, Event, EventSource};
use kalends_kernel::{EventId, Revision, Version};

use event::Events;
pub use invitation::{MAILED_DESCRIPTION_MAX, Meeting};
use line::Lines;
pub use party::{Method, Party};
use series::{write_series, write_zones};

/// The version of the output. Increment it whenever the same events are written in another way.
const FORM: &str = "2";

/// How often a reader should fetch the feed again, and how long caches may keep it.
const REFRESH: &str = "PT5M";

/// The strong entity tag of the feed of a calendar in that state. The version of this software is part of it, because a
/// new version may have new time-zone rules.
pub fn etag(revision: Revision, version: Version) -> String {
    format!("\"{}.{}.{}.{FORM}\"", revision.0, version.0, env!("CARGO_PKG_VERSION"))
}

/// Whether the event is shown in its calendar's feed: internal events that are confirmed or tentative. Imported events
/// are left out, so that two services that read each other's feeds do not return each other's events.
pub fn is_in_feed(event: &Event) -> bool {
    event.source == EventSource::Internal && event.takes_place()
}

/// Writes the feed of one calendar.
///
/// One-off events are written at once. Series are kept until the end, because an override may come before or after its
/// series, and because the zone rules that are written with them depend on the years that all series cover.
#[derive(Debug)]
pub struct FeedWriter {
    events: Events<'static>,
    text: Lines,
    series: BTreeMap<EventId, Event>,
    changed: Vec<Event>,
}

impl FeedWriter {
    /// Begins the feed of `calendar`.
    pub fn new(calendar: &Calendar) -> Self {
        let mut text = Lines::default();
        text.put("BEGIN", "VCALENDAR");
        text.put("VERSION", "2.0");
        text.put("PRODID", "-//Kalends//Kalends//EN");
        text.put("CALSCALE", "GREGORIAN");
        text.text("X-WR-CALNAME", &calendar.name);
        // No `X-WR-TIMEZONE`: if a feed names a zone, some readers treat times in UTC as times of that zone.
        text.put("REFRESH-INTERVAL;VALUE=DURATION", REFRESH);
        text.put("X-PUBLISHED-TTL", REFRESH);
        Self {
            events: Events { zone: calendar.zone, reminders: calendar.default_reminders.clone(), party: None },
            text,
            series: BTreeMap::new(),
            changed: Vec::new(),
        }
    }

    /// Adds an event of the calendar. An event that is not shown ([`is_in_feed`]) has no effect. Series and overrides
    /// are added as their rows. Do not add instances that a rule gives.
    pub fn event(&mut self, event: Event) {
        if !is_in_feed(&event) {
            return;
        }
        if event.recurrence().is_some() {
            self.series.insert(event.id, event);
        } else if event.occurrence().is_some() {
            self.changed.push(event);
        } else {
            self.events.one_off(&event, &mut self.text);
        }
    }

    /// The number of bytes that are written but not yet taken.
    pub fn written(&self) -> usize {
        self.text.len()
    }

    /// Takes the lines that are written so far.
    pub fn take(&mut self) -> String {
        self.text.take()
    }

    /// Writes the series and the end, and returns the lines that are not yet taken.
    pub fn end(mut self) -> String {
        write_zones(self.series.values(), &mut self.text);
        let mut changed: BTreeMap<EventId, Vec<Event>> = BTreeMap::new();
        for event in std::mem::take(&mut self.changed) {
            if let Some(occurrence) = event.occurrence() {
                changed.entry(occurrence.series).or_default().push(event);
            }
        }
        for (id, series) in std::mem::take(&mut self.series) {
            let changed = changed.remove(&id).unwrap_or_default();
            write_series(&self.events, &series, &changed.iter().collect::<Vec<_>>(), &mut self.text);
        }
        // Overrides of a series that is itself cancelled still take place.
        for event in changed.into_values().flatten() {
            self.events.one_off(&event, &mut self.text);
        }
        self.text.put("END", "VCALENDAR");
        self.text.take()
    }
}
