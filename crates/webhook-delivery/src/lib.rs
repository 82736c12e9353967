//! Posts webhook messages to endpoints, through the guarded client.
//!
//! [`kalends_notifications`] decides what is sent and what an answer means. Here, a post is one exchange of at most 15
//! s. At most 16 KiB of the answer are read. Redirects are not followed: they count as answers.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kalends_app::ports::{WebhookPost, WebhookReply, WebhookSender};
use kalends_egress::{Egress, Exchange, HeaderMap, HeaderName, HeaderValue, Method, PastCap};
use kalends_notifications::{ANSWER_MAX, ATTEMPT_WITHIN, Outcome};

/// A sender that uses the guarded client.
pub struct EgressSender(Arc<Egress>);

impl EgressSender {
    /// Creates a sender.
    pub const fn new(egress: Arc<Egress>) -> Self {
        Self(egress)
    }
}

#[async_trait]
impl WebhookSender for EgressSender {
    fn exempts(&self, host: &str, port: u16) -> bool {
        self.0.allowed().contains(host, port)
    }

    async fn post(&self, post: WebhookPost) -> WebhookReply {
        let within = Duration::from_micros(u64::try_from(ATTEMPT_WITHIN.as_micros()).unwrap_or(0));
        let mut exchange = Exchange::new(Method::POST, post.url, within, ANSWER_MAX);
        exchange.past_cap = PastCap::Truncate;
        exchange.body = post.body;
        let mut headers = HeaderMap::with_capacity(post.headers.len());
        for (name, value) in post.headers {
            let Ok(value) = HeaderValue::try_from(value) else { continue };
            headers.insert(HeaderName::from_static(name), value);
        }
        exchange.headers = headers;
        match self.0.send(exchange).await {
            Ok(reply) => WebhookReply { outcome: Outcome::of_status(reply.status.as_u16()), problem: None },
            Err(error) => {
                // The sources are only for the operator's log: they may reveal what a name resolves to.
                tracing::debug!(error = &error as &dyn std::error::Error, "cannot deliver a webhook");
                WebhookReply { outcome: Outcome::Unanswered, problem: Some(error.to_string()) }
            }
        }
    }
}
