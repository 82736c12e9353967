//! A webhook receiver that records its requests.

use std::collections::HashMap;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};

/// The path prefix of endpoints that never answer.
pub(crate) const HANGING: &str = "/hanging";
/// The interval between two checks while waiting.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A receiver on its own thread and port, on every loopback address. It ends with the program.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    port: u16,
    seen: Arc<Mutex<Seen>>,
}

/// The received requests.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The deliveries and their times, by the event that a message is about and its endpoint.
    pub(crate) messages: HashMap<(String, String), Vec<Received>>,
    /// The number of requests.
    pub(crate) requests: u64,
    /// The times of the first and the last request.
    pub(crate) span: Option<(Instant, Instant)>,
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// `X-Delivery-Id`.
    pub(crate) delivery: String,
    /// The time at which it was complete.
    pub(crate) at: Instant,
}

impl Receiver {
    /// Starts the receiver.
    pub(crate) fn start() -> Result<Self> {
        let listener = std::net::TcpListener::bind("0.0.0.0:0").context("no port for the receiver")?;
        listener.set_nonblocking(true)?;
        let receiver = Self { port: listener.local_addr()?.port(), seen: Arc::default() };
        let router = Router::new().fallback(hear).with_state(receiver.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(listener, router).await
            })
        });
        Ok(receiver)
    }

    /// Its address with this number on the loopback network.
    pub(crate) fn at(&self, number: u16) -> SocketAddr {
        let [high, low] = number.to_be_bytes();
        SocketAddr::from(([127, high, low, 1], self.port))
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all requests.
    pub(crate) fn forget(&self) {
        *self.seen() = Seen::default();
    }

    /// Waits for this many different messages.
    pub(crate) async fn wait_for(&self, messages: usize, within: Duration) -> Result<()> {
        let until = Instant::now() + within;
        while self.seen().messages.len() < messages {
            let got = self.seen().messages.len();
            ensure!(Instant::now() < until, "only {got} of {messages} messages came within {within:?}");
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }
}

async fn hear(State(receiver): State<Receiver>, uri: Uri, headers: HeaderMap, body: Bytes) -> StatusCode {
    if uri.path().starts_with(HANGING) {
        return pending().await;
    }
    let delivery = headers.get("x-delivery-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    let at = Instant::now();
    let mut seen = receiver.seen();
    seen.requests += 1;
    seen.span = Some((seen.span.map_or(at, |(first, _)| first), at));
    let about = (identifier(&body).to_owned(), uri.path().to_owned());
    seen.messages.entry(about).or_default().push(Received { delivery, at });
    StatusCode::NO_CONTENT
}

/// The identifier of the resource in a body. It is the first `id` there.
fn identifier(body: &[u8]) -> &str {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let rest = text.split_once("\"id\":\"").map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_is_named_first() {
        assert_eq!(identifier(br#"{"id":"evt_1","calendarId":"cal_2"}"#), "evt_1");
        assert_eq!(identifier(b"{}"), "");
    }
}
