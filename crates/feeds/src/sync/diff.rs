//! What changes where a feed, or a file, is applied once more.
//!
//! Items are known by what tells them apart in their feed ([`ItemKey`]) and by what they said ([`Fingerprint`]), so that
//! nothing but two digests is compared for an item that is as it was.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kalends_calendars::{Calendar, Event, EventSource, Occurrence, Recurrence, Repeats};
use kalends_kernel::{EventId, Instant, Metadata, Version};
use sha2::{Digest as _, Sha256};

use super::CHUNK_MAX;
use crate::read::{Item, What};

/// What tells an item apart within its feed: 16 bytes of a SHA-256 over `UID`, `RECURRENCE-ID`, and of what kind it is,
/// since an event never turns from a series into an occurrence.
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
pub struct KnownItems(HashMap<ItemKey, KnownItem>);

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

/// What is written together: at most [`CHUNK_MAX`] items.
pub type Chunk = Vec<Planned>;

/// What a feed changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    /// What is created or updated, in the order in which it is written. What has the same `UID` stands together where
    /// it fits, so that no series is without its changed occurrences meanwhile.
    pub chunks: Vec<Chunk>,
    /// What is in the feed no more, ordered by key: written last.
    pub gone: Vec<KnownItem>,
    /// How many items are as they were.
    pub untouched: u32,
}

/// Compares a feed's items, in their order, with what was applied of it before. `fresh` makes identifiers.
pub fn diff(items: Vec<Item>, known: &KnownItems, mut fresh: impl FnMut() -> EventId) -> Diff {
    let mut diff = Diff::default();
    let mut told = HashSet::with_capacity(items.len());
    let mut chunk = Chunk::new();
    let mut items = items.into_iter().peekable();
    while let Some(first) = items.next() {
        let uid = Arc::clone(&first.uid);
        let mut group = vec![first];
        while let Some(next) = items.next_if(|next| next.uid == uid) {
            group.push(next);
        }
        let count = group.len();
        let mut planned = plan(group, known, &mut fresh, &mut told);
        diff.untouched += u32::try_from(count - planned.len()).unwrap_or(u32::MAX);
        if chunk.len() + planned.len() > CHUNK_MAX && !chunk.is_empty() {
            diff.chunks.push(std::mem::take(&mut chunk));
        }
        while planned.len() > CHUNK_MAX {
            let rest = planned.split_off(CHUNK_MAX);
            diff.chunks.push(std::mem::replace(&mut planned, rest));
        }
        chunk.append(&mut planned);
    }
    if !chunk.is_empty() {
        diff.chunks.push(chunk);
    }
    diff.gone = known.0.values().filter(|item| !told.contains(&item.key)).copied().collect();
    diff.gone.sort_unstable_by_key(|item| item.key);
    diff
}

/// What is written of the items of one `UID`: series before their occurrences.
fn plan(
    group: Vec<Item>,
    known: &KnownItems,
    fresh: &mut impl FnMut() -> EventId,
    told: &mut HashSet<ItemKey>,
) -> Chunk {
    let mut series: Vec<(Option<Instant>, EventId)> = Vec::new();
    let mut planned = Chunk::new();
    let (masters, others): (Vec<Item>, Vec<Item>) =
        group.into_iter().partition(|item| matches!(item.what, What::Series(_)));
    for item in masters.into_iter().chain(others) {
        let (key, fingerprint) = (ItemKey::of(&item), Fingerprint::of(&item));
        let before = known.0.get(&key);
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

impl ItemKey {
    /// The key of an item.
    pub fn of(item: &Item) -> Self {
        let mut digest = Digested::default();
        digest.text(&item.uid).instant(item.recurrence_id);
        match item.what {
            What::Once => digest.number(0),
            What::Series(_) => digest.number(1),
            What::Override { series } => digest.number(2).instant(series),
        };
        Self(digest.end())
    }
}

impl Fingerprint {
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

    fn instant(&mut self, instant: Option<Instant>) -> &mut Self {
        self.number(instant.is_some().into()).number(instant.map_or(0, Instant::as_micros))
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
    pub fn created(&self, calendar: &Calendar, source: EventSource, now: Instant) -> Event {
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
    pub fn updated(&self, seen: &Event, now: Instant) -> Event {
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
