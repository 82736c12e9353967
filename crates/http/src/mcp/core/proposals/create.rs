//! Proposing times.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Timestamp, Zone};
use serde_json::{Value, json};

use super::{
    shown::short,
    slots::{time_schema, times},
};
use crate::mcp::core::{
    arguments::Arguments,
    directory::{self, Agent},
    failure::{Failure, Outcome},
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// The most hours until a proposal expires, a year.
const HOURS_MAX: u32 = 8_760;

/// `create_proposal`
pub(in super::super) struct CreateProposal;

#[async_trait]
impl CoreTool for CreateProposal {
    fn about(&self) -> About {
        About {
            name: "create_proposal",
            title: "Propose times",
            description: "Offers several times to agents. Each participant answers once with respond_to_proposal; the \
                last answer confirms the best time, and the organizer and all who did not decline get an event. A time \
                that is taken by then, or that nobody accepted, is not confirmed. Returns the slots and their ids. \
                Example: {\"title\": \"Review\", \"participants\": [\"Ben\"], \"times\": [\"2026-03-05T10:00\", \
                \"2026-03-06T14:00\"], \"duration_minutes\": 30}",
            effect: Effect::Adds,
            operations: &[
                &operations::CREATE_PROPOSAL,
                &operations::GET_AGENT,
                &operations::LIST_AGENTS,
                &operations::GET_CALENDAR,
                &operations::LIST_AGENT_CALENDARS,
            ],
            required: &["title", "participants", "times"],
            renamed: &[
                ("organizer_agent_id", "organizer"),
                ("participant_agent_ids", "participants"),
                ("slots", "times"),
                ("Idempotency-Key", "idempotency_key"),
            ],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "title": { "type": "string" },
            "participants": {
                "type": "array", "items": { "type": "string" },
                "description": "The agents that are asked, by id or name. The organizer answers only if it is named.",
            },
            "times": {
                "type": "array", "items": time_schema(),
                "description": "1-20 starts, local or with an offset, or objects {start, end}.",
            },
            "duration_minutes": { "type": "integer", "minimum": 1, "description": "The length of times without an end." },
            "organizer": {
                "type": "string",
                "description": "An agent's id or name. Default: your own agent, else the first of several participants.",
            },
            "calendar_id": { "type": "string", "description": "The organizer's calendar. Default: its only one." },
            "timezone": { "type": "string", "description": "IANA zone of local times, also in the result. Default: the calendar's." },
            "description": { "type": "string" },
            "min_accepts": {
                "type": "integer", "minimum": 0, "default": 1,
                "description": "How many must accept a time. With 1, one accept decides for all who did not decline.",
            },
            "placement": {
                "type": "string", "enum": ["all", "organizer"], "default": "all",
                "description": "Who gets an event: all who did not decline, or the organizer alone.",
            },
            "expires_at": { "type": "string", "description": "The last moment to answer. Default: the last time's start." },
            "expires_in_hours": { "type": "integer", "minimum": 1, "maximum": HOURS_MAX, "description": "Instead of expires_at." },
            "idempotency_key": { "type": "string", "description": "To repeat a call that had no answer, send the same key." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let named = arguments.list("participants")?.unwrap_or_default();
        let participants = directory::agents(session, "participants", &named).await?;
        let organizer = organizer(session, arguments, &participants).await?;
        let (calendar, zone) = calendar(session, arguments, &organizer).await?;
        let expires_at = expiry(arguments, session.now(), zone)?;
        let asked = json!({
            "title": arguments.needed("title")?,
            "description": arguments.text("description")?,
            "organizer_agent_id": organizer.id,
            "participant_agent_ids": participants.into_iter().map(|agent| agent.id).collect::<Vec<_>>(),
            "calendar_id": calendar,
            "slots": times(arguments, "times", zone, arguments.number("duration_minutes")?)?,
            "expires_at": expires_at.map(|at| at.to_string()),
            "skip_taken": true,
            "min_accepts": arguments.number("min_accepts")?.unwrap_or(1),
            "placement": arguments.text("placement")?.unwrap_or_else(|| "all".to_owned()),
            "idempotency_key": arguments.text("idempotency_key")?,
        });
        let created = session.call(&operations::CREATE_PROPOSAL, asked).await?;
        Ok(short(&created.body, zone))
    }
}

/// The organizer of the arguments; else the caller's own agent; else the first of several participants.
async fn organizer(session: &Session<'_>, arguments: &Arguments, participants: &[Agent]) -> Result<Agent, Failure> {
    match (arguments.text("organizer")?, session.own_agent(), participants) {
        (Some(named), _, _) => directory::agent(session, "organizer", named).await,
        (None, Some(own), _) => Ok(Agent { id: own.to_string(), name: own.to_string() }),
        (None, None, [first, _, ..]) => Ok(first.clone()),
        (None, None, _) => {
            Err(FieldError::new("organizer", "is required: the id or the name of the agent that proposes").into())
        }
    }
}

/// The calendar of the organizer, and the zone of local times.
async fn calendar(session: &Session<'_>, arguments: &Arguments, organizer: &Agent) -> Result<(String, Zone), Failure> {
    match (arguments.text("calendar_id")?, arguments.zone("timezone")?) {
        (Some(id), Some(zone)) => Ok((id, zone)),
        (Some(id), None) => {
            let zone = directory::zone_of_calendar(session, &id).await?;
            Ok((id, zone))
        }
        (None, zone) => {
            let only = directory::only_calendar(session, "calendar_id", organizer).await?;
            Ok((only.id, zone.unwrap_or(only.zone)))
        }
    }
}

/// When the proposal expires, if the arguments say it.
fn expiry(arguments: &Arguments, now: Timestamp, zone: Zone) -> Result<Option<Timestamp>, FieldError> {
    let wrong = |message: String| Err(FieldError::new("expires_in_hours", message));
    match (arguments.instant("expires_at", Some(zone))?, arguments.number("expires_in_hours")?) {
        (at, None) => Ok(at),
        (Some(_), Some(_)) => wrong("must be left out if expires_at is sent".to_owned()),
        // The repeated call would mean another time, so it would be refused.
        (None, Some(_)) if arguments.value("idempotency_key").is_some() => {
            wrong("must be left out if idempotency_key is sent; send expires_at instead".to_owned())
        }
        (None, Some(hours)) if (1..=HOURS_MAX).contains(&hours) => Ok(Some(now + SignedDuration::hours(hours.into()))),
        (None, Some(hours)) => wrong(format!("must be 1 to {HOURS_MAX}; got {hours}")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::mcp::core::proposals::examples::{TEN, arguments, berlin};

    #[rstest]
    #[case::none(json!({}), Ok(None))]
    #[case::at(json!({ "expires_at": "2026-03-05T10:00" }), Ok(Some(TEN)))]
    #[case::hours(json!({ "expires_in_hours": 24 }), Ok(Some(TEN)))]
    #[case::both(json!({ "expires_at": TEN, "expires_in_hours": 1 }), Err("expires_in_hours"))]
    #[case::no_hours(json!({ "expires_in_hours": 0 }), Err("expires_in_hours"))]
    #[case::repeated(json!({ "expires_in_hours": 1, "idempotency_key": "once" }), Err("expires_in_hours"))]
    fn a_proposal_expires(#[case] given: Value, #[case] expected: Result<Option<&str>, &str>) {
        let now = "2026-03-04T09:00:00Z".parse().unwrap();
        let found = expiry(&arguments(&given), now, berlin()).map(|at| at.map(|at| at.to_string()));
        assert_eq!(found.as_ref().map(Option::as_deref).map_err(|error| error.param.as_str()), expected);
    }
}
