//! A `VEVENT` as written: its properties are read one by one, before its zones and the other events with its `UID` are
//! known.

use kalends_calendars::{ConferenceUrl, DESCRIPTION_MAX, LOCATION_MAX, TITLE_MAX};
use kalends_recurrence::Rule;

use super::feed::SkipReason;
use super::lines::{Property, RawLine};
use super::values::{Form, Lasting, When, cut, line_of_text, lines_of_text};
use super::zones::ZoneNames;
use crate::limits::{DATES_MAX, UID_MAX};

/// The relevant properties of a `VEVENT`.
///
/// Drafts of one event are ordered by their revisions: the greater one replaces the other. The fields after `stamp`
/// only make the order total.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Draft {
    pub(super) sequence: u32,
    /// The later of `DTSTAMP` and `LAST-MODIFIED`.
    pub(super) stamp: Option<i64>,
    pub(super) status: Status,
    pub(super) uid: String,
    pub(super) recurrence_id: Option<When>,
    /// `RANGE=THISANDFUTURE`
    pub(super) and_later: bool,
    pub(super) start: Option<When>,
    pub(super) end: Option<When>,
    pub(super) lasting: Option<Lasting>,
    pub(super) rules: Vec<Rule>,
    pub(super) excluded_rules: Vec<Rule>,
    pub(super) dates: Vec<(When, Ends)>,
    pub(super) excluded: Vec<When>,
    pub(super) transparent: bool,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) location: Option<String>,
    pub(super) conference_url: Option<ConferenceUrl>,
    /// The index of its `VCALENDAR`.
    pub(super) calendar: usize,
    pub(super) unreadable_dates: bool,
    pub(super) fault: Option<SkipReason>,
}

/// `STATUS`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    #[default]
    Unset,
    /// Tentative, but only by `X-MICROSOFT-CDO-BUSYSTATUS`.
    BusyTentative,
    Confirmed,
    Tentative,
    Cancelled,
}

/// The end of a date of `RDATE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ends {
    /// It is as long as the event itself.
    AsEvent,
    At(When),
    After(Lasting),
}

impl Draft {
    /// Sets a property. `name` is in upper case.
    pub(super) fn set(&mut self, name: &[u8], line: RawLine<'_>, zones: &mut ZoneNames) {
        match name {
            b"DTSTART" | b"DTEND" | b"RECURRENCE-ID" | b"EXDATE" | b"RDATE" => {
                let text = line.text();
                if let Some(property) = Property::parse_dates(&text) {
                    self.set_date(name, property, zones);
                }
            }
            b"UID"
            | b"SUMMARY"
            | b"DESCRIPTION"
            | b"LOCATION"
            | b"CONFERENCE"
            | b"X-GOOGLE-CONFERENCE"
            | b"X-MICROSOFT-SKYPETEAMSMEETINGURL"
            | b"DURATION"
            | b"RRULE"
            | b"EXRULE"
            | b"STATUS"
            | b"TRANSP"
            | b"SEQUENCE"
            | b"DTSTAMP"
            | b"LAST-MODIFIED"
            | b"X-MICROSOFT-CDO-BUSYSTATUS" => {
                let text = line.text();
                if let Some(property) = Property::parse(&text) {
                    self.set_value(name, property.value);
                }
            }
            _ => {}
        }
    }

    fn set_date(&mut self, name: &[u8], property: Property<'_>, zones: &mut ZoneNames) {
        let form = property.param("TZID").map_or(Form::Floating, |name| Form::Zoned(zones.number(name)));
        let only_date = property.param("VALUE").is_some_and(|value| value.eq_ignore_ascii_case("DATE"));
        let read = |text: &str| When::parse(text, form, only_date);
        match name {
            b"DTSTART" => once(&mut self.start, &mut self.fault, read(property.value), SkipReason::Start),
            b"DTEND" => once(&mut self.end, &mut self.fault, read(property.value), SkipReason::End),
            b"RECURRENCE-ID" => {
                let id = read(property.value);
                self.and_later =
                    property.param("RANGE").is_some_and(|range| range.eq_ignore_ascii_case("THISANDFUTURE"));
                once(&mut self.recurrence_id, &mut self.fault, id, SkipReason::RecurrenceId);
            }
            _ => {
                let excluded = name == b"EXDATE";
                for text in property.value.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                    if self.dates.len() + self.excluded.len() == DATES_MAX {
                        self.fault = self.fault.or(Some(SkipReason::Dates));
                        return;
                    }
                    match (excluded, period(text, read)) {
                        (true, Some((when, _))) => self.excluded.push(when),
                        (false, Some(date)) => self.dates.push(date),
                        (_, None) => self.unreadable_dates = true,
                    }
                }
            }
        }
    }

    fn set_value(&mut self, name: &[u8], value: &str) {
        let is = |wanted: &str| value.trim().eq_ignore_ascii_case(wanted);
        match name {
            b"UID" if self.uid.is_empty() => self.uid = bounded_uid(value),
            b"SUMMARY" if self.title.is_none() => self.title = Some(line_of_text(value, TITLE_MAX)),
            b"DESCRIPTION" if self.description.is_none() => {
                self.description = Some(lines_of_text(value, DESCRIPTION_MAX)).filter(|text| !text.is_empty());
            }
            b"LOCATION" if self.location.is_none() => {
                self.location = Some(lines_of_text(value, LOCATION_MAX)).filter(|text| !text.is_empty());
            }
            // RFC 7986 section 5.11, and what programs wrote before it. A phone number is not an address that people
            // open, so another of these properties may have it.
            b"CONFERENCE" | b"X-GOOGLE-CONFERENCE" | b"X-MICROSOFT-SKYPETEAMSMEETINGURL"
                if self.conference_url.is_none() =>
            {
                self.conference_url = ConferenceUrl::parse("", value.trim()).ok();
            }
            b"DURATION" => once(&mut self.lasting, &mut self.fault, Lasting::parse(value), SkipReason::End),
            b"RRULE" | b"EXRULE" => self.add_rule(name == b"RRULE", value),
            b"STATUS" if is("CANCELLED") => self.status = Status::Cancelled,
            b"STATUS" if is("TENTATIVE") => self.status = self.status.max(Status::Tentative),
            b"STATUS" if is("CONFIRMED") => self.status = self.status.max(Status::Confirmed),
            b"TRANSP" => self.transparent |= is("TRANSPARENT"),
            b"X-MICROSOFT-CDO-BUSYSTATUS" => {
                self.transparent |= is("FREE");
                if is("TENTATIVE") {
                    self.status = self.status.max(Status::BusyTentative);
                }
            }
            b"SEQUENCE" => self.sequence = value.trim().parse().unwrap_or(0),
            b"DTSTAMP" | b"LAST-MODIFIED" => {
                let stamp = When::parse(value, Form::Utc, false).map(|when| when.local);
                self.stamp = self.stamp.max(stamp);
            }
            _ => {}
        }
    }

    fn add_rule(&mut self, includes: bool, value: &str) {
        let rules = if includes { &mut self.rules } else { &mut self.excluded_rules };
        match Rule::parse_lenient(value).map(|read| read.rule) {
            Ok(rule) if rules.contains(&rule) => {}
            // Many rules would be too much work for one event, and no known program writes them.
            Ok(rule) if rules.len() < 16 => rules.push(rule),
            _ => self.fault = self.fault.or(Some(SkipReason::Rule)),
        }
    }

    /// Completes the draft after all its properties are read.
    pub(super) fn finish(&mut self) {
        if self.start.is_none() {
            self.fault = self.fault.or(Some(SkipReason::NoStart));
        }
        if self.uid.is_empty() {
            // The same event gets the same UID whenever it is read.
            let content = format!("{:?} {:?} {:?}", self.start, self.end, self.title);
            self.uid = format!("nameless-{:016x}", fingerprint(content.as_bytes()));
        }
        // These are sets: their order in the feed has no meaning.
        self.rules.sort_unstable();
        self.excluded.sort_unstable();
        self.excluded.dedup();
        self.dates.sort_unstable();
        self.dates.dedup();
    }
}

/// Keeps the first value of a property that may appear once, and records a value that cannot be read.
fn once<T>(field: &mut Option<T>, fault: &mut Option<SkipReason>, value: Option<T>, reason: SkipReason) {
    match value {
        None => *fault = fault.or(Some(reason)),
        Some(value) if field.is_none() => *field = Some(value),
        Some(_) => {}
    }
}

/// A date, a date-time or a period (RFC 5545 section 3.3.9).
fn period(text: &str, read: impl Fn(&str) -> Option<When>) -> Option<(When, Ends)> {
    let Some((start, end)) = text.split_once('/') else {
        return Some((read(text)?, Ends::AsEvent));
    };
    let ends = match Lasting::parse(end) {
        Some(lasting) => Ends::After(lasting),
        None => Ends::At(read(end)?),
    };
    Some((read(start)?, ends))
}

fn bounded_uid(value: &str) -> String {
    let mut uid: String = value.trim().chars().filter(|character| !character.is_control()).collect();
    if uid.chars().count() > UID_MAX {
        let print = fingerprint(uid.as_bytes());
        cut(&mut uid, UID_MAX - 17);
        uid = format!("{uid}-{print:016x}");
    }
    uid
}

/// The 64-bit hash FNV-1a.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}
