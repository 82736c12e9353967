//! The headers that restrict what a browser does with an answer. Only this module adds them, so that no page, error
//! or file lacks them.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use kalends_web::headers::{NO_SNIFFING, SAFE};

/// Adds the headers to an answer. Headers that the answer already has are kept.
pub(crate) fn describe(headers: &mut HeaderMap) {
    let (name, value) = NO_SNIFFING;
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    if headers.get(header::CONTENT_TYPE).is_some_and(may_be_shown) {
        for (name, value) in SAFE {
            headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
        }
    }
}

/// Whether a browser that opens an answer of that type shows it as a page or may run its content.
fn may_be_shown(content_type: &HeaderValue) -> bool {
    let begins =
        |with: &[u8]| content_type.as_bytes().get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    begins(b"text/") || begins(b"image/svg")
}
