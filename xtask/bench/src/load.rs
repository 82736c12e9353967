//! Load: connections that each send the next request as soon as the previous one is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::service::Process;

/// The number of concurrent connections.
pub(crate) const CONNECTIONS: usize = 32;
/// How long a round may overrun before the measurement fails.
const GRACE: Duration = Duration::from_secs(30);

/// The requests of the connections, and the expected status.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    /// One list for all connections, or one for each.
    lists: Vec<Arc<List>>,
    status: u16,
    connections: usize,
}

/// Requests that are sent in order and repeated, through all rounds.
#[derive(Debug)]
struct List {
    requests: Vec<Vec<u8>>,
    sent: AtomicUsize,
}

impl List {
    fn new(requests: Vec<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self { requests, sent: AtomicUsize::new(0) })
    }

    fn next(&self) -> Result<&[u8]> {
        let sent = self.sent.fetch_add(1, Ordering::Relaxed);
        let next = sent.checked_rem(self.requests.len()).and_then(|next| self.requests.get(next));
        Ok(next.context("no requests")?)
    }
}

/// The measurements of one round.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) per_second: f64,
    /// Microseconds from the first byte sent to the last one received.
    pub(crate) p50: u32,
    pub(crate) p99: u32,
    /// The server's processor time for one request, in microseconds.
    pub(crate) processor: f64,
    /// Bytes of one body.
    pub(crate) body_bytes: usize,
}

impl Requests {
    /// One list that all connections share.
    pub(crate) fn shared(status: u16, requests: Vec<Vec<u8>>) -> Self {
        Self { lists: vec![List::new(requests)], status, connections: CONNECTIONS }
    }

    /// One list of a single connection: for requests that the server answers one at a time.
    pub(crate) fn alone(status: u16, requests: Vec<Vec<u8>>) -> Self {
        Self { connections: 1, ..Self::shared(status, requests) }
    }

    /// A list for each connection.
    pub(crate) fn each(status: u16, lists: impl IntoIterator<Item = Vec<Vec<u8>>>) -> Self {
        Self { lists: lists.into_iter().map(List::new).collect(), status, connections: CONNECTIONS }
    }

    /// One of the requests, to look at its answer.
    pub(crate) fn first(&self) -> Option<&[u8]> {
        self.lists.first()?.requests.first().map(Vec::as_slice)
    }

    /// Sends for this time and measures.
    pub(crate) async fn send(&self, server: &Process, time: Duration) -> Result<Round> {
        let mut connections = Vec::with_capacity(self.connections);
        for _ in 0..self.connections {
            connections.push(Connection::open(server.address).await?);
        }
        let mut tasks = JoinSet::new();
        let processor = server.processor_time()?;
        let begun = Instant::now();
        let until = begun + time;
        for (number, connection) in connections.into_iter().enumerate() {
            let list = Arc::clone(self.lists.get(number % self.lists.len()).context("no requests")?);
            tasks.spawn(one_connection(connection, list, self.status, until));
        }
        let mut times = Vec::new();
        let mut body_bytes = 0;
        let finished = async {
            while let Some(done) = tasks.join_next().await {
                let (own, bytes) = done??;
                times.extend(own);
                body_bytes = body_bytes.max(bytes);
            }
            Ok::<_, anyhow::Error>(())
        };
        tokio::time::timeout(time + GRACE, finished).await.context("the server stopped answering")??;
        let seconds = begun.elapsed().as_secs_f64();
        let processor = server.processor_time()?.saturating_sub(processor).as_secs_f64() * 1e6;
        times.sort_unstable();
        let count = f64::from(u32::try_from(times.len())?);
        Ok(Round {
            per_second: count / seconds,
            p50: part(&times, 50),
            p99: part(&times, 99),
            processor: processor / count,
            body_bytes,
        })
    }
}

async fn one_connection(
    mut connection: Connection,
    list: Arc<List>,
    status: u16,
    until: Instant,
) -> Result<(Vec<u32>, usize)> {
    let mut times = Vec::with_capacity(1 << 12);
    let mut sent = Instant::now();
    loop {
        let request = list.next()?;
        let (got, bytes) = connection.exchange(request).await?;
        if got != status {
            let again = connection.ask(request).await.map(|answer| answer.body).unwrap_or_default();
            let again = String::from_utf8_lossy(&again).into_owned();
            let request_line = String::from_utf8_lossy(request).lines().next().unwrap_or_default().to_owned();
            ensure!(got == status, "{request_line} answered {got} instead of {status}; asked again: {again}");
        }
        let answered = Instant::now();
        times.push(u32::try_from((answered - sent).as_micros()).unwrap_or(u32::MAX));
        sent = answered;
        if answered >= until {
            return Ok((times, bytes));
        }
    }
}

/// The value below which `percent` of the sorted values are.
fn part(sorted: &[u32], percent: usize) -> u32 {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_sorted_values() {
        let values: Vec<u32> = (0..200).collect();
        assert_eq!((part(&values, 50), part(&values, 99), part(&[7], 99), part(&[], 50)), (100, 198, 7, 0));
    }
}
