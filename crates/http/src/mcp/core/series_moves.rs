//! Moving a whole series. A series that is changed by its own id loses what was cancelled or changed in it, because
//! that no longer matches a start. If one of its occurrences is moved with the scope `all`, everything moves along.

use kalends_app::operations::{self, Operation};
use kalends_calendars::Occurrence;
use kalends_kernel::EventId;
use kalends_time::{CivilDate, CivilDateTime, SignedDuration, Timestamp, Zone};
use serde_json::{Value, json};

use super::{
    compact,
    event_arguments::Times,
    failure::Failure,
    session::{Answer, Session},
};

/// How far, and among how many entries of its calendar, an occurrence is looked for that can stand for its series.
const DAYS: i64 = 366;
const LISTED: u32 = 200;
/// How many occurrences of a list are read. Each takes a call of the operation.
const READ: usize = 3;
/// The errors after which another occurrence is looked for.
const PASSED_OVER: [&str; 2] = ["not_found", "validation_error"];
/// The fields that an occurrence has from its series unless it was changed on its own.
const FROM_SERIES: [&str; 9] =
    ["title", "description", "location", "conferenceUrl", "attendees", "allDay", "status", "metadata", "reminders"];

/// The change of an occurrence that moves its whole series.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// The occurrence.
    pub id: String,
    /// Its new times.
    pub times: Times,
}

/// The change of one occurrence by which the series gets these times. `version` is that of the series. `None` if no
/// occurrence was found that is neither cancelled nor changed.
///
/// # Errors
/// [`Failure::Refused`] or [`Failure::Lost`] if an operation fails. An occurrence that is not found is passed over.
pub(super) async fn by_occurrence(
    session: &Session<'_>,
    series: &Value,
    version: &str,
    times: &Times,
) -> Result<Option<Moved>, Failure> {
    let named = series["id"].as_str().and_then(|id| id.parse::<EventId>().ok());
    let (Some(named), Some(start)) = (named, compact::instant(&series["startTime"])) else { return Ok(None) };
    let first = Occurrence { series: named, start }.to_string();
    for from in [None, Some(start), Some(session.now())] {
        let candidates = match from {
            Some(from) => plain_from(session, series, from, &first).await?,
            None if is_cancelled(series, &series["startTime"]) => Vec::new(),
            None => vec![first.clone()],
        };
        for id in candidates {
            let Some(read) = read(session, &operations::GET_EVENT, json!({ "id": id })).await? else { continue };
            // A changed occurrence has a version of its own.
            if read.etag.as_deref() == Some(version)
                && is_plain(series, &read.body)
                && let Some(times) = times_of(series, &read.body, times)
            {
                return Ok(Some(Moved { id, times }));
            }
        }
    }
    Ok(None)
}

/// Some occurrences from a time on that look as the series says, except the `first`.
async fn plain_from(
    session: &Session<'_>,
    series: &Value,
    from: Timestamp,
    first: &str,
) -> Result<Vec<String>, Failure> {
    let asked = json!({
        "cal_id": series["calendarId"],
        "start_after": from.to_string(),
        "start_before": (from + SignedDuration::days(DAYS)).to_string(),
        "expand": true,
        "local": false,
        "limit": LISTED,
    });
    let Some(listed) = read(session, &operations::LIST_EVENTS, asked).await? else { return Ok(Vec::new()) };
    let entries = listed.body["data"].as_array().into_iter().flatten();
    let own = entries.filter(|entry| entry["recurringEventId"] == series["id"] && entry["id"] != first);
    let plain = own.filter(|entry| is_plain(series, entry)).filter_map(|entry| entry["id"].as_str());
    Ok(plain.take(READ).map(str::to_owned).collect())
}

/// The answer of an operation. `None` if there is no such event, or if the time cannot be listed.
async fn read(session: &Session<'_>, operation: &'static Operation, asked: Value) -> Result<Option<Answer>, Failure> {
    match session.call(operation, asked).await {
        Ok(answer) => Ok(Some(answer)),
        Err(Failure::Refused(error)) if PASSED_OVER.iter().any(|kind| error["type"] == *kind) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn is_cancelled(series: &Value, start: &Value) -> bool {
    series["recurrenceExdates"].as_array().is_some_and(|exdates| exdates.contains(start))
}

/// Whether an occurrence is as the series says.
fn is_plain(series: &Value, occurrence: &Value) -> bool {
    let length = |event: &Value| Some(compact::instant(&event["endTime"])? - compact::instant(&event["startTime"])?);
    occurrence["startTime"] == occurrence["originalStartTime"]
        // Days are not equally long.
        && (series["allDay"] == true || length(series) == length(occurrence))
        && FROM_SERIES.iter().all(|field| series[*field] == occurrence[*field])
}

/// The times that the occurrence gets if the first one gets these: it moves by as much on the wall clock of the
/// series. `None` if the clocks skip that time.
fn times_of(series: &Value, occurrence: &Value, times: &Times) -> Option<Times> {
    if occurrence["startTime"] == series["startTime"] {
        return Some(times.clone());
    }
    let zone: Zone = series["recurrenceTimezone"].as_str()?.parse().ok()?;
    let (first, own) = (compact::instant(&series["startTime"])?, compact::instant(&occurrence["startTime"])?);
    if series["allDay"] == true {
        return days_of(zone.to_civil(first).date, zone.to_civil(own).date, times);
    }
    let instant = |text: &String| text.parse::<Timestamp>().ok();
    let start = match &times.start {
        Some(text) => Some(instant(text)?),
        None => None,
    };
    let own_start = match start {
        Some(start) => moved_along(own, first, start, zone)?,
        None => own,
    };
    let end = match &times.end {
        Some(text) => Some(own_start + (instant(text)? - start.unwrap_or(first))),
        None => None,
    };
    Some(Times { start: start.map(|_| own_start.to_string()), end: end.map(|end| end.to_string()) })
}

/// The time that is as long after `at` on the wall clock as `to` is after `from`.
fn moved_along(at: Timestamp, from: Timestamp, to: Timestamp, zone: Zone) -> Option<Timestamp> {
    let micros = |at: Timestamp| zone.to_civil(at).as_micros();
    let wanted = CivilDateTime::from_micros(micros(at)? + (micros(to)? - micros(from)?));
    zone.to_timestamp(wanted).filter(|found| zone.to_civil(*found) == wanted)
}

/// [`times_of`] of whole days.
fn days_of(first: CivilDate, own: CivilDate, times: &Times) -> Option<Times> {
    let moved = |text: &String| {
        let date: CivilDate = text.parse().ok()?;
        Some(CivilDate::from_days(own.as_days() + (date.as_days() - first.as_days())).to_string())
    };
    let start = match &times.start {
        Some(text) => Some(moved(text)?),
        None => None,
    };
    let end = match &times.end {
        Some(text) => Some(moved(text)?),
        None => None,
    };
    Some(Times { start, end })
}

/// What became of a series that was moved by one of its occurrences. `has_rule` is whether the call gave it another
/// rule.
pub(super) fn all_moved(before: &Value, after: &Value, has_rule: bool) -> Option<String> {
    let cancelled = |event: &Value| event["recurrenceExdates"].as_array().map_or(0, Vec::len);
    let (had, has) = (cancelled(before), cancelled(after));
    let moved = if has_rule {
        "The series has another rule. Cancelled and changed occurrences have moved along, unless they match none of its \
         starts."
            .to_owned()
    } else if before["startTime"] != after["startTime"] {
        let stay = if has == 0 { String::new() } else { format!(" The cancelled ones ({has}) stay cancelled.") };
        format!("All occurrences have moved by the same amount.{stay} Changed ones keep their changes.")
    } else if before["endTime"] != after["endTime"] {
        "All occurrences have the new length, except those that had another one.".to_owned()
    } else {
        return None;
    };
    Some(moved + &revived(had.saturating_sub(has)))
}

/// A sentence about occurrences that are not cancelled any more.
fn revived(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!(" {count} cancelled before may take place again: look at list_events and cancel them again."),
    }
}

/// What a series lost because its starts are others now. A series that is changed by its own id keeps only the
/// cancelled and changed occurrences that still match a start. That happens if another rule moves it, or if no
/// occurrence can stand for it.
pub(super) fn lost_exceptions(before: &Value, after: &Value) -> Option<String> {
    let is_same = |field: &str| before[field] == after[field];
    if !before["recurrenceRule"].is_string() || (is_same("startTime") && is_same("recurrenceRule")) {
        return None;
    }
    let exdates = |event: &Value| event["recurrenceExdates"].as_array().cloned().unwrap_or_default();
    let kept = exdates(after);
    let lost = exdates(before).iter().filter(|start| !kept.contains(start)).count();
    if is_same("startTime") && lost == 0 {
        return None;
    }
    let revived = revived(lost);
    Some(format!(
        "The series has new starts now. Occurrences that were changed separately follow the series again.{revived}"
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const FIRST: &str = "2026-03-27T09:00:00Z";

    /// Daily at 10:00 in Berlin. The clocks change on 29 March.
    fn series() -> Value {
        json!({
            "id": "evt_1", "title": "Sync", "startTime": FIRST, "endTime": "2026-03-27T09:30:00Z", "allDay": false,
            "recurrenceRule": "FREQ=DAILY", "recurrenceTimezone": "Europe/Berlin", "recurrenceExdates": [FIRST],
        })
    }

    fn occurrence(start: &str, end: &str) -> Value {
        json!({ "title": "Sync", "startTime": start, "originalStartTime": start, "endTime": end, "allDay": false })
    }

    fn times(start: &str, end: &str) -> Times {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Times { start: some(start), end: some(end) }
    }

    #[rstest]
    #[case::start("2026-03-27T10:00:00Z", "", Some(("2026-03-30T09:00:00Z", "")))]
    #[case::both("2026-03-28T10:00:00Z", "2026-03-28T11:00:00Z", Some(("2026-03-31T09:00:00Z", "2026-03-31T10:00:00Z")))]
    #[case::end("", "2026-03-27T10:00:00Z", Some(("", "2026-03-30T09:00:00Z")))]
    #[case::skipped("2026-03-26T01:30:00Z", "", None)]
    #[case::not_a_time("soon", "", None)]
    fn an_occurrence_moves_as_the_first(
        #[case] start: &str,
        #[case] end: &str,
        #[case] expected: Option<(&str, &str)>,
    ) {
        let own = occurrence("2026-03-30T08:00:00Z", "2026-03-30T08:30:00Z");
        let found = times_of(&series(), &own, &times(start, end));
        assert_eq!(found, expected.map(|(start, end)| times(start, end)));
    }

    #[test]
    fn days_move_by_days() {
        let date = |text: &str| text.parse().unwrap();
        let found = days_of(date("2026-03-27"), date("2026-03-30"), &times("2026-03-28", "2026-03-30"));
        assert_eq!(found, Some(times("2026-03-31", "2026-04-02")));
        assert_eq!(days_of(date("2026-03-27"), date("2026-03-30"), &times("soon", "")), None);
    }

    #[test]
    fn a_changed_occurrence_cannot_stand_for_its_series() {
        let plain = occurrence("2026-03-30T08:00:00Z", "2026-03-30T08:30:00Z");
        assert!(is_plain(&series(), &plain));
        for (field, value) in
            [("title", "Special"), ("startTime", "2026-03-30T08:15:00Z"), ("endTime", "2026-03-30T09:30:00Z")]
        {
            let mut changed = plain.clone();
            changed[field] = value.into();
            assert!(!is_plain(&series(), &changed), "{field}");
        }
        assert!(is_cancelled(&series(), &json!(FIRST)) && !is_cancelled(&series(), &plain["startTime"]));
    }

    #[test]
    fn a_move_is_noted() {
        let with = |changed: Value| {
            let mut series = series();
            series.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
            series
        };
        let moved = with(json!({ "startTime": "2026-03-27T10:00:00Z", "recurrenceExdates": ["2026-03-27T10:00:00Z"] }));
        let note = all_moved(&series(), &moved, false).unwrap();
        assert!(note.contains("(1) stay cancelled") && !note.contains("again"), "{note}");
        let ruled = with(json!({ "startTime": "2026-03-27T10:00:00Z", "recurrenceExdates": [] }));
        let note = all_moved(&series(), &ruled, true).unwrap();
        assert!(note.contains("another rule") && note.contains("1 cancelled before may take place again"), "{note}");
        let longer = with(json!({ "endTime": "2026-03-27T10:00:00Z" }));
        assert!(all_moved(&series(), &longer, false).unwrap().contains("new length"));
        assert_eq!(all_moved(&series(), &series(), false), None);
    }

    #[test]
    fn exceptions_that_end_with_a_move_are_noted() {
        let series = |start: &str, exdates: Value| json!({ "recurrenceRule": "FREQ=DAILY", "startTime": start, "recurrenceExdates": exdates });
        let before = series("2026-03-05T09:00:00Z", json!(["2026-03-06T09:00:00Z"]));
        let moved = lost_exceptions(&before, &series("2026-03-05T10:00:00Z", json!([]))).unwrap();
        assert!(moved.contains("1 cancelled"), "{moved}");
        assert_eq!(lost_exceptions(&before, &before), None);
        assert_eq!(lost_exceptions(&Value::Null, &before), None);
    }
}
