//! An organization of a person who is signed in, for the pages of the console.

use anyhow::{Context as _, Result};
use kalends_time::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::data::{agent_with_calendar, create_events};
use crate::connection::{Connection, get, post};
use crate::json;
use crate::service::Program;

/// The pages, with the names of their cases.
pub(crate) const PAGES: &[(&str, &str)] = &[
    ("console: overview", "/console"),
    ("console: waiting", "/console/waiting"),
    ("console: approvals", "/console/approvals"),
    ("console: proposals", "/console/proposals"),
    ("console: week of 100 events", "/console/calendar"),
    ("console: availability", "/console/availability"),
    ("console: test of availability", "/console/availability/test"),
    ("console: booking pages", "/console/booking-pages"),
    ("console: bookings", "/console/bookings"),
    ("console: agents", "/console/agents"),
    ("console: keys", "/console/keys"),
    ("console: connections", "/console/connections"),
    ("console: feeds", "/console/feeds"),
    ("console: subscriptions", "/console/feeds/subscriptions"),
    ("console: webhooks", "/console/webhooks"),
    ("console: activity", "/console/activity"),
    ("console: usage", "/console/usage"),
    ("console: organization", "/console/organization"),
    ("console: members", "/console/members"),
    ("console: own account", "/console/account"),
    ("console: own organizations", "/console/orgs"),
    ("console: claims", "/console/claims"),
];

/// The number of agents, each with a calendar.
const AGENTS: u64 = 5;
/// The number of events of each calendar, in the week around now.
const EVENTS: u64 = 20;

/// Signs up a person, gives their organization no limits, and fills it. Returns the token of the session.
pub(crate) async fn create(connection: &mut Connection, program: &Program) -> Result<String> {
    let terms = connection.ask(&get("/v1/auth/terms/current", None)).await?.json(200)?;
    let body = json!({
        "email": "ada@example.com", "name": "Ada", "password": "a long enough password", "org_name": "Bench",
        "tos_version": json::text(&terms, "version")?,
    });
    let signed_up = connection.ask(&post("/v1/auth/signup", None, None, &body.to_string())).await?.json(201)?;
    let org = json::text(&signed_up["org"], "id")?;
    program.operate(&["org", "set-plan", org, "custom", "--limits", r#"{"rate_per_second":1000000}"#]).await?;
    let body = json!({ "email": "ada@example.com", "password": "a long enough password" });
    let signed_in = connection.ask(&post("/v1/auth/signin", None, None, &body.to_string())).await?.json(200)?;
    let session = json::text(&signed_in, "token")?.to_owned();
    let health = connection.ask(&get("/health", None)).await?.json(200)?;
    let now: Timestamp = json::text(&health, "ts")?.parse()?;
    for number in 0..AGENTS {
        let name = format!("Agent {number}");
        let (_, calendar) = agent_with_calendar(connection, &session, &name).await.context("cannot create agents")?;
        create_events(connection, &session, &calendar, &around(now)).await?;
    }
    Ok(session)
}

/// Half an hour every eight hours, from three days before.
fn around(now: Timestamp) -> Vec<Value> {
    let hours = |hours: u64| SignedDuration::minutes(i64::try_from(hours * 60).unwrap_or(0));
    let event = |number: u64| {
        let start = now - hours(72) + hours(number * 8);
        let end = start + SignedDuration::minutes(30);
        json!({
            "title": "Weekly planning with the design team",
            "start_time": start.to_string(),
            "end_time": end.to_string(),
        })
    };
    (0..EVENTS).map(event).collect()
}
