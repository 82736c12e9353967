//! Another organization at its normal work: it reads an event, asks for availability, and changes the event.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::connection::{Connection, get, patch, post};
use crate::json;
use crate::service::{Process, Program};

/// Its address, which no attack uses.
pub(crate) const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// How long it waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between requests.
const REST: Duration = Duration::from_millis(5);
/// How many requests share a connection. A new one is opened afterwards, to notice a server that no longer accepts
/// any.
const EACH: usize = 10;
/// The least number of requests.
const LEAST: usize = 20;

/// The times of requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits {
    /// Sorted.
    pub(crate) times: Vec<Duration>,
    /// The number of requests without an answer, or with a wrong one.
    pub(crate) unanswered: usize,
}

impl Waits {
    /// The time within which this percentage of requests was answered.
    pub(crate) fn part(&self, percent: usize) -> Duration {
        let last = self.times.len().saturating_sub(1);
        self.times.get((self.times.len() * percent / 100).min(last)).copied().unwrap_or_default()
    }
}

/// The organization and its requests, which it sends in turn.
#[derive(Debug, Clone)]
pub(crate) struct Neighbour {
    requests: Vec<Vec<u8>>,
}

/// A neighbour at work.
pub(crate) struct Living {
    end: watch::Sender<bool>,
    working: JoinHandle<Waits>,
}

impl Neighbour {
    /// Creates the organization.
    pub(crate) async fn move_in(program: &Program, server: &Process) -> Result<Self> {
        let key = program.create_organization("Neighbour").await?;
        let mut connection = Connection::open(server.address).await?;
        let body = json!({ "name": "Work", "timezone": "UTC" }).to_string();
        let calendar = connection.ask(&post("/v1/calendars", Some(&key), None, &body)).await?.json(201)?;
        let calendar = json::text(&calendar, "id")?.to_owned();
        let body = json!({
            "title": "Weekly planning", "start_time": "2099-03-02T09:00:00Z", "end_time": "2099-03-02T10:00:00Z",
        });
        let target = format!("/v1/calendars/{calendar}/events");
        let event = connection.ask(&post(&target, Some(&key), None, &body.to_string())).await?.json(201)?;
        let event = format!("/v1/events/{}", json::text(&event, "id")?);
        let window = "start=2099-03-02T00:00:00Z&end=2099-03-03T00:00:00Z";
        let requests = vec![
            get(&event, Some(&key)),
            get(&format!("/v1/calendars/{calendar}/availability?{window}"), Some(&key)),
            patch(&event, &key, r#"{"title":"Weekly planning, changed"}"#),
        ];
        Ok(Self { requests })
    }

    /// Works for this time, and returns how long it waited.
    pub(crate) async fn waits_for(&self, server: SocketAddr, time: Duration) -> Result<Waits> {
        let living = self.lives(server);
        tokio::time::sleep(time).await;
        let waits = living.end().await?;
        ensure!(waits.unanswered == 0, "the neighbour got no answer although there was no attack");
        Ok(waits)
    }

    /// Works until it is ended.
    pub(crate) fn lives(&self, server: SocketAddr) -> Living {
        let (end, ended) = watch::channel(false);
        let neighbour = self.clone();
        Living { end, working: tokio::spawn(async move { neighbour.works(server, &ended).await }) }
    }

    async fn works(&self, server: SocketAddr, ended: &watch::Receiver<bool>) -> Waits {
        let (mut waits, mut connection) = (Waits::default(), None);
        for (number, request) in self.requests.iter().cycle().enumerate() {
            if number >= LEAST && *ended.borrow() {
                break;
            }
            if number % EACH == 0 {
                connection = None;
            }
            let begun = Instant::now();
            let answered = tokio::time::timeout(PATIENCE, ask(&mut connection, server, request)).await;
            waits.times.push(begun.elapsed());
            if !matches!(answered, Ok(Ok(200))) {
                waits.unanswered += 1;
                connection = None;
            }
            tokio::time::sleep(REST).await;
        }
        waits.times.sort_unstable();
        waits
    }
}

async fn ask(connection: &mut Option<Connection>, server: SocketAddr, request: &[u8]) -> Result<u16> {
    let open = match connection {
        Some(open) => open,
        none => none.insert(Connection::open_from(ADDRESS, server).await?),
    };
    Ok(open.exchange(request).await?.0)
}

impl Living {
    /// Lets it finish its current request, and returns how long it waited.
    pub(crate) async fn end(self) -> Result<Waits> {
        // If nobody receives this, the task has failed, which is reported below.
        let _ = self.end.send(true);
        self.working.await.context("the neighbour")
    }
}
