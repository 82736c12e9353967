//! The body of a request on its way in: how fast it must arrive, how long the answer may take besides, and what becomes
//! of a body that nobody read.

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
use http::{HeaderValue, Version, header};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, Sleep, sleep_until, timeout, timeout_at};

use crate::{CALL_MAX, error::ApiError};

/// How long an answer may take. The time in which the service waits for the caller's body does not count.
const DEADLINE: Duration = Duration::from_secs(30);

/// How long a body may take before its speed counts.
pub(crate) const FREE: Duration = Duration::from_secs(5);
/// How many bytes must arrive each second after that.
pub(crate) const BYTES_A_SECOND: u64 = 8_000;
/// How long the whole body may take.
pub(crate) const WITHIN: Duration = Duration::from_secs(60);

/// How many bytes of an unread body are read so that its connection can carry the next request.
const READ_ON_MAX: usize = 64 * 1024;
/// How long the answer waits for them.
const READ_ON_WITHIN: Duration = Duration::from_secs(2);
/// How long a connection that is about to close still takes what the caller sends. A close with unread bytes is a reset,
/// which can cost the caller the answer.
const LINGER: Duration = Duration::from_secs(10);

/// How long the service waits in all for a body of which `bytes` have arrived. After that it is late.
fn patience(bytes: u64) -> Duration {
    WITHIN.min(FREE + Duration::from_millis(bytes.saturating_mul(1_000) / BYTES_A_SECOND))
}

/// The error of a body that is late, as its reader sees it.
#[derive(Debug)]
pub(crate) struct Late;

impl fmt::Display for Late {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the body arrived too slowly")
    }
}

impl std::error::Error for Late {}

/// What is known of a body.
#[derive(Default)]
struct State {
    /// How many of its bytes have arrived.
    bytes: u64,
    /// How long the service has waited for the caller so far. While nobody asks for more, it does not wait.
    waited: Duration,
    /// Since when it waits now.
    since: Option<Instant>,
    /// Whether anybody asked for it. Only then does a caller that expects `100 Continue` send it.
    asked: bool,
    /// Whether it broke off, or was late.
    broken: bool,
    /// What the handler left unread.
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

/// What the reader of a body and the service around it share.
#[derive(Clone, Default)]
struct Progress(Arc<Mutex<State>>);

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body that fails with [`Late`] when it arrives too slowly, and hands back what its reader leaves unread.
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
        state.asked = true;
        let Poll::Ready(frame) = polled else {
            let since = *state.since.get_or_insert_with(Instant::now);
            let late_at = since + patience(state.bytes).saturating_sub(state.waited);
            let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(late_at)));
            if timer.deadline() != late_at {
                timer.as_mut().reset(late_at);
            }
            ready!(timer.as_mut().poll(context));
            state.stop_waiting();
            // The caller may go on sending, so the body is handed back.
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

/// Answers a request within [`DEADLINE`], and leaves its connection in order: what the handler did not read of the body
/// is read, or the answer announces that the connection closes. Otherwise it would close without a word, and a client
/// that keeps connections would lose the next request that it sends on it.
pub(crate) async fn serve(mut request: Request, answer: impl AsyncFnOnce(Request) -> Response) -> Response {
    if request.body().is_end_stream() {
        return in_time(answer(request), None).await;
    }
    let progress = Progress::default();
    let version = request.version();
    let expects = request.headers().contains_key(header::EXPECT);
    let body = mem::take(request.body_mut());
    let incoming = Incoming { body, timer: None, progress: progress.clone(), ended: false };
    *request.body_mut() = Body::new(incoming);
    let mut response = in_time(answer(request), Some(&progress)).await;
    // Each request of HTTP/2 has a stream of its own, which ends alone.
    if version < Version::HTTP_2 && !stays_usable(&progress, expects).await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The answer, or that there is none in time.
async fn in_time(answer: impl Future<Output = Response>, progress: Option<&Progress>) -> Response {
    let mut answer = pin!(answer);
    let mut limit = Instant::now() + DEADLINE;
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

/// Whether the connection can carry another request. Reads the rest of a body that is short and arrives soon.
async fn stays_usable(progress: &Progress, expects: bool) -> bool {
    let (rest, asked, broken) = {
        let mut state = progress.state();
        (state.rest.take(), state.asked, state.broken)
    };
    let Some(mut rest) = rest else { return !broken };
    if expects && !asked {
        // Reading it would send `100 Continue`. A caller that sees the answer first need not send it.
        return false;
    }
    let short = rest.size_hint().lower() <= READ_ON_MAX as u64;
    if !broken && short && timeout(READ_ON_WITHIN, read_on(&mut rest, READ_ON_MAX)).await == Ok(true) {
        return true;
    }
    tokio::spawn(async move { timeout(LINGER, read_on(&mut rest, CALL_MAX)).await });
    false
}

/// Reads and drops at most `max` bytes; whether the body ended properly within them.
async fn read_on(body: &mut Body, max: usize) -> bool {
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
    #[case::nothing_has_come(0, 5_000)]
    #[case::a_byte_buys_no_time(1, 5_000)]
    #[case::one_second(8_000, 6_000)]
    #[case::half_a_second(4_000, 5_500)]
    #[case::as_long_as_it_may_take(440_000, 60_000)]
    #[case::no_longer_than_that(440_008, 60_000)]
    #[case::the_largest(u64::MAX, 60_000)]
    fn body_is_late_by_its_bytes(#[case] bytes: u64, #[case] millis: u64) {
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

    /// A service that reads the body, as every endpoint does.
    fn reading() -> Router {
        service(async |request: Request| read_body(request.into_body()).await.map(|body| body.len().to_string()))
    }

    /// So many pieces, one after each pause.
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
    #[case::fast_enough(59, 8_000, StatusCode::OK)]
    #[case::too_long(61, 9_000, StatusCode::REQUEST_TIMEOUT)]
    #[case::too_slow(20, 6_000, StatusCode::REQUEST_TIMEOUT)]
    #[case::slow_but_soon_done(5, 1, StatusCode::OK)]
    #[case::dripping(60, 1, StatusCode::REQUEST_TIMEOUT)]
    #[tokio::test(start_paused = true)]
    async fn body_must_arrive_in_time(#[case] seconds: usize, #[case] a_second: usize, #[case] status: StatusCode) {
        // A little less than a second, so that no piece comes at the very limit.
        let pause = Duration::from_millis(999);
        let body = Body::from_stream(pieces(seconds, a_second, pause));
        let response = send(reading(), request(), body).await;
        assert_eq!(response.status(), status);
        let closes = response.headers().get("connection").is_some();
        assert_eq!(closes, status != StatusCode::OK, "what comes after a late body is not read");
    }

    #[tokio::test(start_paused = true)]
    async fn caller_is_not_late_while_the_service_reads_nothing() {
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
    async fn handler_that_never_reads_meets_the_deadline() {
        let stuck = || service(async || std::future::pending::<StatusCode>().await);
        for body in [Body::empty(), Body::from("x"), Body::from_stream(pieces(1, 1, 100 * SECOND))] {
            assert_eq!(send(stuck(), request(), body).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        }
    }

    /// A service that refuses without reading.
    fn refusing() -> Router {
        service(async || StatusCode::UNAUTHORIZED)
    }

    #[rstest]
    #[case::no_body(Body::empty(), false)]
    #[case::short(Body::from("x"), false)]
    #[case::as_long_as_is_read(Body::from(vec![b' '; READ_ON_MAX]), false)]
    #[case::longer(Body::from(vec![b' '; READ_ON_MAX + 1]), true)]
    #[case::later(Body::from_stream(pieces(3, 100, SECOND / 2)), false)]
    #[case::too_late(Body::from_stream(pieces(3, 100, SECOND)), true)]
    #[case::longer_than_it_said(Body::from_stream(pieces(5, READ_ON_MAX / 4, SECOND / 10)), true)]
    #[case::broken(Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other("cut"))])), true)]
    #[tokio::test(start_paused = true)]
    async fn unread_body_is_read_or_the_connection_closes(#[case] body: Body, #[case] closes: bool) {
        let response = send(refusing(), request(), body).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(response.headers().get("connection").is_some(), closes);
    }

    #[tokio::test(start_paused = true)]
    async fn rest_of_a_body_that_is_too_long_is_left_too() {
        let long = Body::from_stream(pieces(40, 64 * 1024, SECOND / 100));
        let response = send(reading(), request(), long).await;
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(response.headers()["connection"], "close");
    }

    #[tokio::test(start_paused = true)]
    async fn expected_body_is_not_asked_for_after_a_refusal() {
        let asked = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&asked);
        let body = stream::once(async move {
            seen.store(true, Ordering::Relaxed);
            Ok::<_, axum::Error>(Bytes::from_static(b"{}"))
        });
        let expecting = request().header("expect", "100-continue");
        let response = send(refusing(), expecting, Body::from_stream(body)).await;
        assert_eq!(response.headers()["connection"], "close");
        assert!(!asked.load(Ordering::Relaxed));
    }

    #[tokio::test(start_paused = true)]
    async fn streams_of_http_2_close_no_connection() {
        let body = Body::from(vec![b' '; READ_ON_MAX + 1]);
        let response = send(refusing(), request().version(Version::HTTP_2), body).await;
        assert_eq!(response.headers().get("connection"), None);
    }
}
