//! The body of a request while it arrives: its minimum speed, the deadline of the answer, and the handling of a body
//! that nobody read.

use std::{
    fmt, mem,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{HeaderValue, Method, Version, header};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use kalends_app::operations;
use kalends_wire::WAIT_MAX;
use tokio::time::{Instant, Sleep, sleep_until, timeout, timeout_at};

use crate::{
    error::ApiError,
    limits::{BYTES_A_SECOND, CALL_MAX, FREE, WITHIN},
};

/// How long an answer may take. Time in which the service waits for the caller's body does not count.
const DEADLINE: Duration = Duration::from_secs(30);

/// How long an answer may take if it may wait for changes or for a decision. The longest wait comes on top of the deadline.
const DEADLINE_OF_WAITS: Duration = Duration::from_secs(DEADLINE.as_secs() + WAIT_MAX.unsigned_abs());

/// Where the approvals are.
const APPROVALS: &str = "/v1/approvals/";

/// How many bytes of an unread body are read, so that its connection can be used for the next request.
const READ_ON_MAX: usize = 64 * 1024;
/// How long the answer waits for these bytes.
const READ_ON_WITHIN: Duration = Duration::from_secs(2);
/// How long a closing connection still accepts what the caller sends. A close with unread bytes is a TCP reset, which
/// can lose the answer.
const LINGER: Duration = Duration::from_secs(10);

/// The total time that the service waits for a body of which `bytes` have arrived. After that, the body is late.
fn patience(bytes: u64) -> Duration {
    WITHIN.min(FREE + Duration::from_millis(bytes.saturating_mul(1_000) / BYTES_A_SECOND))
}

/// The error that the reader of a late body gets.
#[derive(Debug)]
pub(crate) struct Late;

impl fmt::Display for Late {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the body arrived too slowly")
    }
}

impl std::error::Error for Late {}

/// The state of a body.
#[derive(Default)]
struct State {
    /// The number of bytes that have arrived.
    bytes: u64,
    /// How long the service has waited for the caller so far. It waits only while the body is being read.
    waited: Duration,
    /// Since when it has been waiting, if it is.
    since: Option<Instant>,
    /// Whether anyone has started to read the body. A caller that expects `100 Continue` sends it only then.
    read_begun: bool,
    /// Whether the body broke off or was late.
    broken: bool,
    /// The part that the handler left unread.
    rest: Option<Body>,
}

impl State {
    fn waited(&self) -> Duration {
        self.waited + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn stop_waiting(&mut self) {
        self.waited = self.waited();
        self.since = None;
    }
}

/// The state that the reader of a body shares with the service around it.
#[derive(Clone, Default)]
struct Progress(Arc<Mutex<State>>);

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body that fails with [`Late`] if it arrives too slowly, and that hands back the part that its reader leaves
/// unread.
struct Incoming {
    body: Body,
    timer: Option<Pin<Box<Sleep>>>,
    progress: Progress,
    ended: bool,
}

impl HttpBody for Incoming {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, timer, progress, ended } = &mut *self;
        let polled = Pin::new(body).poll_frame(context);
        let mut state = progress.state();
        state.read_begun = true;
        let Poll::Ready(frame) = polled else {
            let since = *state.since.get_or_insert_with(Instant::now);
            let late_at = since + patience(state.bytes).saturating_sub(state.waited);
            let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(late_at)));
            if timer.deadline() != late_at {
                timer.as_mut().reset(late_at);
            }
            ready!(timer.as_mut().poll(context));
            state.stop_waiting();
            // The caller may continue to send, so the body is handed back.
            state.broken = true;
            return Poll::Ready(Some(Err(axum::Error::new(Late))));
        };
        state.stop_waiting();
        match &frame {
            Some(Ok(frame)) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                state.bytes = state.bytes.saturating_add(length.try_into().unwrap_or(u64::MAX));
            }
            Some(Err(_)) => {
                state.broken = true;
                *ended = true;
            }
            None => *ended = true,
        }
        drop(state);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let mut state = self.progress.state();
        state.stop_waiting();
        if !self.is_end_stream() {
            state.rest = Some(mem::take(&mut self.body));
        }
    }
}

/// The deadline of a request.
fn deadline_of(request: &Request) -> Duration {
    let path = request.uri().path();
    let waits_for_changes = path == operations::LIST_ORGANIZATION_CHANGES.path;
    let waits_for_a_decision = request.method() == Method::GET && path.starts_with(APPROVALS);
    if waits_for_changes || waits_for_a_decision { DEADLINE_OF_WAITS } else { DEADLINE }
}

/// Answers a request within its deadline and leaves its connection usable. It reads the rest of an unread body, or
/// announces in the answer that the connection closes. Without the announcement, a client that reuses connections
/// would lose its next request.
pub(crate) async fn serve(mut request: Request, answer: impl AsyncFnOnce(Request) -> Response) -> Response {
    let deadline = deadline_of(&request);
    if request.body().is_end_stream() {
        return in_time(answer(request), deadline, None).await;
    }
    let progress = Progress::default();
    let version = request.version();
    let expects = request.headers().contains_key(header::EXPECT);
    let body = mem::take(request.body_mut());
    let incoming = Incoming { body, timer: None, progress: progress.clone(), ended: false };
    *request.body_mut() = Body::new(incoming);
    let mut response = in_time(answer(request), deadline, Some(&progress)).await;
    // Each HTTP/2 request has its own stream, which ends independently.
    if version < Version::HTTP_2 && !stays_usable(&progress, expects).await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Returns the answer, or an error if it misses the deadline.
async fn in_time(answer: impl Future<Output = Response>, deadline: Duration, progress: Option<&Progress>) -> Response {
    let mut answer = pin!(answer);
    let mut limit = Instant::now() + deadline;
    let mut excused = Duration::ZERO;
    loop {
        if let Ok(response) = timeout_at(limit, answer.as_mut()).await {
            return response;
        }
        let waited = progress.map_or(Duration::ZERO, |progress| progress.state().waited());
        if waited <= excused {
            return ApiError::Deadline.into_response();
        }
        limit += waited - excused;
        excused = waited;
    }
}

/// Whether the connection can be used for another request. Reads the rest of a body if it is short and arrives soon.
async fn stays_usable(progress: &Progress, expects: bool) -> bool {
    let (rest, read_begun, broken) = {
        let mut state = progress.state();
        (state.rest.take(), state.read_begun, state.broken)
    };
    let Some(mut rest) = rest else { return !broken };
    if expects && !read_begun {
        // Reading the body would send `100 Continue`. A caller that sees the answer first need not send it.
        return false;
    }
    let short = rest.size_hint().lower() <= READ_ON_MAX as u64;
    if !broken && short && timeout(READ_ON_WITHIN, read_on(&mut rest, READ_ON_MAX)).await == Ok(true) {
        return true;
    }
    tokio::spawn(async move { timeout(LINGER, read_on(&mut rest, CALL_MAX)).await });
    false
}

/// Reads and drops at most `max` bytes. Returns whether the body ended properly within them.
pub(crate) async fn read_on(body: &mut Body, max: usize) -> bool {
    let mut read = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > max {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use axum::{
        Router,
        middleware::{self, Next},
        routing::post,
    };
    use futures::{Stream, StreamExt as _, stream};
    use http::StatusCode;
    use rstest::rstest;
    use tokio::time::sleep;
    use tower::ServiceExt as _;

    use super::*;
    use crate::extract::read_body;

    const SECOND: Duration = Duration::from_secs(1);

    #[rstest]
    #[case::no_bytes(0, 5_000)]
    #[case::one_byte(1, 5_000)]
    #[case::one_second_of_bytes(8_000, 6_000)]
    #[case::half_a_second_of_bytes(4_000, 5_500)]
    #[case::reaches_the_maximum(440_000, 60_000)]
    #[case::capped(440_008, 60_000)]
    #[case::largest_number(u64::MAX, 60_000)]
    fn patience_grows_with_the_bytes(#[case] bytes: u64, #[case] millis: u64) {
        assert_eq!(patience(bytes), Duration::from_millis(millis));
    }

    /// A service with one handler.
    fn service<H: axum::handler::Handler<T, ()>, T: 'static>(handler: H) -> Router {
        Router::new().route("/", post(handler)).layer(middleware::from_fn(async |request, next: Next| {
            serve(request, async |request| next.run(request).await).await
        }))
    }

    async fn send(service: Router, request: http::request::Builder, body: Body) -> Response {
        service.oneshot(request.method("POST").uri("/").body(body).unwrap()).await.unwrap()
    }

    /// A service that reads the body, like every endpoint.
    fn reading() -> Router {
        service(async |request: Request| read_body(request.into_body()).await.map(|body| body.len().to_string()))
    }

    /// Yields `count` pieces, each after a pause.
    fn pieces(count: usize, length: usize, pause: Duration) -> impl Stream<Item = Result<Bytes, axum::Error>> {
        stream::iter(0..count).then(move |_| async move {
            sleep(pause).await;
            Ok(Bytes::from(vec![b' '; length]))
        })
    }

    fn request() -> http::request::Builder {
        Request::builder()
    }

    #[rstest]
    #[case::fast(59, 8_000, StatusCode::OK)]
    #[case::too_long(61, 9_000, StatusCode::REQUEST_TIMEOUT)]
    #[case::too_slow(20, 6_000, StatusCode::REQUEST_TIMEOUT)]
    #[case::slow_but_short(5, 1, StatusCode::OK)]
    #[case::very_slow(60, 1, StatusCode::REQUEST_TIMEOUT)]
    #[tokio::test(start_paused = true)]
    async fn body_must_arrive_in_time(#[case] seconds: usize, #[case] a_second: usize, #[case] status: StatusCode) {
        // Slightly less than a second, so that no piece arrives exactly at the limit.
        let pause = Duration::from_millis(999);
        let body = Body::from_stream(pieces(seconds, a_second, pause));
        let response = send(reading(), request(), body).await;
        assert_eq!(response.status(), status);
        let closes = response.headers().get("connection").is_some();
        assert_eq!(closes, status != StatusCode::OK, "the rest of a late body is not read");
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_is_read_does_not_count() {
        let hesitating = service(async |request: Request| {
            let mut body = request.into_body();
            let mut read = 0;
            while let Some(piece) = body.frame().await {
                read += piece.map_err(|_| StatusCode::REQUEST_TIMEOUT)?.data_ref().map_or(0, Bytes::len);
                sleep(4 * SECOND).await;
            }
            Ok::<_, StatusCode>(read.to_string())
        });
        let body = Body::from_stream(pieces(6, 1, Duration::from_millis(500)));
        assert_eq!(send(hesitating, request(), body).await.status(), StatusCode::OK);
    }

    #[rstest]
    #[case::slow_body(50, 1, StatusCode::OK)]
    #[case::slow_handler(1, 31, StatusCode::SERVICE_UNAVAILABLE)]
    #[case::both(50, 31, StatusCode::SERVICE_UNAVAILABLE)]
    #[tokio::test(start_paused = true)]
    async fn deadline_does_not_count_the_body(#[case] body: usize, #[case] handler: u64, #[case] status: StatusCode) {
        let slow = service(async move |request: Request| {
            let body = read_body(request.into_body()).await?;
            sleep(Duration::from_secs(handler)).await;
            Ok::<_, ApiError>(body)
        });
        let body = Body::from_stream(pieces(body, 9_000, SECOND));
        assert_eq!(send(slow, request(), body).await.status(), status);
    }

    #[tokio::test(start_paused = true)]
    async fn the_deadline_applies_without_reading() {
        let stuck = || service(async || std::future::pending::<StatusCode>().await);
        for body in [Body::empty(), Body::from("x"), Body::from_stream(pieces(1, 1, 100 * SECOND))] {
            assert_eq!(send(stuck(), request(), body).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        }
    }

    /// A service that refuses a request without reading it.
    fn refusing() -> Router {
        service(async || StatusCode::UNAUTHORIZED)
    }

    #[rstest]
    #[case::no_body(Body::empty(), false)]
    #[case::short(Body::from("x"), false)]
    #[case::longest_that_is_read(Body::from(vec![b' '; READ_ON_MAX]), false)]
    #[case::longer(Body::from(vec![b' '; READ_ON_MAX + 1]), true)]
    #[case::slow(Body::from_stream(pieces(3, 100, SECOND / 2)), false)]
    #[case::too_slow(Body::from_stream(pieces(3, 100, SECOND)), true)]
    #[case::longer_than_its_size_hint(Body::from_stream(pieces(5, READ_ON_MAX / 4, SECOND / 10)), true)]
    #[case::broken(Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other("cut"))])), true)]
    #[tokio::test(start_paused = true)]
    async fn unread_body_is_read_or_the_connection_closes(#[case] body: Body, #[case] closes: bool) {
        let response = send(refusing(), request(), body).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(response.headers().get("connection").is_some(), closes);
    }

    #[tokio::test(start_paused = true)]
    async fn rest_of_a_body_that_is_too_long_is_not_read() {
        let long = Body::from_stream(pieces(40, 64 * 1024, SECOND / 100));
        let response = send(reading(), request(), long).await;
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(response.headers()["connection"], "close");
    }

    #[tokio::test(start_paused = true)]
    async fn expected_body_is_not_requested_after_a_refusal() {
        let read_begun = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&read_begun);
        let body = stream::once(async move {
            seen.store(true, Ordering::Relaxed);
            Ok::<_, axum::Error>(Bytes::from_static(b"{}"))
        });
        let expecting = request().header("expect", "100-continue");
        let response = send(refusing(), expecting, Body::from_stream(body)).await;
        assert_eq!(response.headers()["connection"], "close");
        assert!(!read_begun.load(Ordering::Relaxed));
    }

    #[tokio::test(start_paused = true)]
    async fn http_2_connections_stay_open() {
        let body = Body::from(vec![b' '; READ_ON_MAX + 1]);
        let response = send(refusing(), request().version(Version::HTTP_2), body).await;
        assert_eq!(response.headers().get("connection"), None);
    }
}
