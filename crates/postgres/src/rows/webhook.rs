//! Webhook endpoints and deliveries.

use kalends_app::ports::FieldCipher;
use kalends_kernel::{DeliveryId, MessageId, OrgId, StoreError, Timestamp, Version, WebhookId};
use kalends_notifications::{
    Confidential, Deactivation, Delivery, DeliveryState, DeliveryStatus, EventType, Subscription, WebhookEndpoint,
};
use uuid::Uuid;

use super::Located;
use crate::sealed::webhook_content;

/// The columns of an endpoint.
pub(crate) struct WebhookRow {
    pub(crate) id: Uuid,
    pub(crate) content: String,
    pub(crate) events: String,
    pub(crate) active: bool,
    pub(crate) deactivated: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl WebhookRow {
    pub(crate) fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<WebhookEndpoint, StoreError> {
        let id = WebhookId::from_uuid(self.id);
        let row = Located { table: "webhooks", id };
        let plain = cipher.open(webhook_content(id), &self.content).map_err(|error| row.corrupt("content", error))?;
        let Confidential { url, secrets } =
            Confidential::read(&plain).map_err(|error| row.corrupt("content", error))?;
        let deactivated = self.deactivated.as_deref();
        let deactivated =
            deactivated.map(|name| row.named("deactivated", name, Deactivation::from_name)).transpose()?;
        Ok(WebhookEndpoint {
            id,
            org,
            url,
            subscription: row.named("events", &self.events, Subscription::from_json)?,
            secrets,
            active: self.active,
            deactivated,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// The columns of a delivery.
pub(crate) struct DeliveryRow {
    pub(crate) id: Uuid,
    pub(crate) message_id: Uuid,
    pub(crate) event_type: String,
    pub(crate) status: String,
    pub(crate) attempts: i32,
    pub(crate) last_attempt_at: Option<i64>,
    pub(crate) next_attempt_at: Option<i64>,
    pub(crate) response_status: Option<i32>,
    pub(crate) created_at: i64,
}

impl DeliveryRow {
    pub(crate) fn into_domain(self, org: OrgId, webhook: WebhookId) -> Result<Delivery, StoreError> {
        let id = DeliveryId::from_uuid(self.id);
        let row = Located { table: "webhook_deliveries", id };
        let response_status = self.response_status.map(u16::try_from).transpose();
        Ok(Delivery {
            org,
            webhook,
            id,
            message: MessageId::from_uuid(self.message_id),
            event_type: row.named("event_type", &self.event_type, EventType::from_stored)?,
            state: DeliveryState {
                status: row.named("status", &self.status, DeliveryStatus::from_name)?,
                attempts: u32::try_from(self.attempts).map_err(|_| row.corrupt("attempts", "must not be negative"))?,
                last_attempt_at: self.last_attempt_at.map(Timestamp::from_micros),
                next_attempt_at: self.next_attempt_at.map(Timestamp::from_micros),
                response_status: response_status.map_err(|error| row.corrupt("response_status", error))?,
            },
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
