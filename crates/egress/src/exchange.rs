//! One request and its answer.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use kalends_remote::RemoteUrl;

/// A request, and the bounds of its answer.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The method.
    pub method: Method,
    /// The address.
    pub url: RemoteUrl,
    /// The headers. Those that frame the message are dropped, because the client sets them.
    pub headers: HeaderMap,
    /// The content; may be empty.
    pub body: Bytes,
    /// The time limit for everything: waiting for a turn, the look-up, connecting, sending, every redirect and the
    /// whole answer.
    pub deadline: Duration,
    /// The limit on the answer's content in bytes, after decompression.
    pub max_body: usize,
    /// What happens if the content is longer.
    pub past_cap: PastCap,
    /// How many redirects are followed, at most [`Self::MAX_REDIRECTS`]. With 0, a redirect is returned like any other
    /// answer. Otherwise, exceeding the limit is an error.
    pub redirects: u8,
}

impl Exchange {
    /// The maximum number of redirects that are followed, whatever the exchange asks for.
    pub const MAX_REDIRECTS: u8 = 5;

    /// A request without headers and content. It follows no redirects and refuses an answer of more than `max_body`
    /// bytes.
    pub fn new(method: Method, url: RemoteUrl, deadline: Duration, max_body: usize) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            deadline,
            max_body,
            past_cap: PastCap::Refuse,
            redirects: 0,
        }
    }
}

/// What happens to an answer that exceeds the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastCap {
    /// The beginning is kept and the rest is not read.
    Truncate,
    /// The exchange fails.
    Refuse,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers: at most 100 of them, of about 400 KiB in total. These are the limits of the HTTP implementation.
    pub headers: HeaderMap,
    /// The decompressed content.
    pub body: Bytes,
    /// Whether the content was cut off at the limit.
    pub truncated: bool,
}
