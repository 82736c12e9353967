//! The hours of a day, as people type and read them.

use std::fmt;

/// The hours in which a day is open: from a minute up to but not including another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenHours {
    /// Minutes since midnight.
    start: u16,
    /// Minutes since the same midnight: after the start, and at most [`MIDNIGHT`].
    end: u16,
}

/// 24:00, in minutes since midnight.
pub(crate) const MIDNIGHT: u16 = 24 * 60;

/// The hours of each day from Monday; `None` for a day that is closed.
pub(crate) type Week = [Option<OpenHours>; 7];

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WeekDay {
    /// The name of its field, as the API has it.
    pub field: &'static str,
    /// The name in a few letters.
    pub short: &'static str,
    /// The name.
    pub name: &'static str,
}

/// The days of the week.
pub(crate) const WEEK: [WeekDay; 7] = [
    WeekDay { field: "mon", short: "Mon", name: "Monday" },
    WeekDay { field: "tue", short: "Tue", name: "Tuesday" },
    WeekDay { field: "wed", short: "Wed", name: "Wednesday" },
    WeekDay { field: "thu", short: "Thu", name: "Thursday" },
    WeekDay { field: "fri", short: "Fri", name: "Friday" },
    WeekDay { field: "sat", short: "Sat", name: "Saturday" },
    WeekDay { field: "sun", short: "Sun", name: "Sunday" },
];

/// What is wrong with a text that is no hours.
const FORM: &str = "must be hours such as 09:00-17:00, or closed";
/// What is wrong with several hours.
const ONCE: &str = "must be one span such as 09:00-17:00: a day opens once. Keep a break free with an event";
/// What is wrong with hours that end before they start.
const ORDER: &str = "must end after it starts, and at 24:00 at the latest";

impl OpenHours {
    /// The hours between two minutes since midnight; `None` if the end is not after the start, or after 24:00.
    pub const fn new(start: u16, end: u16) -> Option<Self> {
        if start < end && end <= MIDNIGHT { Some(Self { start, end }) } else { None }
    }

    /// The hours between two times such as `09:00` and `24:00`, as the API writes them.
    pub fn between(start: &str, end: &str) -> Option<Self> {
        Self::new(minute(start)?, minute(end)?)
    }

    /// The start, in minutes since midnight.
    pub(crate) const fn start(self) -> u16 {
        self.start
    }

    /// The end, in minutes since midnight.
    pub(crate) const fn end(self) -> u16 {
        self.end
    }

    /// The start and the end, as the API writes them.
    pub fn texts(self) -> [String; 2] {
        [self.start, self.end].map(clock)
    }
}

impl fmt::Display for OpenHours {
    /// Writes hours as people read them: `09:00–17:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [start, end] = self.texts();
        write!(f, "{start}–{end}")
    }
}

fn clock(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// The hours as [`read_hours`] reads them: `09:00-17:00`, or nothing for a day that is closed.
pub fn hours_text(hours: Option<OpenHours>) -> String {
    hours.map(|hours| hours.texts().join("-")).unwrap_or_default()
}

/// Reads hours as people type them: `09:00-17:00`, `9-17`, `9:00 – 17:30`; nothing or `closed` for a day that is
/// closed. An end at 00:00 is the midnight after, unless the start is at 00:00 too: a whole day is `0-24`.
///
/// # Errors
/// What is wrong, as the message of a field.
pub fn read_hours(text: &str) -> Result<Option<OpenHours>, &'static str> {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("closed") {
        return Ok(None);
    }
    if text.contains([',', ';']) {
        return Err(ONCE);
    }
    let (start, end) = text.split_once(['-', '–', '—']).ok_or(FORM)?;
    let (Some(start), Some(end)) = (minute(start.trim()), minute(end.trim())) else { return Err(FORM) };
    let end = if end == 0 && start > 0 { MIDNIGHT } else { end };
    OpenHours::new(start, end).map(Some).ok_or(ORDER)
}

/// Reads a time of day up to 24:00, with or without minutes, as minutes since midnight.
fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once([':', '.']).unwrap_or((text, "00"));
    let is_written = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_written(hour) || !is_written(minute) || hour.len() > 2 || minute.len() != 2 {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let at = hour * 60 + minute;
    (minute < 60 && at <= MIDNIGHT).then_some(at)
}

/// A week in one line, such as `Mon–Fri 09:00–17:00, Sat 10:00–12:00`. Days that are closed are left out.
pub(crate) fn week_text(week: &Week) -> String {
    let days: Vec<(&WeekDay, &Option<OpenHours>)> = WEEK.iter().zip(week).collect();
    let mut parts = Vec::new();
    for run in days.chunk_by(|(_, one), (_, other)| one == other) {
        let (Some((first, Some(hours))), Some((last, _))) = (run.first(), run.last()) else { continue };
        parts.push(match run.len() {
            1 => format!("{} {hours}", first.short),
            7 => format!("Every day {hours}"),
            _ => format!("{}–{} {hours}", first.short, last.short),
        });
    }
    if parts.is_empty() { "Closed on every weekday".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn hours(start: u16, end: u16) -> Option<OpenHours> {
        Some(OpenHours::new(start, end).unwrap())
    }

    #[rstest]
    #[case::as_it_is_shown("09:00-17:00", hours(540, 1_020))]
    #[case::short("9-17", hours(540, 1_020))]
    #[case::spaces(" 9:30 – 17:45 ", hours(570, 1_065))]
    #[case::points("9.30—17.45", hours(570, 1_065))]
    #[case::all_day("0-24", hours(0, MIDNIGHT))]
    #[case::until_midnight("18:00-00:00", hours(1_080, MIDNIGHT))]
    #[case::a_minute("23:59-24:00", hours(1_439, MIDNIGHT))]
    #[case::nothing("  ", None)]
    #[case::closed("Closed", None)]
    fn hours_are_read_as_people_type_them(#[case] text: &str, #[case] read: Option<OpenHours>) {
        assert_eq!(read_hours(text), Ok(read));
    }

    #[rstest]
    #[case("09:00", FORM)]
    #[case("nine-five", FORM)]
    #[case("09:0-17:00", FORM)]
    #[case("09:00-17:60", FORM)]
    #[case("09:00-24:01", FORM)]
    #[case("009-17", FORM)]
    #[case("-", FORM)]
    #[case("9-12-17", FORM)]
    #[case("09:00-12:00, 13:00-17:00", ONCE)]
    #[case("17:00-09:00", ORDER)]
    #[case("09:00-09:00", ORDER)]
    #[case("24:00-24:00", ORDER)]
    #[case("00:00-00:00", ORDER)]
    #[case("0-0", ORDER)]
    fn other_texts_are_refused(#[case] text: &str, #[case] problem: &str) {
        assert_eq!(read_hours(text), Err(problem));
    }

    #[test]
    fn a_week_is_one_line() {
        let (day, short) = (hours(540, 1_020), hours(600, 720));
        for (week, text) in [
            ([day, day, day, day, day, short, None], "Mon–Fri 09:00–17:00, Sat 10:00–12:00"),
            ([day, None, day, None, None, None, day], "Mon 09:00–17:00, Wed 09:00–17:00, Sun 09:00–17:00"),
            ([day; 7], "Every day 09:00–17:00"),
            ([None; 7], "Closed on every weekday"),
            ([short, short, day, day, day, day, day], "Mon–Tue 10:00–12:00, Wed–Sun 09:00–17:00"),
        ] {
            assert_eq!(week_text(&week), text);
        }
    }

    proptest! {
        /// What the form shows is read as the same hours, and so is what people and programs read elsewhere.
        #[test]
        fn hours_are_read_back(start in 0..MIDNIGHT, length in 1..=MIDNIGHT) {
            let hours = OpenHours::new(start, (start + length).min(MIDNIGHT));
            prop_assert_eq!(read_hours(&hours_text(hours)), Ok(hours));
            let hours = hours.unwrap();
            prop_assert_eq!(read_hours(&hours.to_string()), Ok(Some(hours)));
            let [start, end] = hours.texts();
            prop_assert_eq!(OpenHours::between(&start, &end), Some(hours));
        }

        /// No text makes reading fail in another way than with a message.
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9:. \u{2013}-]{0,12}") {
            if let Ok(Some(hours)) = read_hours(&text) {
                prop_assert_eq!(read_hours(&hours_text(Some(hours))), Ok(Some(hours)));
            }
        }
    }
}
