//! Webhook endpoints and their deliveries.

use std::borrow::Cow;

use kalends_kernel::{DeliveryId, FieldErrors, Page, RemoteUrl, Timestamp, WebhookId};
use kalends_notifications::{
    self as domain, Deactivation, EndpointPatch, NewEndpoint, Subscription, WebhookEndpoint, ports::DeliverySeen,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::{
    patch::{Given, given, nothing_to_change, set},
    schemas::{DeactivationReason, EventName, MessageType},
};

/// The default number of entries per page.
const LIMIT_DEFAULT: i64 = 20;

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

impl From<&WebhookEndpoint> for Webhook {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        Self {
            id: endpoint.id,
            url: endpoint.url.as_str().to_owned(),
            events: endpoint.subscription.names().into_iter().map(Cow::Borrowed).collect(),
            active: endpoint.active,
            deactivated_reason: endpoint.deactivated.map(|why| Deactivation::as_str(why).into()),
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        }
    }
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

impl From<&WebhookEndpoint> for NewWebhook {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        let Webhook { id, url, events, active, deactivated_reason, created_at, updated_at } = endpoint.into();
        let secret = endpoint.secrets.current.reveal().to_owned();
        Self { id, url, events, secret, active, deactivated_reason, created_at, updated_at }
    }
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
    /// The time until which the previous secret signs too.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub previous_secret_expires_at: Option<Timestamp>,
}

impl From<&WebhookEndpoint> for WebhookSecret {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        Self {
            id: endpoint.id,
            secret: endpoint.secrets.current.reveal().to_owned(),
            previous_secret_expires_at: endpoint.secrets.previous.as_ref().map(|(_, until)| *until),
        }
    }
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

impl From<&WebhookEndpoint> for ExportedWebhook {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        Self { webhook: endpoint.into(), secret: endpoint.secrets.current.reveal().to_owned() }
    }
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

impl CreateWebhook {
    /// Checks every field. `exempt` decides which private host and port may be reached anyway.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self, exempt: impl Fn(&str, u16) -> bool) -> Result<NewEndpoint, FieldErrors> {
        let mut errors = FieldErrors::default();
        let url = errors.take(RemoteUrl::parse("url", &self.url, exempt));
        let subscription = match Subscription::parse("events", &self.events) {
            Ok(subscription) => Some(subscription),
            Err(wrong) => {
                for error in wrong.iter() {
                    errors.push(error.clone());
                }
                None
            }
        };
        match (url, subscription) {
            (Some(url), Some(subscription)) => Ok(NewEndpoint { url, subscription }),
            _ => Err(errors),
        }
    }
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

impl UpdateWebhook {
    /// Checks every field. `exempt` decides which private host and port may be reached anyway.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self, exempt: impl Fn(&str, u16) -> bool) -> Result<EndpointPatch, FieldErrors> {
        if let Self { url: None, events: None, active: None } = self {
            return Err(nothing_to_change("url, events, active").into());
        }
        let mut errors = FieldErrors::default();
        let url = errors.take(set("url", self.url, |text| RemoteUrl::parse("url", &text, exempt)));
        let active = errors.take(set("active", self.active, Ok));
        let subscription = match self.events {
            Some(Some(names)) => match Subscription::parse("events", &names) {
                Ok(subscription) => Some(Some(subscription)),
                Err(wrong) => {
                    for error in wrong.iter() {
                        errors.push(error.clone());
                    }
                    None
                }
            },
            absent_or_null => errors.take(set("events", absent_or_null, |_| Ok(Subscription::ALL))).map(|_| None),
        };
        match (url, subscription, active) {
            (Some(url), Some(subscription), Some(active)) => {
                Ok(EndpointPatch { url: value(url), subscription, active: value(active) })
            }
            _ => Err(errors),
        }
    }
}

fn value<T>(patch: kalends_calendars::Patch<T>) -> Option<T> {
    match patch {
        kalends_calendars::Patch::Set(value) => Some(value),
        kalends_calendars::Patch::Keep => None,
    }
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

impl WebhookPaging {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Lists each parameter that is out of bounds.
    pub fn parse(&self) -> Result<Page, FieldErrors> {
        Page::parse(self.limit.or(Some(LIMIT_DEFAULT)), self.offset)
    }
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

impl From<domain::DeliveryStatus> for DeliveryStatus {
    fn from(status: domain::DeliveryStatus) -> Self {
        match status {
            domain::DeliveryStatus::Pending => Self::Pending,
            domain::DeliveryStatus::Delivered => Self::Delivered,
            domain::DeliveryStatus::Failed => Self::Failed,
            domain::DeliveryStatus::Skipped => Self::Skipped,
        }
    }
}

impl From<DeliveryStatus> for domain::DeliveryStatus {
    fn from(status: DeliveryStatus) -> Self {
        match status {
            DeliveryStatus::Pending => Self::Pending,
            DeliveryStatus::Delivered => Self::Delivered,
            DeliveryStatus::Failed => Self::Failed,
            DeliveryStatus::Skipped => Self::Skipped,
        }
    }
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

impl From<domain::Delivery> for Delivery {
    fn from(delivery: domain::Delivery) -> Self {
        let state = delivery.state;
        Self {
            id: delivery.id,
            event_type: delivery.event_type.as_str().into(),
            status: state.status.into(),
            attempts: state.attempts,
            last_attempt_at: state.last_attempt_at,
            next_retry_at: state.next_attempt_at,
            response_status: state.response_status,
            created_at: delivery.created_at,
            payload: None,
        }
    }
}

impl Delivery {
    /// Builds the delivery with its payload.
    pub fn with_payload(seen: DeliverySeen) -> Self {
        let payload = seen.payload.and_then(|text| RawValue::from_string(text).ok());
        Self { payload: Some(payload), ..seen.delivery.into() }
    }
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

impl From<domain::ports::DeliveryStats> for DeliveryStats {
    fn from(stats: domain::ports::DeliveryStats) -> Self {
        let domain::ports::DeliveryStats { pending, delivered, failed, skipped } = stats;
        Self { pending, delivered, failed, skipped }
    }
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

impl ListDeliveries {
    /// Returns the status, whether payloads were requested, and the page.
    ///
    /// # Errors
    /// Lists each parameter that is out of bounds.
    pub fn parse(&self) -> Result<(Option<domain::DeliveryStatus>, bool, Page), FieldErrors> {
        let page = Page::parse(self.limit.or(Some(LIMIT_DEFAULT)), self.offset)?;
        Ok((self.status.map(Into::into), self.include_payload.unwrap_or(false), page))
    }
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

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn create(url: &str, events: &[&str]) -> Result<NewEndpoint, FieldErrors> {
        let events = events.iter().map(|name| (*name).to_owned()).collect();
        CreateWebhook { url: url.to_owned(), events }.parse(|host, port| (host, port) == ("127.0.0.1", 9_000))
    }

    #[rstest]
    #[case("https://example.com/x", &["*"], &[])]
    #[case("http://127.0.0.1:9000/x", &["event.created"], &[])]
    #[case("http://127.0.0.1:9001/x", &["event.created"], &["url"])]
    #[case("http://example.com/x", &[], &["url", "events"])]
    #[case("https://example.com/x", &["webhook.test", "event.created", "x"], &["events[0]", "events[2]"])]
    fn every_invalid_field_is_named(#[case] url: &str, #[case] events: &[&str], #[case] params: &[&str]) {
        let wrong = create(url, events).err().unwrap_or_default();
        assert_eq!(wrong.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
    }

    #[rstest]
    #[case(json!({}), Some("body"))]
    #[case(json!({ "active": null }), Some("active"))]
    #[case(json!({ "events": null }), Some("events"))]
    #[case(json!({ "events": [] }), Some("events"))]
    #[case(json!({ "url": null }), Some("url"))]
    #[case(json!({ "url": "https://localhost/" }), Some("url"))]
    #[case(json!({ "active": false }), None)]
    #[case(json!({ "url": "https://example.com/", "events": ["*"] }), None)]
    fn a_patch_changes_only_the_given_fields(#[case] body: serde_json::Value, #[case] param: Option<&str>) {
        let patch: UpdateWebhook = serde_json::from_value(body.clone()).unwrap();
        match patch.parse(|_, _| false) {
            Ok(patch) => {
                assert_eq!(param, None);
                assert_eq!(patch.active.map(serde_json::Value::from).as_ref(), body.get("active"));
                assert_eq!(patch.url.is_some(), body.get("url").is_some());
                assert_eq!(patch.subscription.is_some(), body.get("events").is_some());
            }
            Err(errors) => assert_eq!(Some(errors.first().param.as_str()), param),
        }
    }

    #[test]
    fn twenty_entries_are_the_default() {
        assert_eq!(WebhookPaging::default().parse().unwrap(), Page { limit: 20, offset: 0 });
        assert_eq!(ListDeliveries::default().parse().unwrap(), (None, false, Page { limit: 20, offset: 0 }));
    }
}
