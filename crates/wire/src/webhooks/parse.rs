//! Parses the requests into values of the domain, and builds the answers from them.

use std::borrow::Cow;

use kalends_kernel::{FieldErrors, Page};
use kalends_notifications::{
    self as domain, Deactivation, EndpointPatch, NewEndpoint, Subscription, WebhookEndpoint, ports::DeliverySeen,
};
use kalends_remote::RemoteUrl;
use serde_json::value::RawValue;

use super::{
    CreateWebhook, Delivery, DeliveryStats, DeliveryStatus, ExportedWebhook, ListDeliveries, NewWebhook, UpdateWebhook,
    Webhook, WebhookPaging, WebhookSecret,
};
use crate::patch::{nothing_to_change, set};

/// The default number of entries per page.
const LIMIT_DEFAULT: i64 = 20;

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

impl From<&WebhookEndpoint> for NewWebhook {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        let Webhook { id, url, events, active, deactivated_reason, created_at, updated_at } = endpoint.into();
        let secret = endpoint.secrets.current.reveal().to_owned();
        Self { id, url, events, secret, active, deactivated_reason, created_at, updated_at }
    }
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

impl From<&WebhookEndpoint> for ExportedWebhook {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        Self { webhook: endpoint.into(), secret: endpoint.secrets.current.reveal().to_owned() }
    }
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

impl WebhookPaging {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Lists each parameter that is out of bounds.
    pub fn parse(&self) -> Result<Page, FieldErrors> {
        Page::parse(self.limit.or(Some(LIMIT_DEFAULT)), self.offset)
    }
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

impl From<domain::ports::DeliveryStats> for DeliveryStats {
    fn from(stats: domain::ports::DeliveryStats) -> Self {
        let domain::ports::DeliveryStats { pending, delivered, failed, skipped } = stats;
        Self { pending, delivered, failed, skipped }
    }
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
