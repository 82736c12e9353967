//! Posting messages to webhook endpoints.

use async_trait::async_trait;
use kalends_notifications::Outcome;
use kalends_remote::RemoteUrl;

/// One attempt at a delivery: its address, headers and body.
#[derive(Clone)]
pub struct WebhookPost {
    /// The endpoint's address.
    pub url: RemoteUrl,
    /// All headers that Kalends sets.
    pub headers: Vec<kalends_notifications::Header>,
    /// The body, exactly as it was signed.
    pub body: bytes::Bytes,
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookReply {
    /// The outcome.
    pub outcome: Outcome,
    /// Why there was no response, worded for the caller who named the address; `None` if there was one.
    pub problem: Option<String>,
}

/// Posts messages to the addresses that callers name.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Whether the operator allows connections to that host and port even if the address is private, and over plain
    /// HTTP.
    fn exempts(&self, host: &str, port: u16) -> bool;

    /// Posts a message and reads the beginning of the response, within
    /// [`ATTEMPT_WITHIN`](kalends_notifications::ATTEMPT_WITHIN) in total. Every failure is an outcome.
    async fn post(&self, post: WebhookPost) -> WebhookReply;
}
