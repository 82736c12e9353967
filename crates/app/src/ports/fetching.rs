//! Fetching the feeds of subscriptions.

use async_trait::async_trait;
use kalends_feeds::sync::Validators;
use kalends_remote::RemoteUrl;

/// The response of a server to a request for a feed.
#[derive(Debug, Clone)]
pub enum FetchedFeed {
    /// The feed matches the validators.
    Unchanged,
    /// The feed.
    Full {
        /// Its bytes, decompressed.
        body: bytes::Bytes,
        /// The validators for the next request.
        validators: Validators,
    },
}

/// Why a feed could not be fetched, worded for the caller who named the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);

/// Fetches feeds from the addresses that callers name.
#[async_trait]
pub trait FeedFetcher: Send + Sync {
    /// Fetches the feed unless it still matches `validators`. A fetch takes at most 30 s in total, at most
    /// [`BYTES_MAX`](kalends_feeds::limits::BYTES_MAX) bytes and at most 3 redirects, and reaches only the public
    /// internet.
    async fn fetch(&self, url: &RemoteUrl, validators: &Validators) -> Result<FetchedFeed, FetchError>;
}
