//! The arguments of tools that write events: times, attendees, reminders, rules and versions.

use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Timestamp, Zone};
use serde_json::{Value, json};

use super::arguments::{Arguments, time_of_day};

/// The start and the end of an event, as operations take them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Times {
    pub start: Option<String>,
    pub end: Option<String>,
}

impl Times {
    /// The times of `start`, `end` and `duration_minutes`. Local times are in `zone`. Without `start`, the duration begins
    /// at `seen`, the present start of the event. An all-day event has dates.
    ///
    /// # Errors
    /// If a time cannot be read, if it is a date although the event is not `all_day`, or if the duration is zero or does
    /// not go with the other arguments.
    pub(super) fn of(
        arguments: &Arguments,
        zone: Option<Zone>,
        all_day: bool,
        seen: Option<Timestamp>,
    ) -> Result<Self, FieldError> {
        let minutes = arguments.number("duration_minutes")?;
        let refused = |message: &str| Err(FieldError::new("duration_minutes", message));
        match minutes {
            Some(0) => return refused("must be at least 1"),
            Some(_) if arguments.value("end").is_some() => return refused("must be left out if end is sent"),
            Some(_) if all_day => {
                return refused("must be left out for whole days; send end, the first day after the event");
            }
            _ => {}
        }
        if all_day {
            return Ok(Self { start: day(arguments, "start")?, end: day(arguments, "end")? });
        }
        let start = time(arguments, "start", zone)?;
        let end = match minutes {
            Some(minutes) => start.or(seen).map(|from| from + SignedDuration::minutes(minutes.into())),
            None => time(arguments, "end", zone)?,
        };
        Ok(Self { start: start.map(|at| at.to_string()), end: end.map(|at| at.to_string()) })
    }
}

/// A time of day. A date alone is none.
///
/// # Errors
/// Those of [`time_of_day`].
pub(super) fn time(arguments: &Arguments, name: &str, zone: Option<Zone>) -> Result<Option<Timestamp>, FieldError> {
    arguments.text(name)?.map(|text| time_of_day(name, &text, zone)).transpose()
}

/// A date. Models often write it as its midnight.
fn day(arguments: &Arguments, name: &str) -> Result<Option<String>, FieldError> {
    let text = arguments.text(name)?;
    Ok(text.map(|text| {
        let text = text.trim();
        let date = text.strip_suffix("T00:00:00").or_else(|| text.strip_suffix("T00:00"));
        date.unwrap_or(text).to_owned()
    }))
}

/// Whether the start or the end is local, as [`Arguments::is_local`] says.
///
/// # Errors
/// If a time is not text.
pub(super) fn has_local_times(arguments: &Arguments) -> Result<bool, FieldError> {
    Ok(arguments.is_local("start")? || arguments.is_local("end")?)
}

/// The attendees, each as an object.
///
/// # Errors
/// If one is neither an address nor an object.
pub(super) fn attendees(arguments: &Arguments) -> Result<Option<Vec<Value>>, FieldError> {
    let Some(entries) = arguments.entries("attendees") else { return Ok(None) };
    let attendee = |entry: Value| match entry {
        Value::String(email) => Ok(json!({ "email": email.trim() })),
        object @ Value::Object(_) => Ok(object),
        _ => Err(FieldError::new("attendees", "must be email addresses, or objects with email, name and role")),
    };
    entries.into_iter().map(attendee).collect::<Result<_, _>>().map(Some)
}

/// The reminders, in minutes before the start.
///
/// # Errors
/// If one is not a whole number.
pub(super) fn reminders(arguments: &Arguments) -> Result<Option<Vec<u32>>, FieldError> {
    let Some(sent) = arguments.list("reminders")? else { return Ok(None) };
    let minutes = sent.iter().map(|text| {
        text.trim().parse::<u32>().map_err(|_| {
            FieldError::new("reminders", format!("must be whole numbers of minutes such as [10, 60]; got {text:?}"))
        })
    });
    minutes.collect::<Result<_, _>>().map(Some)
}

/// The rule of a series, without the name of the property in iCalendar.
///
/// # Errors
/// If it is not text.
pub(super) fn rule(arguments: &Arguments) -> Result<Option<String>, FieldError> {
    let rule = arguments.text("recurrence_rule")?;
    Ok(rule.map(|rule| {
        let rule = rule.trim();
        rule.strip_prefix("RRULE:").unwrap_or(rule).to_owned()
    }))
}

/// The version that the event must have, as `If-Match` takes it.
///
/// # Errors
/// If it is not text.
pub(super) fn version(arguments: &Arguments) -> Result<Option<String>, FieldError> {
    Ok(arguments.text("version")?.map(|version| format!("\"{}\"", version.trim().trim_matches('"'))))
}

/// Copies texts that have the same name in the operation.
///
/// # Errors
/// If one is not text.
pub(super) fn copy(arguments: &Arguments, names: &[&str], asked: &mut Value) -> Result<(), FieldError> {
    for name in names {
        if let Some(text) = arguments.text(name)? {
            asked[*name] = text.into();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn arguments(given: &Value) -> Arguments {
        let properties = json!({
            "start": {}, "end": {}, "duration_minutes": {}, "attendees": {}, "reminders": {}, "recurrence_rule": {},
            "version": {}
        });
        Arguments::of(given.as_object().unwrap().clone(), &properties, &[]).unwrap()
    }

    const SEEN: &str = "2026-03-05T08:00:00Z";

    fn times(given: &Value, all_day: bool) -> Result<(Option<String>, Option<String>), String> {
        let times = Times::of(&arguments(given), "Europe/Berlin".parse().ok(), all_day, SEEN.parse().ok());
        times.map(|times| (times.start, times.end)).map_err(|error| error.param)
    }

    #[rstest]
    #[case::end(json!({ "start": "2026-03-05T14:00", "end": "2026-03-05T15:00" }), false, "2026-03-05T13:00:00Z", "2026-03-05T14:00:00Z")]
    #[case::length(json!({ "start": "2026-03-05T14:00", "duration_minutes": "30" }), false, "2026-03-05T13:00:00Z", "2026-03-05T13:30:00Z")]
    #[case::length_of_what_was_seen(json!({ "duration_minutes": 90 }), false, "", "2026-03-05T09:30:00Z")]
    #[case::start_alone(json!({ "start": "2026-03-05T14:00:00Z" }), false, "2026-03-05T14:00:00Z", "")]
    #[case::dates(json!({ "start": "2026-03-05", "end": "2026-03-07T00:00:00" }), true, "2026-03-05", "2026-03-07")]
    fn times_are_read(#[case] given: Value, #[case] all_day: bool, #[case] start: &str, #[case] end: &str) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        assert_eq!(times(&given, all_day), Ok((some(start), some(end))));
    }

    #[rstest]
    #[case::both(json!({ "end": "2026-03-05T15:00", "duration_minutes": 30 }), false, "duration_minutes")]
    #[case::nothing(json!({ "duration_minutes": 0 }), false, "duration_minutes")]
    #[case::whole_days(json!({ "start": "2026-03-05", "duration_minutes": 30 }), true, "duration_minutes")]
    #[case::date(json!({ "start": "2026-03-05" }), false, "start")]
    fn other_times_are_refused(#[case] given: Value, #[case] all_day: bool, #[case] param: &str) {
        assert_eq!(times(&given, all_day), Err(param.to_owned()));
    }

    #[rstest]
    #[case(json!({ "start": "2026-03-05T14:00:00+01:00" }), false)]
    #[case(json!({ "start": "2026-03-05T14:00:00Z", "end": "2026-03-05T15:00" }), true)]
    #[case(json!({ "start": "2026-03-05" }), true)]
    #[case(json!({}), false)]
    fn times_without_an_offset_are_local(#[case] given: Value, #[case] expected: bool) {
        assert_eq!(has_local_times(&arguments(&given)), Ok(expected));
    }

    #[rstest]
    #[case(json!(["a@example.com", { "email": "b@example.com", "name": "B" }]), Some(json!([{ "email": "a@example.com" }, { "email": "b@example.com", "name": "B" }])))]
    #[case(json!("a@example.com"), Some(json!([{ "email": "a@example.com" }])))]
    #[case(json!([]), Some(json!([])))]
    #[case(json!([1]), None)]
    fn attendees_are_addresses_or_objects(#[case] sent: Value, #[case] expected: Option<Value>) {
        let read = attendees(&arguments(&json!({ "attendees": sent })));
        assert_eq!(read.ok().flatten().map(Value::from), expected);
    }

    #[test]
    fn rules_versions_and_reminders_are_read_as_models_write_them() {
        let given = json!({ "recurrence_rule": "RRULE:FREQ=DAILY", "version": 3, "reminders": ["10", 60] });
        let arguments = arguments(&given);
        assert_eq!(rule(&arguments).unwrap().unwrap(), "FREQ=DAILY");
        assert_eq!(version(&arguments).unwrap().unwrap(), "\"3\"");
        assert_eq!(reminders(&arguments).unwrap().unwrap(), [10, 60]);
    }
}
