//! What all requests to the API have in common: pages, errors, and parts of addresses.

use kalends_app::ports::ProviderError;
use kalends_egress::{HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

/// The characters to percent-encode in a path segment: all except the unreserved ones (RFC 3986 section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Requests times in UTC. This is the default, but a mailbox can override it.
pub(super) const IN_UTC: (HeaderName, HeaderValue) =
    (HeaderName::from_static("prefer"), HeaderValue::from_static("outlook.timezone=\"UTC\""));

/// The codes of a 403 that a new consent fixes (<https://learn.microsoft.com/graph/resolve-auth-errors>).
pub(super) const NOT_CONSENTED: [&str; 5] =
    ["ErrorAccessDenied", "AccessDenied", "Authorization_RequestDenied", "Forbidden", "insufficient_claims"];

/// A page of a list.
#[derive(Deserialize)]
pub(super) struct Page<T> {
    pub(super) value: Vec<T>,
    #[serde(rename = "@odata.nextLink")]
    pub(super) next: Option<String>,
}

/// A reference as a path segment; `None` if it has a special meaning, even if encoded, and would lead elsewhere.
pub(super) fn segment(reference: &str) -> Option<String> {
    (!matches!(reference, "" | "." | "..")).then(|| encoded(reference))
}

/// A text as a part of a path or a query.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

pub(super) fn lapsed(error: &str) -> ProviderError {
    ProviderError::Lapsed(error.to_owned())
}

/// The API's own error code (<https://learn.microsoft.com/graph/errors>).
pub(super) fn code(body: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    code_in(&document)
}

/// Whether `codes` contain the code. Case is ignored, because some parts of the API write the codes in different case.
pub(super) fn is_one_of(codes: &[&str], code: &str) -> bool {
    codes.iter().any(|known| known.eq_ignore_ascii_case(code))
}

/// The code in an error document.
pub(super) fn code_in(document: &Value) -> Option<String> {
    document.pointer("/error/code")?.as_str().map(str::to_owned)
}
