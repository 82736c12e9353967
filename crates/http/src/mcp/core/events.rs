//! Reading and changing events.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Timestamp, Zone};
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    compact, directory,
    failure::{Failure, Outcome},
    part::Part,
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// How far a list reaches if no end is given.
const DAYS: i64 = 7;
/// The number of events that a list shows unless the call says otherwise.
const LISTED: u32 = 50;

/// `list_events`
pub(in super::super) struct ListEvents;

#[async_trait]
impl CoreTool for ListEvents {
    fn about(&self) -> About {
        About {
            name: "list_events",
            title: "List events",
            description: "Lists what takes place on a calendar, or on all calendars of an agent, in a period: events, \
                occurrences of series, holds, and what began earlier and still goes on. Without start, from today on; \
                without end, for 7 days. An agent's key may leave out calendar_id and agent_id: it means its own \
                calendars. Example: {\"calendar_id\": \"cal_...\", \"start\": \"2026-03-05\", \"end\": \"2026-03-05\", \
                \"timezone\": \"Europe/Berlin\"}",
            effect: Effect::Reads,
            operations: &[&operations::LIST_EVENTS, &operations::LIST_AGENT_EVENTS],
            required: &[],
            renamed: &[("cal_id", "calendar_id"), ("start_after", "start"), ("start_before", "end")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "calendar_id": { "type": "string", "description": "The calendar." },
            "agent_id": { "type": "string", "description": "Instead of calendar_id: all calendars of this agent, by id or name." },
            "start": { "type": "string", "description": "A date, a local time, or a time with an offset. Today if left out." },
            "end": { "type": "string", "description": "At most 366 days after start; a date includes its day. 7 days after start if left out." },
            "timezone": { "type": "string", "description": "IANA zone of local times, also in the result. The calendar's if left out." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 200, "default": LISTED },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let place = Place::of(session, arguments).await?;
        let zone = match arguments.zone("timezone")? {
            Some(zone) => zone,
            None => place.zone(session).await?,
        };
        let start = match arguments.instant("start", Some(zone))? {
            Some(start) => start,
            None => midnight(session.now(), zone),
        };
        let end = arguments.end("end", Some(zone))?.unwrap_or(start + SignedDuration::days(DAYS));
        let mut asked = json!({
            "start_after": start.to_string(),
            "start_before": end.to_string(),
            "expand": true,
            "local": false,
            "limit": arguments.number("limit")?.unwrap_or(LISTED),
        });
        let part = Part { list: "data", fields: compact::FIELDS, most: usize::MAX };
        let listed = match &place {
            Place::Calendar(id) => {
                asked["cal_id"] = id.as_str().into();
                session.call_for(part, &operations::LIST_EVENTS, asked).await?
            }
            Place::Agent(id) => {
                asked["agent_id"] = id.as_str().into();
                session.call_for(part, &operations::LIST_AGENT_EVENTS, asked).await?
            }
        };
        let data = listed.body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        // Expired holds are cancelled, too.
        let live = data.iter().filter(|event| event["status"] != "cancelled");
        let events: Vec<Value> = live.map(|event| compact::event(event, Some(zone))).collect();
        let others = listed.body["total"].as_u64().unwrap_or_default().saturating_sub(data.len() as u64);
        let mut found = json!({ "events": [], "from": start.to_string(), "to": end.to_string() });
        // `json!` would copy every event.
        found["events"] = Value::Array(events);
        if others > 0 {
            found["others"] = others.into();
            found["note"] = "There are more: raise limit, or ask for a shorter time.".into();
        }
        Ok(found)
    }
}

/// Where events are looked for.
enum Place {
    Calendar(String),
    Agent(String),
}

impl Place {
    /// The calendar or the agent of the arguments, or else the caller's own agent.
    async fn of(session: &Session<'_>, arguments: &Arguments) -> Result<Self, Failure> {
        match (arguments.text("calendar_id")?, arguments.text("agent_id")?, session.own_agent()) {
            (Some(_), Some(_), _) => Err(FieldError::new("agent_id", "must be left out if calendar_id is sent").into()),
            (Some(calendar), None, _) => Ok(Self::Calendar(calendar)),
            (None, Some(agent), _) => Ok(Self::Agent(directory::agent(session, "agent_id", agent).await?.id)),
            (None, None, Some(own)) => Ok(Self::Agent(own.to_string())),
            (None, None, None) => {
                Err(FieldError::new("calendar_id", "is required, or agent_id; whoami returns the ids").into())
            }
        }
    }

    /// The zone of the calendar, or of the agent's first one.
    async fn zone(&self, session: &Session<'_>) -> Result<Zone, Failure> {
        match self {
            Self::Calendar(id) => directory::zone_of_calendar(session, id).await,
            Self::Agent(id) => directory::zone_of_agent(session, id).await,
        }
    }
}

/// The first moment of the day of that time in the zone.
fn midnight(at: Timestamp, zone: Zone) -> Timestamp {
    zone.to_timestamp(zone.to_civil(at).date.midnight()).unwrap_or(at)
}
