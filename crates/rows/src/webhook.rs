//! Rows of `webhooks` and `webhook_deliveries`.

use kalends_app::ports::FieldCipher;
use kalends_kernel::{DeliveryId, MessageId, OrgId, StoreError, Version, WebhookId};
use kalends_notifications::{
    Confidential, Deactivation, Delivery, DeliveryState, DeliveryStatus, EventType, Subscription, WebhookEndpoint,
};
use kalends_time::Timestamp;

use crate::{Key, Located, places, row_id};

columns! {
    $ macro webhook_row;
    /// The columns of a webhook endpoint.
    pub struct WebhookRow<K> {
        id: K,
        content: String,
        events: String,
        active: bool,
        deactivated: Option<String>,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> WebhookRow<K> {
    /// The endpoint, or an error that names the corrupt column.
    pub fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<WebhookEndpoint, StoreError> {
        let id = WebhookId::from_uuid(row_id("webhooks", "id", &self.id)?);
        let row = Located { table: "webhooks", id: &id };
        let plain = row.open(places::webhook_content(id), &self.content, cipher)?;
        let Confidential { url, secrets } = row.read("content", Confidential::read(&plain))?;
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

columns! {
    $ macro delivery_row;
    /// The columns of a delivery. `C` is the type of small numbers.
    pub struct DeliveryRow<K, C> {
        id: K,
        message_id: K,
        event_type: String,
        status: String,
        attempts: C,
        last_attempt_at: Option<i64>,
        next_attempt_at: Option<i64>,
        response_status: Option<C>,
        created_at: i64,
    }
}

impl<K: Key, C: Into<i64>> DeliveryRow<K, C> {
    /// The delivery, or an error that names the corrupt column.
    pub fn into_domain(self, org: OrgId, webhook: WebhookId) -> Result<Delivery, StoreError> {
        let id = DeliveryId::from_uuid(row_id("webhook_deliveries", "id", &self.id)?);
        let row = Located { table: "webhook_deliveries", id: &id };
        let response_status = self.response_status.map(|status| u16::try_from(status.into())).transpose();
        Ok(Delivery {
            org,
            webhook,
            id,
            message: MessageId::from_uuid(row.uuid("message_id", &self.message_id)?),
            event_type: row.named("event_type", &self.event_type, EventType::from_stored)?,
            state: DeliveryState {
                status: row.named("status", &self.status, DeliveryStatus::from_name)?,
                attempts: row.read("attempts", u32::try_from(self.attempts.into()))?,
                last_attempt_at: self.last_attempt_at.map(Timestamp::from_micros),
                next_attempt_at: self.next_attempt_at.map(Timestamp::from_micros),
                response_status: row.read("response_status", response_status)?,
            },
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
