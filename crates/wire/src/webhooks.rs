//! Webhook endpoints and their deliveries.

use std::borrow::Cow;

use kalends_kernel::{DeliveryId, WebhookId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[cfg(feature = "schema")]
use crate::schemas::{DeactivationReason, EventName, MessageType};
use crate::{
    derives::{IntoParams, ToSchema},
    patch::{Given, given},
};

#[cfg(feature = "parse")]
mod parse;

/// A webhook endpoint. Its secret was shown once, when the endpoint was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "whk_01jn8r6v9ke0bt3m5qz2c7xwdh", "url": "https://example.com/hooks/kalends",
    "events": ["event.created", "event.updated"], "active": true, "deactivated_reason": null,
    "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct Webhook {
    /// The identifier, `whk_…`.
    #[schema(value_type = String)]
    pub id: WebhookId,
    /// The address that messages are posted to.
    pub url: String,
    /// The event types that it receives. `*` alone means all of them.
    #[schema(value_type = Vec<EventName>)]
    pub events: Vec<Cow<'static, str>>,
    /// Whether the endpoint receives messages.
    pub active: bool,
    /// Why the service deactivated the endpoint: `gone` (it answered 410) or `failing` (all deliveries failed for
    /// five days). Null if the service did not deactivate it.
    #[schema(value_type = Option<DeactivationReason>)]
    pub deactivated_reason: Option<Cow<'static, str>>,
    /// When the endpoint was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the endpoint was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// A new webhook endpoint, with its secret. The secret is shown only in this answer.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct NewWebhook {
    /// The identifier, `whk_…`.
    #[schema(value_type = String, example = "whk_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: WebhookId,
    /// The address that messages are posted to.
    #[schema(example = "https://example.com/hooks/kalends")]
    pub url: String,
    /// The event types that it receives.
    #[schema(value_type = Vec<EventName>, example = json!(["event.created", "event.updated"]))]
    pub events: Vec<Cow<'static, str>>,
    /// The secret that signs the messages. Store it now: it is not shown again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
    /// Whether the endpoint receives messages.
    pub active: bool,
    /// Always null in this answer, because the endpoint is new.
    #[schema(value_type = Option<DeactivationReason>)]
    pub deactivated_reason: Option<Cow<'static, str>>,
    /// When the endpoint was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the endpoint was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The new secret of an endpoint. It is shown only in this answer.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct WebhookSecret {
    /// The endpoint, `whk_…`.
    #[schema(value_type = String, example = "whk_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: WebhookId,
    /// The secret that signs the messages from now on. Store it now: it is not shown again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
    /// When the previous secret stops signing messages.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub previous_secret_expires_at: Option<Timestamp>,
}

/// The payload of `webhook.deactivated`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WebhookDeactivated {
    /// The endpoint as it is now.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// Why the service deactivated the endpoint: `gone` or `failing`.
    #[schema(value_type = DeactivationReason)]
    pub reason: Cow<'static, str>,
}

/// An endpoint in an export, together with its secret.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ExportedWebhook {
    /// The endpoint.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// The secret that signs the messages.
    pub secret: String,
}

/// The fields of a new webhook endpoint.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "url": "https://example.com/hooks/kalends", "events": ["event.created", "event.updated"] }))]
pub struct CreateWebhook {
    /// An https URL on the public internet without credentials, at most 2,048 characters long.
    #[schema(format = "uri", max_length = 2048)]
    pub url: String,
    /// The event types to receive, at least one. `*` means all of them.
    #[schema(value_type = Vec<EventName>, min_items = 1, max_items = 19)]
    pub events: Vec<String>,
}

/// The fields of a webhook endpoint that a PATCH can change. At least one is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "active": true }))]
pub struct UpdateWebhook {
    /// An https URL on the public internet without credentials, at most 2,048 characters long.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, format = "uri", max_length = 2048)]
    pub url: Given<String>,
    /// Replaces the event types.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<EventName>>, nullable = false, min_items = 1, max_items = 19)]
    pub events: Given<Vec<String>>,
    /// False pauses the endpoint. True activates it, whatever deactivated it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub active: Given<bool>,
}

/// Selects a page of the endpoints.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WebhookPaging {
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 20)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

/// The status of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// The delivery waits to be sent or sent again.
    Pending,
    /// The receiver accepted it.
    Delivered,
    /// All attempts failed.
    Failed,
    /// It was never sent, because the monthly quota was used up.
    Skipped,
}

/// The delivery of one message to one endpoint.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "whd_01jn8r6v9ke0bt3m5qz2c7xwdh", "event_type": "event.created", "status": "pending", "attempts": 1,
    "last_attempt_at": "2026-03-02T08:00:01Z", "next_retry_at": "2026-03-02T08:00:06Z", "response_status": 503,
    "created_at": "2026-03-02T08:00:00Z"
}))]
pub struct Delivery {
    /// The identifier, `whd_…`. It is the same in every attempt, as `X-Delivery-Id` and `webhook-id`.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// The type of the message.
    #[schema(value_type = MessageType)]
    pub event_type: Cow<'static, str>,
    /// The status of the delivery.
    pub status: DeliveryStatus,
    /// The number of attempts.
    pub attempts: u32,
    /// When the last attempt ended. Null before the first one.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_attempt_at: Option<Timestamp>,
    /// When the next attempt is due. Null unless the delivery is pending.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_retry_at: Option<Timestamp>,
    /// The HTTP status of the last answer. Null if there was none.
    pub response_status: Option<u16>,
    /// When the message was addressed to the endpoint.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The payload, if it was requested. Null if it is no longer stored.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Option<Box<RawValue>>>,
}

/// The number of stored deliveries per status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryStats {
    /// Waiting to be sent or sent again.
    pub pending: u64,
    /// Accepted by the receiver.
    pub delivered: u64,
    /// All attempts failed.
    pub failed: u64,
    /// Never sent.
    pub skipped: u64,
}

/// A page of deliveries.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DeliveryList {
    /// The deliveries of this page, the oldest message first.
    pub data: Vec<Delivery>,
    /// The number of deliveries that match the filter, over all pages.
    pub total: u64,
    /// The maximum number of entries per page. On a page that ended early, the number of entries on it.
    pub limit: u32,
    /// The number of entries that were skipped.
    pub offset: u32,
    /// True if the page ended early because it would have exceeded 8 MiB. Otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub has_more: Option<bool>,
    /// Counts of all of the endpoint's deliveries of the last 30 days, regardless of the filter.
    pub stats: DeliveryStats,
}

/// Filters a list of deliveries.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListDeliveries {
    /// Only deliveries with this status.
    pub status: Option<DeliveryStatus>,
    /// Whether to include the payload of each delivery.
    #[param(default = false)]
    pub include_payload: Option<bool>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 20)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

/// The result of a test delivery.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TestedDelivery {
    /// The delivery, which is listed like any other.
    pub delivery: Delivery,
    /// The duration of the attempt, in milliseconds.
    pub duration_ms: u64,
    /// Why there was no answer. Null if there was one.
    pub error: Option<String>,
}
