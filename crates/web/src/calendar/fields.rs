//! The fields of the forms about events.

use kalends_kernel::FieldError;
use kalends_time::{CivilDate, CivilDateTime, CivilTime, Timestamp, Zone};

use super::repeat::RepeatGiven;
use crate::{
    field::{Area, Choice, Field, Select},
    problems::Problems,
};

/// The fields of the forms about an event. They have the names of the API, where it has them.
pub const EVENT_FIELDS: [&str; 20] = [
    "calendar",
    "title",
    "start_time",
    "end_time",
    "all_day",
    "status",
    "hold_minutes",
    "location",
    "conference_url",
    "description",
    "attendees",
    "send_invitations",
    "reminders",
    "repeats",
    "recurrence_rule",
    "ends",
    "count",
    "until",
    "if_free",
    "scope",
];
/// The maximum lengths, in characters.
const TITLE: usize = 500;
const LOCATION: usize = 500;
const CALL: usize = 2_000;
const DESCRIPTION: usize = 20_000;
/// The names and addresses of an event take at most 32,768 bytes. The rest is what the form adds to 200 of them.
const ATTENDEES: usize = 36_000;
const REMINDERS: usize = 100;
/// How attendees are written.
const HOW_TO_NAME_ATTENDEES: &str = "One attendee per line: an address, or a name and the address, such as Ada \
                                     Lovelace <ada@example.com>. End the line with (optional) if somebody does not \
                                     have to be there.";

const STATUSES: [Choice<'static>; 2] = [
    Choice { value: "confirmed", title: "Confirmed" },
    Choice { value: "tentative", title: "Tentative: it may take place" },
];
const STATUSES_OF_NEW: [Choice<'static>; 3] =
    [STATUSES[0], STATUSES[1], Choice { value: "hold", title: "Hold: the time is kept for some minutes" }];
const CONFLICTS: [Choice<'static>; 2] = [
    Choice { value: "allow", title: "Allow it, if the calendar does" },
    Choice { value: "refuse", title: "Refuse it" },
];
const SCOPES: [Choice<'static>; 3] = [
    Choice { value: "this", title: "Only this one" },
    Choice { value: "following", title: "This and the following" },
    Choice { value: "all", title: "All" },
];

/// What was typed into the form of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventGiven<'a> {
    /// The identifier of the calendar.
    pub calendar: &'a str,
    /// The title.
    pub title: &'a str,
    /// The start on the clock of the zone: [`clock_text`].
    pub start: &'a str,
    /// The end, likewise.
    pub end: &'a str,
    /// The time that the form of a new event suggested as the start, if clocks show it twice. It counts as long as the
    /// start is what a clock shows then.
    pub start_at: &'a str,
    /// The same for the end.
    pub end_at: &'a str,
    /// Whether only the dates of the start and the end count, both included. Only in the form of a new event: if an
    /// event takes whole days, the start and the end in its form are dates, such as `2026-03-02`.
    pub all_day: bool,
    /// The status, as the API names it.
    pub status: &'a str,
    /// The minutes after which a new hold expires.
    pub hold_minutes: &'a str,
    /// Where it takes place.
    pub location: &'a str,
    /// The address of its call.
    pub call: &'a str,
    /// The description.
    pub description: &'a str,
    /// The attendees, each on a line: an `AttendeeLine`.
    pub attendees: &'a str,
    /// Whether the attendees get an email.
    pub sends: bool,
    /// The reminders: [`reminders_text`].
    pub reminders: &'a str,
    /// How it repeats.
    pub repeats: RepeatGiven<'a>,
    /// What to do if something else is at that time: `allow` or `refuse`.
    pub conflicts: &'a str,
    /// The occurrences to change, as the API names them.
    pub scope: &'a str,
}

impl<'a> EventGiven<'a> {
    pub(crate) fn calendar(&self, calendars: &'a [Choice<'a>], problems: &'a Problems) -> Select<'a> {
        let name = "calendar";
        Select { name, label: "Calendar", options: calendars, chosen: self.calendar, problem: problems.of(name) }
    }

    pub(crate) fn title(&self, problems: &'a Problems) -> Field<'a> {
        Field::text("title", "Title", self.title, TITLE).checked(problems)
    }

    pub(crate) fn start(&self, problems: &'a Problems) -> Field<'a> {
        time("start_time", "Start", self.start, problems)
    }

    pub(crate) fn end(&self, problems: &'a Problems) -> Field<'a> {
        time("end_time", "End", self.end, problems)
    }

    /// The first day of an event that takes whole days.
    pub(crate) fn first_day(&self, problems: &'a Problems) -> Field<'a> {
        day("start_time", "First day", self.start, problems)
    }

    /// The last day of an event that takes whole days.
    pub(crate) fn last_day(&self, problems: &'a Problems) -> Field<'a> {
        day("end_time", "Last day", self.end, problems)
    }

    /// The status of a new event, which can be a hold.
    pub(crate) fn new_status(&self, problems: &'a Problems) -> Select<'a> {
        Select { options: &STATUSES_OF_NEW, ..self.status(problems) }
    }

    pub(crate) fn minutes_of_hold(&self, problems: &'a Problems) -> Field<'a> {
        let field = Field::text("hold_minutes", "Minutes until a hold expires", self.hold_minutes, 0);
        Field { kind: "number", max: None, required: false, ..field }.checked(problems)
    }

    pub(crate) fn list_of_attendees(&self, problems: &'a Problems) -> Area<'a> {
        let (name, label) = ("attendees", "Attendees");
        let (problem, hint) = (problems.of(name), Some(HOW_TO_NAME_ATTENDEES));
        Area { name, label, value: self.attendees, max: ATTENDEES, problem, hint }
    }

    pub(crate) fn minutes_of_reminders(&self, problems: &'a Problems) -> Field<'a> {
        let field = Field::text("reminders", "Reminders, in minutes before the start", self.reminders, REMINDERS);
        Field { required: false, ..field }.checked(problems)
    }

    pub(crate) fn status(&self, problems: &'a Problems) -> Select<'a> {
        let name = "status";
        Select { name, label: "Status", options: &STATUSES, chosen: self.status, problem: problems.of(name) }
    }

    pub(crate) fn location(&self, problems: &'a Problems) -> Field<'a> {
        let field = Field::text("location", "Place", self.location, LOCATION).checked(problems);
        Field { required: false, ..field }
    }

    pub(crate) fn call(&self, problems: &'a Problems) -> Field<'a> {
        let field = Field::text("conference_url", "Link to the call", self.call, CALL).checked(problems);
        Field { required: false, ..field }
    }

    pub(crate) fn description(&self, problems: &'a Problems) -> Area<'a> {
        let (name, label) = ("description", "Description");
        Area { name, label, value: self.description, max: DESCRIPTION, problem: problems.of(name), hint: None }
    }

    pub(crate) fn conflicts(&self, problems: &'a Problems) -> Select<'a> {
        let (name, label) = ("if_free", "If something else is at that time");
        Select { name, label, options: &CONFLICTS, chosen: self.conflicts, problem: problems.of(name) }
    }

    pub(crate) fn scopes(&self, problems: &'a Problems) -> Scopes<'a> {
        Scopes { chosen: self.scope, problem: problems.of("scope") }
    }
}

/// A field for a date and a time of day.
pub(crate) fn time<'a>(name: &'static str, label: &'static str, value: &'a str, problems: &'a Problems) -> Field<'a> {
    Field { kind: "datetime-local", max: None, ..Field::text(name, label, value, 0) }.checked(problems)
}

/// A field for a date.
fn day<'a>(name: &'static str, label: &'static str, value: &'a str, problems: &'a Problems) -> Field<'a> {
    Field { kind: "date", max: None, ..Field::text(name, label, value, 0) }.checked(problems)
}

/// The question which occurrences of a series to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scopes<'a> {
    /// The name of what is chosen; empty if nothing is.
    pub chosen: &'a str,
    /// What is wrong with it.
    pub problem: Option<&'a str>,
}

impl Scopes<'_> {
    pub(crate) fn options(&self) -> &'static [Choice<'static>] {
        &SCOPES
    }
}

/// What a clock of the zone shows at that time, as browsers send it: `2026-03-02T09:30`.
pub fn clock_text(at: Timestamp, zone: Zone) -> String {
    let civil = zone.to_civil(at);
    let (hour, minute, _) = civil.time.hour_minute_second();
    format!("{}T{hour:02}:{minute:02}", civil.date)
}

/// The time of day of [`clock_text`]; `None` if it is none. Some browsers send seconds too.
pub fn read_clock(text: &str) -> Option<CivilDateTime> {
    let (date, time) = text.split_once('T')?;
    let date: CivilDate = date.parse().ok()?;
    let is_written = |(at, byte): (usize, u8)| if at % 3 == 2 { byte == b':' } else { byte.is_ascii_digit() };
    if !time.bytes().enumerate().all(is_written) {
        return None;
    }
    let part = |from: usize| -> Option<u32> { time.get(from..from + 2)?.parse().ok() };
    let second = match time.len() {
        5 => 0,
        8 => part(6)?,
        _ => return None,
    };
    Some(date.at(CivilTime::new(part(0)?, part(3)?, second)?))
}

/// No reminders, as a form says it.
const NO_REMINDERS: &str = "none";

/// The reminders of an event as a form shows them, such as `60, 10`: the minutes before the start. Empty if they are
/// those of the calendar (`None`), and `none` if there are none.
pub fn reminders_text(minutes: Option<&[u16]>) -> String {
    match minutes {
        None => String::new(),
        Some([]) => NO_REMINDERS.to_owned(),
        Some(minutes) => minutes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// The minutes of [`reminders_text`]. Their number and size are not checked.
///
/// # Errors
/// The text is neither a list of numbers nor `none`.
pub fn read_reminders(text: &str) -> Result<Option<Vec<i64>>, FieldError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if text.eq_ignore_ascii_case(NO_REMINDERS) {
        return Ok(Some(Vec::new()));
    }
    let numbers = text.split([',', ' ']).filter(|part| !part.is_empty()).map(|part| part.parse().ok());
    let numbers = numbers.collect::<Option<Vec<i64>>>().filter(|numbers| !numbers.is_empty());
    let wrong = || {
        let message = "must be numbers of minutes, such as 60, 10; or none; or empty for those of the calendar";
        FieldError::new("reminders", message)
    };
    numbers.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::{config, timestamp, zone};
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2026-03-02T09:30", Some("2026-03-02T09:30:00"))]
    #[case("2026-03-02T09:30:15", Some("2026-03-02T09:30:15"))]
    #[case("2026-03-02T24:00", None)]
    #[case("2026-02-30T09:30", None)]
    #[case("2026-03-02T9:30", None)]
    #[case("2026-03-02T09:30:15:00", None)]
    #[case("2026-03-02T09:30Z", None)]
    #[case("2026-03-02 09:30", None)]
    #[case("T", None)]
    #[case("", None)]
    fn times_are_read_as_browsers_send_them(#[case] text: &str, #[case] read: Option<&str>) {
        assert_eq!(read_clock(text).map(|civil| civil.to_string()).as_deref(), read);
    }

    #[rstest]
    #[case("", Some(None))]
    #[case("none", Some(Some(&[][..])))]
    #[case(" None ", Some(Some(&[][..])))]
    #[case("10", Some(Some(&[10][..])))]
    #[case("60,10  5, ", Some(Some(&[60, 10, 5][..])))]
    #[case("-1", Some(Some(&[-1][..])))]
    #[case(",", None)]
    #[case("soon", None)]
    #[case("10 minutes", None)]
    fn reminders_are_minutes_or_none_or_those_of_the_calendar(
        #[case] text: &str,
        #[case] minutes: Option<Option<&[i64]>>,
    ) {
        let read = read_reminders(text);
        assert_eq!(read.as_ref().ok().map(Option::as_deref), minutes);
    }

    #[rstest]
    #[case(None, "")]
    #[case(Some(&[][..]), "none")]
    #[case(Some(&[60, 10][..]), "60, 10")]
    fn reminders_are_read_as_they_are_shown(#[case] minutes: Option<&[u16]>, #[case] text: &str) {
        assert_eq!(reminders_text(minutes), text);
        let numbers: Option<Vec<i64>> = minutes.map(|minutes| minutes.iter().copied().map(i64::from).collect());
        assert_eq!(read_reminders(text), Ok(numbers));
    }

    proptest! {
        #![proptest_config(config(256))]

        /// What a form shows of a time is read as the same minute of the clock.
        #[test]
        fn the_clock_of_a_form_is_read_back(at in timestamp(), zone in zone()) {
            let text = clock_text(at, zone);
            let civil = read_clock(&text);
            prop_assert!(civil.is_some(), "{}", text);
            let (shown, read) = (zone.to_civil(at), civil.unwrap());
            prop_assert_eq!(read.date, shown.date);
            prop_assert_eq!(read.time.as_micros(), shown.time.as_micros() / 60_000_000 * 60_000_000);
        }
    }
}
