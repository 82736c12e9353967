//! An answer of the service, and the checks that hold for every answer.

use std::ops::Index;

use reqwest::header::HeaderMap;
use serde_json::Value;

/// The most bytes of an error message. A model cannot act on a longer one.
const MESSAGE_MAX: usize = 1_000;

/// An answer of the service.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The request line, for failure messages.
    pub request: String,
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as received.
    pub bytes: Vec<u8>,
    /// The body as JSON, or null if it is not JSON.
    pub json: Value,
}

impl Answer {
    pub(crate) fn new(request: String, status: u16, headers: HeaderMap, bytes: Vec<u8>) -> Self {
        let json = serde_json::from_slice(&bytes).unwrap_or_default();
        Self { request, status, headers, bytes, json }
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// A header, or an empty string if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a header of visible characters"))
    }

    /// Requires a status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.describe());
        self
    }

    /// The `id` of the resource in the answer.
    #[track_caller]
    pub fn id(&self) -> String {
        self.at("/id").as_str().unwrap_or_else(|| panic!("no id in {}", self.describe())).to_owned()
    }

    /// The value at a JSON pointer, or null if there is none.
    pub fn at(&self, pointer: &str) -> Value {
        self.json.pointer(pointer).cloned().unwrap_or_default()
    }

    /// The entries of a list.
    #[track_caller]
    pub fn data(&self) -> Vec<Value> {
        self.at("/data").as_array().unwrap_or_else(|| panic!("no data in {}", self.describe())).clone()
    }

    /// One field of each entry of a list.
    #[track_caller]
    pub fn column(&self, field: &str) -> Vec<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.data().iter().map(|entry| text(&entry[field])).collect()
    }

    /// Requires an error with this status and type.
    #[track_caller]
    pub fn refused(self, status: u16, kind: &str) -> Self {
        self.expect(status).error(kind)
    }

    /// Requires an error of this type. The envelope around it is checked on every answer.
    #[track_caller]
    pub fn error(self, kind: &str) -> Self {
        assert_eq!(self.at("/error/type"), kind, "{}", self.describe());
        self
    }

    /// Requires that the error names this parameter.
    #[track_caller]
    pub fn param(self, param: &str) -> Self {
        assert_eq!(self.at("/error/param"), param, "{}", self.describe());
        self
    }

    /// Requires this error code.
    #[track_caller]
    pub fn code(self, code: &str) -> Self {
        assert_eq!(self.at("/error/code"), code, "{}", self.describe());
        self
    }

    /// Requires that the error message contains `part`.
    #[track_caller]
    pub fn mentions(self, part: &str) -> Self {
        assert!(
            self.at("/error/message").as_str().is_some_and(|message| message.contains(part)),
            "{}",
            self.describe()
        );
        self
    }

    /// The answer as a failing test prints it.
    pub fn describe(&self) -> String {
        let text: String = self.text().chars().take(2_000).collect();
        format!("{}: {} {:#?}\n{text}", self.request, self.status, self.headers)
    }

    /// Checks the rules for every answer: the request ID and the error envelope.
    pub(crate) fn check(&self, head: bool) {
        let id = self.header("x-request-id");
        let random = id.strip_prefix("req_").unwrap_or_else(|| panic!("no X-Request-Id: {}", self.describe()));
        assert!(is_encoded_uuid(random), "{}", self.describe());
        if self.status < 400 || head {
            return;
        }
        assert_eq!(self.header("content-type"), "application/json", "{}", self.describe());
        let body = &self.json;
        let error = &body["error"];
        assert_eq!(body.as_object().map(|body| body.len()), Some(1), "{}", self.describe());
        assert_eq!(error["request_id"], id, "{}", self.describe());
        assert!(error["type"].as_str().is_some_and(|kind| !kind.is_empty()), "{}", self.describe());
        let message = error["message"].as_str().unwrap_or_default();
        assert!((1..=MESSAGE_MAX).contains(&message.len()), "{}", self.describe());
        for optional in ["param", "code"] {
            let value = &error[optional];
            assert!(value.is_null() || value.as_str().is_some_and(|text| !text.is_empty()), "{}", self.describe());
        }
    }
}

impl Index<&str> for Answer {
    type Output = Value;

    fn index(&self, field: &str) -> &Value {
        &self.json[field]
    }
}

/// Whether the text is 26 characters of lower-case Crockford base32.
fn is_encoded_uuid(text: &str) -> bool {
    text.len() == 26 && text.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte))
}
