//! A task that writes until the server is gone, and records the answers.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::connection::{Answer, Connection, post};
use crate::json;
use crate::random::Random;

/// One in this many writes creates several events at once.
const BATCHES: u64 = 8;
/// The number of events in such a write.
const BATCH: u64 = 5;

/// The input of a writer.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    pub(crate) calendar: String,
}

/// One request for events with unique titles.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    /// The `Idempotency-Key`.
    idempotency: String,
    /// One title for `POST .../events`, several for `.../events/batch`.
    pub(crate) titles: Vec<String>,
    /// The day of March on which they take place.
    day: u64,
}

/// The result of a request, as far as its sender knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server answered that these events were created.
    Acknowledged(Vec<String>),
    /// The server was gone before it answered.
    Unanswered,
}

impl Outcome {
    pub(crate) const fn is_acknowledged(&self) -> bool {
        matches!(self, Self::Acknowledged(_))
    }
}

/// All writes to one calendar.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Vec<(Write, Outcome)>);

impl Ledger {
    pub(crate) fn push(&mut self, write: Write, outcome: Outcome) {
        self.0.push((write, outcome));
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn writes(&self) -> impl Iterator<Item = &(Write, Outcome)> {
        self.0.iter()
    }

    pub(crate) fn writes_mut(&mut self) -> impl Iterator<Item = (&Write, &mut Outcome)> {
        self.0.iter_mut().map(|(write, outcome)| (&*write, outcome))
    }
}

impl Writer {
    /// Writes until the connection breaks. A refusal is an error.
    pub(crate) async fn write(self, round: u64, number: u64, seed: u64) -> Result<Ledger> {
        let mut ledger = Ledger::default();
        let mut random = Random::new(seed);
        // The server may be killed before this task has connected.
        let Ok(mut connection) = Connection::open(self.address).await else { return Ok(ledger) };
        for sequence in 0_u64.. {
            let name = format!("r{round}-w{number}-{sequence}");
            let titles = match random.one_in(BATCHES) {
                true => (0..BATCH).map(|part| format!("{name}-{part}")).collect(),
                false => vec![name.clone()],
            };
            let write = Write::new(format!("key-{name}"), titles, 1 + random.below(30));
            match connection.ask(&write.request(&self.key, &self.calendar)).await {
                Ok(answer) => {
                    let ids = write.acknowledged(&answer)?;
                    ledger.push(write, Outcome::Acknowledged(ids));
                }
                Err(_) => {
                    ledger.push(write, Outcome::Unanswered);
                    break;
                }
            }
        }
        Ok(ledger)
    }
}

impl Write {
    pub(crate) const fn new(idempotency: String, titles: Vec<String>, day: u64) -> Self {
        Self { idempotency, titles, day }
    }

    /// The bytes of the request, which are the same each time.
    pub(crate) fn request(&self, key: &str, calendar: &str) -> Vec<u8> {
        let event = |title: &String| {
            json!({
                "title": title,
                "start_time": format!("2026-03-{:02}T09:00:00Z", self.day),
                "end_time": format!("2026-03-{:02}T09:30:00Z", self.day),
            })
        };
        let (target, body): (_, Value) = match self.titles.as_slice() {
            [title] => (format!("/v1/calendars/{calendar}/events"), event(title)),
            titles => {
                let events: Vec<Value> = titles.iter().map(event).collect();
                (format!("/v1/calendars/{calendar}/events/batch"), json!({ "events": events }))
            }
        };
        post(&target, Some(key), Some(&self.idempotency), &body.to_string())
    }

    /// The identifiers that the answer acknowledges.
    pub(crate) fn acknowledged(&self, answer: &Answer) -> Result<Vec<String>> {
        let body = answer.json(201)?;
        let events = match self.titles.len() {
            1 => std::slice::from_ref(&body),
            _ => json::list(&body, "data")?.as_slice(),
        };
        ensure!(
            events.len() == self.titles.len(),
            "{} events were acknowledged as {}",
            self.titles.len(),
            events.len()
        );
        for (event, title) in events.iter().zip(&self.titles) {
            ensure!(json::text(event, "title")? == title, "{title} was acknowledged as {event}");
        }
        events.iter().map(|event| Ok(json::text(event, "id")?.to_owned())).collect()
    }
}
