//! Whether an agent is free on its other calendars. An operation that writes an event checks only the event's own.

use kalends_app::operations;
use kalends_time::{CivilDate, SignedDuration, Timestamp, Zone};
use kalends_wire::SlotLength;
use serde_json::{Value, json};

use super::{failure::Failure, session::Session};

/// How much of a longer time is looked at, in days: the most that the operation explains.
const LOOKED: i64 = 7;
/// The kinds of reasons that are things at the time. The others, such as working hours, only limit what is offered.
const THINGS: [&str; 5] = ["event", "hold", "external_event", "human_busy", "reservation"];
/// The most of them that a refusal lists.
const LISTED: usize = 20;
/// How far after a taken time to look for free ones, in days, and how many a refusal lists.
const NEAR: i64 = 14;
const NEAREST: usize = 3;

/// A time on a calendar of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub agent: &'a str,
    pub calendar: &'a str,
    pub start: Timestamp,
    pub end: Timestamp,
}

/// Refuses a time at which something is on another calendar of the agent.
///
/// # Errors
/// [`Failure::Refused`] in the form of the API's refusal of a taken time, with the nearest free times of the agent from
/// then on; or with the error of the operation.
pub(super) async fn require_free(session: &Session<'_>, wanted: Wanted<'_>) -> Result<(), Failure> {
    let Wanted { agent, calendar, start, end } = wanted;
    if end <= start {
        return Ok(());
    }
    let asked = json!({
        "agent": agent,
        "start": start.to_string(),
        "end": end.min(start + SignedDuration::days(LOOKED)).to_string(),
        // As for a write, old data about human calendars counts, and missing data does not.
        "allow_stale": true,
    });
    let explained = session.call(&operations::EXPLAIN_AVAILABILITY, asked).await?.body;
    let conflicts = conflicts(&explained, calendar);
    if conflicts.is_empty() {
        return Ok(());
    }
    Err(Failure::Refused(json!({
        "type": "conflict",
        "code": "slot_taken",
        "message": format!("the agent has something on another of its calendars between {start} and {end}"),
        "conflicts": conflicts,
        "nearest_free": nearest_free(session, wanted).await?,
    })))
}

/// What is at the time on the agent's calendars; nothing if it is all on the `own` one.
fn conflicts(explained: &Value, own: &str) -> Vec<Value> {
    let reasons = explained["reasons"].as_array().into_iter().flatten();
    let things = reasons.filter(|reason| reason["reason"].as_str().is_some_and(|kind| THINGS.contains(&kind)));
    if things.clone().all(|thing| thing["calendar_id"] == own) {
        return Vec::new();
    }
    let conflict = |thing: &Value| {
        json!({
            "calendar_id": thing["calendar_id"], "kind": thing["reason"], "start": thing["start"], "end": thing["end"],
        })
    };
    things.take(LISTED).map(conflict).collect()
}

/// The first times from the wanted one on at which the agent is free for as long. None if the time has passed, if its
/// length is not that of a slot, or if the operation is refused.
async fn nearest_free(session: &Session<'_>, wanted: Wanted<'_>) -> Result<Vec<Value>, Failure> {
    let Wanted { agent, start, end, .. } = wanted;
    let Some(length) = slot_length(end - start).filter(|_| start >= session.now()) else { return Ok(Vec::new()) };
    let asked = json!({
        "id": agent,
        "start": start.to_string(),
        "end": (start + SignedDuration::days(NEAR)).to_string(),
        "slot_duration": length.to_string(),
        "slot_step": "15m",
    });
    match session.call(&operations::AGENT_AVAILABILITY, asked).await {
        Ok(found) => Ok(found.body["slots"].as_array().into_iter().flatten().take(NEAREST).cloned().collect()),
        // The refusal of the taken time is what the caller must know.
        Err(Failure::Refused(_)) => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}

fn slot_length(length: SignedDuration) -> Option<SlotLength> {
    let seconds = length.as_seconds();
    SlotLength::from_minutes((seconds / 60).try_into().ok()?).filter(|_| seconds % 60 == 0)
}

/// The moment of a time as operations take it: RFC 3339, or the first moment of a date in the zone.
pub(super) fn moment(text: &str, zone: Option<Zone>) -> Option<Timestamp> {
    let of_date = || zone?.to_timestamp(text.parse::<CivilDate>().ok()?.midnight());
    text.parse().ok().or_else(of_date)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn explained(reasons: &[(&str, &str)]) -> Value {
        let reason = |&(calendar, kind): &(&str, &str)| {
            json!({
                "calendar_id": calendar, "reason": kind, "start": "2026-03-05T09:00:00Z", "end": "2026-03-05T10:00:00Z",
            })
        };
        json!({ "reasons": reasons.iter().map(reason).collect::<Vec<_>>() })
    }

    #[rstest]
    #[case::free(&[], 0)]
    #[case::own(&[("cal_1", "event")], 0)]
    #[case::other(&[("cal_2", "hold")], 1)]
    #[case::both(&[("cal_1", "event"), ("cal_2", "human_busy")], 2)]
    #[case::only_offers_end(&[("cal_2", "buffer"), ("cal_2", "outside_working_hours")], 0)]
    fn things_on_other_calendars_conflict(#[case] reasons: &[(&str, &str)], #[case] expected: usize) {
        let found = conflicts(&explained(reasons), "cal_1");
        assert_eq!(found.len(), expected, "{found:?}");
        assert!(found.iter().all(|conflict| conflict["kind"].is_string() && conflict["start"].is_string()));
    }

    #[rstest]
    #[case::hour(60 * 60, true)]
    #[case::short(60, false)]
    #[case::long(9 * 60 * 60, false)]
    #[case::seconds(60 * 60 + 1, false)]
    fn free_times_are_as_long(#[case] seconds: i64, #[case] expected: bool) {
        assert_eq!(slot_length(SignedDuration::seconds(seconds)).is_some(), expected);
    }

    #[rstest]
    #[case::instant("2026-03-05T09:00:00Z", Some("2026-03-05T09:00:00Z"))]
    #[case::date("2026-03-05", Some("2026-03-04T23:00:00Z"))]
    #[case::text("soon", None)]
    fn a_time_is_a_moment(#[case] text: &str, #[case] expected: Option<&str>) {
        let found = moment(text, "Europe/Berlin".parse().ok());
        assert_eq!(found.map(|at| at.to_string()).as_deref(), expected);
    }
}
