//! Creating an event.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_time::{CivilDate, Timestamp, Zone};
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    compact,
    directory::{self, Agent},
    event_arguments::{Times, attendees, copy, has_local_times, reminders, rule},
    failure::{Failure, Outcome},
    one_event::{explained, written},
    other_calendars::{self, Wanted},
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// `create_event`
pub(super) struct CreateEvent;

#[async_trait]
impl CoreTool for CreateEvent {
    fn about(&self) -> About {
        About {
            name: "create_event",
            title: "Create an event",
            description: "Books an event or a series on one calendar (for several: hold_time, confirm_hold). If this \
                calendar, or another of its agent, is busy then, it books nothing and returns the conflicts and nearest \
                free times. Working hours do not count; see find_times. Nobody gets email unless send_invitations is \
                true. Example: {\"calendar_id\": \"cal_...\", \"title\": \"Lunch\", \"start\": \
                \"2026-03-05T12:00\", \"duration_minutes\": 45, \"timezone\": \"Europe/Berlin\"}",
            effect: Effect::Adds,
            operations: &[&operations::CREATE_EVENT],
            required: &["title", "start"],
            renamed: &[
                ("cal_id", "calendar_id"),
                ("id", "calendar_id"),
                ("start_time", "start"),
                ("end_time", "end"),
                ("if_free", "allow_conflict"),
            ],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "title": { "type": "string" },
            "start": { "type": "string", "description": "A local time, or one with an offset. With all_day, a date." },
            "end": { "type": "string", "description": "Exclusive. With all_day, the day after the last; one day if left out." },
            "duration_minutes": { "type": "integer", "minimum": 1, "description": "Instead of end." },
            "calendar_id": { "type": "string", "description": "An agent's key may leave it out if the agent has one calendar." },
            "timezone": { "type": "string", "description": "IANA zone of local times. The calendar's if left out." },
            "description": { "type": "string" },
            "location": { "type": "string" },
            "conference_url": { "type": "string", "description": "The https address of the call." },
            "attendees": {
                "type": "array", "items": { "anyOf": [{ "type": "string" }, { "type": "object" }] },
                "description": "Email addresses, or objects with email, name, role (required, optional).",
            },
            "send_invitations": { "type": "boolean", "default": false, "description": "Whether to email the attendees." },
            "recurrence_rule": { "type": "string", "description": "Makes a series, such as FREQ=WEEKLY;BYDAY=MO;COUNT=10." },
            "recurrence_timezone": {
                "type": "string", "description": "Zone whose clock the series follows. That of local times, or the calendar's, if left out.",
            },
            "all_day": { "type": "boolean", "default": false },
            "allow_conflict": { "type": "boolean", "default": false, "description": "Whether to book a taken time." },
            "reminders": {
                "type": "array", "items": { "type": "integer" },
                "description": "Minutes before the start. The calendar's if left out.",
            },
            "metadata": { "type": "object", "description": "Your own data." },
            "idempotency_key": { "type": "string", "description": "Send it again if you repeat a call: it then books once." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let all_day = arguments.flag("all_day")?.unwrap_or(false);
        let allowed = arguments.flag("allow_conflict")?.unwrap_or(false);
        let named = arguments.zone("timezone")?;
        let repeats_in = arguments.zone("recurrence_timezone")?;
        let rule = rule(arguments)?;
        // An all-day series follows its calendar's zone by itself.
        let follows_calendar = rule.is_some() && repeats_in.is_none() && !all_day;
        let is_local = !all_day && has_local_times(arguments)?;
        // Who owns the calendar is needed too, unless the agent may be booked twice.
        let is_read = follows_calendar || (named.is_none() && is_local) || !allowed;
        let place = Place::of(session, arguments, is_read).await?;
        let zone = named.or(place.zone);
        let times = Times::of(arguments, zone, all_day, None)?;
        let next_day = times.start.as_deref().filter(|_| all_day).and_then(day_after);
        let end = times.end.or(next_day).ok_or_else(|| FieldError::new("end", "is required, or duration_minutes"))?;
        // Local times of a series mean the clock in which they were written.
        let repeats_in = if follows_calendar { named.filter(|_| is_local).or(place.zone) } else { repeats_in };
        let mut asked = json!({
            "cal_id": place.calendar,
            "start_time": times.start,
            "end_time": end,
            "all_day": all_day,
            "attendees": attendees(arguments)?,
            "send_invitations": arguments.flag("send_invitations")?,
            "recurrence_rule": rule,
            "recurrence_timezone": repeats_in.map(Zone::name),
            "if_free": !allowed,
            "reminders": reminders(arguments)?,
            "metadata": arguments.value("metadata"),
            "idempotency_key": arguments.text("idempotency_key")?,
        });
        copy(arguments, &["title", "description", "location", "conference_url"], &mut asked)?;
        if !allowed {
            let free = place.require_free(session, &asked).await;
            free.map_err(|failure| perhaps_booked(explained(failure, zone, allowed), &asked))?;
        }
        let answer = session.call(&operations::CREATE_EVENT, asked).await;
        let answer = answer.map_err(|failure| explained(failure, zone, allowed))?;
        Ok(written(&answer, named, &past(&answer.body, session.now())))
    }
}

/// Adds to a refusal of a call that may be a repetition that the first one may have booked the event.
fn perhaps_booked(mut failure: Failure, asked: &Value) -> Failure {
    if let Failure::Refused(error) = &mut failure
        && asked["idempotency_key"].is_string()
        && let Some(message) = error["message"].as_str()
    {
        error["message"] =
            format!("{message} If you repeat a call, list_events shows whether it booked the event.").into();
    }
    failure
}

/// The calendar of a new event.
struct Place {
    calendar: String,
    /// Its zone, if it was read.
    zone: Option<Zone>,
    /// The agent that owns it, if it was read and the agent may have other calendars.
    agent: Option<String>,
}

impl Place {
    /// The calendar of the arguments, or else the only one of the caller's own agent.
    async fn of(session: &Session<'_>, arguments: &Arguments, is_read: bool) -> Result<Self, Failure> {
        if let Some(calendar) = arguments.text("calendar_id")? {
            let (mut zone, mut agent) = (None, None);
            if is_read {
                let read = session.call(&operations::GET_CALENDAR, json!({ "id": calendar })).await?.body;
                zone = Some(directory::calendar(&read).zone);
                agent = read["agentId"].as_str().map(str::to_owned);
            }
            return Ok(Self { calendar, zone, agent });
        }
        let Some(own) = session.own_agent() else {
            return Err(FieldError::new("calendar_id", "is required; whoami returns the ids").into());
        };
        let agent = Agent { id: own.to_string(), name: "your agent".to_owned() };
        let only = directory::only_calendar(session, "calendar_id", &agent).await?;
        Ok(Self { calendar: only.id, zone: Some(only.zone), agent: None })
    }

    /// Refuses the times of an event if something is there on another calendar of the agent. A series counts by its first
    /// occurrence.
    async fn require_free(&self, session: &Session<'_>, asked: &Value) -> Result<(), Failure> {
        let moment = |field: &str| other_calendars::moment(asked[field].as_str()?, self.zone);
        let (Some(agent), Some(start), Some(end)) = (&self.agent, moment("start_time"), moment("end_time")) else {
            return Ok(());
        };
        other_calendars::require_free(session, Wanted { agent, calendar: &self.calendar, start, end }).await
    }
}

/// The day after a date.
fn day_after(date: &str) -> Option<String> {
    let date: CivilDate = date.parse().ok()?;
    Some(CivilDate::from_days(date.as_days() + 1).to_string())
}

/// A sentence if the event began before `now`. An all-day event must have ended.
fn past(event: &Value, now: Timestamp) -> Vec<String> {
    let (field, what) = if event["allDay"] == true { ("endTime", "end") } else { ("startTime", "start") };
    let is_past = compact::instant(&event[field]).is_some_and(|at| at < now);
    is_past.then(|| format!("Its {what} is in the past; it is now {now}.")).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_on_the_next() {
        assert_eq!(day_after("2026-12-31").as_deref(), Some("2027-01-01"));
        assert_eq!(day_after("2026-12-31T10:00:00Z"), None);
    }

    #[test]
    fn what_is_past_is_noted() {
        let event = |all_day| json!({ "allDay": all_day, "startTime": "2026-03-05T00:00:00Z", "endTime": "2026-03-06T00:00:00Z" });
        let at = |now: &str| now.parse().unwrap();
        assert_eq!(past(&event(false), at("2026-03-05T09:00:00Z")).len(), 1);
        assert_eq!(past(&event(true), at("2026-03-05T09:00:00Z")).len(), 0);
        assert_eq!(past(&event(true), at("2026-03-06T09:00:00Z")).len(), 1);
        assert_eq!(past(&event(false), at("2026-03-04T09:00:00Z")).len(), 0);
    }
}
