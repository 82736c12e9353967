//! The activity of one connection: whether it is idle, and whether an answer is stuck.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use http_body::{Body, Frame, SizeHint};
use hyper::Version;
use tokio::time::Instant;

/// The most bytes of an answer that HTTP/2 gets at once. Progress is noted when a piece has been sent.
const PIECE: usize = 64 << 10;

/// How long a connection may make no progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Since it was opened, without any request.
    pub(super) silence: Duration,
    /// Since its last answer ended, without another request.
    pub(super) rest: Duration,
    /// Since an answer last made progress.
    pub(super) stuck: Duration,
}

/// The requests of a connection whose answers have not ended.
#[derive(Debug)]
pub(super) struct Activity(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The number of the next request.
    next: u64,
    /// The requests by number, each with the time at which its answer last made progress. `None` while the answer is
    /// still being computed.
    running: Vec<(u64, Option<Instant>)>,
    /// When the last request ended. Meaningful only while none is running.
    rests_since: Instant,
}

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// It is idle.
    Rests,
    /// The client does not read an answer.
    Stuck,
}

impl Activity {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { next: 0, running: Vec::new(), rests_since: Instant::now() })))
    }

    /// Records that a request has arrived.
    pub(super) fn begin(self: &Arc<Self>) -> Running {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.running.push((number, None));
        Running { activity: Arc::clone(self), number }
    }

    /// The reason to close the connection, if there is one.
    pub(super) fn overdue(&self, patience: Patience) -> Option<Overdue> {
        let state = self.state();
        if state.running.is_empty() {
            let most = if state.next == 0 { patience.silence } else { patience.rest };
            return (state.rests_since.elapsed() >= most).then_some(Overdue::Rests);
        }
        let stuck = |moved: &Instant| moved.elapsed() >= patience.stuck;
        state.running.iter().any(|(_, moved)| moved.as_ref().is_some_and(stuck)).then_some(Overdue::Stuck)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose answer has not ended.
#[derive(Debug)]
pub(super) struct Running {
    activity: Arc<Activity>,
    number: u64,
}

impl Running {
    /// Records that the answer made progress.
    fn moves(&self) {
        let mut state = self.activity.state();
        if let Some((_, moved)) = state.running.iter_mut().find(|(number, _)| *number == self.number) {
            *moved = Some(Instant::now());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.running.retain(|(number, _)| *number != self.number);
        if state.running.is_empty() {
            state.rests_since = Instant::now();
        }
    }
}

/// The body of an answer. Its request is running until the last byte has been sent.
pub(super) struct Watched<B> {
    body: B,
    pace: Pace,
    /// The rest of a frame that was too large to pass on at once.
    rest: Bytes,
    running: Arc<Running>,
}

/// The part of a connection that notices when an answer makes no progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// The stream, by its blocked writes. HTTP/1.1 sends one answer at a time, so its frames stay whole.
    OfStream,
    /// The body, by its pieces. A client of HTTP/2 may read one answer and leave another unread.
    OfPieces,
}

impl Pace {
    /// The pace of an answer over this version of HTTP.
    pub(super) fn of(version: Version) -> Self {
        if version == Version::HTTP_2 { Self::OfPieces } else { Self::OfStream }
    }
}

/// A part of an answer that is being sent. The request is running until its last piece has been sent: HTTP/2 accepts a
/// piece long before the client's window lets it pass.
struct Piece {
    bytes: Bytes,
    running: Arc<Running>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.running.moves();
    }
}

/// A frame whose progress the stream notices. The request is running until it has been sent.
struct TrackedFrame {
    bytes: Bytes,
    _running: Arc<Running>,
}

impl AsRef<[u8]> for TrackedFrame {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<B> Watched<B> {
    pub(super) fn new(body: B, pace: Pace, running: Running) -> Self {
        if pace == Pace::OfPieces {
            running.moves();
        }
        Self { body, pace, rest: Bytes::new(), running: Arc::new(running) }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.pace == Pace::OfStream {
            let Self { body, running, .. } = &mut *self;
            let frame = ready!(Pin::new(body).poll_frame(context));
            let held = |bytes| Bytes::from_owner(TrackedFrame { bytes, _running: Arc::clone(running) });
            return Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(held))));
        }
        self.running.moves();
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let length = self.rest.remaining().min(PIECE);
        let piece = Piece { bytes: self.rest.split_to(length), running: Arc::clone(&self.running) };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let inner = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body as AnyBody;
    use http_body_util::BodyExt as _;
    use tokio::time::advance;

    use super::*;

    use super::super::PATIENCE;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_idle_too_long_is_overdue() {
        let activity = Activity::new();
        advance(14 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), None);
        advance(SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), Some(Overdue::Rests), "without any request");
        let running = activity.begin();
        advance(1_000 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), None, "the answer is being computed; other deadlines bound that");
        drop(running);
        advance(59 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), None);
        advance(SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), Some(Overdue::Rests));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_reads_is_stuck() {
        let activity = Activity::new();
        let mut read = Watched::new(AnyBody::from(vec![0; 3 * PIECE]), Pace::OfPieces, activity.begin());
        let unread = Watched::new(AnyBody::from("unread"), Pace::OfPieces, activity.begin());
        advance(29 * SECOND).await;
        assert_eq!(read.frame().await.unwrap().unwrap().into_data().unwrap().len(), PIECE);
        assert_eq!(activity.overdue(PATIENCE), None);
        advance(SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), Some(Overdue::Stuck));
        drop(unread);
        assert_eq!(activity.overdue(PATIENCE), None, "the other one made progress");
        let frame_bytes = read.collect().await.unwrap().to_bytes();
        assert_eq!(frame_bytes.len(), 2 * PIECE);
        advance(59 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), None, "idle time starts when the last answer ended");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_running_until_its_last_piece_is_sent() {
        let activity = Activity::new();
        let mut body = Watched::new(AnyBody::from("short"), Pace::OfPieces, activity.begin());
        let last = body.frame().await.unwrap().unwrap();
        drop(body);
        advance(30 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), Some(Overdue::Stuck), "it was passed on but not sent");
        drop(last);
        assert_eq!(activity.overdue(PATIENCE), None);
        advance(60 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), Some(Overdue::Rests));
    }

    #[tokio::test]
    async fn a_large_frame_is_split_and_keeps_its_length() {
        let text: Vec<u8> = (0..2 * PIECE + 7).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let mut body = Watched::new(AnyBody::from(text.clone()), Pace::OfPieces, Activity::new().begin());
        assert_eq!(body.size_hint().exact(), Some(text.len() as u64));
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(body.size_hint().exact(), Some((text.len() - PIECE) as u64));
        assert!(!body.is_end_stream());
        let rest = body.collect().await.unwrap().to_bytes();
        assert_eq!([first, rest].concat(), text);
    }

    #[tokio::test(start_paused = true)]
    async fn an_http_1_answer_is_one_frame_and_runs_until_it_has_been_sent() {
        let activity = Activity::new();
        let mut body = Watched::new(AnyBody::from(vec![0; 3 * PIECE]), Pace::OfStream, activity.begin());
        let frame_bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(frame_bytes.len(), 3 * PIECE);
        drop(body);
        advance(1_000 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), None, "the stream notices that it is not read");
        drop(frame_bytes);
        advance(60 * SECOND).await;
        assert_eq!(activity.overdue(PATIENCE), Some(Overdue::Rests));
    }
}
