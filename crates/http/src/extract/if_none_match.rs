//! `If-None-Match`: an answer that the caller already has is not sent again (RFC 9110 section 13.1.2).

use http::{HeaderMap, header};

/// Whether the caller has the answer with this entity tag. Tags are compared weakly, as the RFC requires for reads.
pub(crate) fn has(headers: &HeaderMap, tag: &str) -> bool {
    let fields = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = fields.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|sent| sent == "*" || sent.strip_prefix("W/").unwrap_or(sent) == tag)
}
