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

/// How many entries a page of these lists holds unless the caller says otherwise.
const LIMIT_DEFAULT: i64 = 20;

/// A webhook endpoint. Its secret was shown when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "whk_01jn8r6v9ke0bt3m5qz2c7xwdh", "url": "https://example.com/hooks/kalends",
    "events": ["event.created", "event.updated"], "active": true, "deactivated_reason": null,
    "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct Webhook {
    /// `whk_…`
    #[schema(value_type = String)]
    pub id: WebhookId,
    /// Where messages are posted.
    pub url: String,
    /// The event types that it hears; `*` alone is all of them.
    #[schema(value_type = Vec<EventName>)]
    pub events: Vec<Cow<'static, str>>,
    /// Whether messages are sent to it.
    pub active: bool,
    /// Why the service switched it off: `gone` (it answered 410) or `failing` (five days of nothing but failures);
    /// null where it did not.
    #[schema(value_type = Option<DeactivationReason>)]
    pub deactivated_reason: Option<Cow<'static, str>>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
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

/// A fresh webhook endpoint with its secret, which is shown this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct NewWebhook {
    /// `whk_…`
    #[schema(value_type = String, example = "whk_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: WebhookId,
    /// Where messages are posted.
    #[schema(example = "https://example.com/hooks/kalends")]
    pub url: String,
    /// The event types that it hears.
    #[schema(value_type = Vec<EventName>, example = json!(["event.created", "event.updated"]))]
    pub events: Vec<Cow<'static, str>>,
    /// What signs the messages. Keep it: it is not shown again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
    /// Whether messages are sent to it.
    pub active: bool,
    /// Null: nobody switched it off.
    #[schema(value_type = Option<DeactivationReason>)]
    pub deactivated_reason: Option<Cow<'static, str>>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
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

/// The new secret of an endpoint, which is shown this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct WebhookSecret {
    /// The endpoint, `whk_…`.
    #[schema(value_type = String, example = "whk_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: WebhookId,
    /// What signs the messages from now on. Keep it: it is not shown again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
    /// Until when the secret before it signs too.
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
    /// `gone` or `failing`.
    #[schema(value_type = DeactivationReason)]
    pub reason: Cow<'static, str>,
}

/// An endpoint in an export: with what is shown nowhere else.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ExportedWebhook {
    /// The endpoint.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// What signs.
    pub secret: String,
}

impl From<&WebhookEndpoint> for ExportedWebhook {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        Self { webhook: endpoint.into(), secret: endpoint.secrets.current.reveal().to_owned() }
    }
}

/// What is needed to make a webhook endpoint.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "url": "https://example.com/hooks/kalends", "events": ["event.created", "event.updated"] }))]
pub struct CreateWebhook {
    /// An https URL of the public internet without credentials, at most 2,048 characters.
    #[schema(format = "uri", max_length = 2048)]
    pub url: String,
    /// The event types to hear, at least one; `*` for all of them.
    #[schema(value_type = Vec<EventName>, min_items = 1, max_items = 19)]
    pub events: Vec<String>,
}

impl CreateWebhook {
    /// Checks every field; `exempt` tells which host and port may be reached although private.
    ///
    /// # Errors
    /// All fields at fault.
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

/// What a PATCH of a webhook endpoint may change; at least one field.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "active": true }))]
pub struct UpdateWebhook {
    /// An https URL of the public internet without credentials, at most 2,048 characters.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, format = "uri", max_length = 2048)]
    pub url: Given<String>,
    /// Replaces the event types.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<EventName>>, nullable = false, min_items = 1, max_items = 19)]
    pub events: Given<Vec<String>>,
    /// False pauses the endpoint; true switches it on, whyever it was off.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub active: Given<bool>,
}

impl UpdateWebhook {
    /// Checks every field; `exempt` tells which host and port may be reached although private.
    ///
    /// # Errors
    /// All fields at fault, or that there is none.
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

/// Which page of the endpoints.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WebhookPaging {
    /// The most entries of the page: 1-200.
    #[param(minimum = 1, maximum = 200, default = 20)]
    pub limit: Option<i64>,
    /// How many entries to pass over.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

impl WebhookPaging {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Each parameter outside its bounds.
    pub fn parse(&self) -> Result<Page, FieldErrors> {
        Page::parse(self.limit.or(Some(LIMIT_DEFAULT)), self.offset)
    }
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// It is to be sent, or sent again.
    Pending,
    /// The receiver has it.
    Delivered,
    /// It was given up.
    Failed,
    /// It was never sent: the quota of the month was used up.
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

/// One message to one endpoint.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "whd_01jn8r6v9ke0bt3m5qz2c7xwdh", "event_type": "event.created", "status": "pending", "attempts": 1,
    "last_attempt_at": "2026-03-02T08:00:01Z", "next_retry_at": "2026-03-02T08:00:06Z", "response_status": 503,
    "created_at": "2026-03-02T08:00:00Z"
}))]
pub struct Delivery {
    /// `whd_…`; the same in every attempt, as `X-Delivery-Id` and `webhook-id`.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// What it announces.
    #[schema(value_type = MessageType)]
    pub event_type: Cow<'static, str>,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// How many attempts were made.
    pub attempts: u32,
    /// When the last one ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_attempt_at: Option<Timestamp>,
    /// When the next one is due, while it is pending.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_retry_at: Option<Timestamp>,
    /// The status of the last answer; null where there was none.
    pub response_status: Option<u16>,
    /// When it was addressed to the endpoint.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// What is sent, where it was asked for; null where it is kept no longer.
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
    /// The delivery with what is sent.
    pub fn with_payload(seen: DeliverySeen) -> Self {
        let payload = seen.payload.and_then(|text| RawValue::from_string(text).ok());
        Self { payload: Some(payload), ..seen.delivery.into() }
    }
}

/// How many deliveries stand how, of those that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryStats {
    /// To be sent, or sent again.
    pub pending: u64,
    /// Received.
    pub delivered: u64,
    /// Given up.
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
    /// How many the filter matches, on all pages.
    pub total: u64,
    /// The most entries of a page; on a page that ended early, how many it has.
    pub limit: u32,
    /// How many entries were passed over.
    pub offset: u32,
    /// True on a page that ended early because it would have passed 8 MiB; absent on all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub has_more: Option<bool>,
    /// All of the endpoint's deliveries of the last 30 days, whatever the filter.
    pub stats: DeliveryStats,
}

/// Which deliveries a list holds.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListDeliveries {
    /// Only deliveries of this status.
    pub status: Option<DeliveryStatus>,
    /// Whether each comes with what is sent.
    #[param(default = false)]
    pub include_payload: Option<bool>,
    /// The most entries of the page: 1-200.
    #[param(minimum = 1, maximum = 200, default = 20)]
    pub limit: Option<i64>,
    /// How many entries to pass over.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

impl ListDeliveries {
    /// The status, whether payloads are asked for, and the page.
    ///
    /// # Errors
    /// Each parameter outside its bounds.
    pub fn parse(&self) -> Result<(Option<domain::DeliveryStatus>, bool, Page), FieldErrors> {
        let page = Page::parse(self.limit.or(Some(LIMIT_DEFAULT)), self.offset)?;
        Ok((self.status.map(Into::into), self.include_payload.unwrap_or(false), page))
    }
}

/// What came of a test.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TestedDelivery {
    /// The delivery, which is kept in the list like any other.
    pub delivery: Delivery,
    /// How long it took.
    pub duration_ms: u64,
    /// Why there was no answer; null where there was one.
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
    fn every_field_at_fault_is_named(#[case] url: &str, #[case] events: &[&str], #[case] params: &[&str]) {
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
    fn a_patch_names_what_it_changes(#[case] body: serde_json::Value, #[case] param: Option<&str>) {
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
    fn twenty_are_shown_unless_told() {
        assert_eq!(WebhookPaging::default().parse().unwrap(), Page { limit: 20, offset: 0 });
        assert_eq!(ListDeliveries::default().parse().unwrap(), (None, false, Page { limit: 20, offset: 0 }));
    }
}
