//! One pass over the lines of a feed, which collects the relevant components.
//!
//! There is no stack. The depth of components within an event is only counted. The end of an event or a calendar also
//! ends everything left open in it. So neither deep nesting nor a missing `END` does harm.

use std::collections::HashMap;
use std::mem::take;

use kalends_calendars::NAME_MAX;
use kalends_recurrence::Rule;

use super::draft::Draft;
use super::feed::{ReadError, SkipReason, Skipped};
use super::lines::{Lines, Property, RawLine};
use super::observances::{Described, Observance};
use super::values::{Form, When, line_of_text, offset};
use super::zones::ZoneNames;
use crate::limits::{BYTES_MAX, EVENTS_MAX, OBSERVANCES_MAX, TRANSITIONS_MAX};

/// The content of a feed.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) name: Option<String>,
    pub(super) calendars: Vec<CalendarHead>,
    pub(super) drafts: Vec<Draft>,
    pub(super) described: HashMap<String, Described>,
    pub(super) zones: ZoneNames,
    pub(super) skipped: Vec<Skipped>,
    events: usize,
    /// The number of open `VCALENDAR`s.
    open: usize,
    place: Place,
}

/// The properties of a `VCALENDAR` that apply to all its events.
#[derive(Debug, Default)]
pub(super) struct CalendarHead {
    /// `X-WR-TIMEZONE`
    pub(super) zone: Option<String>,
    /// `METHOD:CANCEL`
    pub(super) cancels: bool,
}

/// The place of a line in a feed.
#[derive(Debug, Default)]
enum Place {
    /// Outside of components, or in a calendar itself.
    #[default]
    Calendar,
    /// In an event, and the number of open components within it.
    Event(Box<Draft>, usize),
    Zone(Box<ZoneDraft>),
    /// In components that are ignored, and their depth.
    Other(usize),
}

#[derive(Debug, Default)]
struct ZoneDraft {
    name: String,
    described: Described,
    observance: Option<Observance>,
}

/// Reads the components of a feed.
pub(super) fn scan(bytes: &[u8]) -> Result<Scanned, ReadError> {
    if bytes.len() > BYTES_MAX {
        return Err(ReadError::TooLarge { bytes: bytes.len() });
    }
    let mut scanned = Scanned::default();
    let mut upper = [0; 32];
    for line in Lines::new(bytes) {
        let name = line.name();
        let Some(name) = upper.get_mut(..name.len()).map(|upper| {
            upper.copy_from_slice(&name);
            upper.make_ascii_uppercase();
            &*upper
        }) else {
            continue;
        };
        match name {
            b"BEGIN" => scanned.begin(&component(line))?,
            b"END" => scanned.end(&component(line)),
            b"" => {}
            name => scanned.property(name, line),
        }
    }
    if scanned.calendars.is_empty() {
        return Err(not_a_calendar(bytes));
    }
    if scanned.open > 0 { Err(ReadError::Truncated) } else { Ok(scanned) }
}

fn component(line: RawLine<'_>) -> String {
    let text = line.text();
    Property::parse(&text).map_or_else(String::new, |property| property.value.trim().to_ascii_uppercase())
}

fn not_a_calendar(bytes: &[u8]) -> ReadError {
    let begins = Lines::new(bytes).map(|line| line.text().trim().to_owned()).find(|text| !text.is_empty());
    match begins {
        None => ReadError::Empty,
        Some(text) if text.starts_with('<') => ReadError::Html,
        Some(text) => {
            ReadError::NotCalendar { begins: text.chars().filter(|letter| !letter.is_control()).take(40).collect() }
        }
    }
}

impl Scanned {
    fn begin(&mut self, name: &str) -> Result<(), ReadError> {
        match name {
            "VCALENDAR" => {
                self.leave();
                self.calendars.push(CalendarHead::default());
                self.open += 1;
            }
            "VEVENT" => {
                self.leave();
                self.events += 1;
                if self.events > EVENTS_MAX {
                    return Err(ReadError::TooManyEvents);
                }
                let calendar = self.calendars.len().saturating_sub(1);
                self.place = Place::Event(Box::new(Draft { calendar, ..Draft::default() }), 0);
            }
            "VTIMEZONE" => {
                self.leave();
                self.place = Place::Zone(Box::default());
            }
            _ => match &mut self.place {
                Place::Event(_, depth) | Place::Other(depth) => *depth += 1,
                Place::Zone(zone) => zone.begin(name),
                Place::Calendar => self.place = Place::Other(1),
            },
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        match (name, &mut self.place) {
            ("VCALENDAR", _) => {
                self.leave();
                self.open = self.open.saturating_sub(1);
            }
            ("VEVENT", Place::Event(draft, _)) => {
                let draft = take(&mut **draft);
                self.place = Place::Calendar;
                self.add(draft);
            }
            ("VTIMEZONE", Place::Zone(zone)) => {
                zone.close();
                let ZoneDraft { name, described, .. } = take(&mut **zone);
                self.place = Place::Calendar;
                if self.described.len() < OBSERVANCES_MAX {
                    self.described.entry(name).or_insert(described);
                }
            }
            (_, Place::Zone(zone)) => zone.close(),
            (_, Place::Event(_, depth)) => *depth = depth.saturating_sub(1),
            (_, Place::Other(1)) => self.place = Place::Calendar,
            (_, Place::Other(depth)) => *depth -= 1,
            (_, Place::Calendar) => {}
        }
    }

    fn add(&mut self, mut draft: Draft) {
        draft.finish();
        match draft.fault {
            Some(reason) => self.skipped.push(Skipped { uid: draft.uid, reason }),
            None => self.drafts.push(draft),
        }
    }

    /// Leaves a component without an `END`.
    fn leave(&mut self) {
        if let Place::Event(mut draft, _) = take(&mut self.place) {
            draft.finish();
            self.skipped.push(Skipped { uid: draft.uid, reason: SkipReason::Unclosed });
        }
    }

    fn property(&mut self, name: &[u8], line: RawLine<'_>) {
        match &mut self.place {
            Place::Event(draft, 0) => draft.set(name, line, &mut self.zones),
            Place::Event(..) | Place::Other(_) => {}
            Place::Zone(zone) => zone.set(name, line),
            Place::Calendar => self.of_calendar(name, line),
        }
    }

    fn of_calendar(&mut self, name: &[u8], line: RawLine<'_>) {
        let Some(head) = self.calendars.last_mut() else { return };
        if !matches!(name, b"X-WR-CALNAME" | b"NAME" | b"X-WR-TIMEZONE" | b"METHOD") {
            return;
        }
        let text = line.text();
        let Some(Property { value, .. }) = Property::parse(&text) else { return };
        match name {
            b"X-WR-TIMEZONE" if head.zone.is_none() => head.zone = Some(line_of_text(value, NAME_MAX)),
            b"METHOD" => head.cancels = value.trim().eq_ignore_ascii_case("CANCEL"),
            b"X-WR-CALNAME" | b"NAME" if self.name.is_none() => {
                self.name = Some(line_of_text(value, NAME_MAX)).filter(|name| !name.is_empty());
            }
            _ => {}
        }
    }
}

impl ZoneDraft {
    fn begin(&mut self, name: &str) {
        self.close();
        if matches!(name, "STANDARD" | "DAYLIGHT") {
            self.observance = Some(Observance::default());
        }
    }

    fn close(&mut self) {
        let Some(observance) = self.observance.take() else { return };
        if self.described.observances.len() < OBSERVANCES_MAX {
            self.described.observances.push(observance);
        } else {
            self.described.unusable = true;
        }
    }

    fn set(&mut self, name: &[u8], line: RawLine<'_>) {
        let text = line.text();
        let Some(Property { value, .. }) = Property::parse(&text) else { return };
        let Some(observance) = &mut self.observance else {
            match name {
                b"TZID" => self.name = value.trim().trim_matches('"').to_owned(),
                b"X-LIC-LOCATION" => self.described.location = Some(value.trim().to_owned()),
                _ => {}
            }
            return;
        };
        let read = |text: &str| When::parse(text, Form::Floating, false).map(|when| when.local);
        match name {
            b"DTSTART" => observance.start = read(value),
            b"TZOFFSETFROM" => observance.from = offset(value),
            b"TZOFFSETTO" => observance.to = offset(value),
            b"RRULE" => match Rule::parse_lenient(value).map(|read| read.rule) {
                Ok(rule) if observance.rules.len() < 16 => observance.rules.push(rule),
                _ => self.described.unusable = true,
            },
            b"RDATE" => {
                let dates = value.split(',').filter_map(|text| read(text.split('/').next().unwrap_or(text)));
                let room = (TRANSITIONS_MAX + 1).saturating_sub(observance.dates.len());
                observance.dates.extend(dates.take(room));
                self.described.unusable |= observance.dates.len() > TRANSITIONS_MAX;
            }
            _ => {}
        }
    }
}
