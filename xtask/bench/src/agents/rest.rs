//! The REST API, with the organization's key: it makes what the tasks need, and reads what they did. Nothing here is
//! counted.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use kalends_time::Timestamp;
use serde_json::Value;

use crate::connection::{Connection, get, post, put};
use crate::json;

/// The most entries of a list.
const LISTED: usize = 200;

/// The API as the organization.
#[derive(Debug)]
pub(crate) struct Rest {
    address: SocketAddr,
    key: String,
}

/// Something that takes place on a calendar, or is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) title: String,
    pub(crate) status: String,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

impl Rest {
    pub(crate) fn new(address: SocketAddr, key: &str) -> Self {
        Self { address, key: key.to_owned() }
    }

    /// The server's time.
    pub(crate) async fn now(&self) -> Result<Timestamp> {
        time(&self.read("/health").await?, "ts")
    }

    /// Creates something.
    pub(crate) async fn create(&self, target: &str, body: &Value) -> Result<Value> {
        self.ask(&post(target, Some(&self.key), None, &body.to_string()), 201).await
    }

    /// Replaces something.
    pub(crate) async fn replace(&self, target: &str, body: &Value) -> Result<Value> {
        self.ask(&put(target, &self.key, &body.to_string()), 200).await
    }

    /// Reads something.
    pub(crate) async fn read(&self, target: &str) -> Result<Value> {
        self.ask(&get(target, Some(&self.key)), 200).await
    }

    /// What is on a calendar between two times and is not cancelled, in order. Occurrences of series are events.
    pub(crate) async fn events(&self, calendar: &str, from: Timestamp, to: Timestamp) -> Result<Vec<Event>> {
        let window = format!("start_after={from}&start_before={to}&expand=true&limit={LISTED}");
        let listed = self.read(&format!("/v1/calendars/{calendar}/events?{window}")).await?;
        let data = json::list(&listed, "data")?;
        ensure!(data.len() < LISTED, "{calendar} has more events than one list shows");
        let live = data.iter().filter(|event| event["status"] != "cancelled");
        live.map(Event::of).collect()
    }

    async fn ask(&self, request: &[u8], status: u16) -> Result<Value> {
        Connection::open(self.address).await?.ask(request).await?.json(status)
    }
}

impl Event {
    fn of(event: &Value) -> Result<Self> {
        Ok(Self {
            title: json::text(event, "title")?.to_owned(),
            status: json::text(event, "status")?.to_owned(),
            start: time(event, "startTime")?,
            end: time(event, "endTime")?,
        })
    }
}

/// The time in a field of an answer.
pub(crate) fn time(answer: &Value, field: &str) -> Result<Timestamp> {
    Ok(json::text(answer, field)?.parse()?)
}
