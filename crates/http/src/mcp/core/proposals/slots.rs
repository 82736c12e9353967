//! The times of a proposal or a counter, as models write them.

use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Zone};
use serde_json::{Value, json};

use crate::mcp::core::arguments::{Arguments, time_of_day};

/// What an object of a time may have. Slots in results have `when` too.
const PARTS_OF_A_TIME: [&str; 3] = ["start", "end", "when"];

/// The schema of one time.
pub(super) fn time_schema() -> Value {
    let text = json!({ "type": "string" });
    json!({ "anyOf": [text, { "type": "object", "properties": { "start": text, "end": text }, "required": ["start"] }] })
}

/// The times of an argument, as the API takes them. Times without an end last `minutes`.
///
/// # Errors
/// If one of them cannot be read, is a date alone, or has neither an end nor a length. The error names it, such as
/// `times[2].end`.
pub(super) fn times(
    arguments: &Arguments,
    name: &str,
    zone: Zone,
    minutes: Option<u32>,
) -> Result<Option<Vec<Value>>, FieldError> {
    let Some(entries) = arguments.entries(name) else { return Ok(None) };
    let times = entries.iter().enumerate();
    let times = times.map(|(index, entry)| time(&format!("{name}[{index}]"), entry, zone, minutes));
    times.collect::<Result<_, _>>().map(Some)
}

/// One time: the text of its start, or an object with `start` and `end`.
fn time(name: &str, entry: &Value, zone: Zone, minutes: Option<u32>) -> Result<Value, FieldError> {
    let wrong = || FieldError::new(name, "must be a start such as 2026-03-05T14:00, or an object with start and end");
    let (start, end) = match entry {
        Value::String(start) => (start.as_str(), None),
        Value::Object(parts) if parts.keys().all(|part| PARTS_OF_A_TIME.contains(&part.as_str())) => {
            let start = entry["start"].as_str().ok_or_else(wrong)?;
            let end = Some(&entry["end"]).filter(|end| !end.is_null());
            (start, end.map(|end| end.as_str().ok_or_else(wrong)).transpose()?)
        }
        _ => return Err(wrong()),
    };
    let start = time_of_day(name, start, Some(zone))?;
    let end = match (end, minutes) {
        (Some(end), _) => time_of_day(&format!("{name}.end"), end, Some(zone))?,
        (None, Some(minutes)) => start + SignedDuration::minutes(minutes.into()),
        (None, None) => {
            return Err(FieldError::new("duration_minutes", format!("is required, because {name} has no end")));
        }
    };
    Ok(json!({ "start_time": start.to_string(), "end_time": end.to_string() }))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::mcp::core::proposals::examples::{TEN, arguments, berlin};

    #[rstest]
    #[case::start(json!("2026-03-05T10:00"), Some(30), "2026-03-05T09:30:00Z")]
    #[case::object(json!({ "start": "2026-03-05T10:00" }), Some(30), "2026-03-05T09:30:00Z")]
    #[case::null_end(json!({ "start": TEN, "end": null }), Some(30), "2026-03-05T09:30:00Z")]
    #[case::an_end_counts_first(json!({ "start": TEN, "end": "2026-03-05T11:00" }), Some(30), "2026-03-05T10:00:00Z")]
    #[case::slot_of_a_result(json!({ "start": TEN, "end": "2026-03-05T10:00:00Z", "when": "Thu" }), None, "2026-03-05T10:00:00Z")]
    fn times_have_an_end_or_a_length(#[case] sent: Value, #[case] minutes: Option<u32>, #[case] end: &str) {
        let read = times(&arguments(&json!({ "times": [sent] })), "times", berlin(), minutes);
        assert_eq!(read.unwrap(), Some(vec![json!({ "start_time": TEN, "end_time": end })]));
    }

    #[rstest]
    #[case::no_length(json!([TEN]), None, "duration_minutes")]
    #[case::second(json!([TEN, "tomorrow"]), Some(30), "times[1]")]
    #[case::end(json!([{ "start": TEN, "end": "late" }]), Some(30), "times[0].end")]
    #[case::end_of_another_type(json!([{ "start": TEN, "end": 30 }]), Some(30), "times[0]")]
    #[case::other_names(json!([{ "start_time": TEN }]), Some(30), "times[0]")]
    #[case::date(json!(["2026-03-05"]), Some(30), "times[0]")]
    #[case::date_as_start(json!([{ "start": "2026-03-05", "end": "2026-03-05T10:00" }]), None, "times[0]")]
    #[case::date_as_end(json!([TEN, { "start": TEN, "end": "2026-03-06" }]), Some(30), "times[1].end")]
    #[case::number(json!([30]), Some(30), "times[0]")]
    fn other_times_are_refused(#[case] sent: Value, #[case] minutes: Option<u32>, #[case] param: &str) {
        let error = times(&arguments(&json!({ "times": sent })), "times", berlin(), minutes).unwrap_err();
        assert_eq!(error.param, param);
    }
}
