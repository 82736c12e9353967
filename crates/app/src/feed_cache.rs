//! The cached texts of feeds.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use bytes::Bytes;
use kalends_kernel::{CalendarId, OrgId};
use moka::{policy::EvictionPolicy, sync::Cache};
use tokio::sync::Semaphore;

use crate::striped_locks::StripedLocks;

/// The largest memory use of cached feeds, in bytes.
const BYTES_MAX: u64 = 64 << 20;
/// The size of an entry without its text, in bytes.
const ENTRY_BYTES: usize = 256;
/// How many feeds are written at once. Each is held in memory as a whole.
const AT_ONCE: usize = 4;
/// The largest size of a feed, in bytes.
pub(crate) const FEED_MAX: usize = 32 << 20;
/// How many bytes of an organization's feeds may be in memory only because they are still being read. At that size, no
/// new version is written, because a slow reader keeps the version that it reads.
pub(crate) const UNREAD_MAX: usize = 32 << 20;

/// The text of a calendar in one of its states.
#[derive(Debug)]
pub struct Feed {
    /// The organization that owns the calendar.
    pub(crate) org: OrgId,
    /// The strong entity tag of the text, with its quotes.
    pub etag: String,
    /// The text, in pieces of whole lines.
    pub pieces: Vec<Bytes>,
}

impl Feed {
    /// The length of the text in bytes.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }

    /// Whether there is no text. The feed of a calendar is never empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}

/// The texts that left the cache, by organization.
#[derive(Default)]
pub(crate) struct Replaced(Mutex<HashMap<OrgId, Vec<Weak<Feed>>>>);

impl Replaced {
    fn add(&self, feed: &Arc<Feed>) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|_, texts| {
            texts.retain(|text| text.strong_count() > 0);
            !texts.is_empty()
        });
        texts.entry(feed.org).or_default().push(Arc::downgrade(feed));
    }

    /// The size of an organization's texts that left the cache and are still being read, in bytes.
    pub(crate) fn unread(&self, org: OrgId) -> usize {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(&org).into_iter().flatten().filter_map(Weak::upgrade).map(|feed| feed.len()).sum()
    }
}

/// The latest texts of calendars, with the locks for writing them.
pub(crate) struct FeedCache {
    pub(crate) texts: Cache<CalendarId, Arc<Feed>>,
    /// The texts that are no longer cached, but may still be read.
    pub(crate) replaced: Arc<Replaced>,
    /// An organization's feeds are written one after another. If many callers request the same feed at once, it is
    /// written once.
    pub(crate) writing: StripedLocks,
    pub(crate) permits: Semaphore,
}

impl FeedCache {
    pub(crate) fn new() -> Self {
        let replaced = Arc::<Replaced>::default();
        let leaving = Arc::clone(&replaced);
        let texts = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_, feed: &Arc<Feed>| u32::try_from(feed.len() + ENTRY_BYTES).unwrap_or(u32::MAX))
            .eviction_policy(EvictionPolicy::lru())
            .eviction_listener(move |_, feed, _| leaving.add(&feed))
            .build();
        Self { texts, replaced, writing: StripedLocks::new(), permits: Semaphore::new(AT_ONCE) }
    }

    pub(crate) fn at(&self, calendar: CalendarId, etag: &str) -> Option<Arc<Feed>> {
        self.texts.get(&calendar).filter(|feed| feed.etag == etag)
    }
}

#[cfg(test)]
mod tests {
    use kalends_testkit::fixtures::Fixtures;
    use kalends_time::Timestamp;

    use super::*;

    /// A feed of that many pieces of 1 MiB. All feeds of the test share one piece.
    fn feed(org: OrgId, piece: &Bytes, pieces: usize) -> Arc<Feed> {
        Arc::new(Feed { org, etag: "\"1\"".into(), pieces: vec![piece.clone(); pieces] })
    }

    #[test]
    fn the_cache_is_bounded() {
        let (cache, make, piece) = (FeedCache::new(), Fixtures::new(), Bytes::from(vec![b'x'; 1 << 20]));
        let org = make.organization().id;
        let calendars: Vec<_> = (0..100).map(|_| CalendarId::new(Timestamp::EPOCH, &make.entropy)).collect();
        for calendar in &calendars {
            cache.texts.insert(*calendar, feed(org, &piece, 10));
            cache.texts.run_pending_tasks();
            assert!(cache.texts.weighted_size() <= BYTES_MAX);
        }
        let kept = calendars.iter().filter(|calendar| cache.at(**calendar, "\"1\"").is_some());
        // The most recently used feeds stay.
        assert_eq!(kept.collect::<Vec<_>>(), calendars[94..].iter().collect::<Vec<_>>());

        // A feed that is larger than the whole cache does not stay.
        let huge = CalendarId::new(Timestamp::EPOCH, &make.entropy);
        cache.texts.insert(huge, feed(org, &piece, 65));
        cache.texts.run_pending_tasks();
        assert!(cache.texts.weighted_size() <= BYTES_MAX);
        assert!(cache.at(huge, "\"1\"").is_none());
    }

    #[test]
    fn a_cached_text_answers_only_for_its_state() {
        let (cache, make) = (FeedCache::new(), Fixtures::new());
        let org = make.organization().id;
        let calendar = CalendarId::new(Timestamp::EPOCH, &make.entropy);
        cache.texts.insert(calendar, feed(org, &Bytes::from_static(b"x"), 1));
        assert!(cache.at(calendar, "\"1\"").is_some());
        assert!(cache.at(calendar, "\"2\"").is_none());
    }

    #[test]
    fn replaced_texts_count_while_they_are_read() {
        let (cache, make, piece) = (FeedCache::new(), Fixtures::new(), Bytes::from(vec![b'x'; 1 << 20]));
        let (org, other) = (make.organization().id, make.organization().id);
        let calendar = CalendarId::new(Timestamp::EPOCH, &make.entropy);
        let read = feed(org, &piece, 5);
        cache.texts.insert(calendar, Arc::clone(&read));
        assert_eq!(cache.replaced.unread(org), 0, "the cache has it");
        cache.texts.insert(calendar, feed(org, &piece, 7));
        cache.texts.run_pending_tasks();
        assert_eq!((cache.replaced.unread(org), cache.replaced.unread(other)), (5 << 20, 0));
        cache.texts.insert(calendar, feed(org, &piece, 1));
        cache.texts.run_pending_tasks();
        assert_eq!(cache.replaced.unread(org), 5 << 20, "nobody reads the second one");
        drop(read);
        assert_eq!(cache.replaced.unread(org), 0);
    }
}
