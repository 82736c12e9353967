//! The examples of the description: what a test really sent and received.
//!
//! `examples.json` is the recording of a scenario that a test plays against the whole router. The test fails if the
//! answers differ from the recording, so the examples always match the service's behavior.

use std::sync::LazyLock;

use kalends_app::operations::{self, Operation};
use serde_json::Value;

#[cfg(test)]
mod tests;

/// The stored recording.
const RECORD: &str = include_str!("examples.json");

/// The parsed recording. A test parses it too, so it is valid JSON.
static EXAMPLES: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(RECORD).unwrap_or_default());

/// The bodies that are not recorded, by operation (`None` for all operations) and media type, each with the reason.
/// Their examples come from their schemas.
pub(crate) static UNRECORDED: &[(Option<&Operation>, &str, &str)] = &[
    (None, "text/html", "a page for a browser, too long for an example"),
    (Some(&operations::OPENAPI), "application/json", "the answer is the description itself"),
    (Some(&operations::BOOKING_ASSET), "text/css", A_FILE),
    (Some(&operations::BOOKING_ASSET), "text/javascript", A_FILE),
    (Some(&operations::BOOKING_ASSET), "image/svg+xml", A_FILE),
    (Some(&operations::LIST_ORGANIZATION_CHANGES), "text/event-stream", "a stream has no end"),
];

const A_FILE: &str = "a file that pages load and nobody reads";

/// Whether bodies with that media type are recorded.
pub(crate) fn is_recorded(operation: &Operation, media_type: &str) -> bool {
    let left_out = |(whose, of, _): &(Option<&Operation>, &str, _)| {
        *of == media_type && whose.is_none_or(|whose| whose == operation)
    };
    !UNRECORDED.iter().any(left_out)
}

/// The recorded body of the operation's request.
pub(crate) fn request(operation: &Operation) -> Option<&'static Value> {
    EXAMPLES["operations"][operation.id].get("request")
}

/// The recorded body of the operation's answer with that status.
pub(crate) fn answer(operation: &Operation, status: &str) -> Option<&'static Value> {
    EXAMPLES["operations"][operation.id]["answers"].get(status)
}

/// Adds examples to the error responses. The name of each starts with its status.
pub(crate) fn show_errors(responses: &mut Value) {
    for (name, response) in responses.as_object_mut().into_iter().flatten() {
        let recorded = name.get(..3).and_then(|status| EXAMPLES["errors"].get(status));
        if let (Some(media), Some(recorded)) = (response.pointer_mut("/content/application~1json"), recorded) {
            media["example"] = recorded.clone();
        }
    }
}
