//! What changes where a feed, or a file, is applied once more.
//!
//! Items are known by what tells them apart in their feed ([`ItemKey`]) and by what they said ([`Fingerprint`]), so that
//! nothing but two digests is compared for an item that is as it was.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use kalends_calendars::{Calendar, Event, EventSource, Occurrence, Recurrence, Repeats};
use kalends_kernel::{EventId, Metadata, Timestamp, Version};
use sha2::{Digest as _, Sha256};

use super::CHUNK_MAX;
use crate::read::{Edition, Editions, Item, What};

/// What tells an item apart within its feed: 8 bytes of a SHA-256 over its `UID`, by which all items of an event are found,
/// then 8 bytes over `RECURRENCE-ID` and of what kind it is, since an event never turns from a series into an occurrence.
///
/// Earlier versions kept 16 bytes over all of it. What is known under such a key stays so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey(pub [u8; 16]);

/// What an item said: 16 bytes of a SHA-256 over all that is stored of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 16]);

/// An item that was applied before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownItem {
    /// Which one.
    pub key: ItemKey,
    /// The event that holds it, which is in sight.
    pub event: EventId,
    /// What it said.
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
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&self, item: &Item) -> Option<&KnownItem> {
        self.0
            .get(&ItemKey::of(item))
            .or_else(|| self.0.get(&ItemKey::as_before(&item.uid, item.recurrence_id, Kind::of(item))))
    }

    /// The items of a `UID`; of those under keys of earlier versions the event or the series itself.
    fn of_uid(&self, uid: &str) -> impl Iterator<Item = &KnownItem> {
        let before = Kind::THEMSELVES.into_iter().filter_map(|kind| self.0.get(&ItemKey::as_before(uid, None, kind)));
        self.0.range(ItemKey::first_of(uid)..=ItemKey::last_of(uid)).map(|(_, item)| item).chain(before)
    }
}

/// An item that is to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// What it says.
    pub item: Item,
    /// What is known of it from then on.
    pub known: KnownItem,
    /// Whether it was not known before.
    pub is_new: bool,
    /// The occurrence of a series that it is.
    pub occurrence: Option<Occurrence>,
}

/// An item that was applied before, and that the file which has its `UID` now tells otherwise than by another edition of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Former {
    /// The item, as it is known from then on where it stays known.
    pub known: KnownItem,
    /// How it ended.
    pub fate: Fate,
}

/// How an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// What it belongs to is cancelled.
    Cancelled,
    /// It is of another kind, or no occurrence of its series any more.
    Replaced {
        /// Before this instant the file tells no single occurrences: those that were over by then stay.
        told_since: Option<Timestamp>,
    },
}

/// What becomes of an event whose item ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// It stays, and so does what is known of it.
    Stays,
    /// It is cancelled with its series, and known as such.
    CancelledWithItsSeries,
    /// It is cancelled, with the occurrences that differ from it if it is a series.
    Cancelled,
    /// It is deleted, and the item forgotten.
    Deleted(Box<Event>),
    /// What becomes of its series decides; the item is forgotten.
    OfItsSeries,
}

/// What is written together: at most [`CHUNK_MAX`] items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chunk {
    /// What is created or updated, in the order in which it is written.
    pub planned: Vec<Planned>,
    /// What ended, of files only.
    pub former: Vec<Former>,
}

impl Chunk {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.planned.len() + self.former.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many events it adds.
    pub fn added(&self) -> u64 {
        self.planned.iter().filter(|planned| planned.is_new).count() as u64
    }
}

/// What a feed changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    /// What is written. What has the same `UID` stands together where it fits, so that no series is without its changed
    /// occurrences meanwhile.
    pub chunks: Vec<Chunk>,
    /// What is in the feed no more, ordered by key: written last. Of a file there is none.
    pub gone: Vec<KnownItem>,
    /// How many items are as they were.
    pub untouched: u32,
}

impl Diff {
    /// How many events are added: one for each new item, a series as well as each of its changed occurrences.
    pub fn added(&self) -> u64 {
        self.chunks.iter().map(Chunk::added).sum()
    }
}

/// Compares a feed's items, in their order, with what was applied of it before. `fresh` makes identifiers.
pub fn diff(items: Vec<Item>, known: &KnownItems, fresh: impl FnMut() -> EventId) -> Diff {
    let mut compared = Compared::new(known, fresh);
    compared.add_items(items, None);
    let Compared { mut diff, told, .. } = compared.finished();
    diff.gone = known.0.values().filter(|item| !told.contains(&item.key)).copied().collect();
    diff
}

/// Compares a file's items, in their order, with what was applied of files before. What a file does not hold stays, but of
/// the events that it tells of as a whole (`editions`) nothing else stays than what it tells.
pub fn diff_file(items: Vec<Item>, editions: &Editions, known: &KnownItems, fresh: impl FnMut() -> EventId) -> Diff {
    let mut compared = Compared::new(known, fresh);
    let uids: HashSet<Arc<str>> = items.iter().map(|item| Arc::clone(&item.uid)).collect();
    compared.add_items(items, Some(editions));
    for (uid, edition) in editions.iter().filter(|(uid, _)| !uids.contains(*uid)) {
        compared.add(uid, Vec::new(), Some(*edition));
    }
    compared.finished().diff
}

/// A comparison under way.
struct Compared<'a, F> {
    known: &'a KnownItems,
    fresh: F,
    diff: Diff,
    /// The last chunk, which is not full yet.
    chunk: Chunk,
    /// The known items that the feed has.
    told: HashSet<ItemKey>,
}

impl<'a, F: FnMut() -> EventId> Compared<'a, F> {
    fn new(known: &'a KnownItems, fresh: F) -> Self {
        Self { known, fresh, diff: Diff::default(), chunk: Chunk::default(), told: HashSet::new() }
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

    /// Adds what is written of one `UID`.
    fn add(&mut self, uid: &str, group: Vec<Item>, edition: Option<Edition>) {
        let count = group.len();
        let planned = plan(group, self.known, &mut self.fresh, &mut self.told);
        let mut untouched = count - planned.len();
        let mut former = Vec::new();
        if let Some(edition) = edition {
            for item in self.known.of_uid(uid).filter(|item| !self.told.contains(&item.key)) {
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
        // Last, so that nothing is missing where a later chunk is refused.
        for ended in former {
            self.room().former.push(ended);
        }
    }

    /// A chunk with room for one more.
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
    /// How an item that `edition` does not have ends; `None` where it has ended so before.
    fn by(edition: Edition, known: KnownItem) -> Option<Self> {
        let fate = match edition {
            Edition::Cancelled if known.fingerprint == Fingerprint::CANCELLED => return None,
            Edition::Cancelled => {
                let known = KnownItem { fingerprint: Fingerprint::CANCELLED, ..known };
                return Some(Self { known, fate: Fate::Cancelled });
            }
            Edition::Whole => Fate::Replaced { told_since: None },
            Edition::Since(instant) => Fate::Replaced { told_since: Some(instant) },
        };
        Some(Self { known, fate })
    }

    /// What becomes of the event that held the item.
    pub fn applied_to(&self, seen: &Event, now: Timestamp) -> Ending {
        match (self.fate, &seen.repeats) {
            (Fate::Cancelled, Repeats::Instance(_)) => Ending::CancelledWithItsSeries,
            (Fate::Cancelled, _) => Ending::Cancelled,
            (Fate::Replaced { .. }, Repeats::Instance(_)) => Ending::OfItsSeries,
            (Fate::Replaced { told_since: Some(since) }, Repeats::Once) if seen.times.span.end() <= since => {
                Ending::Stays
            }
            (Fate::Replaced { .. }, _) => Ending::Deleted(Box::new(seen.gone(now))),
        }
    }
}

/// What is written of the items of one `UID`: series before their occurrences.
fn plan(
    group: Vec<Item>,
    known: &KnownItems,
    fresh: &mut impl FnMut() -> EventId,
    told: &mut HashSet<ItemKey>,
) -> Vec<Planned> {
    let mut series: Vec<(Option<Timestamp>, EventId)> = Vec::new();
    let mut planned = Vec::new();
    let (masters, others): (Vec<Item>, Vec<Item>) =
        group.into_iter().partition(|item| matches!(item.what, What::Series(_)));
    for item in masters.into_iter().chain(others) {
        let (before, fingerprint) = (known.of(&item), Fingerprint::of(&item));
        let key = before.map_or_else(|| ItemKey::of(&item), |before| before.key);
        let event = before.map_or_else(&mut *fresh, |before| before.event);
        told.insert(key);
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

/// Whether what is gone is withheld until another fetch says so too: the feed has less than half of the items that it
/// had, as of a server that is in trouble. It is `believed` where the fetch before said so, or where the address is new.
pub fn ends_withheld(items: usize, known: &KnownItems, believed: bool) -> bool {
    !believed && items.saturating_mul(2) < known.len()
}

/// Of what kind an item is, as its key tells it: a number, and of a changed occurrence that of its series.
#[derive(Debug, Clone, Copy)]
struct Kind(i64, Option<Option<Timestamp>>);

impl Kind {
    /// What no occurrence is: an event that takes place once, and a series.
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
    /// How many bytes tell the `UID`.
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

    /// Whether it is the key of an item with this `UID`.
    #[cfg(test)]
    pub(super) fn is_of(self, uid: &str) -> bool {
        (Self::first_of(uid)..=Self::last_of(uid)).contains(&self)
    }

    #[cfg(test)]
    pub(super) fn of_before(item: &Item) -> Self {
        Self::as_before(&item.uid, item.recurrence_id, Kind::of(item))
    }

    /// The least key of an item with this `UID`.
    fn first_of(uid: &str) -> Self {
        Self::of_uid(uid, 0)
    }

    /// The greatest key of an item with this `UID`.
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
    /// That of an item whose event is cancelled: no item says this.
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
        Self(digest.end())
    }
}

/// A digest of values none of which runs into the next.
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
        let whole: [u8; 32] = self.0.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        half
    }
}

impl Planned {
    /// The event that holds a new item on `calendar`, created at `now`.
    pub fn created(&self, calendar: &Calendar, source: EventSource, now: Timestamp) -> Event {
        let new = Event {
            id: self.known.event,
            org: calendar.org,
            calendar: calendar.id,
            title: String::new(),
            description: None,
            times: self.item.times,
            status: self.item.status,
            source,
            metadata: Metadata::default(),
            reminders: None,
            repeats: self.occurrence.map_or(Repeats::Once, Repeats::Instance),
            hold: None,
            hold_set: None,
            transparent: false,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        };
        self.told(new)
    }

    /// The event that holds the item, as it is from `now` on. What no feed says of an event stays.
    pub fn updated(&self, seen: &Event, now: Timestamp) -> Event {
        self.told(Event { version: seen.version.next(), updated_at: now, ..seen.clone() })
    }

    /// The event as the item says.
    fn told(&self, event: Event) -> Event {
        Event {
            title: self.item.title.as_ref().into(),
            description: self.item.description.as_deref().map(Into::into),
            times: self.item.times,
            status: self.item.status,
            transparent: !self.item.blocks,
            repeats: match &self.item.what {
                What::Series(recurrence) => Repeats::Series(Recurrence::clone(recurrence).into()),
                // Which occurrence of which series it is does not change: that is in the key.
                What::Once | What::Override { .. } => event.repeats.clone(),
            },
            ..event
        }
    }
}
