//! Rows of `webhooks` and `webhook_deliveries`.

use kalends_app::ports::{FieldCipher, Place};
use kalends_kernel::{DeliveryId, MessageId, OrgId, StoreError, Timestamp, Version, WebhookId};
use kalends_notifications::{
    Confidential, Deactivation, Delivery, DeliveryState, DeliveryStatus, EventType, Subscription, WebhookEndpoint,
};

use super::{Row, row_id};

/// Where the sealed part of an endpoint is stored.
pub(crate) const fn content_place(id: WebhookId) -> Place {
    Place { table: "webhooks", column: "content", id: id.uuid() }
}

pub(crate) struct WebhookRow {
    pub(crate) id: Vec<u8>,
    pub(crate) content: String,
    pub(crate) events: String,
    pub(crate) active: bool,
    pub(crate) deactivated: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl WebhookRow {
    pub(crate) fn read(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<WebhookEndpoint, StoreError> {
        let id = WebhookId::from_uuid(row_id("webhooks", "id", &self.id)?);
        let row = Row { table: "webhooks", id: &id };
        let plain = row.read("content", cipher.open(content_place(id), &self.content))?;
        let Confidential { url, secrets } = row.read("content", Confidential::read(&plain))?;
        let deactivated = self.deactivated.as_deref();
        let deactivated =
            deactivated.map(|name| row.named("deactivated", Deactivation::from_name, name)).transpose()?;
        Ok(WebhookEndpoint {
            id,
            org,
            url,
            subscription: row.named("events", Subscription::from_json, &self.events)?,
            secrets,
            active: self.active,
            deactivated,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

pub(crate) struct DeliveryRow {
    pub(crate) id: Vec<u8>,
    pub(crate) message_id: Vec<u8>,
    pub(crate) event_type: String,
    pub(crate) status: String,
    pub(crate) attempts: i64,
    pub(crate) last_attempt_at: Option<i64>,
    pub(crate) next_attempt_at: Option<i64>,
    pub(crate) response_status: Option<i64>,
    pub(crate) created_at: i64,
}

impl DeliveryRow {
    pub(crate) fn read(self, org: OrgId, webhook: WebhookId) -> Result<Delivery, StoreError> {
        let id = DeliveryId::from_uuid(row_id("webhook_deliveries", "id", &self.id)?);
        let row = Row { table: "webhook_deliveries", id: &id };
        let response_status = self.response_status.map(u16::try_from).transpose();
        Ok(Delivery {
            org,
            webhook,
            id,
            message: MessageId::from_uuid(row.uuid("message_id", &self.message_id)?),
            event_type: row.named("event_type", EventType::from_stored, &self.event_type)?,
            state: DeliveryState {
                status: row.named("status", DeliveryStatus::from_name, &self.status)?,
                attempts: row.read("attempts", u32::try_from(self.attempts))?,
                last_attempt_at: self.last_attempt_at.map(Timestamp::from_micros),
                next_attempt_at: self.next_attempt_at.map(Timestamp::from_micros),
                response_status: row.read("response_status", response_status)?,
            },
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
