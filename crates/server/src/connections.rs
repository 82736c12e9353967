//! HTTP connections: accepting, serving and closing them.
//!
//! A connection is closed if its client sends nothing, does not read its answers, or is idle for too long. The number
//! of connections is limited, in total and for each address.

mod activity;
mod patient;
mod places;

use std::{
    future::Future,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{Router, extract::ConnectInfo, http::StatusCode};
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use kalends_http::{RequestLine, RequestLog};
use kalends_kernel::RequestId;
use kalends_plans::TrustedProxies;
use kalends_time::{Clock as _, SignedDuration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{Instant, interval, sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Service;

use self::{
    activity::{Activity, Overdue, Pace, Patience, Watched},
    patient::Patient,
    places::{Full, Place, Places},
};
use crate::{
    ambient::{SystemClock, SystemEntropy},
    config::ConnectionLimits,
};

/// How long a client may take to send the head of an HTTP/1.1 request, and to stay idle between two requests.
const HEAD: Duration = Duration::from_secs(10);
/// How long a connection may be idle, and an answer may make no progress.
const PATIENCE: Patience = Patience {
    // [`HEAD`] starts only once the HTTP version is known, so `silence` is what bounds clients that send nothing.
    silence: Duration::from_secs(15),
    rest: Duration::from_secs(60),
    stuck: Duration::from_secs(30),
};
/// How often a connection is checked against these limits.
const CHECK: Duration = Duration::from_secs(5);
/// How often an HTTP/2 client is pinged.
const PING: Duration = Duration::from_secs(30);
/// The most concurrent requests on one HTTP/2 connection.
const STREAMS: u32 = 32;
/// The most bytes of a head, and of the read and write buffers of one connection. The API's own limit on heads is
/// lower, and its errors use the API's envelope.
const BUFFER: u16 = u16::MAX;
/// The most header fields that the parser accepts. The API's own limit is lower, and its errors use the API's
/// envelope.
const HEADERS: usize = 256;
/// How long accepting pauses when the system has run out of file descriptors.
const EXHAUSTED: Duration = Duration::from_millis(50);
/// How long a connection that is over the limit may take to send its request, so that it can be answered, and how many
/// of them are answered at a time.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);
const REFUSED_AT_ONCE: usize = 16;
/// The least time between two log lines about refused connections.
const REFUSALS_LOGGED: Duration = Duration::from_secs(60);

/// The connections of one router.
pub(crate) struct Connections {
    router: Router,
    protocol: auto::Builder<TokioExecutor>,
    places: Arc<Places>,
    patience: Patience,
    /// Permits for connections that are refused with an answer.
    refusing: Arc<Semaphore>,
    /// When a refused connection was last logged.
    refused_at: Mutex<Option<Instant>>,
    /// Takes the lines of requests that are refused with an answer.
    log: Option<Arc<dyn RequestLog>>,
    /// Makes each connection close once its requests are answered.
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Connections {
    /// Serves up to `limits` connections. Only the total applies to addresses in `trusted`. `log` takes the lines of
    /// requests that are refused because there are too many.
    pub(crate) fn new(
        router: Router,
        limits: ConnectionLimits,
        trusted: TrustedProxies,
        log: Option<Arc<dyn RequestLog>>,
    ) -> Self {
        Self { log, ..Self::with_patience(router, Places::new(limits, trusted), HEAD, PATIENCE) }
    }

    fn with_patience(router: Router, places: Arc<Places>, head: Duration, patience: Patience) -> Self {
        let mut protocol = auto::Builder::new(TokioExecutor::new());
        protocol
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_headers(HEADERS)
            .max_buf_size(BUFFER.into());
        protocol
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(BUFFER.into())
            .max_send_buf_size(BUFFER.into());
        Self {
            // Sets the state once instead of on every request.
            router: router.with_state(()),
            protocol,
            places,
            patience,
            refusing: Arc::new(Semaphore::new(REFUSED_AT_ONCE)),
            refused_at: Mutex::new(None),
            log: None,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// Serves connections from `listener` until `end`, then closes the listener. Open connections continue.
    pub(crate) async fn accept(&self, listener: TcpListener, end: impl Future<Output = ()>) {
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => match self.places.take(peer.ip()) {
                        Ok(place) => self.serve(stream, peer, place),
                        Err(full) => self.refuse(stream, full),
                    },
                    Err(error) => rest_after(&error).await,
                },
            }
        }
    }

    /// Waits up to `patience` for requests in flight. Returns whether all of them finished.
    pub(crate) async fn drain(self, patience: Duration) -> bool {
        self.stop.cancel();
        self.tasks.close();
        timeout(patience, self.tasks.wait()).await.is_ok()
    }

    fn serve(&self, stream: TcpStream, peer: SocketAddr, place: Place) {
        // Answers are written in one go, so there is nothing for Nagle's algorithm to coalesce.
        let _ = stream.set_nodelay(true);
        let activity = Activity::new();
        let (router, noted) = (self.router.clone(), Arc::clone(&activity));
        let service = service_fn(move |mut request: Request<Incoming>| {
            let (running, pace) = (noted.begin(), Pace::of(request.version()));
            request.extensions_mut().insert(ConnectInfo(peer));
            let answer = Service::call(&mut router.clone(), request);
            async move { answer.await.map(|answer| answer.map(|body| Watched::new(body, pace, running))) }
        });
        let stream = TokioIo::new(Patient::new(stream, self.patience.stuck));
        let connection = self.protocol.serve_connection(stream, service).into_owned();
        let (patience, stop) = (self.patience, self.stop.clone());
        self.tasks.spawn(async move {
            let _place = place;
            tokio::pin!(connection);
            let mut checks = interval(CHECK.min(patience.silence));
            let (mut ending, mut resting) = (false, false);
            loop {
                tokio::select! {
                    ended = &mut connection => {
                        if let Err(error) = ended {
                            tracing::debug!(%error, "a connection ended with an error");
                        }
                        return;
                    }
                    () = stop.cancelled(), if !ending => {
                        ending = true;
                        connection.as_mut().graceful_shutdown();
                    }
                    _ = checks.tick() => match activity.overdue(patience) {
                        // An HTTP/2 client is notified first, so that it loses no request.
                        Some(Overdue::Rests) if !resting => {
                            resting = true;
                            connection.as_mut().graceful_shutdown();
                        }
                        Some(overdue) => {
                            tracing::debug!(?overdue, "a connection was closed");
                            return;
                        }
                        None => {}
                    }
                }
            }
        });
    }

    /// Answers with the reason, and closes. A client does not expect an answer before it has sent a request, so its
    /// first bytes are awaited. The wait is short, and few connections wait at a time.
    fn refuse(&self, mut stream: TcpStream, full: Full) {
        {
            let mut refused_at = self.refused_at.lock().unwrap_or_else(PoisonError::into_inner);
            if refused_at.is_none_or(|at| at.elapsed() >= REFUSALS_LOGGED) {
                *refused_at = Some(Instant::now());
                tracing::warn!("refusing connections: {full}");
            }
        }
        let Ok(place) = Arc::clone(&self.refusing).try_acquire_owned() else { return };
        let log = self.log.clone();
        self.tasks.spawn(async move {
            let _place = place;
            let answered = timeout(REFUSED_WITHIN, async {
                let mut head = [0; 4096];
                if stream.read(&mut head).await? > 0 {
                    let began = Instant::now();
                    let (line, answer) = refusal(full);
                    stream.write_all(answer.as_bytes()).await?;
                    if let Some(log) = log {
                        log.note(RequestLine { took: began.elapsed(), ..line });
                    }
                }
                stream.shutdown().await
            });
            let _ = answered.await;
        });
    }
}

/// The answer to a connection that is refused before its request is read, with the line for the log.
fn refusal(full: Full) -> (RequestLine, String) {
    let id = RequestId::new(SystemClock::new(SignedDuration::ZERO).now(), &SystemEntropy);
    let body = kalends_http::refused_connection(&full.to_string(), id);
    let line = RequestLine {
        request: id,
        operation: None,
        method: None,
        status: Some(StatusCode::SERVICE_UNAVAILABLE),
        took: Duration::ZERO,
        bytes: u64::try_from(body.len()).unwrap_or(u64::MAX),
        organization: None,
        key: None,
        tool: None,
    };
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: 1\r\n\
         x-request-id: {id}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    (line, answer)
}

/// Ignores connections that were reset before they were accepted. After any other error, such as a lack of file
/// descriptors, accepting pauses for a moment.
async fn rest_after(error: &io::Error) {
    if matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    ) {
        return;
    }
    tracing::error!(%error, "cannot accept a connection");
    sleep(EXHAUSTED).await;
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use axum::routing::get;
    use tokio::{
        sync::{mpsc, oneshot},
        task::JoinHandle,
    };

    use super::*;

    /// The longest wait on a busy machine for an answer or an end.
    const LONG: Duration = Duration::from_secs(30);

    /// The requests to `/slow` and `/never` are announced when they have arrived.
    fn router(arrivals: mpsc::UnboundedSender<()>) -> Router {
        let (slow, never) = (arrivals.clone(), arrivals);
        Router::new()
            .route("/peer", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }))
            .route(
                "/slow",
                get(|| async move {
                    let _ = slow.send(());
                    sleep(Duration::from_millis(300)).await;
                    "done"
                }),
            )
            .route(
                "/never",
                get(|| async move {
                    let _ = never.send(());
                    pending::<&'static str>().await
                }),
            )
    }

    /// A server that accepts until `stop` is used, then drains.
    struct Started {
        address: SocketAddr,
        arrived: mpsc::UnboundedReceiver<()>,
        stop: oneshot::Sender<()>,
        task: JoinHandle<bool>,
    }

    /// Starts a server that drains for up to `drain`.
    async fn start(drain: Duration) -> Started {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (arrivals, arrived) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let quick = Duration::from_millis(200);
        let patience = Patience { silence: 2 * quick, ..PATIENCE };
        let places = Places::new(ConnectionLimits { total: 4, per_address: 3 }, TrustedProxies::default());
        let connections = Connections::with_patience(router(arrivals), places, quick, patience);
        let task = tokio::spawn(async move {
            connections
                .accept(listener, async {
                    let _ = stopped.await;
                })
                .await;
            connections.drain(drain).await
        });
        Started { address, arrived, stop, task }
    }

    async fn send(address: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut text = String::new();
        timeout(LONG, stream.read_to_string(&mut text)).await.unwrap().unwrap();
        text
    }

    #[tokio::test]
    async fn handlers_see_the_peer() {
        let server = start(Duration::ZERO).await;
        let stream = send(server.address, "GET /peer HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        let local = stream.local_addr().unwrap();
        assert!(answer(stream).await.ends_with(&local.to_string()));
    }

    #[tokio::test]
    async fn draining_finishes_requests_in_flight_and_accepts_no_more() {
        let Started { address, mut arrived, stop, task } = start(LONG).await;
        // Connections are accepted in order, so both are when the request has arrived.
        let idle = send(address, "").await;
        let stream = send(address, "GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
        arrived.recv().await.unwrap();
        stop.send(()).unwrap();
        assert!(answer(stream).await.ends_with("done"));
        assert_eq!(answer(idle).await, "");
        assert!(task.await.unwrap());
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn draining_gives_up_on_a_request_that_does_not_end() {
        let Started { address, mut arrived, stop, task } = start(Duration::from_millis(200)).await;
        let _stream = send(address, "GET /never HTTP/1.1\r\nhost: x\r\n\r\n").await;
        arrived.recv().await.unwrap();
        stop.send(()).unwrap();
        assert!(!timeout(LONG, task).await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn silent_and_unfinished_requests_are_closed() {
        let server = start(Duration::ZERO).await;
        // The last two are prefixes of the HTTP/2 preface. The server waits for the rest before it knows the version.
        for beginning in ["", "G", "GET /peer HTTP/1.1\r\nhost:", "P", "PRI * HTTP/2.0\r\n"] {
            let stream = send(server.address, beginning).await;
            let text = answer(stream).await;
            assert!(text.is_empty() || text.contains("408"), "{beginning:?}: {text}");
        }
    }

    #[tokio::test]
    async fn connections_of_one_address_are_limited() {
        let server = start(Duration::ZERO).await;
        // They are accepted in order and never answered, so all of them are open when the next one arrives.
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(send(server.address, "GET /never HTTP/1.1\r\nhost: x\r\n\r\n").await);
        }
        let refused = answer(send(server.address, "GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await).await;
        assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
        assert!(refused.contains("\r\nretry-after: 1\r\n") && refused.contains("this address has 3 connections"));
        let (_, body) = refused.split_once("\r\n\r\n").unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(body).unwrap()["error"]["code"], "too_many_connections");
    }

    #[tokio::test]
    async fn a_slow_answer_does_not_count_as_idle() {
        let server = start(Duration::ZERO).await;
        let mut text = String::from("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
        text.push_str("GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        assert_eq!(answer(send(server.address, &text).await).await.matches("done").count(), 2);
    }
}
