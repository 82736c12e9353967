//! What the layers know about a request, and pass on to each other.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use http::StatusCode;
use kalends_accounts::{Credential, Principal};
use kalends_app::{Caller, operations::Operation};
use kalends_kernel::RequestId;
use kalends_time::Timestamp;
use tracing::{Span, field};

/// The client's address, according to the proxies.
pub(crate) const FORWARDED_FOR: &str = "x-forwarded-for";
/// The identifier of the request, on its answer.
pub(crate) const REQUEST_ID: &str = "x-request-id";

/// What is known about a request before it is routed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub id: RequestId,
    pub at: Timestamp,
    pub ip: Option<IpAddr>,
}

/// What the inner layers note about a request, such as the operation and the requester. The envelope reads it here when
/// it finishes an answer, because an answer that broke off (because of a deadline or a panic) has not come back through
/// these layers.
#[derive(Clone)]
pub(crate) struct Known(Arc<Noted>);

struct Noted {
    span: Span,
    tool: Mutex<Option<ToolCall>>,
    operation: OnceLock<&'static Operation>,
    requester: OnceLock<Requester>,
}

/// Who sent the request.
pub(crate) enum Requester {
    /// The holder of a key.
    Caller(Arc<Caller>),
    /// The holder of a session.
    Session(Arc<Principal>),
}

impl Requester {
    pub(crate) fn principal(&self) -> &Principal {
        match self {
            Self::Caller(caller) => &caller.principal,
            Self::Session(principal) => principal,
        }
    }
}

impl Known {
    pub(crate) fn new(span: Span) -> Self {
        let (tool, operation, requester) = (Mutex::default(), OnceLock::new(), OnceLock::new());
        Self(Arc::new(Noted { span, tool, operation, requester }))
    }

    /// The operation, once it is noted.
    pub(crate) fn operation(&self) -> Option<&'static Operation> {
        self.0.operation.get().copied()
    }

    /// The requester, once it is noted.
    pub(crate) fn requester(&self) -> Option<&Requester> {
        self.0.requester.get()
    }

    /// Notes the requester. Only the first call counts.
    pub(crate) fn note(&self, requester: Requester) {
        let Principal { org, credential, .. } = requester.principal();
        match credential {
            Credential::Key(key) => {
                tracing::record_all!(self.0.span, organization = field::display(org), key = field::display(key));
            }
            Credential::Session { .. } => {
                self.0.span.record("organization", field::display(org));
            }
        }
        // A request passes `enter` only once.
        let _ = self.0.requester.set(requester);
    }

    /// Notes the operation. Only the first call counts.
    pub(crate) fn note_operation(&self, operation: &'static Operation) {
        self.0.span.record("operation", operation.id);
        let _ = self.0.operation.set(operation);
    }

    /// The span of the request.
    pub(crate) fn span(&self) -> Span {
        self.0.span.clone()
    }

    /// Notes the operation that a tool called. Of several, the first that failed counts, or else the last.
    pub(crate) fn note_tool(&self, call: ToolCall) {
        let mut noted = self.0.tool.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_none_or(|earlier| earlier.status.is_success()) {
            *noted = Some(call);
        }
    }

    /// The tool that was called, once it is noted.
    pub(crate) fn tool(&self) -> Option<ToolCall> {
        *self.0.tool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call of a tool, which is a request inside a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolCall {
    /// The operation behind the tool.
    pub operation: &'static Operation,
    /// The status of its answer.
    pub status: StatusCode,
    /// The identifier of the inner request, which the audit log shows. `None` if the arguments did not form a request.
    pub request: Option<RequestId>,
}

/// The operation that answered, attached to the response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnsweredBy(pub &'static Operation);

/// The caller of an inner request, attached to it. A tool call attaches the caller of its message, and an approval the key
/// that asked.
#[derive(Clone)]
pub(crate) struct Carried(pub(crate) Arc<Caller>);

/// The approval with which an inner request is made, attached to it.
#[derive(Clone)]
pub(crate) struct Approved {
    pub approved: Arc<kalends_app::Approved>,
    /// Whether nothing is committed.
    pub is_dry_run: bool,
}
