//! The arguments of a call, read as models write them: numbers and arrays may be text, one text may stand for a list of
//! one, and times may be local.

use kalends_kernel::FieldError;
use kalends_time::{CivilDate, CivilDateTime, CivilTime, Timestamp, Zone};
use rmcp::model::JsonObject;
use serde_json::{Number, Value};

/// How many names an error suggests.
const SUGGESTED: usize = 3;
/// Names of more characters are compared with no others: that takes time.
const NAME_MAX: usize = 100;
/// How many characters of an argument an error repeats.
const REPEATED: usize = 100;

/// The arguments of a tool.
#[derive(Debug)]
pub(in super::super) struct Arguments {
    given: JsonObject,
    /// The names of those that are an empty text.
    empty: Vec<String>,
}

impl Arguments {
    /// The arguments of a tool with these properties. An argument that is null or an empty text counts as missing.
    ///
    /// # Errors
    /// If an argument has an unknown name, or a required one is missing.
    pub(super) fn of(mut given: JsonObject, properties: &Value, required: &[&str]) -> Result<Self, FieldError> {
        let empty = given.iter().filter(|(_, value)| **value == "").map(|(name, _)| name.clone()).collect();
        given.retain(|_, value| !value.is_null() && *value != "");
        if let Some(unknown) = given.keys().find(|name| properties.get(name.as_str()).is_none()) {
            let known: Vec<&str> =
                properties.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let message = match nearest(unknown, known.iter().copied()).split_last() {
                None if known.is_empty() => "is unknown: this tool takes no arguments".to_owned(),
                None => format!("is unknown; the arguments are {}", known.join(", ")),
                Some((only, [])) => format!("is unknown; did you mean {only}?"),
                Some((last, others)) => format!("is unknown; did you mean {} or {last}?", others.join(", ")),
            };
            return Err(FieldError::new(beginning(unknown), message));
        }
        if let Some(missing) = required.iter().find(|name| !given.contains_key(**name)) {
            return Err(FieldError::new(*missing, "is required"));
        }
        Ok(Self { given, empty })
    }

    /// Refuses empty texts, where leaving an argument out means something else than clearing a field.
    ///
    /// # Errors
    /// For the first empty text.
    pub(super) fn without_empty(&self) -> Result<(), FieldError> {
        let Some(name) = self.empty.first() else { return Ok(()) };
        let message = "is empty: leave it out to keep the field; to clear it, send null by call_operation";
        Err(FieldError::new(name, message))
    }

    /// The value of an argument as it was sent.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.given.get(name)
    }

    /// An argument as text. Numbers and booleans count as their text.
    ///
    /// # Errors
    /// If it is an array or an object.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, FieldError> {
        self.value(name).map(|value| text_of(name, value)).transpose()
    }

    /// [`Self::text`] of an argument without which the tool cannot run.
    ///
    /// # Errors
    /// Also if it is missing.
    pub(super) fn needed(&self, name: &str) -> Result<String, FieldError> {
        self.text(name)?.ok_or_else(|| FieldError::new(name, "is required"))
    }

    /// An argument as a whole number of at least 0.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, FieldError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => whole(number),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| {
            FieldError::new(name, format!("must be a whole number such as 30; got {}", beginning(&value.to_string())))
        })
    }

    /// The argument `count`, from 1 to `most`; `default` if it is missing.
    ///
    /// # Errors
    /// If it is not such a number.
    pub(super) fn count(&self, default: u32, most: u32) -> Result<usize, FieldError> {
        let count = self.number("count")?.unwrap_or(default);
        let known = usize::try_from(count).ok().filter(|_| (1..=most).contains(&count));
        known.ok_or_else(|| FieldError::new("count", format!("must be 1 to {most}; got {count}")))
    }

    /// An argument as yes or no.
    ///
    /// # Errors
    /// If it is neither.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, FieldError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let flag = match value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) if text == "true" => Some(true),
            Value::String(text) if text == "false" => Some(false),
            _ => None,
        };
        flag.map(Some).ok_or_else(|| {
            FieldError::new(name, format!("must be true or false; got {}", beginning(&value.to_string())))
        })
    }

    /// The entries of an argument that is a list, as they were sent. A single value is a list of one, and a text that is a
    /// JSON array is that array.
    pub(super) fn entries(&self, name: &str) -> Option<Vec<Value>> {
        let value = self.value(name)?;
        let parsed: Option<Vec<Value>> = match value {
            Value::Array(entries) => Some(entries.clone()),
            Value::String(text) if text.trim_start().starts_with('[') => serde_json::from_str(text).ok(),
            _ => None,
        };
        Some(parsed.unwrap_or_else(|| vec![value.clone()]))
    }

    /// [`Self::entries`] as texts.
    ///
    /// # Errors
    /// If an entry is an array or an object.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<String>>, FieldError> {
        let Some(entries) = self.entries(name) else { return Ok(None) };
        entries.iter().map(|entry| text_of(name, entry)).collect::<Result<_, _>>().map(Some)
    }

    /// The zone of an argument.
    ///
    /// # Errors
    /// If there is no such zone. The error names the nearest ones.
    pub(super) fn zone(&self, name: &str) -> Result<Option<Zone>, FieldError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let zone = text.parse().map_err(|_| {
            let nearest = nearest(&text, Zone::all().map(Zone::name));
            let message = if nearest.is_empty() {
                "must be an IANA time zone such as Europe/Berlin".to_owned()
            } else {
                format!("must be an IANA time zone; the nearest names to {text:?} are {}", nearest.join(", "))
            };
            FieldError::new(name, message)
        });
        zone.map(Some)
    }

    /// Whether an argument is a time without an offset, so that reading it needs a zone or the kind of the event.
    ///
    /// # Errors
    /// If it is not text.
    pub(super) fn is_local(&self, name: &str) -> Result<bool, FieldError> {
        Ok(self.text(name)?.is_some_and(|text| text.trim().parse::<Timestamp>().is_err()))
    }

    /// The instant of an argument: RFC 3339 with an offset, or a local time such as `2026-03-05T14:00`, or a date, which
    /// means its first moment. Local times are in `zone`.
    ///
    /// # Errors
    /// If it is none of them, if it is local and there is no zone, or if the clocks of the zone skip it.
    pub(super) fn instant(&self, name: &str, zone: Option<Zone>) -> Result<Option<Timestamp>, FieldError> {
        self.text(name)?.map(|text| instant(name, &text, zone)).transpose()
    }

    /// [`Self::instant`] of the end of a time. A date includes its day.
    ///
    /// # Errors
    /// As [`Self::instant`].
    pub(super) fn end(&self, name: &str, zone: Option<Zone>) -> Result<Option<Timestamp>, FieldError> {
        self.text(name)?.map(|text| moment(name, &text, zone, 1)).transpose()
    }
}

/// The instant of a text in the argument `name`, as [`Arguments::instant`] reads it.
///
/// # Errors
/// Those of [`Arguments::instant`].
pub(super) fn instant(name: &str, text: &str, zone: Option<Zone>) -> Result<Timestamp, FieldError> {
    moment(name, text, zone, 0)
}

/// [`instant`] of a time of day.
///
/// # Errors
/// Also for a date alone.
pub(super) fn time_of_day(name: &str, text: &str, zone: Option<Zone>) -> Result<Timestamp, FieldError> {
    if text.trim().parse::<CivilDate>().is_ok() {
        let message = "is a date, which only an all-day event has; send a time such as 2026-03-05T09:00";
        return Err(FieldError::new(name, message));
    }
    instant(name, text, zone)
}

/// [`instant`]. A date means the first moment of the day that is `days` later.
fn moment(name: &str, text: &str, zone: Option<Zone>, days: i64) -> Result<Timestamp, FieldError> {
    let text = text.trim();
    if let Ok(instant) = text.parse() {
        return Ok(instant);
    }
    let date = text.parse::<CivilDate>().ok();
    let Some(local) = date.map(|date| date.plus_days(days).midnight()).or_else(|| local_time(text)) else {
        let message = format!(
            "must be a time such as 2026-03-05T14:00 (local, with timezone) or 2026-03-05T14:00:00+01:00; got {:?}",
            beginning(text)
        );
        return Err(FieldError::new(name, message));
    };
    let Some(zone) = zone else {
        return Err(FieldError::new(name, "is a local time: send timezone too, or an offset such as +01:00"));
    };
    let instant = zone.to_timestamp(local).ok_or_else(|| FieldError::new(name, "must be in the years 1 to 9999"))?;
    // A date means the first moment that exists.
    if date.is_none() && zone.to_civil(instant) != local {
        let message = format!("does not exist: the clocks of {} skip {text}; send another time", zone.name());
        return Err(FieldError::new(name, message));
    }
    Ok(instant)
}

/// A number of JSON without a fraction, which may be written with one, such as `30.0`.
fn whole(number: &Number) -> Option<u32> {
    let exact = number.as_u64().and_then(|number| u32::try_from(number).ok());
    exact.or_else(|| {
        let text = number.to_string();
        let (whole, fraction) = text.split_once('.')?;
        whole.parse().ok().filter(|_| fraction.bytes().all(|digit| digit == b'0'))
    })
}

/// The beginning of a text, for an error.
pub(super) fn beginning(text: &str) -> String {
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn text_of(name: &str, value: &Value) -> Result<String, FieldError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(FieldError::new(name, "must be text")),
    }
}

/// A date with a time of day, `2026-03-05T14:00`, with seconds and a fraction of them or without them.
fn local_time(text: &str) -> Option<CivilDateTime> {
    let (date, time) = text.split_once(['T', ' '])?;
    let time = match time.split_once('.') {
        Some((time, digits)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => time,
        Some(_) => return None,
        None => time,
    };
    let number =
        |part: &str| part.parse().ok().filter(|_| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()));
    let mut parts = time.split(':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    if parts.next().is_some() {
        return None;
    }
    let date: CivilDate = date.parse().ok()?;
    Some(date.at(CivilTime::new(hour, minute, second)?))
}

/// The names that are spelled most like the text, the nearest first; none for a long text.
pub(super) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if text.chars().nth(NAME_MAX).is_some() {
        return Vec::new();
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let text = plain(text);
    let mut names: Vec<(usize, &str)> =
        names.map(|name| (strsim::damerau_levenshtein(&text, &plain(name)), name)).collect();
    names.sort_unstable();
    names.into_iter().take(SUGGESTED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn arguments(given: &Value) -> Result<Arguments, FieldError> {
        let properties = json!({ "calendar_id": {}, "start": {}, "count": {}, "participants": {}, "timezone": {} });
        Arguments::of(given.as_object().unwrap().clone(), &properties, &["start"])
    }

    #[rstest]
    #[case::unknown(json!({ "start": "x", "calender": "x" }), "calender", "calendar_id")]
    #[case::missing(json!({ "count": 1 }), "start", "is required")]
    #[case::null_is_missing(json!({ "start": null }), "start", "is required")]
    fn wrong_names_are_answered_with_the_right_ones(#[case] given: Value, #[case] param: &str, #[case] says: &str) {
        let error = arguments(&given).unwrap_err();
        assert_eq!(error.param, param);
        assert!(error.message.contains(says), "{}", error.message);
    }

    #[rstest]
    #[case(json!(["a", "b"]), &["a", "b"])]
    #[case(json!("a"), &["a"])]
    #[case(json!(r#"["a", "b"]"#), &["a", "b"])]
    #[case(json!([1]), &["1"])]
    fn lists_may_be_text(#[case] sent: Value, #[case] expected: &[&str]) {
        let arguments = arguments(&json!({ "start": "x", "participants": sent })).unwrap();
        assert_eq!(arguments.list("participants").unwrap().unwrap(), expected);
    }

    #[rstest]
    #[case::offset("2026-03-05T14:00:00+01:00", "", Some("2026-03-05T13:00:00Z"))]
    #[case::local("2026-03-05T14:00", "Europe/Berlin", Some("2026-03-05T13:00:00Z"))]
    #[case::seconds("2026-03-05 14:00:30", "Europe/Berlin", Some("2026-03-05T13:00:30Z"))]
    #[case::date("2026-03-05", "Europe/Berlin", Some("2026-03-04T23:00:00Z"))]
    #[case::local_without_a_zone("2026-03-05T14:00", "", None)]
    #[case::fraction("2026-03-05T14:00:00.000", "Europe/Berlin", Some("2026-03-05T13:00:00Z"))]
    #[case::fraction_and_offset("2026-03-05T14:00:00.000+0100", "Europe/Berlin", None)]
    #[case::fraction_and_zone("2026-03-05T14:00:00.000 UTC", "Europe/Berlin", None)]
    #[case::sign("2026-03-05T+5:00", "Europe/Berlin", None)]
    #[case::skipped("2026-03-29T02:30", "Europe/Berlin", None)]
    #[case::text("tomorrow", "Europe/Berlin", None)]
    fn times_have_an_offset_or_a_zone(#[case] start: &str, #[case] zone: &str, #[case] expected: Option<&str>) {
        let arguments = arguments(&json!({ "start": start })).unwrap();
        let instant = arguments.instant("start", zone.parse().ok());
        assert_eq!(instant.ok().flatten().map(|at| at.to_string()).as_deref(), expected);
    }

    #[test]
    fn an_unknown_zone_is_answered_with_the_nearest() {
        let arguments = arguments(&json!({ "start": "x", "timezone": "Europe/Berln" })).unwrap();
        let error = arguments.zone("timezone").unwrap_err();
        assert!(error.message.contains("Europe/Berlin"), "{}", error.message);
    }

    #[test]
    fn a_date_at_the_end_includes_its_day() {
        let arguments = arguments(&json!({ "start": "2026-03-05" })).unwrap();
        let berlin = "Europe/Berlin".parse().ok();
        assert_eq!(arguments.end("start", berlin).unwrap().unwrap().to_string(), "2026-03-05T23:00:00Z");
    }

    #[test]
    fn long_arguments_are_compared_with_nothing() {
        let long = "x".repeat(1_000_000);
        let error = arguments(&json!({ "start": "x", "timezone": long })).unwrap().zone("timezone").unwrap_err();
        assert!(error.message.len() < 200, "{}", error.message);
        let error = arguments(&json!({ "start": "x", long: 1 })).unwrap_err();
        assert!(error.message.len() + error.param.len() < 400, "{}", error.message);
    }

    #[rstest]
    #[case("2026-03-05T10:00", true)]
    #[case("2026-03-05", true)]
    #[case("2026-03-05T10:00:00+01:00", false)]
    fn a_time_without_an_offset_is_local(#[case] start: &str, #[case] expected: bool) {
        let arguments = arguments(&json!({ "start": start })).unwrap();
        assert_eq!((arguments.is_local("start"), arguments.is_local("count")), (Ok(expected), Ok(false)));
    }

    #[test]
    fn a_count_is_bounded() {
        let read = |sent: Value| arguments(&json!({ "start": "x", "count": sent })).unwrap().count(20, 100).ok();
        assert_eq!([Value::Null, json!(1), json!("100")].map(read), [Some(20), Some(1), Some(100)]);
        assert_eq!([json!(0), json!(101)].map(read), [None, None]);
    }

    #[rstest]
    #[case("2026-03-05T10:00", Some("2026-03-05T09:00:00Z"))]
    #[case(" 2026-03-05 ", None)]
    fn a_date_is_not_a_time_of_day(#[case] text: &str, #[case] expected: Option<&str>) {
        let found = time_of_day("times[0].end", text, "Europe/Berlin".parse().ok());
        assert!(found.as_ref().err().is_none_or(|error| error.param == "times[0].end"));
        assert_eq!(found.ok().map(|at| at.to_string()).as_deref(), expected);
    }

    #[test]
    fn numbers_may_be_text() {
        let number = |sent: Value| arguments(&json!({ "start": "x", "count": sent })).unwrap().number("count").ok();
        assert_eq!([json!(3), json!("3"), json!(3.0)].map(number), [Some(Some(3)); 3]);
        assert_eq!([json!(-1), json!(2.5), json!([])].map(number), [None; 3]);
    }
}
