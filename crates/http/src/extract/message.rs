//! Messages to the tools. An imported file is a JSON string in the message. It is taken out before anything is built
//! from the message.

use std::borrow::Cow;

use axum::extract::Request;
use bytes::Bytes;
use http::request::Parts;
use kalends_app::operations;
use kalends_kernel::OrgId;
use serde::Deserialize;
use serde_json::value::RawValue;
use tracing::Span;

use super::body::{Held, Reader, Received, as_json, whole};
use crate::{
    error::ApiError,
    limits::{BODY_MAX, CALL_MAX},
};

/// A JSON message.
pub(crate) struct Message {
    /// The text, at most [`BODY_MAX`] bytes.
    pub text: Bytes,
    /// The imported file, if the message is large. It keeps its place among the large bodies. In the text, an empty
    /// string replaces it.
    pub file: Option<Bytes>,
}

/// The fields that identify a call of the import. Parsing them does not build the rest of the message.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

/// Reads a message of an organization. Returns it with the rest of its request.
///
/// # Errors
/// The errors of every JSON body. [`ApiError::LargeMessage`] for a message of more than [`BODY_MAX`] bytes, not
/// counting an imported file.
pub(crate) async fn read_message(request: Request, org: OrgId) -> Result<(Parts, Message), ApiError> {
    let (parts, body) = as_json(request)?.into_parts();
    let received = Reader::new(CALL_MAX, Some(org)).of_json().read(body).await?;
    if received.place.is_none() {
        let text = received.whole();
        whole(&text).map_err(ApiError::NotJson)?;
        return Ok((parts, Message { text, file: None }));
    }
    let Received { body: text, place, room } = received;
    // The largest message takes about 50 ms, in which a thread of the runtime could serve nobody else. The place
    // moves into the task, because the caller may disconnect before it is finished.
    let span = Span::current();
    let divided = tokio::task::spawn_blocking(move || {
        let _inside = span.entered();
        let (text, file) = divide(&text)?;
        Ok(Message { text: text.into(), file: Some(Bytes::from_owner(Held::new(file, place, room))) })
    });
    let message: Result<Message, ApiError> = divided.await.map_err(|_| ApiError::Internal)?;
    Ok((parts, message?))
}

/// Splits the message of an import into the message without its file, and the file.
fn divide(text: &[u8]) -> Result<(String, String), ApiError> {
    let text = std::str::from_utf8(text).map_err(|error| ApiError::NotJson(error.to_string()))?;
    let Ok(Call { method, params: Params { name, arguments: Arguments { content } } }) = serde_json::from_str(text)
    else {
        return Err(whole(text.as_bytes()).map_or_else(ApiError::NotJson, |()| ApiError::LargeMessage));
    };
    let content = content.get();
    // `content` borrows from `text`.
    let start = content.as_ptr().addr() - text.as_ptr().addr();
    let (before, after) = (text.get(..start), text.get(start + content.len()..));
    let (Some(before), Some(after)) = (before, after) else { return Err(ApiError::Internal) };
    let imports = method == "tools/call" && name == operations::IMPORT_CALENDAR.id && content.starts_with('"');
    if !imports || before.len() + after.len() > BODY_MAX {
        return Err(ApiError::LargeMessage);
    }
    let file = serde_json::from_str(content).map_err(|error| ApiError::NotJson(error.to_string()))?;
    Ok(([before, "\"\"", after].concat(), file))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn import(content: &Value) -> Value {
        let arguments = json!({ "content": content, "id": "cal_1", "other": [{ "a": "é" }] });
        json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "importCalendar", "arguments": arguments } })
    }

    #[test]
    fn the_file_is_taken_out_of_its_message() {
        let file = "BEGIN:VCALENDAR\r\nSUMMARY:\"Ü\" \\ \u{1}\r\nEND:VCALENDAR";
        for message in [import(&json!(file)).to_string(), serde_json::to_string_pretty(&import(&json!(file))).unwrap()]
        {
            let (text, taken) = divide(message.as_bytes()).unwrap();
            assert_eq!(taken, file);
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), import(&json!("")));
        }
    }

    #[rstest]
    #[case::another_tool(json!({ "method": "tools/call", "params": { "name": "createEvent", "arguments": { "content": "" } } }), "LargeMessage")]
    #[case::another_method(json!({ "method": "ping", "params": { "name": "importCalendar", "arguments": { "content": "" } } }), "LargeMessage")]
    #[case::no_file(json!({ "method": "tools/call", "params": { "name": "importCalendar", "arguments": {} } }), "LargeMessage")]
    #[case::file_is_not_text(import(&json!([])), "LargeMessage")]
    #[case::batch(json!([import(&json!(""))]), "LargeMessage")]
    #[case::too_much_besides_the_file(json!({ "pad": "x".repeat(BODY_MAX), "method": "tools/call",
        "params": { "name": "importCalendar", "arguments": { "content": "" } } }), "LargeMessage")]
    fn other_messages_may_not_be_large(#[case] message: Value, #[case] refused: &str) {
        assert_eq!(format!("{:?}", divide(message.to_string().as_bytes()).unwrap_err()), refused);
    }

    #[test]
    fn a_large_message_that_is_not_json_is_reported_as_such() {
        let message = import(&json!("BEGIN")).to_string();
        let half = &message.as_bytes()[..message.len() - 1];
        let lone = message.replace("BEGIN", "\\ud800");
        for text in [half, lone.as_bytes(), b"\xff"] {
            assert!(matches!(divide(text), Err(ApiError::NotJson(_))), "{}", String::from_utf8_lossy(text));
        }
    }
}
