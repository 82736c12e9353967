//! The calls of operations by a tool of the set.

use std::sync::atomic::{AtomicU32, Ordering};

use http::{StatusCode, header, request::Parts};
use http_body_util::BodyExt as _;
use kalends_accounts::{Principal, Reach};
use kalends_app::operations::Operation;
use kalends_kernel::AgentId;
use kalends_time::Timestamp;
use rmcp::ErrorData;
use serde_json::{Value, json};

use super::Failure;
use crate::{
    budget::{Reserved, Room},
    mcp::{Handler, Outer, call, tools::Tools},
};

/// The most operations that one call of a tool can call.
const CALLS_MAX: u32 = 40;

/// One call of a tool: its caller, and the way to the operations.
pub(in super::super) struct Session<'a> {
    pub(in super::super) handler: &'a Handler,
    pub(in super::super) tools: &'a Tools,
    pub(in super::super) parts: &'a Parts,
    pub(in super::super) outer: &'a Outer,
    /// How many operations were called.
    pub(in super::super) calls: AtomicU32,
}

/// The success of an operation.
pub(super) struct Answer {
    /// The body; null if there is none.
    pub body: Value,
    /// The version of the resource.
    pub etag: Option<String>,
    /// The memory that was reserved for the body. Drop the answer before you call the next operation.
    _room: Option<Room>,
}

impl Session<'_> {
    /// Calls an operation with these arguments, as the tool with its name would. Arguments that are null are left out.
    ///
    /// # Errors
    /// [`Failure::Refused`] with the error of the operation.
    pub(super) async fn call(&self, operation: &'static Operation, arguments: Value) -> Result<Answer, Failure> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX {
            return Err(lost("the tool needs too many operations at once; ask for less"));
        }
        let bound = self.tools.of_operation(operation).ok_or_else(|| lost("the operation is not a tool"))?;
        let Value::Object(mut arguments) = arguments else { return Err(lost("the arguments are not an object")) };
        arguments.retain(|_, value| !value.is_null());
        let request = call::request(bound, arguments, None)?;
        let response = self.handler.respond(request, self.parts, self.outer).await;
        let (answered, body) = response.into_parts();
        self.handler.note_answer(bound.operation, &answered, self.parts, self.outer);
        let room = answered.extensions.get::<Reserved>().and_then(Reserved::take);
        let body = body.collect().await.map_err(|_| lost("the answer broke off"))?.to_bytes();
        let body: Value = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&body).map_err(|_| lost("the answer is not JSON"))?
        };
        if answered.status.is_success() {
            let etag = answered.headers.get(header::ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
            return Ok(Answer { body, etag, _room: room });
        }
        Err(refused(answered.status, body))
    }

    fn principal(&self) -> &Principal {
        &self.outer.caller.principal
    }

    /// The agent for which the key speaks; `None` for a key of the organization.
    pub(super) fn own_agent(&self) -> Option<AgentId> {
        match self.principal().reach {
            Reach::Agent(agent) => Some(agent.id),
            Reach::Organization => None,
        }
    }

    /// The organization of the key, as text.
    pub(super) fn org(&self) -> String {
        self.principal().org.to_string()
    }

    /// The address of the service, without a slash at the end.
    pub(super) fn base_url(&self) -> &str {
        &self.handler.app.settings().base_url
    }

    /// The current time.
    pub(super) fn now(&self) -> Timestamp {
        self.handler.app.now()
    }
}

/// The `error` of an answer.
fn refused(status: StatusCode, mut body: Value) -> Failure {
    let error = body.get_mut("error").map(Value::take).filter(Value::is_object);
    Failure::Refused(error.unwrap_or_else(|| json!({ "type": "internal_error", "message": status.to_string() })))
}

fn lost(why: &'static str) -> Failure {
    Failure::Lost(ErrorData::internal_error(why, None))
}
