//! Organizations that receive webhooks about their own changes.

use std::net::SocketAddr;

use anyhow::Result;
use serde_json::{Value, json};

use crate::connection::{Connection, post};
use crate::json;
use crate::service::{Process, Program};

/// The most events of one request.
pub(crate) const BATCH: usize = 100;
/// Nothing that is counted here is limited.
const LIMITS: &str = r#"{
    "rate_per_second": 1000000, "api_calls": null, "events": null, "webhook_deliveries": null, "webhook_endpoints": null
}"#;

/// An organization with a calendar.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) key: String,
    pub(crate) calendar: String,
}

impl Scene {
    /// Creates both.
    pub(crate) async fn set(program: &Program, server: &Process, name: &str) -> Result<Self> {
        let key = program.create_organization_with(name, LIMITS).await?;
        let mut connection = Connection::open(server.address).await?;
        let body = json!({ "name": name, "timezone": "UTC" }).to_string();
        let calendar = connection.ask(&post("/v1/calendars", Some(&key), None, &body)).await?.json(201)?;
        Ok(Self { key, calendar: json::text(&calendar, "id")?.to_owned() })
    }

    /// Adds an endpoint for new events.
    pub(crate) async fn endpoint(&self, connection: &mut Connection, at: SocketAddr, path: &str) -> Result<()> {
        let body = json!({ "url": format!("http://{at}{path}"), "events": ["event.created"] }).to_string();
        connection.ask(&post("/v1/webhooks", Some(&self.key), None, &body)).await?.json(201)?;
        Ok(())
    }

    /// The request that adds one event.
    pub(crate) fn event(&self, number: usize) -> Vec<u8> {
        let target = format!("/v1/calendars/{}/events", self.calendar);
        post(&target, Some(&self.key), None, &event(number).to_string())
    }

    /// The request that adds [`BATCH`] events. It can be repeated.
    pub(crate) fn batch(&self, number: usize) -> Vec<u8> {
        let events: Vec<Value> = (0..BATCH).map(|within| event(number * BATCH + within)).collect();
        let target = format!("/v1/calendars/{}/events/batch", self.calendar);
        post(&target, Some(&self.key), Some(&format!("batch-{number}")), &json!({ "events": events }).to_string())
    }

    /// The identifiers of the events in such an answer.
    pub(crate) fn added(answer: &Value) -> Result<Vec<String>> {
        json::list(answer, "data")?.iter().map(|event| json::text(event, "id").map(str::to_owned)).collect()
    }
}

fn event(number: usize) -> Value {
    let (day, hour) = (number / 24 % 28 + 1, number % 24);
    json!({
        "title": format!("Number {number}"),
        "start_time": format!("2099-03-{day:02}T{hour:02}:00:00Z"),
        "end_time": format!("2099-03-{day:02}T{hour:02}:30:00Z"),
    })
}
