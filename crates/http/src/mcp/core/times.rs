//! Finding free times, and why a time is not free.

use std::collections::HashSet;

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Timestamp, Zone};
use kalends_wire::SlotLength;
use serde_json::{Map, Value, json};

use super::{
    arguments::Arguments,
    compact,
    directory::{Agent, Whose},
    event_arguments::time,
    failure::Outcome,
    part::Part,
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// How far the search reaches if no end is given.
const DAYS: i64 = 14;
/// How far the search can reach. Each quarter of an hour in between may be offered.
const DAYS_MAX: i64 = 60;
/// The minutes from the start of one time to the next.
const STEP: i64 = 15;
/// The number of times that are returned unless the call says otherwise.
const COUNT: u32 = 5;
const COUNT_MAX: u32 = 50;
/// The most participants of a search, on any plan.
const SEARCHED_MAX: usize = 50;
/// The most shared calendars among them. Each of them takes a call of the operation.
const ROOMS_MAX: usize = 20;
/// The most agents and the most calendars that one call explains. Each of them takes a call of the operation.
const EXPLAINED_MAX: usize = 10;
/// The most reasons that are shown for each of them.
const REASONS_MAX: usize = 20;
/// The days and hours that `working_hours_only` keeps: Monday to Friday, and these hours.
const WORKING_DAYS: u8 = 5;
const OPENS: u32 = 8;
const CLOSES: u32 = 18;

const NOTHING_FREE: &str = "No time is free for all participants. Send a later latest or a shorter duration_minutes, \
    or ask explain_time about one start.";
const ONLY_OUTSIDE: &str = "All free times are outside Monday to Friday 08:00-18:00. Send a later latest, or \
    working_hours_only: false.";
const SOME_OUTSIDE: &str = "Some of these times are at night or on a weekend: no working hours of the participants \
    exclude them. Send working_hours_only: true to leave such times out.";

/// `find_times`
pub(super) struct FindTimes;

#[async_trait]
impl CoreTool for FindTimes {
    fn about(&self) -> About {
        About {
            name: "find_times",
            title: "Find free times",
            description: "Finds times at which all participants are free, the earliest first. It knows their events, holds, \
                working hours and buffers. Use it before hold_time or create_event. An agent's key needs the scope \
                freebusy:org for others. Example: {\"participants\": [\"Ada\", \"Bob\"], \"duration_minutes\": 30, \
                \"earliest\": \
                \"2026-03-05T09:00\", \"timezone\": \"Europe/Berlin\"}",
            effect: Effect::Reads,
            operations: &[
                &operations::AVAILABILITY,
                &operations::AGENT_AVAILABILITY,
                &operations::CALENDAR_AVAILABILITY,
            ],
            required: &["duration_minutes"],
            renamed: &[
                ("agents", "participants"),
                ("id", "participants"),
                ("start", "earliest"),
                ("end", "latest"),
                ("slot_duration", "duration_minutes"),
            ],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "participants": {
                "type": "array", "items": { "type": "string" },
                "description": "Ids or names of agents, or of shared calendars (rooms). Left out: the key's own agent, \"me\".",
            },
            "duration_minutes": { "type": "integer", "minimum": 5, "maximum": 480 },
            "earliest": { "type": "string", "description": "A date, a local time, or one with an offset. Now if left out, or past." },
            "latest": { "type": "string", "description": "The latest end; a date includes its day. 14 days after earliest if left out, at most 60." },
            "timezone": { "type": "string", "description": "IANA zone of local times. The first participant's if left out." },
            "working_hours_only": {
                "type": "boolean",
                "description": "Participants' own hours always apply. true: also drop times outside Mon-Fri 08:00-18:00 in timezone.",
            },
            "count": { "type": "integer", "minimum": 1, "maximum": COUNT_MAX, "default": COUNT },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let (length, count) = (length(arguments)?, arguments.count(COUNT, COUNT_MAX)?);
        let working_hours_only = arguments.flag("working_hours_only")?;
        let whose = Whose::of(session, arguments, SEARCHED_MAX).await?;
        if whose.calendars.len() > ROOMS_MAX {
            let message = format!("must name at most {ROOMS_MAX} shared calendars, got {}", whose.calendars.len());
            return Err(FieldError::new("participants", message).into());
        }
        let zone = whose.zone(session, arguments).await?;
        let now = session.now();
        let earliest = arguments.instant("earliest", Some(zone))?.filter(|earliest| *earliest > now);
        let earliest = earliest.unwrap_or_else(|| next_step(now));
        let latest = arguments.end("latest", Some(zone))?.unwrap_or(earliest + SignedDuration::days(DAYS));
        if latest <= now {
            return Err(FieldError::new("latest", format!("has passed; now is {now}")).into());
        }
        if latest > earliest + SignedDuration::days(DAYS_MAX) {
            let message = format!("must be at most {DAYS_MAX} days after earliest ({earliest})");
            return Err(FieldError::new("latest", message).into());
        }
        let asked = json!({
            "start": earliest.to_string(),
            "end": latest.to_string(),
            "slot_duration": length.to_string(),
            "slot_step": format!("{STEP}m"),
        });
        // The first slots of a single answer are the result, unless hours exclude some of them.
        let is_one = whose.calendars.len() + usize::from(!whose.agents.is_empty()) == 1;
        let most = if is_one && working_hours_only != Some(true) { count } else { usize::MAX };
        let answer = offered(session, &whose, &asked, most).await?;
        let chosen = Chosen::of(&answer, zone, working_hours_only, count);
        let rooms = whose.calendars.iter().map(|id| json!({ "calendar_id": id }));
        let participants: Vec<Value> = whose.agents.iter().map(shown).chain(rooms).collect();
        let mut found = json!({ "times": chosen.times, "timezone": zone.name(), "participants": participants });
        if let Some(note) = chosen.note {
            found["note"] = note.into();
        }
        if !chosen.times.is_empty() {
            found["next"] = "Call hold_time or create_event with one of these starts.".into();
        }
        add_warnings(&mut found, &answer);
        Ok(found)
    }
}

/// The slots that all agents and all calendars offer, with all warnings. `most` is how many slots of each answer are
/// read.
async fn offered(session: &Session<'_>, whose: &Whose, asked: &Value, most: usize) -> Outcome {
    let part = Part { list: "slots", fields: &[], most };
    let with = |name: &str, value: Value| {
        let mut asked = asked.clone();
        asked[name] = value;
        asked
    };
    let mut answers = Vec::new();
    match whose.agents.as_slice() {
        [] => {}
        [only] => {
            let asked = with("id", only.id.as_str().into());
            answers.push(session.call_for(part, &operations::AGENT_AVAILABILITY, asked).await?.body);
        }
        several => {
            let ids: Vec<_> = several.iter().map(|agent| agent.id.as_str()).collect();
            let asked = with("agents", ids.join(",").into());
            answers.push(session.call_for(part, &operations::AVAILABILITY, asked).await?.body);
        }
    }
    for calendar in &whose.calendars {
        let asked = with("id", calendar.as_str().into());
        answers.push(session.call_for(part, &operations::CALENDAR_AVAILABILITY, asked).await?.body);
    }
    Ok(in_all(answers))
}

/// The slots that are in all of these answers, with the warnings of all of them. Their slots are on one grid, because they
/// begin at the same time.
fn in_all(mut answers: Vec<Value>) -> Value {
    let list = |answer: &mut Value, name: &str| match answer.get_mut(name).map(Value::take) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    let warnings: Vec<Value> = answers.iter_mut().flat_map(|answer| list(answer, "warnings")).collect();
    let mut answers = answers.into_iter();
    let mut slots = answers.next().map(|mut first| list(&mut first, "slots")).unwrap_or_default();
    for answer in answers {
        let also = answer["slots"].as_array().into_iter().flatten();
        let also: HashSet<&str> = also.filter_map(|slot| slot["start"].as_str()).collect();
        slots.retain(|slot| slot["start"].as_str().is_some_and(|start| also.contains(start)));
    }
    // `json!` would copy every slot, of which there may be thousands.
    Value::Object(Map::from_iter([
        ("slots".to_owned(), Value::Array(slots)),
        ("warnings".to_owned(), Value::Array(warnings)),
    ]))
}

/// The times that a search returns.
#[derive(Debug)]
struct Chosen {
    times: Vec<Value>,
    note: Option<&'static str>,
}

impl Chosen {
    /// The first `count` of the offered times, without those outside working hours if the call says so.
    fn of(answer: &Value, zone: Zone, working_hours_only: Option<bool>, count: usize) -> Self {
        let all = answer["slots"].as_array().map(Vec::as_slice).unwrap_or_default();
        let kept = all.iter().filter(|slot| working_hours_only != Some(true) || is_in_working_hours(slot, zone));
        let kept: Vec<&Value> = kept.take(count).collect();
        let note = match kept.as_slice() {
            [] if all.is_empty() => Some(NOTHING_FREE),
            [] => Some(ONLY_OUTSIDE),
            // A caller that sends the flag has decided.
            some if working_hours_only.is_none() && !some.iter().all(|slot| is_in_working_hours(slot, zone)) => {
                Some(SOME_OUTSIDE)
            }
            _ => None,
        };
        Self { times: kept.into_iter().map(|slot| compact::slot(slot, zone)).collect(), note }
    }
}

/// Whether a slot is inside the hours of one working day.
fn is_in_working_hours(slot: &Value, zone: Zone) -> bool {
    let civil = |field: &str| Some(zone.to_civil(slot[field].as_str()?.parse().ok()?));
    let (Some(from), Some(to)) = (civil("start"), civil("end")) else { return false };
    from.date == to.date
        && from.date.weekday() < WORKING_DAYS
        && from.time.hour_minute_second() >= (OPENS, 0, 0)
        && to.time.hour_minute_second() <= (CLOSES, 0, 0)
}

/// The next time on the grid of starts.
fn next_step(at: Timestamp) -> Timestamp {
    let step = SignedDuration::minutes(STEP).as_micros();
    at + SignedDuration::micros((-at.as_micros()).rem_euclid(step))
}

fn length(arguments: &Arguments) -> Result<SlotLength, FieldError> {
    let minutes = arguments.number("duration_minutes")?;
    let length = minutes.and_then(|minutes| SlotLength::from_minutes(minutes.try_into().ok()?));
    length.ok_or_else(|| FieldError::new("duration_minutes", "must be 5 to 480"))
}

fn shown(agent: &Agent) -> Value {
    json!({ "agent_id": agent.id, "name": agent.name })
}

/// Copies the warnings of an answer about availability.
fn add_warnings(found: &mut Value, answer: &Value) {
    if answer["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()) {
        found["warnings"] = answer["warnings"].clone();
    }
}

/// `explain_time`
pub(super) struct ExplainTime;

#[async_trait]
impl CoreTool for ExplainTime {
    fn about(&self) -> About {
        About {
            name: "explain_time",
            title: "Explain a time",
            description: "Returns whether a time is free, and if not, every reason for each participant or calendar: events, \
                holds, reservations of proposals, buffers, working hours, busy times of human calendars. Use it if \
                find_times does not offer a time that you want. Example: {\"participants\": [\"Ada\"], \"start\": \
                \"2026-03-05T14:00\", \"duration_minutes\": 30, \"timezone\": \"Europe/Berlin\"}",
            effect: Effect::Reads,
            operations: &[&operations::EXPLAIN_AVAILABILITY],
            required: &["start"],
            renamed: &[("agent", "participants"), ("calendar", "calendar_ids")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "participants": {
                "type": "array", "items": { "type": "string" }, "maxItems": EXPLAINED_MAX,
                "description": "Ids or names of agents, or of shared calendars (rooms). Left out: the key's own agent, \"me\".",
            },
            "calendar_ids": {
                "type": "array", "items": { "type": "string" }, "maxItems": EXPLAINED_MAX,
                "description": "Calendars, instead of participants or besides them.",
            },
            "start": { "type": "string", "description": "A local time, or one with an offset." },
            "duration_minutes": { "type": "integer", "minimum": 1, "description": "Or send end." },
            "end": { "type": "string", "description": "At most 7 days after start." },
            "timezone": { "type": "string", "description": "IANA zone of local times. The calendar's if left out." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let whose = Whose::of(session, arguments, EXPLAINED_MAX).await?;
        let zone = whose.zone(session, arguments).await?;
        let (start, end) = span(arguments, zone)?;
        let agents = whose.agents.iter().map(|agent| (json!({ "agent": agent.id }), shown(agent)));
        let calendars = whose.calendars.iter().map(|id| (json!({ "calendar": id }), json!({ "calendar_id": id })));
        let named: Vec<(Value, Value)> = agents.chain(calendars).collect();
        let mut explained = Vec::with_capacity(named.len());
        for (mut asked, entry) in named {
            asked["start"] = start.to_string().into();
            asked["end"] = end.to_string().into();
            let answer = session.call(&operations::EXPLAIN_AVAILABILITY, asked).await?;
            explained.push(explanation(entry, &answer.body, zone));
        }
        let is_free = explained.iter().all(|entry| entry["free"] == true);
        let mut found = Value::Object(compact::times(start, end, zone));
        found["free"] = is_free.into();
        found["explained"] = explained.into();
        let now = session.now();
        if start < now {
            found["note"] = format!("start has passed; now is {now}").into();
        } else if is_free {
            found["next"] = "Call hold_time or create_event.".into();
        } else {
            found["next"] = "find_times returns free times; list_events shows the events.".into();
        }
        Ok(found)
    }
}

/// What the API explains, added to the `entry` of an agent or a calendar.
fn explanation(mut entry: Value, answer: &Value, zone: Zone) -> Value {
    entry["free"] = answer["offered"].clone();
    let all = answer["reasons"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !all.is_empty() {
        let reasons = all.iter().take(REASONS_MAX).map(|reason| compact::with_when(reason.clone(), zone));
        entry["reasons"] = reasons.collect::<Vec<_>>().into();
    }
    if answer["has_more"] == true || all.len() > REASONS_MAX {
        entry["has_more"] = true.into();
    }
    add_warnings(&mut entry, answer);
    entry
}

/// The time from the argument `start` to `end`, or `duration_minutes` long.
///
/// # Errors
/// If the arguments name no time, or contradict each other.
pub(super) fn span(arguments: &Arguments, zone: Zone) -> Result<(Timestamp, Timestamp), FieldError> {
    let wrong = |message: &str| FieldError::new("duration_minutes", message);
    let start = time(arguments, "start", Some(zone))?.ok_or_else(|| FieldError::new("start", "is required"))?;
    let minutes = arguments.number("duration_minutes")?;
    let after = minutes.map(|minutes| start + SignedDuration::minutes(minutes.into()));
    match (time(arguments, "end", Some(zone))?, after) {
        (Some(end), Some(after)) if end != after => Err(wrong("contradicts end; leave one of them out")),
        (_, Some(after)) if after == start => Err(wrong("must be at least 1")),
        (Some(end), _) | (None, Some(end)) => Ok((start, end)),
        (None, None) => Err(wrong("is required, or end")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn slots(starts: &[&str]) -> Value {
        let slot = |start: &&str| {
            let start: Timestamp = start.parse().unwrap();
            json!({ "start": start.to_string(), "end": (start + SignedDuration::minutes(30)).to_string() })
        };
        json!({ "slots": starts.iter().map(slot).collect::<Vec<_>>() })
    }

    #[test]
    fn a_time_is_offered_if_everybody_offers_it() {
        let [early, late, later] = ["2026-03-05T07:00:00Z", "2026-03-05T07:15:00Z", "2026-03-05T07:30:00Z"];
        let mut room = slots(&[late, later]);
        room["warnings"] = json!([{ "code": "stale" }]);
        let both = in_all(vec![slots(&[early, late, later]), room.clone(), slots(&[early, later])]);
        assert_eq!(both["slots"], slots(&[later])["slots"]);
        assert_eq!(both["warnings"], room["warnings"]);
        assert_eq!(in_all(vec![slots(&[early]), slots(&[])])["slots"], json!([]));
    }

    // 2026-03-05 is a Thursday, and Berlin is an hour ahead of UTC.
    #[rstest]
    #[case::opens("2026-03-05T07:00:00Z", true)]
    #[case::too_early("2026-03-05T06:45:00Z", false)]
    #[case::until_it_closes("2026-03-05T16:30:00Z", true)]
    #[case::too_late("2026-03-05T16:45:00Z", false)]
    #[case::saturday("2026-03-07T10:00:00Z", false)]
    #[case::across_midnight("2026-03-05T22:45:00Z", false)]
    fn working_hours_are_those_of_the_zone(#[case] start: &str, #[case] expected: bool) {
        let answer = slots(&[start]);
        assert_eq!(is_in_working_hours(&answer["slots"][0], "Europe/Berlin".parse().unwrap()), expected);
    }

    #[rstest]
    #[case::nothing(&[], None, 0, Some(NOTHING_FREE))]
    #[case::night(&["2026-03-05T02:00:00Z", "2026-03-05T09:00:00Z"], None, 2, Some(SOME_OUTSIDE))]
    #[case::night_is_wanted(&["2026-03-05T02:00:00Z", "2026-03-05T09:00:00Z"], Some(false), 2, None)]
    #[case::night_is_dropped(&["2026-03-05T02:00:00Z", "2026-03-05T09:00:00Z"], Some(true), 1, None)]
    #[case::only_night(&["2026-03-05T02:00:00Z"], Some(true), 0, Some(ONLY_OUTSIDE))]
    #[case::the_first_ones(&["2026-03-05T09:00:00Z", "2026-03-05T10:00:00Z", "2026-03-05T22:00:00Z"], None, 2, None)]
    fn notes_say_what_to_do(
        #[case] starts: &[&str],
        #[case] flag: Option<bool>,
        #[case] found: usize,
        #[case] note: Option<&str>,
    ) {
        let chosen = Chosen::of(&slots(starts), Zone::UTC, flag, 2);
        assert_eq!((chosen.times.len(), chosen.note), (found, note));
    }

    #[rstest]
    #[case("2026-03-05T09:00:00Z", "2026-03-05T09:00:00Z")]
    #[case("2026-03-05T09:00:00.000001Z", "2026-03-05T09:15:00Z")]
    #[case("2026-03-05T09:59:59Z", "2026-03-05T10:00:00Z")]
    fn a_search_from_now_begins_on_the_quarter_of_an_hour(#[case] now: &str, #[case] expected: &str) {
        assert_eq!(next_step(now.parse().unwrap()).to_string(), expected);
    }

    #[rstest]
    #[case::duration(json!({ "start": "2026-03-05T10:00", "duration_minutes": 30 }), Ok("2026-03-05T09:30:00Z"))]
    #[case::end(json!({ "start": "2026-03-05T10:00", "end": "2026-03-05T11:00" }), Ok("2026-03-05T10:00:00Z"))]
    #[case::both(
        json!({ "start": "2026-03-05T10:00", "end": "2026-03-05T11:00", "duration_minutes": 60 }),
        Ok("2026-03-05T10:00:00Z")
    )]
    #[case::contradiction(
        json!({ "start": "2026-03-05T10:00", "end": "2026-03-05T11:00", "duration_minutes": 30 }),
        Err("contradicts end")
    )]
    #[case::nothing(json!({ "start": "2026-03-05T10:00", "duration_minutes": 0 }), Err("at least 1"))]
    #[case::neither(json!({ "start": "2026-03-05T10:00" }), Err("or end"))]
    fn a_time_has_an_end_or_a_duration(#[case] given: Value, #[case] expected: Result<&str, &str>) {
        let arguments =
            Arguments::of(given.as_object().unwrap().clone(), &ExplainTime.properties(), &["start"]).unwrap();
        match (span(&arguments, "Europe/Berlin".parse().unwrap()), expected) {
            (Ok((_, end)), Ok(expected)) => assert_eq!(end.to_string(), expected),
            (Err(error), Err(says)) => assert!(error.message.contains(says), "{}", error.message),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn reasons_show_local_times_and_are_few() {
        let reason = json!({
            "calendar_id": "cal_1", "reason": "event", "start": "2026-03-05T09:00:00Z", "end": "2026-03-05T10:00:00Z"
        });
        let answer = json!({ "offered": false, "reasons": vec![reason; REASONS_MAX + 1], "warnings": [] });
        let entry = explanation(json!({ "agent_id": "agt_1" }), &answer, Zone::UTC);
        assert_eq!(entry["reasons"][0]["when"], "Thu 2026-03-05 09:00-10:00 UTC");
        assert_eq!(entry["reasons"].as_array().unwrap().len(), REASONS_MAX);
        assert_eq!((&entry["free"], &entry["has_more"]), (&json!(false), &json!(true)));
        assert_eq!(entry.get("warnings"), None);
    }
}
