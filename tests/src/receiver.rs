//! A receiver of webhooks on its own port. It behaves as the test decides and keeps what it receives.

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header::LOCATION},
    response::{IntoResponse as _, Response},
};
use futures::stream;
use serde_json::Value;

/// The longest wait for an expected message on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the receiver answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// A status without content.
    Answer(u16),
    /// A redirect to this path of the receiver.
    Redirect(String),
    /// A byte now and then, without end.
    Drip,
    /// An endless body, as fast as it can be sent.
    Flood,
    /// No answer at all.
    Hang,
}

/// A message as received.
#[derive(Debug, Clone)]
pub struct Received {
    /// The path and query that it was posted to.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// The exact bytes of its body.
    pub body: Vec<u8>,
}

impl Received {
    /// A header, or an empty string if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a header of visible characters"))
    }

    /// The type of the event that it announces.
    pub fn event_type(&self) -> &str {
        self.header("x-service-event-type")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

#[derive(Default)]
struct Desk {
    /// The behaviour for the next messages to a path.
    next: HashMap<String, VecDeque<Behaviour>>,
    /// The behaviour for all other messages to a path; by default 204.
    always: HashMap<String, Behaviour>,
    received: Vec<Received>,
}

/// A receiver of webhooks. It ends with the test.
#[derive(Clone)]
pub struct Receiver {
    address: String,
    desk: Arc<Mutex<Desk>>,
}

impl Receiver {
    /// Starts a receiver.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let receiver = Self { address, desk: Arc::default() };
        let router = Router::new().fallback(receive).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    /// `127.0.0.1:PORT`. The service must be allowed to reach it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn desk<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        act(&mut self.desk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the behaviour for the next messages to a path, one after the other.
    pub fn next(&self, path: &str, behaviours: &[Behaviour]) {
        self.desk(|desk| desk.next.entry(path.to_owned()).or_default().extend(behaviours.iter().cloned()));
    }

    /// Sets the behaviour for all messages to a path that [`Self::next`] does not cover.
    pub fn always(&self, path: &str, behaviour: Behaviour) {
        self.desk(|desk| desk.always.insert(path.to_owned(), behaviour));
    }

    /// The messages to a path so far, oldest first.
    pub fn received(&self, path: &str) -> Vec<Received> {
        self.desk(|desk| desk.received.iter().filter(|received| received.path == path).cloned().collect())
    }

    /// Waits until a path has received this many messages, and returns them.
    pub async fn wait_for(&self, path: &str, count: usize) -> Vec<Received> {
        let began = tokio::time::Instant::now();
        loop {
            let received = self.received(path);
            if received.len() >= count {
                return received;
            }
            let types: Vec<_> = received.iter().map(Received::event_type).collect();
            assert!(began.elapsed() < PATIENCE, "{} of {count} messages: {types:?}", received.len());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits for a message of a type on a path, and returns the latest.
    pub async fn wait_for_type(&self, path: &str, event_type: &str) -> Received {
        self.wait_for_one(path, event_type, |received| received.event_type() == event_type).await
    }

    /// Waits for a message on a path that `will_do` accepts, and returns the latest. `what` names it in the failure
    /// message.
    pub async fn wait_for_one(&self, path: &str, what: &str, will_do: impl Fn(&Received) -> bool) -> Received {
        let began = tokio::time::Instant::now();
        loop {
            let received = self.received(path);
            if let Some(found) = received.iter().rev().find(|received| will_do(received)) {
                return found.clone();
            }
            let types: Vec<_> = received.iter().map(Received::event_type).collect();
            assert!(began.elapsed() < PATIENCE, "no {what}: {types:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn receive(State(receiver): State<Receiver>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let behaviour = receiver.desk(|desk| {
        desk.received.push(Received { path: path.clone(), headers, body: body.to_vec() });
        let next = desk.next.get_mut(&path).and_then(VecDeque::pop_front);
        next.or_else(|| desk.always.get(&path).cloned()).unwrap_or(Behaviour::Answer(204))
    });
    match behaviour {
        Behaviour::Answer(status) => StatusCode::from_u16(status).expect("a status").into_response(),
        Behaviour::Redirect(path) => {
            (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, receiver.url(&path))]).into_response()
        }
        Behaviour::Drip => {
            let drops = stream::unfold((), |()| async {
                tokio::time::sleep(Duration::from_millis(500)).await;
                Some((Ok::<_, Infallible>(Bytes::from_static(b".")), ()))
            });
            Body::from_stream(drops).into_response()
        }
        Behaviour::Flood => {
            let waves = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 4_096])));
            Body::from_stream(waves).into_response()
        }
        Behaviour::Hang => std::future::pending().await,
    }
}
