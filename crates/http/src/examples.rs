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

/// The bodies that are not recorded, with the reason. Their examples are those of their schemas.
pub(crate) static UNRECORDED: &[(&Operation, &str, &str)] = &[
    (&operations::OPENAPI, "application/json", "the answer is the description itself"),
    (&operations::BOOKING_ASSET, "text/css", A_FILE),
    (&operations::BOOKING_ASSET, "text/javascript", A_FILE),
    (&operations::BOOKING_ASSET, "image/svg+xml", A_FILE),
    (&operations::SHOW_BOOKING_PAGE, "text/html", A_PAGE),
    (&operations::SHOW_CANCELLATION, "text/html", A_PAGE),
    (&operations::SHOW_MOVE, "text/html", A_PAGE),
];

const A_FILE: &str = "a file that pages refer to, of which nobody reads the text";
const A_PAGE: &str = "a page that a browser shows, far longer than what it tells";

/// Whether bodies of that type are recorded.
pub(crate) fn is_recorded(operation: &Operation, media_type: &str) -> bool {
    !UNRECORDED.iter().any(|(unrecorded, of, _)| *unrecorded == operation && *of == media_type)
}

/// The body of the operation's request.
pub(crate) fn request(operation: &Operation) -> Option<&'static Value> {
    EXAMPLES["operations"][operation.id].get("request")
}

/// The body of the operation's answer with that status.
pub(crate) fn answer(operation: &Operation, status: &str) -> Option<&'static Value> {
    EXAMPLES["operations"][operation.id]["answers"].get(status)
}

/// Gives the answers of failures, by status, their examples.
pub(crate) fn show_errors(responses: &mut Value) {
    for (status, response) in responses.as_object_mut().into_iter().flatten() {
        let media = response.pointer_mut("/content/application~1json");
        if let (Some(media), Some(recorded)) = (media, EXAMPLES["errors"].get(status)) {
            media["example"] = recorded.clone();
        }
    }
}
