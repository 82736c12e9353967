//! The changes of an organization as server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use kalends_app::{Actor, App, FeedReader, FollowedChange};
use kalends_wire::FeedQuery;
use tokio::time::Instant;

use crate::{
    budget::{self, ANSWERS},
    enter::readmit,
    error::ApiError,
};

/// How long a stream goes on. A client connects again by itself, which counts as another call.
const STREAM_LASTS: Duration = Duration::from_secs(10 * 60);
/// After how long without a change a line is sent. A connection on which nothing moves for 30 seconds is closed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The header that asks a proxy not to hold back parts of an answer.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A stream that is being sent.
struct Stream {
    app: Arc<App>,
    actor: Actor,
    headers: HeaderMap,
    reader: FeedReader,
    /// Sent before everything else.
    begin: Option<Bytes>,
    until: Instant,
}

/// The stream from the token in the query, or from the present end.
pub(super) async fn answer(
    app: Arc<App>,
    actor: Actor,
    query: FeedQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let is_fresh = query.since.is_none();
    let reader = app.follow_changes(&actor, query).await?;
    // A client that gets nothing before the stream breaks off must still know where it was.
    let begin = if is_fresh { position(&reader) } else { Bytes::from_static(b":\n\n") };
    let until = Instant::now() + STREAM_LASTS;
    let stream = Stream { app, actor, headers, reader, begin: Some(begin), until };
    let parts = stream::unfold(stream, |mut stream| async move {
        let part = stream.next().await?;
        Some((Ok::<_, Infallible>(part), stream))
    });
    let mut response = Response::new(Body::from_stream(parts));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

impl Stream {
    /// The next part. The stream ends after its time, when the node stops, when the organization leaves too many
    /// answers unread, and when the caller has no access any more; the client then learns the reason from its next
    /// request.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(begin) = self.begin.take() {
            return Some(begin);
        }
        if Instant::now() >= self.until {
            return None;
        }
        let changes = self.reader.next(KEEP_ALIVE).await.ok()??;
        // Also while nothing happens, so that a stream does not outlive its key.
        readmit(&self.app, &self.headers, &self.actor).await.ok()?;
        if changes.is_empty() {
            return Some(position(&self.reader));
        }
        budget::part(&ANSWERS, self.actor.org(), written(&changes)).await
    }
}

/// A line that fires no event, but from which the client knows where to continue.
fn position(reader: &FeedReader) -> Bytes {
    format!("id: {}\n\n", reader.token()).into()
}

/// One event for each change. JSON has no line breaks.
fn written(changes: &[FollowedChange]) -> Bytes {
    let mut text = String::new();
    for (token, change) in changes {
        let data = serde_json::to_string(change).unwrap_or_default();
        text.push_str("id: ");
        text.push_str(token);
        text.push_str("\nevent: ");
        text.push_str(&change.change_type);
        text.push_str("\ndata: ");
        text.push_str(&data);
        text.push_str("\n\n");
    }
    text.into()
}
