//! The line of each request for the log of requests.
//!
//! A line is made when the answer has been handed to the connection, or when the client has left. It contains no path,
//! no query and no content, because these may contain secrets and other people's text.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::HttpBody;
use bytes::Buf as _;
use http::{Method, StatusCode};
use http_body::{Frame, SizeHint};
use kalends_accounts::{Credential, Principal};
use kalends_app::operations::{self, Operation};
use kalends_kernel::{KeyId, OrgId, RequestId};
use tokio::time::Instant;

use crate::known::{Known, Requester, ToolCall};

/// Takes the line of each request.
pub trait RequestLog: Send + Sync {
    /// Takes a line. It is called by the threads that serve requests, so it must not wait.
    fn note(&self, line: RequestLine);
}

/// One request, as the log of requests shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLine {
    /// The identifier of the request.
    pub request: RequestId,
    /// The operation; `None` for an unknown route, for the documentation and pages that are the same for everyone, and for requests
    /// that were answered before their route was known.
    pub operation: Option<&'static Operation>,
    /// The method, `other` if HTTP does not define it; `None` if the request was not read.
    pub method: Option<&'static str>,
    /// The status of the answer; `None` if the client left before there was one.
    pub status: Option<StatusCode>,
    /// The time from the arrival of the request's head to the end of the answer.
    pub took: Duration,
    /// The number of bytes of the answer's body that were handed to the connection, after compression.
    pub bytes: u64,
    /// The organization of the caller, if it is known.
    pub organization: Option<OrgId>,
    /// The key of the caller, if it has one.
    pub key: Option<KeyId>,
    /// The tool that the request called, if it called one.
    pub tool: Option<ToolCall>,
}

impl RequestLine {
    /// Adds what is known about the request.
    fn add(&mut self, known: &Known) {
        self.operation = known.operation();
        self.tool = known.tool();
        if let Some(Principal { org, credential, .. }) = known.requester().map(Requester::principal) {
            self.organization = Some(*org);
            self.key = match credential {
                Credential::Key(key) => Some(*key),
                Credential::Session { .. } => None,
            };
        }
    }

    /// Whether the request only asks if the service is running or ready, as load balancers do. Such requests are
    /// frequent and say little.
    pub fn is_probe(&self) -> bool {
        self.operation.is_some_and(|operation| [operations::HEALTH.id, operations::READY.id].contains(&operation.id))
    }
}

/// The method if HTTP defines it, or else `other`, because any other method is text that the caller chose.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "other",
    }
}

/// A line that is not finished. It passes from the envelope to the body of the answer as an extension of the answer.
#[derive(Clone)]
pub(crate) struct Unfinished {
    log: Arc<dyn RequestLog>,
    line: RequestLine,
    began: Instant,
}

/// A line that is noted when this value is dropped, whatever ends the request.
pub(crate) struct Ending {
    unfinished: Option<Unfinished>,
    /// What is known about the request. `None` once there is an answer.
    known: Option<Known>,
}

impl Ending {
    /// The line of a request that has just arrived.
    pub(crate) fn new(log: &Arc<dyn RequestLog>, request: RequestId, method: &Method, known: &Known) -> Self {
        let line = RequestLine {
            request,
            operation: None,
            method: Some(known_method(method)),
            status: None,
            took: Duration::ZERO,
            bytes: 0,
            organization: None,
            key: None,
            tool: None,
        };
        let unfinished = Unfinished { log: Arc::clone(log), line, began: Instant::now() };
        Self { unfinished: Some(unfinished), known: Some(known.clone()) }
    }

    /// Adds what the head of the answer shows. The body of the answer finishes the line.
    pub(crate) fn answered(mut self, status: StatusCode, operation: Option<&'static Operation>) -> Option<Unfinished> {
        let mut unfinished = self.unfinished.take()?;
        if let Some(known) = &self.known {
            unfinished.line.add(known);
        }
        unfinished.line.status = Some(status);
        unfinished.line.operation = operation;
        Some(unfinished)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Some(Unfinished { log, mut line, began }) = self.unfinished.take() else { return };
        if let Some(known) = &self.known {
            line.add(known);
        }
        line.took = began.elapsed();
        log.note(line);
    }
}

/// The body of an answer. It counts its bytes for the line of the request, and notes the line when it is dropped.
pub(crate) struct Counted<B> {
    body: B,
    ending: Ending,
}

impl<B> Counted<B> {
    pub(crate) const fn new(body: B, unfinished: Option<Unfinished>) -> Self {
        Self { body, ending: Ending { unfinished, known: None } }
    }
}

impl<B: HttpBody + Unpin> HttpBody for Counted<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let (Some(Ok(frame)), Some(unfinished)) = (&frame, &mut self.ending.unfinished) {
            let length = frame.data_ref().map_or(0, |data| data.remaining());
            let length = u64::try_from(length).unwrap_or(u64::MAX);
            unfinished.line.bytes = unfinished.line.bytes.saturating_add(length);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
