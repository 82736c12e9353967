//! The examples of the description: what a test really sent, and what it was answered.
//!
//! `examples.json` is the record of a scenario that the test plays against the whole router. The test fails where the
//! answers are others than those of the record, so that no example tells what the service does not do.

use std::sync::LazyLock;

use kalends_app::operations::{self, Operation};
use serde_json::Value;

#[cfg(test)]
mod tests;

/// The record as it is stored.
const RECORD: &str = include_str!("examples.json");

/// The record. A test reads it too, so that it cannot be broken.
static EXAMPLES: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(RECORD).unwrap_or_default());

/// The bodies that are not recorded: of one operation, or of all that have the type, and the reason. Their examples are
/// those of their schemas.
pub(crate) static UNRECORDED: &[(Option<&Operation>, &str, &str)] = &[
    (None, "text/html", "a page that a browser shows, far longer than what it tells"),
    (Some(&operations::OPENAPI), "application/json", "the answer is the description itself"),
    (Some(&operations::BOOKING_ASSET), "text/css", A_FILE),
    (Some(&operations::BOOKING_ASSET), "text/javascript", A_FILE),
    (Some(&operations::BOOKING_ASSET), "image/svg+xml", A_FILE),
];

const A_FILE: &str = "a file that pages refer to, of which nobody reads the text";

/// Whether bodies of that type are recorded.
pub(crate) fn is_recorded(operation: &Operation, media_type: &str) -> bool {
    let left_out = |(whose, of, _): &(Option<&Operation>, &str, _)| {
        *of == media_type && whose.is_none_or(|whose| whose == operation)
    };
    !UNRECORDED.iter().any(left_out)
}

/// The body of the operation's request.
pub(crate) fn request(operation: &Operation) -> Option<&'static Value> {
    EXAMPLES["operations"][operation.id].get("request")
}

/// The body of the operation's answer with that status.
pub(crate) fn answer(operation: &Operation, status: &str) -> Option<&'static Value> {
    EXAMPLES["operations"][operation.id]["answers"].get(status)
}

/// Gives the answers of failures their examples. The name of each begins with its status.
pub(crate) fn show_errors(responses: &mut Value) {
    for (name, response) in responses.as_object_mut().into_iter().flatten() {
        let recorded = name.get(..3).and_then(|status| EXAMPLES["errors"].get(status));
        if let (Some(media), Some(recorded)) = (response.pointer_mut("/content/application~1json"), recorded) {
            media["example"] = recorded.clone();
        }
    }
}
