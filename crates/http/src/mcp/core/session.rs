//! The calls of operations by a tool of the set.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use http::{HeaderMap, StatusCode, header, request::Parts};
use http_body_util::BodyExt as _;
use kalends_accounts::{Principal, Reach, Scopes, reach::Standing};
use kalends_app::operations::Operation;
use kalends_kernel::AgentId;
use kalends_time::Timestamp;
use rmcp::{ErrorData, model::JsonObject};
use serde_json::{Value, json};

use super::{
    failure::Failure,
    marks::Marks,
    part::Part,
    waiting::{self, Written},
};
use crate::{
    budget::{Reserved, Room},
    dry_run,
    mcp::{
        call,
        inner::{Inner, Outer},
        tools::{Bound, Tools},
        untrusted::MARK,
    },
};

/// The most operations that one call of a tool can call.
const CALLS_MAX: u32 = 40;

/// One call of a tool: its caller, and the way to the operations.
pub(in super::super) struct Session<'a> {
    pub(in super::super) inner: &'a Inner,
    pub(in super::super) tools: &'a Tools,
    pub(in super::super) parts: &'a Parts,
    pub(in super::super) outer: &'a Outer,
    /// How many operations were called.
    pub(in super::super) calls: AtomicU32,
    /// What is passed on to each operation that writes.
    pub(in super::super) marks: Marks,
    /// Whether an answer was that of a dry run.
    pub(in super::super) was_dry_run: AtomicBool,
    /// What was written so far.
    pub(in super::super) written: Mutex<Vec<Written>>,
}

/// The success of an operation.
pub(in super::super) struct Answer {
    /// The body; null if there is none. A body that is text, not JSON, is an object with this `text`.
    pub body: Value,
    /// The version of the resource.
    pub etag: Option<String>,
}

impl Session<'_> {
    /// Calls an operation with these arguments, as the tool with its name would. Arguments that are null are left out.
    ///
    /// The memory that was reserved for the answer stays reserved until the next call, or until the outer answer is sent,
    /// because the result is made of it.
    ///
    /// # Errors
    /// [`Failure::Refused`] with the error of the operation; [`Failure::Waits`] if it waits for approval.
    pub(in super::super) async fn call(
        &self,
        operation: &'static Operation,
        arguments: Value,
    ) -> Result<Answer, Failure> {
        self.ask(operation, arguments, None).await
    }

    /// [`Self::call`] of an operation that lists something, of whose answer only a part is needed.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub(super) async fn call_for(
        &self,
        part: Part,
        operation: &'static Operation,
        arguments: Value,
    ) -> Result<Answer, Failure> {
        self.ask(operation, arguments, Some(part)).await
    }

    async fn ask(
        &self,
        operation: &'static Operation,
        arguments: Value,
        part: Option<Part>,
    ) -> Result<Answer, Failure> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX {
            return Err(lost("the tool needs too many operations at once; ask for less"));
        }
        let bound = self.tools.of_operation(operation).ok_or_else(|| lost("the operation is not a tool"))?;
        let Value::Object(mut arguments) = arguments else { return Err(lost("the arguments are not an object")) };
        arguments.retain(|_, value| !value.is_null());
        self.deliver(bound, arguments, part).await
    }

    /// [`Self::call`] with the arguments as they are. A null in the body clears a field.
    ///
    /// # Errors
    /// As [`Self::call`]; [`Failure::Argument`] if a parameter of the path is missing or a header's value is invalid.
    pub(super) async fn send(&self, bound: &Bound, arguments: JsonObject) -> Result<Answer, Failure> {
        self.deliver(bound, arguments, None).await
    }

    async fn deliver(&self, bound: &Bound, mut arguments: JsonObject, part: Option<Part>) -> Result<Answer, Failure> {
        for (name, value) in self.marks.of_operation(bound.operation)? {
            arguments.insert(name.to_owned(), value);
        }
        bound.add_run(self.outer.run.as_ref(), &mut arguments);
        let request = call::request(bound, arguments, None)?;
        // An organization that waits for memory must not hold the one for which it waits.
        self.hold_until_sent(None);
        let response = self.inner.respond(request, self.parts, self.outer).await;
        let (answered, body) = response.into_parts();
        Inner::note_answer(bound.operation, &answered, self.parts, self.outer);
        self.hold_until_sent(answered.extensions.get::<Reserved>().and_then(Reserved::take));
        let body = body.collect().await.map_err(|_| lost("the answer broke off"))?.to_bytes();
        let part = part.filter(|_| answered.status.is_success());
        let body = read(&answered.headers, &body, part)?;
        if answered.status.is_success() {
            if answered.headers.contains_key(dry_run::HEADER) {
                self.was_dry_run.store(true, Ordering::Relaxed);
            }
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(approval) = waiting::approval(answered.status, &body) {
                return Err(Failure::Waits(waiting::result(approval, &written)));
            }
            if bound.operation.writes() {
                written.push(Written { operation: bound.operation.id, id: body["id"].clone() });
            }
            drop(written);
            let etag = answered.headers.get(header::ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
            return Ok(Answer { body, etag });
        }
        Err(refused(answered.status, body))
    }

    /// Keeps this memory reserved until the outer answer is sent, and releases the one that was kept before.
    fn hold_until_sent(&self, room: Option<Room>) {
        let mut inner_answer = self.outer.inner_answer.lock().unwrap_or_else(PoisonError::into_inner);
        inner_answer.room = room;
    }

    /// The kind of the key, and its scopes.
    pub(super) fn standing(&self) -> Standing {
        self.principal().standing()
    }

    /// The scopes of the key.
    pub(super) fn scopes(&self) -> Scopes {
        self.principal().scopes()
    }

    fn principal(&self) -> &Principal {
        &self.outer.caller.principal
    }

    /// The agent for which the key speaks; `None` for a key of the organization.
    pub(in super::super) fn own_agent(&self) -> Option<AgentId> {
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
        &self.inner.app.settings().base_url
    }

    /// The current time.
    pub(in super::super) fn now(&self) -> Timestamp {
        self.inner.app.now()
    }
}

/// The body of an answer, or the part of it that is needed. Text becomes `{"text": ...}`. If other people may have written parts of it, it has the mark.
fn read(headers: &HeaderMap, body: &[u8], part: Option<Part>) -> Result<Value, Failure> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    if !call::is_text(headers) {
        let read = part.map_or_else(|| serde_json::from_slice(body), |part| part.read(body));
        return read.map_err(|_| lost("the answer is not JSON"));
    }
    let mut read = json!({ "text": String::from_utf8_lossy(body) });
    if call::is_calendar(headers) {
        read[MARK] = true.into();
    }
    Ok(read)
}

/// The `error` of an answer.
fn refused(status: StatusCode, mut body: Value) -> Failure {
    let error = body.get_mut("error").map(Value::take).filter(Value::is_object);
    Failure::Refused(error.unwrap_or_else(|| json!({ "type": "internal_error", "message": status.to_string() })))
}

fn lost(why: &'static str) -> Failure {
    Failure::Lost(ErrorData::internal_error(why, None))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::json("application/json", r#"{"id":"evt_1"}"#, json!({ "id": "evt_1" }))]
    #[case::calendar("text/calendar; charset=utf-8", "BEGIN", json!({ "text": "BEGIN", "untrusted": true }))]
    #[case::markdown("text/markdown; charset=utf-8", "12", json!({ "text": "12" }))]
    #[case::nothing("text/plain", "", Value::Null)]
    fn answers_are_json_or_text(#[case] media_type: &'static str, #[case] body: &str, #[case] expected: Value) {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(media_type))]);
        assert_eq!(read(&headers, body.as_bytes(), None).unwrap(), expected);
    }
}
