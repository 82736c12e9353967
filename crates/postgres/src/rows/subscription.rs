//! Subscriptions and imported items.

use kalends_app::ports::FieldCipher;
use kalends_feeds::sync::{Fingerprint, ItemKey, KnownItem, Memory, SyncState};
use kalends_feeds::{Confidential, Neighbour, Remains, Subscription};
use kalends_kernel::{AgentId, CalendarId, EventId, OrgId, RemoteUrl, StoreError, SubscriptionId, Timestamp, Version};
use uuid::Uuid;

use super::Located;
use crate::sealed::subscription_content;

/// The columns of a subscription.
pub(crate) struct SubscriptionRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) agent_id: Uuid,
    pub(crate) calendar_id: Uuid,
    pub(crate) content: String,
    pub(crate) paused: bool,
    pub(crate) last_synced_at: Option<i64>,
    pub(crate) last_error: Option<String>,
    pub(crate) failures: i64,
    pub(crate) seen: String,
    pub(crate) origin_id: Option<Uuid>,
    pub(crate) place: Option<i64>,
    pub(crate) remains: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl SubscriptionRow {
    pub(crate) fn open(self, cipher: &dyn FieldCipher) -> Result<Subscription, StoreError> {
        let id = SubscriptionId::from_uuid(self.id);
        let row = Located { table: "ical_subscriptions", id };
        let plain =
            cipher.open(subscription_content(id), &self.content).map_err(|error| row.corrupt("content", error))?;
        let Confidential { url, label } = Confidential::read(&plain).map_err(|error| row.corrupt("content", error))?;
        Ok(Subscription {
            id,
            org: OrgId::from_uuid(self.org_id),
            agent: AgentId::from_uuid(self.agent_id),
            calendar: CalendarId::from_uuid(self.calendar_id),
            url,
            label,
            paused: self.paused,
            state: SyncState {
                last_synced_at: self.last_synced_at.map(Timestamp::from_micros),
                last_error: self.last_error,
                failures: u32::try_from(self.failures).map_err(|error| row.corrupt("failures", error))?,
                memory: Memory::from_json(&self.seen).map_err(|error| row.corrupt("seen", error))?,
            },
            origin: self.origin_id.map_or(id, SubscriptionId::from_uuid),
            place: self.place.unwrap_or(0),
            remains: self.remains.map(|name| row.named("remains", &name, Remains::from_name)).transpose()?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// A subscription of a calendar or, without an identifier, the last place on the calendar.
pub(crate) struct NeighbourRow {
    pub(crate) id: Option<Uuid>,
    pub(crate) content: Option<String>,
    pub(crate) origin_id: Option<Uuid>,
    pub(crate) place: Option<i64>,
    pub(crate) left: bool,
}

impl NeighbourRow {
    /// The subscription, if it is to that address.
    pub(crate) fn open(&self, cipher: &dyn FieldCipher, url: &RemoteUrl) -> Result<Option<Neighbour>, StoreError> {
        let (Some(id), Some(content)) = (self.id, &self.content) else { return Ok(None) };
        let id = SubscriptionId::from_uuid(id);
        let row = Located { table: "ical_subscriptions", id };
        let plain = cipher.open(subscription_content(id), content).map_err(|error| row.corrupt("content", error))?;
        if Confidential::read(&plain).map_err(|error| row.corrupt("content", error))?.url != *url {
            return Ok(None);
        }
        let origin = self.origin_id.map_or(id, SubscriptionId::from_uuid);
        Ok(Some(Neighbour { id, origin, place: self.place.unwrap_or(0), left: self.left }))
    }
}

/// The columns of an imported item.
pub(crate) struct ItemRow {
    pub(crate) key: Vec<u8>,
    pub(crate) event_id: Uuid,
    pub(crate) fingerprint: Vec<u8>,
}

impl ItemRow {
    pub(crate) fn into_domain(self) -> Result<KnownItem, StoreError> {
        let row = Located { table: "imported_items", id: EventId::from_uuid(self.event_id) };
        let half = |column, bytes: Vec<u8>| {
            let length = bytes.len();
            bytes.try_into().map_err(|_| row.corrupt(column, format!("must be 16 bytes, got {length}")))
        };
        Ok(KnownItem {
            key: ItemKey(half("key", self.key)?),
            event: EventId::from_uuid(self.event_id),
            fingerprint: Fingerprint(half("fingerprint", self.fingerprint)?),
        })
    }
}
