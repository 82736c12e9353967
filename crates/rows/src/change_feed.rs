//! Entries of change feeds: how commits place them, and rows of `change_feed` with their heads.

use std::collections::BTreeMap;

use kalends_app::ports::FieldCipher;
use kalends_kernel::{MessageId, OrgId, StoreError, Version};
use kalends_notifications::{ChangeType, FeedEntry, FeedHead, FeedPosition, FeedRead};
use kalends_time::Timestamp;

use crate::{EntryWrite, Key, Located, SealedChangeSet, places, row_id};

/// The entries of change-sets that are committed together, by organization. Those of an organization are in the order
/// of its changes.
#[derive(Default)]
pub struct EntriesToPlace<'a>(BTreeMap<OrgId, Vec<EntryWrite<'a>>>);

impl<'a> EntriesToPlace<'a> {
    /// The entries of the change-sets.
    pub fn of(group: impl IntoIterator<Item = &'a SealedChangeSet>) -> Self {
        let mut entries = Self::default();
        for entry in group.into_iter().flat_map(SealedChangeSet::entries) {
            entries.0.entry(entry.org).or_default().push(entry);
        }
        entries
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The organizations in order, each with the number of its entries.
    pub fn counts(&self) -> impl Iterator<Item = (OrgId, i64)> {
        self.0.iter().map(|(org, entries)| (*org, count(entries)))
    }

    /// The entries with their positions and their sealed bodies. `ends` has the position of the last entry of each
    /// organization that has a feed; the entries of the others are left out.
    pub fn placed(&self, ends: &BTreeMap<OrgId, i64>, cipher: &dyn FieldCipher) -> Vec<(i64, &EntryWrite<'a>, String)> {
        let of_feeds = self.0.iter().filter_map(|(org, entries)| Some((entries, ends.get(org)?)));
        let placed = of_feeds.flat_map(|(entries, end)| (end - count(entries) + 1..).zip(entries));
        let sealed = placed.map(|(position, entry)| {
            (position, entry, cipher.seal(places::entry_body(entry.id), entry.body.as_bytes()))
        });
        sealed.collect()
    }
}

fn count(entries: &[EntryWrite<'_>]) -> i64 {
    i64::try_from(entries.len()).unwrap_or(i64::MAX)
}

/// A head, and one of the wanted entries if there are any.
pub struct FeedRow<K> {
    /// See [`FeedHead::first`].
    pub first_seq: i64,
    /// See [`FeedHead::last`].
    pub last_seq: i64,
    /// See [`FeedHead::read_at`].
    pub read_at: i64,
    /// The position of the entry.
    pub seq: Option<i64>,
    /// The identifier under which the body is sealed.
    pub id: Option<K>,
    /// The name of the type.
    pub change_type: Option<String>,
    /// The version of the resource.
    pub version: Option<i64>,
    /// The sealed body.
    pub body: Option<String>,
    /// When the change was made.
    pub created_at: Option<i64>,
}

impl<K: Key> FeedRow<K> {
    /// Opens what a store has read: the first of the `fetched` rows. `None` if there is no head.
    ///
    /// # Errors
    /// Names the corrupt column.
    pub fn open_all(
        rows: Vec<Self>,
        fetched: usize,
        org: OrgId,
        cipher: &dyn FieldCipher,
    ) -> Result<Option<FeedRead>, StoreError> {
        let more = rows.len() < fetched;
        let Some(first) = rows.first() else { return Ok(None) };
        let head = FeedHead {
            first: FeedPosition(first.first_seq),
            last: FeedPosition(first.last_seq),
            read_at: Timestamp::from_micros(first.read_at),
        };
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(entry) = row.open(org, cipher)? {
                entries.push(entry);
            }
        }
        Ok(Some(FeedRead { head, entries, more }))
    }

    fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Option<(FeedPosition, FeedEntry)>, StoreError> {
        let Self { seq: Some(seq), id: Some(id), change_type: Some(name), version, body, created_at, .. } = self else {
            return Ok(None);
        };
        let id = MessageId::from_uuid(row_id("change_feed", "id", &id)?);
        let row = Located { table: "change_feed", id: &id };
        let (Some(version), Some(body), Some(created_at)) = (version, body, created_at) else {
            return Err(row.corrupt("body", "is missing"));
        };
        let entry = FeedEntry {
            id,
            org,
            change_type: row.named("change_type", &name, ChangeType::from_name)?,
            body: row.open_text(places::entry_body(id), &body, cipher)?,
            version: Version(version),
            created_at: Timestamp::from_micros(created_at),
        };
        Ok(Some((FeedPosition(seq), entry)))
    }
}
