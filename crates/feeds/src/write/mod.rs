//! Calendars, written as feeds (RFC 5545; ruling 8.1).
//!
//! A [`FeedWriter`] takes a calendar and its events in any order and gives the text in pieces. Equal input gives equal
//! text: nothing in it comes from a clock or from randomness, so that a feed can be told by the versions of what it is
//! made of ([`etag`]).
//!
//! The lines are written here rather than by the crate `icalendar`, which folds the last of several at 76 octets where
//! 75 are allowed, lets a bare carriage return through, gives zones and alarms identifiers and time stamps that change
//! with each rendering, and looks for every fold from the beginning of the line.

mod event;
mod invitation;
mod line;
mod stamp;
mod zones;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::{Calendar, Event, EventSource};
use kalends_kernel::{EventId, Revision, Timestamp, Version, Zone};

use event::{Events, OccurrenceId};
pub use invitation::{Invitation, Method, invitation};
use line::Lines;

/// What is raised whenever the same events are written in another way.
const FORM: &str = "2";

/// After how many minutes a reader should look again; the feed may be kept by caches for as long.
const REFRESH: &str = "PT5M";

/// The strong entity tag of the feed of a calendar in that state. The version of this software is part of it, since a
/// new one may bring new rules of time zones.
pub fn etag(revision: Revision, version: Version) -> String {
    format!("\"{}.{}.{}.{FORM}\"", revision.0, version.0, env!("CARGO_PKG_VERSION"))
}

/// Whether the event is shown in its calendar's feed: native ones that are confirmed or tentative. Imported ones are
/// left out, so that two services that read each other's feeds do not go in circles.
pub fn is_shown(event: &Event) -> bool {
    event.source == EventSource::Internal && event.takes_place()
}

/// Writes the feed of one calendar.
///
/// One-off events are written as they come. Series are kept until the end: an occurrence that was changed on its own
/// may come before or after its series, and the rules of the zones that are written with them depend on the years
/// that all of them cover.
#[derive(Debug)]
pub struct FeedWriter {
    events: Events,
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
        // No `X-WR-TIMEZONE`: some readers take times in UTC as times of that zone once a feed names one.
        text.put("REFRESH-INTERVAL;VALUE=DURATION", REFRESH);
        text.put("X-PUBLISHED-TTL", REFRESH);
        Self {
            events: Events { zone: calendar.zone, reminders: calendar.default_reminders.clone() },
            text,
            series: BTreeMap::new(),
            changed: Vec::new(),
        }
    }

    /// Takes one event of the calendar; one that is not shown ([`is_shown`]) has no effect. A series and an override
    /// are their rows: instances that the rule gives are not to be handed in.
    pub fn event(&mut self, event: Event) {
        if !is_shown(&event) {
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

    /// How many bytes are written and not taken.
    pub fn written(&self) -> usize {
        self.text.len()
    }

    /// Takes what is written so far: whole lines.
    pub fn take(&mut self) -> String {
        self.text.take()
    }

    /// Writes the series and the end, and gives what is written and not taken.
    pub fn end(mut self) -> String {
        self.zones();
        let mut changed: BTreeMap<EventId, Vec<Event>> = BTreeMap::new();
        for event in std::mem::take(&mut self.changed) {
            if let Some(occurrence) = event.occurrence() {
                changed.entry(occurrence.series).or_default().push(event);
            }
        }
        for (id, series) in std::mem::take(&mut self.series) {
            self.series(&series, changed.remove(&id).unwrap_or_default());
        }
        // Of a series that is cancelled itself these take place all the same.
        for event in changed.into_values().flatten() {
            self.events.one_off(&event, &mut self.text);
        }
        self.text.put("END", "VCALENDAR");
        self.text.take()
    }

    /// The rules of the zones that series follow, for the years that they cover.
    fn zones(&mut self) {
        let mut covered: BTreeMap<&str, zones::Covered> = BTreeMap::new();
        for event in self.series.values() {
            let Some(recurrence) = event.recurrence() else { continue };
            let zone = recurrence.zone();
            if event.times.all_day || zone == Zone::UTC {
                continue;
            }
            let span = event.times.span;
            let end = recurrence.last_start().map_or(Timestamp::HORIZON, |last| last + span.length());
            let years = zones::Covered { zone, from: span.start(), to: end };
            covered.entry(zone.name()).and_modify(|known| known.widen(years)).or_insert(years);
        }
        for covered in covered.values() {
            zones::write(covered, &mut self.text);
        }
    }

    /// One series with the occurrences that were changed on their own.
    fn series(&mut self, series: &Event, mut changed: Vec<Event>) {
        let (Some(recurrence), Some(id)) = (series.recurrence(), OccurrenceId::of(series)) else { return };
        changed.sort_unstable_by_key(|event| event.occurrence().map(|occurrence| occurrence.start));
        let shown: BTreeSet<Timestamp> = changed.iter().filter_map(Event::occurrence).map(|of| of.start).collect();
        // An occurrence whose own event is not shown does not take place by the rule either.
        let gone = recurrence.overridden().iter().filter(|start| !shown.contains(start)).copied();
        self.events.series(series, recurrence, id, gone, &mut self.text);
        for event in &changed {
            self.events.changed(event, id, &mut self.text);
        }
    }
}
