//! One request and its answer.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use kalends_kernel::RemoteUrl;

/// A request, and the bounds of its answer.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The method.
    pub method: Method,
    /// Where it goes.
    pub url: RemoteUrl,
    /// What goes with it. Those that say how a message is framed are the client's own and dropped here.
    pub headers: HeaderMap,
    /// The content; may be empty.
    pub body: Bytes,
    /// How long it may take: waiting for its turn, finding addresses, connecting, sending, every redirect, and the
    /// whole answer.
    pub deadline: Duration,
    /// The most bytes of the answer's content, counted after decompression.
    pub max_body: usize,
    /// What happens to a longer one.
    pub past_cap: PastCap,
    /// How many redirects are followed, at most [`Self::MAX_REDIRECTS`]. With 0 a redirect is an answer like any
    /// other; otherwise one too many is an error.
    pub redirects: u8,
}

impl Exchange {
    /// The most redirects that are followed, whatever is asked for.
    pub const MAX_REDIRECTS: u8 = 5;

    /// A request without headers and content, that follows no redirect and refuses an answer over `max_body` bytes.
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

/// What happens to an answer that is longer than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastCap {
    /// Its beginning is kept and the rest is not read.
    Truncate,
    /// It is an error.
    Refuse,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers: at most 100, and about 400 KiB, which is what the protocol's implementation takes.
    pub headers: HeaderMap,
    /// Its content, decompressed.
    pub body: Bytes,
    /// Whether more would have followed.
    pub truncated: bool,
}
