//! The pages about the deliveries of webhooks. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    numbers::grouped,
    paging::Paging,
    shell::{Done, Shell},
    time::in_utc,
    webhooks::WebhookShown,
};

/// What has become of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is to be sent, or sent again.
    Waiting,
    /// It was received.
    Delivered,
    /// It was given up.
    Failed,
    /// It is not sent, because the quota was used up.
    Skipped,
}

impl DeliveryState {
    const fn title(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Delivered => "Delivered",
            Self::Failed => "Failed",
            Self::Skipped => "Skipped",
        }
    }
}

/// A delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryShown {
    /// The identifier.
    pub id: String,
    /// The type of the message, as the API names it.
    pub event_type: String,
    /// What has become of it.
    pub state: DeliveryState,
    /// The number of attempts.
    pub attempts: u32,
    /// When the last attempt ended.
    pub last_attempt_at: Option<Timestamp>,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// The HTTP status of the last answer.
    pub response_status: Option<u16>,
    /// When the message was addressed to the webhook.
    pub created_at: Timestamp,
}

impl DeliveryShown {
    fn status_text(&self) -> &'static str {
        match self.state {
            DeliveryState::Skipped => "Skipped: the monthly quota was used up",
            state => state.title(),
        }
    }

    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn last_attempt(&self) -> String {
        self.last_attempt_at.map(in_utc).unwrap_or_default()
    }

    fn next_attempt(&self) -> String {
        self.next_attempt_at.map(in_utc).unwrap_or_default()
    }

    /// What came back from the last attempt, if there was one.
    fn answer(&self) -> Option<String> {
        self.last_attempt_at.map(|_| match self.response_status {
            Some(status) => format!("HTTP status {status}"),
            None => "No answer: the address could not be reached, or did not answer within 15 seconds".to_owned(),
        })
    }
}

/// The result of a test of a webhook.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "webhook_tested.html")]
pub struct WebhookTested<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The identifier of the webhook.
    pub id: &'a str,
    /// The delivery of the test message.
    pub delivery: &'a DeliveryShown,
    /// How long the attempt took, in milliseconds.
    pub duration_ms: u64,
    /// Why there was no answer.
    pub error: Option<&'a str>,
}

impl WebhookTested<'_> {
    fn title(&self) -> &'static str {
        if self.delivery.state == DeliveryState::Delivered { "The test has arrived" } else { "The test has failed" }
    }
}

/// A status by which the list of deliveries can be filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusFilter {
    /// The state; `None` for all of them.
    pub state: Option<DeliveryState>,
    /// The status, as the API names it; empty for all of them.
    pub name: &'static str,
    /// The number of deliveries with this status.
    pub count: u64,
    /// Whether the list shows these deliveries.
    pub is_chosen: bool,
}

impl StatusFilter {
    fn title(&self) -> &'static str {
        self.state.map_or("All", DeliveryState::title)
    }

    fn count_text(&self) -> String {
        grouped(self.count)
    }
}

/// The list of a webhook's deliveries.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "deliveries.html")]
pub struct Deliveries<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The webhook.
    pub webhook: &'a WebhookShown,
    /// The filters to choose from.
    pub statuses: &'a [StatusFilter],
    /// The deliveries of this page of the list.
    pub deliveries: &'a [DeliveryShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

/// One delivery.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "delivery.html")]
pub struct DeliveryPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may have it sent again.
    pub may_retry: bool,
    /// The identifier of the webhook.
    pub webhook: &'a str,
    /// Whether the webhook receives messages. Nothing is sent again to one that does not.
    pub is_active: bool,
    /// The delivery.
    pub delivery: &'a DeliveryShown,
    /// The payload, on several lines; `None` if it is no longer stored.
    pub payload: Option<&'a str>,
    /// The random key of the form.
    pub once: &'a str,
}

in_english!(WebhookTested<'_>, Deliveries<'_>, DeliveryPage<'_>);
