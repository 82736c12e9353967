//! The result of a use case that changed something: the resource, and its answer as it is stored for repetitions of
//! the request.

use kalends_kernel::Version;
use serde::Serialize;

use crate::{Answer, Request};

/// What a dry run shows in place of a secret.
const NOT_MADE: &str = "(dry run)";

/// The outcome of a use case: the resource as the caller may see it, and the answer that a repetition of the request
/// gets. The caller gets exactly the stored bytes; code that needs a value of the answer takes it from the resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered<T> {
    /// The resource; `()` if the operation returns none.
    pub resource: T,
    /// The answer as it is stored.
    pub answer: Answer,
}

impl<T: Serialize> Answered<T> {
    /// The answer to `request` that shows `resource`, with the status of the operation.
    pub(crate) fn shows(request: &Request, resource: T, version: Option<Version>) -> Self {
        let mut shown = Self::with_status(request.operation.status, resource, version);
        if request.dry_run {
            shown.answer.body = shown.answer.body.map(|body| without(request.operation.secret_fields(), body));
        }
        shown
    }

    /// An answer that shows `resource` with this status.
    pub(crate) fn with_status(status: u16, resource: T, version: Option<Version>) -> Self {
        let body = Some(json(&resource));
        Self { resource, answer: Answer { status, body, version } }
    }
}

impl Answered<()> {
    /// The answer to `request` without a resource.
    pub(crate) const fn nothing(request: &Request) -> Self {
        Self { resource: (), answer: Answer { status: request.operation.status, body: None, version: None } }
    }
}

impl<T> Answered<T> {
    /// The same answer, with its resource converted to another type.
    pub(crate) fn map<U>(self, into: impl FnOnce(T) -> U) -> Answered<U> {
        Answered { resource: into(self.resource), answer: self.answer }
    }
}

/// A JSON object with a placeholder in each of these fields. A dry run makes secrets that open nothing, so it shows none.
fn without(fields: &[&str], body: String) -> String {
    let shown = if fields.is_empty() { None } else { serde_json::from_str(&body).ok() };
    let Some(serde_json::Value::Object(mut shown)) = shown else { return body };
    for field in fields {
        if let Some(value) = shown.get_mut(*field).filter(|value| !value.is_null()) {
            *value = NOT_MADE.into();
        }
    }
    json(&shown)
}

/// The value as JSON text. Serialization cannot fail: wire types have only string keys and infallible serializers. If
/// it ever does, the answer is `null` rather than a panic.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        tracing::error!(%error, "a resource could not be serialized as JSON");
        "null".to_owned()
    })
}
