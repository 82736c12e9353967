//! The changes when a feed or a file is applied again.
//!
//! An item is identified within its feed by its [`ItemKey`], and its content by its [`Fingerprint`]. So for an
//! unchanged item only two digests are compared.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use kalends_calendars::{Attendees, Calendar, Event, EventSource, Occurrence, Recurrence, Reminders, Repeats};
use kalends_kernel::{EventId, Metadata, Version};
use kalends_time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::CHUNK_MAX;
use crate::read::{Edition, Editions, Item, What};

/// Identifies an item within its feed.
///
/// The first 8 bytes are from a SHA-256 of its `UID`, so that all items of an event are found together. The other 8 are
/// from a SHA-256 of its `RECURRENCE-ID` and its kind. The kind is part of the key because an event never turns from a
/// series into an occurrence.
///
/// Earlier versions used 16 bytes of one SHA-256 of all three. Items that are known under such a key keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey(pub [u8; 16]);

/// Identifies the content of an item: 16 bytes of a SHA-256 of everything that is stored of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 16]);

/// An item that was applied before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownItem {
    /// The key.
    pub key: ItemKey,
    /// Its event, which is visible.
    pub event: EventId,
    /// The fingerprint of its content.
    pub fingerprint: Fingerprint,
}

/// The items that were applied before, by their keys.
#[derive(Debug, Clone, Default)]
pub struct KnownItems(BTreeMap<ItemKey, KnownItem>);

impl FromIterator<KnownItem> for KnownItems {
    fn from_iter<T: IntoIterator<Item = KnownItem>>(items: T) -> Self {
        Self(items.into_iter().map(|item| (item.key, item)).collect())
    }
}

impl KnownItems {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&self, item: &Item) -> Option<&KnownItem> {
        self.0
            .get(&ItemKey::of(item))
            .or_else(|| self.0.get(&ItemKey::as_before(&item.uid, item.recurrence_id, Kind::of(item))))
    }

    /// The items with a `UID`. If they have keys of earlier versions, only the event or the series itself is found.
    fn of_uid(&self, uid: &str) -> impl Iterator<Item = &KnownItem> {
        let before = Kind::THEMSELVES.into_iter().filter_map(|kind| self.0.get(&ItemKey::as_before(uid, None, kind)));
        self.0.range(ItemKey::first_of(uid)..=ItemKey::last_of(uid)).map(|(_, item)| item).chain(before)
    }
}

/// An item that is to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The item.
    pub item: Item,
    /// The known item after it is written.
    pub known: KnownItem,
    /// Whether it was not known before.
    pub is_new: bool,
    /// The occurrence, if the item is an override.
    pub occurrence: Option<Occurrence>,
}

/// An item that was applied before and has ended: the file that is applied now contains its event, but not the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Former {
    /// The known item and, if it stays known, its new fingerprint.
    pub known: KnownItem,
    /// How it ended.
    pub fate: Fate,
}

/// How an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its event is cancelled.
    Cancelled,
    /// It has another kind, or is no longer an override of its series.
    Replaced {
        /// The file has no single occurrences before this instant. Those that were over by then stay.
        complete_since: Option<Timestamp>,
    },
}

/// What happens to the event of an item that ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// It stays, and the item stays known.
    Stays,
    /// It is cancelled with its series, and the item stays known as cancelled.
    CancelledWithItsSeries,
    /// It is cancelled, with its overrides if it is a series.
    Cancelled,
    /// It is deleted, and the item is no longer known.
    Deleted(Box<Event>),
    /// It shares the end of its series, and the item is no longer known.
    OfItsSeries,
}

/// Items that are written together, at most [`CHUNK_MAX`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chunk {
    /// The items to create or update, in the order in which they are written.
    pub planned: Vec<Planned>,
    /// The items that ended. Only for files.
    pub former: Vec<Former>,
}

impl Chunk {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.planned.len() + self.former.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of events that it adds.
    pub fn added(&self) -> u64 {
        self.planned.iter().filter(|planned| planned.is_new).count() as u64
    }
}

/// The changes that a feed or a file causes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    /// The items to write. Items with the same `UID` are in one chunk if they fit, so that a series is never without
    /// its overrides.
    pub chunks: Vec<Chunk>,
    /// The items that are no longer in the feed, ordered by key. They are written last. Empty for a file.
    pub gone: Vec<KnownItem>,
    /// The number of unchanged items.
    pub untouched: u32,
}

impl Diff {
    /// The number of events that are added: one for each new item. A series and each of its overrides are items.
    pub fn added(&self) -> u64 {
        self.chunks.iter().map(Chunk::added).sum()
    }
}

/// Compares the items of a feed, in their order, with the known items. `fresh` makes identifiers.
pub fn diff(items: Vec<Item>, known: &KnownItems, fresh: impl FnMut() -> EventId) -> Diff {
    let mut compared = Compared::new(known, fresh);
    compared.add_items(items, None);
    let Compared { mut diff, matched, .. } = compared.finished();
    diff.gone = known.0.values().filter(|item| !matched.contains(&item.key)).copied().collect();
    diff
}

/// Compares the items of a file, in their order, with the known items of files. Events that the file does not contain
/// stay. Events that it contains as a whole (`editions`) keep only the items in the file.
pub fn diff_file(items: Vec<Item>, editions: &Editions, known: &KnownItems, fresh: impl FnMut() -> EventId) -> Diff {
    let mut compared = Compared::new(known, fresh);
    let uids: HashSet<Arc<str>> = items.iter().map(|item| Arc::clone(&item.uid)).collect();
    compared.add_items(items, Some(editions));
    for (uid, edition) in editions.iter().filter(|(uid, _)| !uids.contains(*uid)) {
        compared.add(uid, Vec::new(), Some(*edition));
    }
    compared.finished().diff
}

/// A comparison in progress.
struct Compared<'a, F> {
    known: &'a KnownItems,
    fresh: F,
    diff: Diff,
    /// The last chunk, which is not full yet.
    chunk: Chunk,
    /// The known items that the feed has.
    matched: HashSet<ItemKey>,
}

impl<'a, F: FnMut() -> EventId> Compared<'a, F> {
    fn new(known: &'a KnownItems, fresh: F) -> Self {
        Self { known, fresh, diff: Diff::default(), chunk: Chunk::default(), matched: HashSet::new() }
    }

    fn add_items(&mut self, items: Vec<Item>, editions: Option<&Editions>) {
        let mut items = items.into_iter().peekable();
        while let Some(first) = items.next() {
            let uid = Arc::clone(&first.uid);
            let mut group = vec![first];
            while let Some(next) = items.next_if(|next| next.uid == uid) {
                group.push(next);
            }
            self.add(&uid, group, editions.and_then(|editions| editions.get(&uid).copied()));
        }
    }

    /// Adds the changes of one `UID`.
    fn add(&mut self, uid: &str, group: Vec<Item>, edition: Option<Edition>) {
        let count = group.len();
        let planned = plan(group, self.known, &mut self.fresh, &mut self.matched);
        let mut untouched = count - planned.len();
        let mut former = Vec::new();
        if let Some(edition) = edition {
            for item in self.known.of_uid(uid).filter(|item| !self.matched.contains(&item.key)) {
                match Former::by(edition, *item) {
                    Some(ended) => former.push(ended),
                    None => untouched += 1,
                }
            }
        }
        self.diff.untouched += u32::try_from(untouched).unwrap_or(u32::MAX);
        if self.chunk.len() + planned.len() + former.len() > CHUNK_MAX {
            self.end_chunk();
        }
        for planned in planned {
            self.room().planned.push(planned);
        }
        // Last, so that nothing is missing if a later chunk is refused.
        for ended in former {
            self.room().former.push(ended);
        }
    }

    /// A chunk with room for one more item.
    fn room(&mut self) -> &mut Chunk {
        if self.chunk.len() >= CHUNK_MAX {
            self.end_chunk();
        }
        &mut self.chunk
    }

    fn end_chunk(&mut self) {
        if !self.chunk.is_empty() {
            self.diff.chunks.push(std::mem::take(&mut self.chunk));
        }
    }

    fn finished(mut self) -> Self {
        self.end_chunk();
        self
    }
}

impl Former {
    /// How an item that is not in `edition` ends; `None` if it ended in the same way before.
    fn by(edition: Edition, known: KnownItem) -> Option<Self> {
        let fate = match edition {
            Edition::Cancelled if known.fingerprint == Fingerprint::CANCELLED => return None,
            Edition::Cancelled => {
                let known = KnownItem { fingerprint: Fingerprint::CANCELLED, ..known };
                return Some(Self { known, fate: Fate::Cancelled });
            }
            Edition::Full => Fate::Replaced { complete_since: None },
            Edition::Since(instant) => Fate::Replaced { complete_since: Some(instant) },
        };
        Some(Self { known, fate })
    }

    /// Whether the event of the item ends, so that its time becomes free.
    pub fn frees(&self, seen: &Event, now: Timestamp) -> bool {
        matches!(self.applied_to(seen, now), Ending::Deleted(_) | Ending::Cancelled)
    }

    /// What happens to the event of the item.
    pub fn applied_to(&self, seen: &Event, now: Timestamp) -> Ending {
        match (self.fate, &seen.repeats) {
            (Fate::Cancelled, Repeats::Instance(_)) => Ending::CancelledWithItsSeries,
            (Fate::Cancelled, _) => Ending::Cancelled,
            (Fate::Replaced { .. }, Repeats::Instance(_)) => Ending::OfItsSeries,
            (Fate::Replaced { complete_since: Some(since) }, Repeats::Once) if seen.times.span.end() <= since => {
                Ending::Stays
            }
            (Fate::Replaced { .. }, _) => Ending::Deleted(Box::new(seen.gone(now))),
        }
    }
}

/// The items of one `UID` to write, with series before their overrides.
fn plan(
    group: Vec<Item>,
    known: &KnownItems,
    fresh: &mut impl FnMut() -> EventId,
    matched: &mut HashSet<ItemKey>,
) -> Vec<Planned> {
    let mut series: Vec<(Option<Timestamp>, EventId)> = Vec::new();
    let mut planned = Vec::new();
    let (masters, others): (Vec<Item>, Vec<Item>) =
        group.into_iter().partition(|item| matches!(item.what, What::Series(_)));
    for item in masters.into_iter().chain(others) {
        let (before, fingerprint) = (known.of(&item), Fingerprint::of(&item));
        let key = before.map_or_else(|| ItemKey::of(&item), |before| before.key);
        let event = before.map_or_else(&mut *fresh, |before| before.event);
        matched.insert(key);
        if let What::Series(_) = item.what {
            series.push((item.recurrence_id, event));
        }
        if before.is_some_and(|before| before.fingerprint == fingerprint) {
            continue;
        }
        let occurrence = match item.what {
            What::Override { series: id } => {
                let of = series.iter().find(|(known, _)| *known == id);
                let start = item.recurrence_id.unwrap_or(item.times.span.start());
                of.map(|(_, series)| Occurrence { series: *series, start })
            }
            What::Once | What::Series(_) => None,
        };
        let known = KnownItem { key, event, fingerprint };
        planned.push(Planned { item, known, is_new: before.is_none(), occurrence });
    }
    planned
}

/// Whether deletions are withheld until another fetch confirms them, because the feed has fewer than half of the known
/// items, as can happen when its server is in trouble. The feed is `believed` if the previous fetch said the same, or
/// if the address is new.
pub fn ends_withheld(items: usize, known: &KnownItems, believed: bool) -> bool {
    !believed && items.saturating_mul(2) < known.len()
}

/// The kind of an item in its key: a number and, for an override, the `RECURRENCE-ID` of its series.
#[derive(Debug, Clone, Copy)]
struct Kind(i64, Option<Option<Timestamp>>);

impl Kind {
    /// The kinds that are not overrides: an event that takes place once, and a series.
    const THEMSELVES: [Self; 2] = [Self(0, None), Self(1, None)];

    fn of(item: &Item) -> Self {
        match item.what {
            What::Once => Self(0, None),
            What::Series(_) => Self(1, None),
            What::Override { series } => Self(2, Some(series)),
        }
    }
}

impl ItemKey {
    /// The number of bytes of the `UID`.
    const OF_UID: usize = 8;

    /// The key of an item.
    pub fn of(item: &Item) -> Self {
        let mut digest = Digested::default();
        digest.instant(item.recurrence_id).kind(Kind::of(item));
        let Self(mut key) = Self::first_of(&item.uid);
        key[Self::OF_UID..].copy_from_slice(&digest.end()[Self::OF_UID..]);
        Self(key)
    }

    /// The key that earlier versions gave an item.
    fn as_before(uid: &str, recurrence_id: Option<Timestamp>, kind: Kind) -> Self {
        let mut digest = Digested::default();
        digest.text(uid).instant(recurrence_id).kind(kind);
        Self(digest.end())
    }

    /// Whether both are keys of items with the same `UID`. Keys of earlier versions do not show it.
    pub fn shares_uid(self, other: Self) -> bool {
        self.0[..Self::OF_UID] == other.0[..Self::OF_UID]
    }

    /// Whether it is the key of an item with this `UID`.
    #[cfg(test)]
    pub(super) fn is_of(self, uid: &str) -> bool {
        (Self::first_of(uid)..=Self::last_of(uid)).contains(&self)
    }

    #[cfg(test)]
    pub(super) fn of_before(item: &Item) -> Self {
        Self::as_before(&item.uid, item.recurrence_id, Kind::of(item))
    }

    /// The lowest possible key of an item with this `UID`.
    fn first_of(uid: &str) -> Self {
        Self::of_uid(uid, 0)
    }

    /// The highest possible key of an item with this `UID`.
    fn last_of(uid: &str) -> Self {
        Self::of_uid(uid, u8::MAX)
    }

    fn of_uid(uid: &str, rest: u8) -> Self {
        let mut digest = Digested::default();
        digest.text(uid);
        let mut key = digest.end();
        key[Self::OF_UID..].fill(rest);
        Self(key)
    }
}

impl Fingerprint {
    /// The fingerprint of an item whose event is cancelled. No other item has it.
    const CANCELLED: Self = Self([0; 16]);

    /// The fingerprint of an item.
    pub fn of(item: &Item) -> Self {
        let mut digest = Digested::default();
        digest.text(&item.title).number(item.description.is_some().into());
        digest.text(item.description.as_deref().unwrap_or_default());
        digest.number(item.times.span.start().as_micros()).number(item.times.span.end().as_micros());
        digest.number(item.times.all_day.into()).text(item.status.as_str()).number(item.blocks.into());
        if let What::Series(recurrence) = &item.what {
            digest.text(&recurrence.to_json());
        }
        // Last and only if present, so that items without them keep the fingerprints that they had before.
        if let Some(location) = &item.location {
            digest.text("location").text(location);
        }
        if let Some(url) = &item.conference_url {
            digest.text("conference_url").text(url.as_str());
        }
        Self(digest.end())
    }
}

/// A digest of values with unambiguous boundaries.
#[derive(Default)]
struct Digested(Sha256);

impl Digested {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    fn number(&mut self, number: i64) -> &mut Self {
        self.0.update(number.to_le_bytes());
        self
    }

    fn instant(&mut self, instant: Option<Timestamp>) -> &mut Self {
        self.number(instant.is_some().into()).number(instant.map_or(0, Timestamp::as_micros))
    }

    fn kind(&mut self, Kind(number, series): Kind) -> &mut Self {
        self.number(number);
        match series {
            Some(series) => self.instant(series),
            None => self,
        }
    }

    fn end(self) -> [u8; 16] {
        let digest: [u8; 32] = self.0.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        half
    }
}

impl Planned {
    /// The event of a new item on `calendar`, created at `now`.
    pub fn created(&self, calendar: &Calendar, source: EventSource, now: Timestamp) -> Event {
        let new = Event {
            id: self.known.event,
            org: calendar.org,
            calendar: calendar.id,
            title: String::new(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            times: self.item.times,
            status: self.item.status,
            source,
            metadata: Metadata::default(),
            reminders: None,
            repeats: self.occurrence.map_or(Repeats::Once, Repeats::Instance),
            hold: None,
            guest_reminders: Reminders::default(),
            seat_changes: 0,
            previous_series: None,
            hold_set: None,
            transparent: false,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        };
        self.with_item_fields(new)
    }

    /// The event of the item, updated at `now`. Fields that feeds do not set stay.
    pub fn updated(&self, seen: &Event, now: Timestamp) -> Event {
        self.with_item_fields(Event { version: seen.version.next(), updated_at: now, ..seen.clone() })
    }

    /// The event with the fields of the item.
    fn with_item_fields(&self, event: Event) -> Event {
        Event {
            title: self.item.title.as_ref().into(),
            description: self.item.description.as_deref().map(Into::into),
            location: self.item.location.as_deref().map(Into::into),
            conference_url: self.item.conference_url.as_deref().cloned(),
            times: self.item.times,
            status: self.item.status,
            transparent: !self.item.blocks,
            repeats: match &self.item.what {
                What::Series(recurrence) => Repeats::Series(Recurrence::clone(recurrence).into()),
                // The occurrence and its series do not change, because they are part of the key.
                What::Once | What::Override { .. } => event.repeats.clone(),
            },
            ..event
        }
    }
}
