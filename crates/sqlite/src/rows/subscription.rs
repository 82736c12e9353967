//! Rows of `ical_subscriptions` and `imported_items`.

use kalends_app::ports::{FieldCipher, Place};
use kalends_feeds::{
    Confidential, Neighbour, Remains, Subscription,
    sync::{Fingerprint, ItemKey, KnownItem, Memory, SyncState},
};
use kalends_kernel::{AgentId, CalendarId, EventId, OrgId, RemoteUrl, StoreError, SubscriptionId, Timestamp, Version};

use super::{Row, row_id};

/// Where the sealed part of a subscription is stored.
pub(crate) const fn content_place(id: SubscriptionId) -> Place {
    Place { table: "ical_subscriptions", column: "content", id: id.uuid() }
}

pub(crate) struct SubscriptionRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) agent_id: Vec<u8>,
    pub(crate) calendar_id: Vec<u8>,
    pub(crate) content: String,
    pub(crate) paused: bool,
    pub(crate) last_synced_at: Option<i64>,
    pub(crate) last_error: Option<String>,
    pub(crate) failures: i64,
    pub(crate) seen: String,
    pub(crate) origin_id: Option<Vec<u8>>,
    pub(crate) place: Option<i64>,
    pub(crate) remains: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl SubscriptionRow {
    pub(crate) fn read(self, cipher: &dyn FieldCipher) -> Result<Subscription, StoreError> {
        let id = SubscriptionId::from_uuid(row_id("ical_subscriptions", "id", &self.id)?);
        let row = Row { table: "ical_subscriptions", id: &id };
        let plain = row.read("content", cipher.open(content_place(id), &self.content))?;
        let Confidential { url, label } = row.read("content", Confidential::read(&plain))?;
        Ok(Subscription {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            agent: AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            url,
            label,
            paused: self.paused,
            state: SyncState {
                last_synced_at: self.last_synced_at.map(Timestamp::from_micros),
                last_error: self.last_error,
                failures: row.read("failures", u32::try_from(self.failures))?,
                memory: row.read("seen", Memory::from_json(&self.seen))?,
            },
            origin: match self.origin_id.as_deref() {
                Some(origin) => SubscriptionId::from_uuid(row.uuid("origin_id", origin)?),
                None => id,
            },
            place: self.place.unwrap_or(0),
            remains: self.remains.map(|name| row.named("remains", Remains::from_name, &name)).transpose()?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// A subscription of a calendar or, without an identifier, the last place on the calendar.
pub(crate) struct NeighbourRow {
    pub(crate) id: Option<Vec<u8>>,
    pub(crate) content: Option<String>,
    pub(crate) origin_id: Option<Vec<u8>>,
    pub(crate) place: Option<i64>,
    pub(crate) left: bool,
}

impl NeighbourRow {
    /// The subscription, if it is to that address.
    pub(crate) fn read(&self, cipher: &dyn FieldCipher, url: &RemoteUrl) -> Result<Option<Neighbour>, StoreError> {
        let (Some(id), Some(content)) = (&self.id, &self.content) else { return Ok(None) };
        let id = SubscriptionId::from_uuid(row_id("ical_subscriptions", "id", id)?);
        let row = Row { table: "ical_subscriptions", id: &id };
        let plain = row.read("content", cipher.open(content_place(id), content))?;
        if row.read("content", Confidential::read(&plain))?.url != *url {
            return Ok(None);
        }
        let origin = match self.origin_id.as_deref() {
            Some(origin) => SubscriptionId::from_uuid(row.uuid("origin_id", origin)?),
            None => id,
        };
        Ok(Some(Neighbour { id, origin, place: self.place.unwrap_or(0), left: self.left }))
    }
}

pub(crate) struct ItemRow {
    pub(crate) key: Vec<u8>,
    pub(crate) event_id: Vec<u8>,
    pub(crate) fingerprint: Vec<u8>,
}

impl ItemRow {
    pub(crate) fn read(&self) -> Result<KnownItem, StoreError> {
        let of = |column, bytes: &[u8]| row_id("imported_items", column, bytes);
        Ok(KnownItem {
            key: ItemKey(of("key", &self.key)?.into_bytes()),
            event: EventId::from_uuid(of("event_id", &self.event_id)?),
            fingerprint: Fingerprint(of("fingerprint", &self.fingerprint)?.into_bytes()),
        })
    }
}
