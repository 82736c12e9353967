//! Events as `VEVENT` (RFC 5545 section 3.6.1).

use kalends_calendars::{Event, EventStatus, Recurrence, Reminders};
use kalends_kernel::{EventId, Version};
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use super::{
    line::Lines,
    party::{Method, Party},
    stamp,
};

/// Identifies the occurrences of a series, in the form of its `DTSTART` and with the version of the series. Readers
/// treat an override with a lower version as outdated. Every write of an override increments the version of the series.
#[derive(Debug, Clone, Copy)]
pub(super) struct OccurrenceId {
    series: EventId,
    version: Version,
    zone: Zone,
    all_day: bool,
}

impl OccurrenceId {
    /// `None` if the event is not a series.
    pub(super) fn of(series: &Event) -> Option<Self> {
        let zone = series.recurrence()?.zone();
        Some(Self { series: series.id, version: series.version, zone, all_day: series.times.all_day })
    }

    /// Writes a property whose value is the occurrence at `start`.
    fn put(self, name: &str, start: Timestamp, to: &mut Lines) {
        let civil = self.zone.to_civil(start);
        if self.all_day {
            to.put(&format!("{name};VALUE=DATE"), &stamp::date(civil.date));
        } else if self.zone == Zone::UTC {
            to.put(name, &stamp::utc(start));
        } else {
            to.put(&format!("{name};TZID={}", self.zone), &stamp::local(civil));
        }
    }
}

/// Writes the events of one calendar.
#[derive(Debug)]
pub(super) struct Events<'a> {
    /// The calendar's zone.
    pub(super) zone: Zone,
    /// The calendar's default reminders.
    pub(super) reminders: Option<Reminders>,
    /// The people of an invitation; `None` in a feed, which shows nobody.
    pub(super) party: Option<&'a Party<'a>>,
}

impl Events<'_> {
    /// Writes an event that takes place once.
    pub(super) fn one_off(&self, event: &Event, to: &mut Lines) {
        self.begin(event, event.id, event.version, to);
        once(event, self.zone, to);
        self.end(event, to);
    }

    /// Writes an override.
    pub(super) fn changed(&self, event: &Event, id: OccurrenceId, to: &mut Lines) {
        self.begin(event, id.series, id.version, to);
        if let Some(occurrence) = event.occurrence() {
            id.put("RECURRENCE-ID", occurrence.start, to);
        }
        once(event, if id.all_day { id.zone } else { self.zone }, to);
        self.end(event, to);
    }

    /// Writes a series. `gone` are further occurrences of its rule that do not take place.
    pub(super) fn series(
        &self,
        event: &Event,
        recurrence: &Recurrence,
        id: OccurrenceId,
        gone: impl Iterator<Item = Timestamp>,
        to: &mut Lines,
    ) {
        let start = event.times.span.start();
        self.begin(event, event.id, event.version, to);
        id.put("DTSTART", start, to);
        end_of_first(event.times.span, id, to);
        to.put("RRULE", &rule(recurrence, id));
        if let Ok(series) = recurrence.series(event.times) {
            // An exdate that is not an occurrence, such as the second of two equal local times, could be written like
            // one.
            let cancelled = recurrence.exdates().iter().copied().filter(|start| series.is_occurrence(*start));
            let left_out: Vec<Timestamp> = cancelled.chain(gone).collect();
            if !series.begins_by_its_rule() && !left_out.contains(&start) {
                // Readers disagree whether a start that the rule does not have is an occurrence. In Kalends it is.
                id.put("RDATE", start, to);
            }
            left_out.into_iter().for_each(|start| id.put("EXDATE", start, to));
        }
        self.end(event, to);
        if is_in_a_repeated_hour(start, recurrence, id) {
            self.begin(event, event.id, event.version, to);
            id.put("RECURRENCE-ID", start, to);
            once(event, id.zone, to);
            self.end(event, to);
        }
    }

    /// Writes the properties that do not depend on the times, with this identifier and version.
    fn begin(&self, event: &Event, uid: EventId, version: Version, to: &mut Lines) {
        let updated = stamp::utc(event.updated_at);
        to.put("BEGIN", "VEVENT");
        to.put("UID", &format!("{uid}@kalends"));
        // Without a METHOD, this is the time of the last revision, and with one, when the message was written (RFC 5545
        // section 3.8.7.2).
        let written = self.party.map(|party| stamp::utc(party.written));
        to.put("DTSTAMP", written.as_ref().unwrap_or(&updated));
        to.put("CREATED", &stamp::utc(event.created_at));
        to.put("LAST-MODIFIED", &updated);
        to.put("SEQUENCE", &(version.0 - 1).clamp(0, i32::MAX.into()).to_string());
        let is_cancelled = self.party.is_some_and(|party| party.method == Method::Cancel);
        match event.status {
            _ if is_cancelled => {
                // Without the status, only this attendee is no longer invited (RFC 5546 section 3.2.5).
                if self.party.is_some_and(|party| !party.takes_place) {
                    to.put("STATUS", "CANCELLED");
                }
            }
            EventStatus::Tentative => to.put("STATUS", "TENTATIVE"),
            _ => to.put("STATUS", "CONFIRMED"),
        }
        if event.transparent {
            to.put("TRANSP", "TRANSPARENT");
        }
        to.text("SUMMARY", &event.title);
        let link = self.party.and_then(Party::linked);
        let description = [event.description.as_deref(), link.as_deref()];
        let description: Vec<&str> = description.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        if event.description.is_some() || link.is_some() {
            to.text("DESCRIPTION", &description.join("\n\n"));
        }
        if let Some(location) = &event.location {
            to.text("LOCATION", location);
        }
        if let Some(url) = &event.conference_url {
            // RFC 7986 section 5.11.
            to.put("CONFERENCE;VALUE=URI", url.as_str());
        }
    }

    fn end(&self, event: &Event, to: &mut Lines) {
        if let Some(party) = self.party {
            party.write(event, to);
            to.put("END", "VEVENT");
            return;
        }
        for minutes in Reminders::effective(event.reminders.as_ref(), self.reminders.as_ref()).minutes() {
            to.put("BEGIN", "VALARM");
            // RFC 9074 section 4.
            to.put("UID", &format!("{}-{minutes}@kalends", event.id));
            to.put("ACTION", "DISPLAY");
            to.put("TRIGGER", &format!("-PT{minutes}M"));
            to.text("DESCRIPTION", &event.title);
            to.put("END", "VALARM");
        }
        to.put("END", "VEVENT");
    }
}

/// Whether a series begins in the second of two equal hours. `DTSTART` cannot express that, so the first occurrence is
/// then written on its own.
fn is_in_a_repeated_hour(start: Timestamp, recurrence: &Recurrence, id: OccurrenceId) -> bool {
    let is_unambiguous = id.all_day || id.zone.to_timestamp(id.zone.to_civil(start)) == Some(start);
    let left_out = [recurrence.exdates(), recurrence.overridden()].iter().any(|of| of.binary_search(&start).is_ok());
    !is_unambiguous && !left_out
}

/// Writes the end of the first occurrence, if every reader then finds the right length for the others. Otherwise writes
/// the length.
fn end_of_first(span: Span, id: OccurrenceId, to: &mut Lines) {
    let end = stamp::rounded_up(span.end());
    if id.all_day || id.zone.offset_at(span.start()) == id.zone.offset_at(end) {
        id.put("DTEND", end, to);
    } else {
        to.put("DURATION", &format!("PT{}S", (end - span.start()).as_seconds()));
    }
}

/// The rule. If it has an end, that is written as the start of its last occurrence, so that nothing depends on how a
/// reader counts.
fn rule(recurrence: &Recurrence, id: OccurrenceId) -> String {
    let mut rule = recurrence.rule().to_string();
    let Some(last) = recurrence.last_start() else { return rule };
    if let Some(end) = [";COUNT=", ";UNTIL="].iter().find_map(|part| rule.find(part)) {
        // COUNT and UNTIL are the last part of a rule's text.
        rule.truncate(end);
    }
    let until = if id.all_day { stamp::date(id.zone.to_civil(last).date) } else { stamp::utc(last) };
    rule.push_str(";UNTIL=");
    rule.push_str(&until);
    rule
}

/// Writes the times of an event that takes place once. Whole days are days of `zone`.
fn once(event: &Event, zone: Zone, to: &mut Lines) {
    let span = event.times.span;
    if event.times.all_day {
        let (first, end) = days(span, zone);
        to.put("DTSTART;VALUE=DATE", &stamp::date(first));
        to.put("DTEND;VALUE=DATE", &stamp::date(end));
    } else {
        to.put("DTSTART", &stamp::utc(span.start()));
        to.put("DTEND", &stamp::utc(stamp::rounded_up(span.end())));
    }
}

/// The days of `zone` that a span touches: the first, and the one after the last.
fn days(span: Span, zone: Zone) -> (CivilDate, CivilDate) {
    let first = zone.to_civil(span.start()).date;
    let end = zone.to_civil(span.end()).date;
    let ends_at_midnight = zone.to_timestamp(end.midnight()) == Some(span.end());
    (first, if ends_at_midnight && end > first { end } else { end.plus_days(1) })
}
