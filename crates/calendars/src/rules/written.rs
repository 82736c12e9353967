//! Rules as requests write them and stores keep them, and their validation.

use std::fmt;

use kalends_availability::{Hours, Override, Rules, Week};
use kalends_kernel::{Code, FieldError, FieldErrors};
use kalends_time::{CivilDate, MissingDay, SignedDuration, Timestamp, Zone};
use serde::{Deserialize, Serialize};

/// The longest buffer, in minutes.
pub const BUFFER_MAX_MINUTES: u8 = 120;

/// The maximum number of dates with hours of their own.
pub const DATES_MAX: usize = 366;

/// [`Rules`] in plain values: the form of requests and of the document that a store keeps.
///
/// In the document, every field has the name that it has here. An unknown field is refused.
///
/// ```
/// use kalends_availability::Rules;
/// use kalends_calendars::WrittenRules;
///
/// let document = r#"{
///     "buffer_before_minutes": 10,
///     "buffer_after_minutes": 0,
///     "working_hours": {"mon": {"start": "09:00", "end": "17:00"}},
///     "timezone": "Europe/Berlin",
///     "overrides": [{"date": "2026-12-21", "working_hours": null}]
/// }"#;
/// let written: WrittenRules = serde_json::from_str(document)?;
/// let rules = Rules::try_from(&written)?;
/// assert_eq!(WrittenRules::from(&rules), written);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenRules {
    /// Minutes to keep free before busy time, 0 to 120.
    pub buffer_before_minutes: i64,
    /// Minutes to keep free after busy time, 0 to 120.
    pub buffer_after_minutes: i64,
    /// The hours of each weekday. A missing weekday is closed. `None` restricts nothing.
    pub working_hours: Option<WrittenWeek>,
    /// The IANA name of the zone of the hours and dates.
    pub timezone: String,
    /// Dates with other hours: at most 366, each date once, in any order.
    pub overrides: Vec<WrittenOverride>,
}

/// The hours of each weekday; `None` for a weekday without hours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenWeek {
    /// Monday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mon: Option<WrittenHours>,
    /// Tuesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tue: Option<WrittenHours>,
    /// Wednesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wed: Option<WrittenHours>,
    /// Thursday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thu: Option<WrittenHours>,
    /// Friday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fri: Option<WrittenHours>,
    /// Saturday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sat: Option<WrittenHours>,
    /// Sunday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sun: Option<WrittenHours>,
}

/// [`Hours`] as two times of the form `HH:MM`. Hours that cross midnight are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenHours {
    /// `00:00` to `23:59`.
    pub start: String,
    /// `00:01` to `24:00`, after the start.
    pub end: String,
}

/// [`Override`] in plain values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenOverride {
    /// `YYYY-MM-DD`, in the years 1970 to 2099.
    pub date: String,
    /// The hours of this date; `None` closes it.
    pub working_hours: Option<WrittenHours>,
}

impl TryFrom<&WrittenRules> for Rules {
    type Error = FieldErrors;

    /// Checks every field.
    ///
    /// # Errors
    /// Every error, each under its path, such as `working_hours.mon.end` or `overrides[3].date`.
    fn try_from(written: &WrittenRules) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let before = errors.take(buffer("buffer_before_minutes", written.buffer_before_minutes));
        let after = errors.take(buffer("buffer_after_minutes", written.buffer_after_minutes));
        let working_hours = written.working_hours.as_ref().and_then(|week| errors.take_all(week.read("working_hours")));
        let zone = errors.take(
            written
                .timezone
                .parse::<Zone>()
                .map_err(|error| FieldError::new("timezone", error.to_string()).with_code(Code::InvalidTimezone)),
        );
        let overrides = read_overrides(&written.overrides, &mut errors);
        match (before, after, zone) {
            (Some(before), Some(after), Some(zone)) => {
                errors.finish()?;
                let rules = Self::new(zone).with_overrides(overrides);
                let rules = match working_hours {
                    Some(week) => rules.with_working_hours(week),
                    None => rules,
                };
                rules
                    .with_buffers(before, after)
                    .map_err(|error| FieldErrors::from(FieldError::new("buffer_before_minutes", error.to_string())))
            }
            _ => Err(errors),
        }
    }
}

impl WrittenWeek {
    /// Reads the hours of each day. `path` is the path of the week in the request.
    ///
    /// # Errors
    /// Every error, each under its path, such as `working_hours.mon.end`.
    pub fn read(&self, path: &str) -> Result<Week<Hours>, FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut read = |day: &str, hours: &Option<WrittenHours>| {
            hours.as_ref().and_then(|hours| read_hours(&format!("{path}.{day}"), hours, &mut errors))
        };
        let week = Week {
            mon: read("mon", &self.mon),
            tue: read("tue", &self.tue),
            wed: read("wed", &self.wed),
            thu: read("thu", &self.thu),
            fri: read("fri", &self.fri),
            sat: read("sat", &self.sat),
            sun: read("sun", &self.sun),
        };
        errors.finish()?;
        Ok(week)
    }
}

impl From<&Week<Hours>> for WrittenWeek {
    fn from(week: &Week<Hours>) -> Self {
        let write = |hours: Option<Hours>| hours.map(WrittenHours::from);
        Self {
            mon: write(week.mon),
            tue: write(week.tue),
            wed: write(week.wed),
            thu: write(week.thu),
            fri: write(week.fri),
            sat: write(week.sat),
            sun: write(week.sun),
        }
    }
}

/// Reads the document that a store keeps.
///
/// # Errors
/// The first error, if the document has another form or a value is out of bounds.
pub fn read_rules(document: &str) -> serde_json::Result<Rules> {
    let written: WrittenRules = serde_json::from_str(document)?;
    Rules::try_from(&written).map_err(serde::de::Error::custom)
}

/// The document that a store keeps, as JSON.
///
/// # Errors
/// None in fact: the document has no values that JSON cannot express.
pub fn rules_document(rules: &Rules) -> serde_json::Result<String> {
    serde_json::to_string(&WrittenRules::from(rules))
}

impl From<&Rules> for WrittenRules {
    /// The overrides are in the order of their dates.
    ///
    /// Rules that were read return to what was written. Other rules may have values that the written form does not
    /// have: buffers are rounded up to whole minutes, and hours that cross midnight end after `24:00`. What is out of
    /// bounds is refused when it is read.
    fn from(rules: &Rules) -> Self {
        let minutes = |buffer: SignedDuration| {
            let (whole, rest) = (buffer.as_micros() / MINUTE, buffer.as_micros() % MINUTE);
            whole + i64::from(rest > 0)
        };
        Self {
            buffer_before_minutes: minutes(rules.buffer_before()),
            buffer_after_minutes: minutes(rules.buffer_after()),
            working_hours: rules.working_hours().map(Into::into),
            timezone: rules.zone().name().to_owned(),
            overrides: rules.overrides().iter().map(|given| (*given).into()).collect(),
        }
    }
}

/// A minute in microseconds.
const MINUTE: i64 = SignedDuration::minutes(1).as_micros();

impl From<Hours> for WrittenHours {
    fn from(hours: Hours) -> Self {
        Self { start: Minute(hours.start()).to_string(), end: Minute(hours.end()).to_string() }
    }
}

impl From<Override> for WrittenOverride {
    fn from(given: Override) -> Self {
        Self { date: given.date.to_string(), working_hours: given.hours.map(Into::into) }
    }
}

/// Shows a minute of the day as `HH:MM`, the last one as `24:00`.
struct Minute(u16);

impl fmt::Display for Minute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

fn buffer(param: &str, minutes: i64) -> Result<SignedDuration, FieldError> {
    let fits = (0..=i64::from(BUFFER_MAX_MINUTES)).contains(&minutes).then(|| SignedDuration::minutes(minutes));
    fits.ok_or_else(|| FieldError::new(param, format!("must be 0 to {BUFFER_MAX_MINUTES} minutes, got {minutes}")))
}

fn read_hours(path: &str, written: &WrittenHours, errors: &mut FieldErrors) -> Option<Hours> {
    let mut time = |name: &str, text: &str, allowed: std::ops::RangeInclusive<u16>| {
        let minute = read_minute(text).filter(|minute| allowed.contains(minute));
        let (first, last) = (Minute(*allowed.start()), Minute(*allowed.end()));
        errors.take(minute.ok_or_else(|| {
            FieldError::new(
                format!("{path}.{name}"),
                format!("must be HH:MM from {first} to {last}, got {:?}", cut(text)),
            )
        }))
    };
    let start = time("start", &written.start, 0..=24 * 60 - 1);
    let end = time("end", &written.end, 1..=24 * 60);
    let (start, end) = (start?, end?);
    errors.take(Hours::new(start, end).ok_or_else(|| {
        let message = format!("must be after the start ({}), got {}", Minute(start), Minute(end));
        FieldError::new(format!("{path}.end"), message).with_code(Code::EndBeforeStart)
    }))
}

/// Reads `HH:MM` up to 24:00, as minutes since midnight.
fn read_minute(text: &str) -> Option<u16> {
    let [h, hh, b':', m, mm] = *text.as_bytes() else { return None };
    let number = |tens: u8, ones: u8| {
        let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        digits.then(|| u16::from(tens - b'0') * 10 + u16::from(ones - b'0'))
    };
    let (hour, minute) = (number(h, hh)?, number(m, mm)?);
    (minute < 60 && hour * 60 + minute <= 24 * 60).then_some(hour * 60 + minute)
}

/// Reads the overrides and sorts them by date.
fn read_overrides(written: &[WrittenOverride], errors: &mut FieldErrors) -> Vec<Override> {
    if written.len() > DATES_MAX {
        // One error is enough: the overrides themselves could add thousands.
        let message = format!("must be at most {DATES_MAX}, got {}", written.len());
        errors.push(FieldError::new("overrides", message));
        return Vec::new();
    }
    let mut seen: Vec<(CivilDate, usize)> = Vec::with_capacity(written.len());
    let mut overrides = Vec::with_capacity(written.len());
    for (index, given) in written.iter().enumerate() {
        let path = format!("overrides[{index}]");
        let date = errors.take(read_date(&format!("{path}.date"), &given.date));
        // If the hours are invalid, `errors` is not empty and the caller discards the result.
        let hours =
            given.working_hours.as_ref().map(|hours| read_hours(&format!("{path}.working_hours"), hours, errors));
        let Some(date) = date else { continue };
        match seen.binary_search_by_key(&date, |(date, _)| *date) {
            Ok(at) => {
                let other = seen.get(at).map_or(0, |(_, index)| *index);
                let message = format!("must appear only once, got {date} as in overrides[{other}]");
                errors.push(FieldError::new(format!("{path}.date"), message));
            }
            Err(at) => {
                seen.insert(at, (date, index));
                overrides.push(Override { date, hours: hours.flatten() });
            }
        }
    }
    overrides.sort_unstable_by_key(|given| given.date);
    overrides
}

fn read_date(param: &str, text: &str) -> Result<CivilDate, FieldError> {
    let years = Timestamp::EPOCH.utc_date()..Timestamp::HORIZON.utc_date();
    text.parse::<CivilDate>().ok().filter(|date| years.contains(date)).ok_or_else(|| {
        let mut message = format!("must be a date such as 2026-12-24 in the years 1970 to 2099, got {:?}", cut(text));
        if let Some(missing) = MissingDay::at_start_of(text) {
            message.push_str(&format!("; {missing}"));
        }
        FieldError::new(param, message)
    })
}

/// The first characters, enough to recognize a text.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn written() -> WrittenRules {
        WrittenRules {
            buffer_before_minutes: 0,
            buffer_after_minutes: 0,
            working_hours: None,
            timezone: "UTC".to_owned(),
            overrides: Vec::new(),
        }
    }

    fn hours(start: &str, end: &str) -> WrittenHours {
        WrittenHours { start: start.to_owned(), end: end.to_owned() }
    }

    fn on(date: &str) -> WrittenOverride {
        WrittenOverride { date: date.to_owned(), working_hours: None }
    }

    fn errors(written: &WrittenRules) -> Vec<String> {
        Rules::try_from(written).err().iter().flat_map(FieldErrors::iter).map(ToString::to_string).collect()
    }

    #[rstest]
    #[case("00:00", "24:00", &[])]
    #[case("23:59", "24:00", &[])]
    #[case("00:00", "00:01", &[])]
    #[case("9:00", "17:00", &[r#"working_hours.wed.start: must be HH:MM from 00:00 to 23:59, got "9:00""#])]
    #[case("24:00", "24:00", &[r#"working_hours.wed.start: must be HH:MM from 00:00 to 23:59, got "24:00""#])]
    #[case("09:00", "24:01", &[r#"working_hours.wed.end: must be HH:MM from 00:01 to 24:00, got "24:01""#])]
    #[case("09:00", "00:00", &[r#"working_hours.wed.end: must be HH:MM from 00:01 to 24:00, got "00:00""#])]
    #[case("09:60", "17-00", &[
        r#"working_hours.wed.start: must be HH:MM from 00:00 to 23:59, got "09:60""#,
        r#"working_hours.wed.end: must be HH:MM from 00:01 to 24:00, got "17-00""#,
    ])]
    #[case("+9:00", "17:00:00", &[
        r#"working_hours.wed.start: must be HH:MM from 00:00 to 23:59, got "+9:00""#,
        r#"working_hours.wed.end: must be HH:MM from 00:01 to 24:00, got "17:00:00""#,
    ])]
    #[case("09:00", "09:00", &["working_hours.wed.end: must be after the start (09:00), got 09:00"])]
    #[case("17:00", "09:00", &["working_hours.wed.end: must be after the start (17:00), got 09:00"])]
    fn times(#[case] start: &str, #[case] end: &str, #[case] wrong: &[&str]) {
        let week = WrittenWeek { wed: Some(hours(start, end)), ..WrittenWeek::default() };
        assert_eq!(errors(&WrittenRules { working_hours: Some(week), ..written() }), wrong);
    }

    #[rstest]
    #[case(0, true)]
    #[case(120, true)]
    #[case(-1, false)]
    #[case(121, false)]
    #[case(256, false)]
    #[case(i64::MIN, false)]
    fn buffers(#[case] minutes: i64, #[case] fits: bool) {
        let before = WrittenRules { buffer_before_minutes: minutes, ..written() };
        let after = WrittenRules { buffer_after_minutes: minutes, ..written() };
        let wrong =
            |param| if fits { vec![] } else { vec![format!("{param}: must be 0 to 120 minutes, got {minutes}")] };
        assert_eq!(errors(&before), wrong("buffer_before_minutes"));
        assert_eq!(errors(&after), wrong("buffer_after_minutes"));
    }

    #[rstest]
    #[case("1970-01-01", None)]
    #[case("2099-12-31", None)]
    #[case("1969-12-31", Some(""))]
    #[case("2100-01-01", Some(""))]
    #[case("2026-02-29", Some("; the day does not exist: 2026-02 has 28 days"))]
    #[case("2026-3-1", Some(""))]
    #[case("2026-03-01T00:00:00Z", Some(""))]
    fn dates(#[case] date: &str, #[case] refused: Option<&str>) {
        let message = "overrides[0].date: must be a date such as 2026-12-24 in the years 1970 to 2099, got";
        let wrong: Vec<String> = refused.iter().map(|hint| format!("{message} {date:?}{hint}")).collect();
        assert_eq!(errors(&WrittenRules { overrides: vec![on(date)], ..written() }), wrong);
    }

    #[test]
    fn every_error_has_its_path_and_code() {
        let bad = WrittenRules {
            buffer_before_minutes: 121,
            buffer_after_minutes: -1,
            working_hours: Some(WrittenWeek {
                mon: Some(hours("10:00", "09:00")),
                sun: Some(hours("x", "24:00")),
                ..WrittenWeek::default()
            }),
            timezone: "Mars/Olympus".to_owned(),
            overrides: vec![
                on("2026-12-24"),
                WrittenOverride { working_hours: Some(hours("12:00", "")), ..on("yesterday") },
                on("2026-12-24"),
            ],
        };
        let found = Rules::try_from(&bad).unwrap_err();
        let found: Vec<_> = found.iter().map(|error| (error.param.as_str(), error.code)).collect();
        assert_eq!(
            found,
            [
                ("buffer_before_minutes", None),
                ("buffer_after_minutes", None),
                ("working_hours.mon.end", Some(Code::EndBeforeStart)),
                ("working_hours.sun.start", None),
                ("timezone", Some(Code::InvalidTimezone)),
                ("overrides[1].date", None),
                ("overrides[1].working_hours.end", None),
                ("overrides[2].date", None),
            ]
        );
        let twice = errors(&bad).pop().unwrap();
        assert_eq!(twice, "overrides[2].date: must appear only once, got 2026-12-24 as in overrides[0]");
    }

    #[test]
    fn more_than_366_overrides_are_refused() {
        let day = |index: i64| on(&CivilDate::from_days(20_000 + index).to_string());
        let full = WrittenRules { overrides: (0..366).map(day).collect(), ..written() };
        assert_eq!(Rules::try_from(&full).unwrap().overrides().len(), DATES_MAX);
        let over = WrittenRules { overrides: (0..367).map(|_| on("never")).collect(), ..written() };
        assert_eq!(errors(&over), ["overrides: must be at most 366, got 367"]);
    }

    #[rstest]
    #[case::an_unknown_field(r#"{"buffer_before_minutes":0,"buffer_after_minutes":0,"timezone":"UTC","working_hours":null,"overrides":[],"x":1}"#, "unknown field `x`")]
    #[case::an_unknown_weekday(r#"{"buffer_before_minutes":0,"buffer_after_minutes":0,"timezone":"UTC","working_hours":{"monday":null},"overrides":[]}"#, "unknown field `monday`")]
    #[case::a_missing_field(
        r#"{"buffer_before_minutes":0,"timezone":"UTC","working_hours":null,"overrides":[]}"#,
        "missing field `buffer_after_minutes`"
    )]
    #[case::a_value_out_of_bounds(r#"{"buffer_before_minutes":0,"buffer_after_minutes":121,"timezone":"UTC","working_hours":null,"overrides":[]}"#, "buffer_after_minutes: must be 0 to 120 minutes, got 121")]
    fn a_corrupt_document_is_refused(#[case] document: &str, #[case] why: &str) {
        let error = read_rules(document).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn the_document() {
        let week = WrittenWeek { tue: Some(hours("08:30", "24:00")), ..WrittenWeek::default() };
        let rules = WrittenRules {
            buffer_after_minutes: 15,
            working_hours: Some(week),
            overrides: vec![
                WrittenOverride { working_hours: Some(hours("10:00", "12:00")), ..on("2026-12-25") },
                on("2026-12-24"),
            ],
            ..written()
        };
        let document = rules_document(&Rules::try_from(&rules).unwrap()).unwrap();
        assert_eq!(
            document,
            concat!(
                r#"{"buffer_before_minutes":0,"buffer_after_minutes":15,"#,
                r#""working_hours":{"tue":{"start":"08:30","end":"24:00"}},"timezone":"UTC","#,
                r#""overrides":[{"date":"2026-12-24","working_hours":null},"#,
                r#"{"date":"2026-12-25","working_hours":{"start":"10:00","end":"12:00"}}]}"#,
            )
        );
    }

    fn some_hours() -> impl Strategy<Value = Option<WrittenHours>> {
        let any = (0..1_440u16, 1..=1_440u16).prop_map(|(a, b)| Hours::new(a.min(b - 1), b.max(a + 1)).unwrap().into());
        prop::option::of(any)
    }

    /// Valid rules.
    fn written_rules() -> impl Strategy<Value = WrittenRules> {
        let week = prop::collection::vec(some_hours(), 7).prop_map(|days| {
            let mut days = days.into_iter();
            let mut next = || days.next().unwrap();
            WrittenWeek { mon: next(), tue: next(), wed: next(), thu: next(), fri: next(), sat: next(), sun: next() }
        });
        let overrides = prop::collection::btree_map(20_000..20_010i64, some_hours(), 0..5).prop_map(|given| {
            let one =
                |(day, working_hours)| WrittenOverride { working_hours, ..on(&CivilDate::from_days(day).to_string()) };
            given.into_iter().map(one).collect::<Vec<_>>()
        });
        let zone = prop::sample::select(vec!["UTC", "Europe/Berlin", "Pacific/Apia"]);
        (0..=120i64, 0..=120i64, prop::option::of(week), zone, overrides.prop_shuffle()).prop_map(
            |(before, after, working_hours, zone, overrides)| WrittenRules {
                buffer_before_minutes: before,
                buffer_after_minutes: after,
                working_hours,
                timezone: zone.to_owned(),
                overrides,
            },
        )
    }

    #[test]
    fn what_has_no_written_form_is_rounded_or_refused() {
        let buffers = Rules::default().with_buffers(SignedDuration::micros(1), SignedDuration::seconds(61)).unwrap();
        let written = WrittenRules::from(&buffers);
        assert_eq!((written.buffer_before_minutes, written.buffer_after_minutes), (1, 2));
        let long = Rules::default().with_buffers(SignedDuration::hours(3), SignedDuration::ZERO).unwrap();
        assert_eq!(errors(&(&long).into()), ["buffer_before_minutes: must be 0 to 120 minutes, got 180"]);
        let night = Rules::default().with_working_hours(Week::every_day(Hours::new(1_320, 1_800).unwrap()));
        let refused = r#"working_hours.mon.end: must be HH:MM from 00:01 to 24:00, got "30:00""#;
        assert_eq!(errors(&(&night).into())[0], refused);
    }

    proptest! {
        /// Availability rules are read back as they were stored, and written as they were requested.
        #[test]
        fn documents_round_trip(written in written_rules()) {
            let rules = Rules::try_from(&written).unwrap();
            let document = rules_document(&rules).unwrap();
            prop_assert_eq!(&read_rules(&document).unwrap(), &rules);
            let mut sorted = written;
            sorted.overrides.sort_by(|a, b| a.date.cmp(&b.date));
            prop_assert_eq!(WrittenRules::from(&rules), sorted);
        }

        /// Any text of hours and dates is refused, or written again as it was requested.
        #[test]
        fn any_text_is_read_or_refused(start in ".{0,8}", end in "[0-2][0-9]:[0-5][0-9]", date in ".{0,12}") {
            let overrides = vec![WrittenOverride { date, working_hours: Some(hours(&start, &end)) }];
            if let Ok(rules) = Rules::try_from(&WrittenRules { overrides: overrides.clone(), ..written() }) {
                prop_assert_eq!(WrittenRules::from(&rules).overrides, overrides);
            }
        }
    }
}
