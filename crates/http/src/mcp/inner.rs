//! The operations behind the tools: the whole API, called by a request of its own inside the outer one.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    Router,
    extract::{ConnectInfo, Request},
    response::Response,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode, header, request::Parts, response::Parts as Answered};
use kalends_app::{App, Caller, operations::Operation};
use kalends_runs::RunName;
use tower::ServiceExt as _;
use tracing::{Instrument as _, Span};

use crate::{
    budget::Room,
    enter::SERVICE_PLAN,
    extract::AlreadyRead,
    known::{Carried, FORWARDED_FOR, Known, REQUEST_ID, ToolCall},
};

/// The headers that the outer answer copies from the inner one. The rate-limit headers are not among them, because the
/// outer request counts the API calls.
const COPIED_HEADERS: [HeaderName; 3] =
    [SERVICE_PLAN, HeaderName::from_static(kalends_accounts::TERMS_UPGRADE_HEADER), header::RETRY_AFTER];

/// The parts of the outer request that a call needs.
#[derive(Clone)]
pub(super) struct Outer {
    pub caller: Arc<Caller>,
    /// The run that the header names.
    pub run: Option<RunName>,
    /// The file that the call imports, if it is a large one.
    pub file: Option<Bytes>,
    /// Whether the message asks for a page of a list with a cursor that is no text.
    pub wrong_cursor: bool,
    pub inner_answer: Arc<Mutex<InnerAnswer>>,
}

/// The parts of the inner answer that the outer answer takes over.
#[derive(Default)]
pub(super) struct InnerAnswer {
    pub status: Option<StatusCode>,
    pub headers: HeaderMap,
    /// The memory that was reserved for the answer.
    pub room: Option<Room>,
    /// Whether the call may have changed something, so that its answer must not be lost.
    pub writes: bool,
}

/// The whole API, with all of its layers.
#[derive(Clone)]
pub(super) struct Inner {
    pub app: Arc<App>,
    pub router: Arc<Router>,
}

impl Inner {
    /// Sends a request of the outer caller.
    pub(super) async fn respond(&self, mut request: Request, parts: &Parts, outer: &Outer) -> Response {
        request.extensions_mut().insert(Carried(Arc::clone(&outer.caller)));
        request.extensions_mut().insert(AlreadyRead);
        if let Some(peer) = parts.extensions.get::<ConnectInfo<std::net::SocketAddr>>() {
            request.extensions_mut().insert(*peer);
        }
        for forwarded in parts.headers.get_all(FORWARDED_FOR) {
            request.headers_mut().append(FORWARDED_FOR, forwarded.clone());
        }
        // The library handles messages in tasks of its own.
        let span = parts.extensions.get::<Known>().map_or_else(Span::none, Known::span);
        let router: Router = (*self.router).clone();
        match router.oneshot(request).instrument(span).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Notes the answer of an operation for the request log and for the outer answer. Of several, a success decides
    /// whether the message counts as a call, and the last one has the headers.
    pub(super) fn note_answer(operation: &'static Operation, answered: &Answered, parts: &Parts, outer: &Outer) {
        if let Some(known) = parts.extensions.get::<Known>() {
            let request =
                answered.headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).and_then(|id| id.parse().ok());
            known.note_tool(ToolCall { operation, status: answered.status, request });
        }
        let mut inner_answer = outer.inner_answer.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner_answer.status.is_some_and(|status| status.is_success()) {
            inner_answer.status = Some(answered.status);
        }
        inner_answer.writes |= operation.writes();
        for name in COPIED_HEADERS {
            match answered.headers.get(&name) {
                Some(value) => drop(inner_answer.headers.insert(name, value.clone())),
                None => drop(inner_answer.headers.remove(&name)),
            }
        }
    }
}
