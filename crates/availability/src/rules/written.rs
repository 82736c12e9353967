//! Rules as requests write them and stores keep them, and their validation.

use kalends_kernel::{Code, FieldError, FieldErrors};
use kalends_time::{CivilDate, MissingDay, Timestamp, Zone};
use serde::{Deserialize, Serialize};

use super::{BUFFER_MAX_MINUTES, OVERRIDES_MAX, Override, Rules, Week, day::Hours, day::Minute};

/// [`Rules`] in plain values: the form of requests and of the document that a store keeps.
///
/// In the document, every field has the name that it has here. An unknown field is refused.
///
/// ```
/// use kalends_availability::{Rules, WrittenRules};
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
/// assert_eq!(WrittenRules::from(rules), written);
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
    pub working_hours: Option<Week<WrittenHours>>,
    /// The IANA name of the zone of the hours and dates.
    pub timezone: String,
    /// Dates with other hours: at most 366, each date once, in any order.
    pub overrides: Vec<WrittenOverride>,
}

/// [`Hours`] as two times of the form `HH:MM`.
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
        let working_hours =
            written.working_hours.as_ref().and_then(|week| errors.take_all(Week::read("working_hours", week)));
        let zone = errors.take(
            written
                .timezone
                .parse::<Zone>()
                .map_err(|error| FieldError::new("timezone", error.to_string()).with_code(Code::InvalidTimezone)),
        );
        let overrides = read_overrides(&written.overrides, &mut errors);
        match (before, after, zone) {
            (Some(buffer_before), Some(buffer_after), Some(zone)) => {
                errors.finish()?;
                Ok(Self { buffer_before, buffer_after, working_hours, zone, overrides })
            }
            _ => Err(errors),
        }
    }
}

impl Week<Hours> {
    /// Reads the hours of each day. `path` is the path of the week in the request.
    ///
    /// # Errors
    /// Every error, each under its path, such as `working_hours.mon.end`.
    pub fn read(path: &str, written: &Week<WrittenHours>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let week = written.map(|day, hours| read_hours(&format!("{path}.{day}"), hours, &mut errors));
        errors.finish()?;
        Ok(week)
    }
}

impl From<&Week<Hours>> for Week<WrittenHours> {
    fn from(week: &Week<Hours>) -> Self {
        week.map(|_, hours| Some((*hours).into()))
    }
}

impl TryFrom<WrittenRules> for Rules {
    type Error = FieldErrors;

    fn try_from(written: WrittenRules) -> Result<Self, FieldErrors> {
        Self::try_from(&written)
    }
}

impl From<Rules> for WrittenRules {
    /// The overrides are in the order of their dates.
    fn from(rules: Rules) -> Self {
        Self {
            buffer_before_minutes: rules.buffer_before.into(),
            buffer_after_minutes: rules.buffer_after.into(),
            working_hours: rules.working_hours.as_ref().map(Into::into),
            timezone: rules.zone.name().to_owned(),
            overrides: rules.overrides.iter().map(|given| (*given).into()).collect(),
        }
    }
}

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

fn buffer(param: &str, minutes: i64) -> Result<u8, FieldError> {
    let fits = u8::try_from(minutes).ok().filter(|minutes| *minutes <= BUFFER_MAX_MINUTES);
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
    if written.len() > OVERRIDES_MAX {
        // One error is enough: the overrides themselves could add thousands.
        let message = format!("must be at most {OVERRIDES_MAX}, got {}", written.len());
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
    use crate::strategies::rules_and_moment;

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
        let week = Week { wed: Some(hours(start, end)), ..Week::default() };
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
            working_hours: Some(Week {
                mon: Some(hours("10:00", "09:00")),
                sun: Some(hours("x", "24:00")),
                ..Week::default()
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
        assert_eq!(Rules::try_from(&full).unwrap().overrides().len(), OVERRIDES_MAX);
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
        let error = serde_json::from_str::<Rules>(document).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn the_document() {
        let week = Week { tue: Some(hours("08:30", "24:00")), ..Week::default() };
        let rules = WrittenRules {
            buffer_after_minutes: 15,
            working_hours: Some(week),
            overrides: vec![
                WrittenOverride { working_hours: Some(hours("10:00", "12:00")), ..on("2026-12-25") },
                on("2026-12-24"),
            ],
            ..written()
        };
        let document = serde_json::to_string(&Rules::try_from(&rules).unwrap()).unwrap();
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

    proptest! {
        #[test]
        fn documents_round_trip((written, _) in rules_and_moment()) {
            let rules = Rules::try_from(&written).unwrap();
            let document = serde_json::to_string(&rules).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Rules>(&document).unwrap(), &rules);
            let mut sorted = written;
            sorted.overrides.sort_by(|a, b| a.date.cmp(&b.date));
            prop_assert_eq!(WrittenRules::from(rules), sorted);
        }

        #[test]
        fn any_text_is_read_or_refused(start in ".{0,8}", end in "[0-2][0-9]:[0-5][0-9]", date in ".{0,12}") {
            let overrides = vec![WrittenOverride { date, working_hours: Some(hours(&start, &end)) }];
            if let Ok(rules) = Rules::try_from(&WrittenRules { overrides: overrides.clone(), ..written() }) {
                prop_assert_eq!(WrittenRules::from(rules).overrides, overrides);
            }
        }
    }
}
