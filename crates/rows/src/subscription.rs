//! Rows of `ical_subscriptions` and `imported_items`.

use kalends_app::ports::FieldCipher;
use kalends_feeds::{
    Confidential, Neighbour, Remains, Subscription,
    sync::{Fingerprint, ItemKey, KnownItem, Memory, SyncState},
};
use kalends_kernel::{AgentId, CalendarId, EventId, OrgId, StoreError, SubscriptionId, Version};
use kalends_remote::RemoteUrl;
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::{Key, Located, places, row_id};

columns! {
    $ macro subscription_row;
    /// The columns of a subscription.
    pub struct SubscriptionRow<K> {
        org_id: K,
        id: K,
        agent_id: K,
        calendar_id: K,
        content: String,
        paused: bool,
        busy_only: bool,
        last_synced_at: Option<i64>,
        last_error: Option<String>,
        failures: i64,
        seen: String,
        origin_id: Option<K>,
        place: Option<i64>,
        remains: Option<String>,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> SubscriptionRow<K> {
    /// The subscription, or an error that names the corrupt column.
    pub fn open(self, cipher: &dyn FieldCipher) -> Result<Subscription, StoreError> {
        let id = SubscriptionId::from_uuid(row_id("ical_subscriptions", "id", &self.id)?);
        let row = Located { table: "ical_subscriptions", id: &id };
        let plain = row.open(places::subscription_content(id), &self.content, cipher)?;
        let Confidential { url, label } = row.read("content", Confidential::read(&plain))?;
        Ok(Subscription {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            agent: AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?),
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            url,
            label,
            paused: self.paused,
            busy_only: self.busy_only,
            state: SyncState {
                last_synced_at: self.last_synced_at.map(Timestamp::from_micros),
                last_error: self.last_error,
                failures: row.read("failures", u32::try_from(self.failures))?,
                memory: row.read("seen", Memory::from_json(&self.seen))?,
            },
            origin: row.uuid_if_any("origin_id", self.origin_id.as_ref())?.map_or(id, SubscriptionId::from_uuid),
            place: self.place.unwrap_or(0),
            remains: self.remains.map(|name| row.named("remains", &name, Remains::from_name)).transpose()?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

columns! {
    /// A subscription of a calendar or, without an identifier, the last place on the calendar.
    pub struct NeighbourRow<K> {
        id: Option<K>,
        content: Option<String>,
        origin_id: Option<K>,
        place: Option<i64>,
        left: bool,
    }
}

impl<K: Key> NeighbourRow<K> {
    /// The subscription, if its address is `url`.
    pub fn open(&self, cipher: &dyn FieldCipher, url: &RemoteUrl) -> Result<Option<Neighbour>, StoreError> {
        let (Some(id), Some(content)) = (&self.id, &self.content) else { return Ok(None) };
        let id = SubscriptionId::from_uuid(row_id("ical_subscriptions", "id", id)?);
        let row = Located { table: "ical_subscriptions", id: &id };
        let plain = row.open(places::subscription_content(id), content, cipher)?;
        if row.read("content", Confidential::read(&plain))?.url != *url {
            return Ok(None);
        }
        let origin = row.uuid_if_any("origin_id", self.origin_id.as_ref())?.map_or(id, SubscriptionId::from_uuid);
        Ok(Some(Neighbour { id, origin, place: self.place.unwrap_or(0), left: self.left }))
    }
}

columns! {
    /// The columns of an imported item.
    pub struct ItemRow<K> {
        key: Vec<u8>,
        event_id: K,
        fingerprint: Vec<u8>,
    }
}

impl<K: Key> ItemRow<K> {
    /// The item, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<KnownItem, StoreError> {
        let event = EventId::from_uuid(row_id("imported_items", "event_id", &self.event_id)?);
        let row = Located { table: "imported_items", id: event };
        let half = |column, bytes: &[u8]| row.uuid(column, bytes).map(Uuid::into_bytes);
        Ok(KnownItem {
            key: ItemKey(half("key", &self.key)?),
            event,
            fingerprint: Fingerprint(half("fingerprint", &self.fingerprint)?),
        })
    }
}
