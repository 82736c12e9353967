//! Feeds: a calendar as iCalendar text, for readers that have its address and for its owner.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use bytes::Bytes;
use kalends_calendars::Calendar;
use kalends_feeds::write::{FeedWriter, etag};
use kalends_kernel::{CalendarId, OrgId};
use moka::{policy::EvictionPolicy, sync::Cache};
use tokio::sync::Semaphore;

use crate::{Actor, App, Missing, Refusal, striped_locks::StripedLocks};

/// The largest memory use of cached feeds, in bytes.
const BYTES_MAX: u64 = 64 << 20;
/// The size of an entry without its text, in bytes.
const ENTRY_BYTES: usize = 256;
/// The approximate size of a piece, in bytes.
const PIECE: usize = 64 << 10;
/// How many feeds are written at once. Each is held in memory as a whole.
const AT_ONCE: usize = 4;
/// The largest size of a feed, in bytes.
pub(crate) const FEED_MAX: usize = 32 << 20;
/// How much memory an organization's feeds may take only for their readers, in bytes. Above that, no new version is
/// written, because a slow reader keeps the version that it reads.
pub(crate) const UNREAD_MAX: usize = 32 << 20;

/// The text of a calendar in one of its states.
#[derive(Debug)]
pub struct Feed {
    /// The organization that owns the calendar.
    org: OrgId,
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

/// The answer to a request for a feed.
#[derive(Debug)]
pub enum FeedAnswer {
    /// The caller already has the current text, with this entity tag.
    Unchanged(String),
    /// The text.
    Whole(Arc<Feed>),
}

/// The texts of each organization that left the cache.
#[derive(Default)]
struct Replaced(Mutex<HashMap<OrgId, Vec<Weak<Feed>>>>);

impl Replaced {
    fn add(&self, feed: &Arc<Feed>) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|_, texts| {
            texts.retain(|text| text.strong_count() > 0);
            !texts.is_empty()
        });
        texts.entry(feed.org).or_default().push(Arc::downgrade(feed));
    }

    /// The size of an organization's texts that are still being read, in bytes.
    fn unread(&self, org: OrgId) -> usize {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(&org).into_iter().flatten().filter_map(Weak::upgrade).map(|feed| feed.len()).sum()
    }
}

/// The latest texts of calendars, with the locks for writing them.
pub(crate) struct FeedCache {
    texts: Cache<CalendarId, Arc<Feed>>,
    /// The texts that are no longer cached, but may still be read.
    replaced: Arc<Replaced>,
    /// An organization's feeds are written one after another. If many callers request the same feed at once, it is
    /// written once.
    writing: StripedLocks,
    permits: Semaphore,
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

    fn at(&self, calendar: CalendarId, etag: &str) -> Option<Arc<Feed>> {
        self.texts.get(&calendar).filter(|feed| feed.etag == etag)
    }
}

impl App {
    /// The feed with this token. `has` returns whether the caller already has the text with an entity tag.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no visible calendar has that token now.
    pub async fn feed(&self, token: &str, has: impl Fn(&str) -> bool) -> Result<FeedAnswer, Refusal> {
        // The error does not repeat the address: it is a secret.
        let missing = || Refusal::missing(Missing::Feed, "at this address");
        let calendar = self.store.calendar_of_feed(token).await?.ok_or_else(missing)?;
        self.answer_feed(&calendar, has).await
    }

    /// A calendar in the form of its feed, for a caller that may read the calendar.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn export_calendar(
        &self,
        actor: &Actor,
        id: &str,
        has: impl Fn(&str) -> bool,
    ) -> Result<FeedAnswer, Refusal> {
        let calendar = self.calendar(actor, id).await?;
        self.answer_feed(&calendar, has).await
    }

    async fn answer_feed(&self, calendar: &Calendar, has: impl Fn(&str) -> bool) -> Result<FeedAnswer, Refusal> {
        let etag = etag(calendar.revision, calendar.version);
        if has(&etag) {
            Ok(FeedAnswer::Unchanged(etag))
        } else {
            self.written(calendar, &etag).await.map(FeedAnswer::Whole)
        }
    }

    /// The text of a calendar, written if it is not cached in that state.
    async fn written(&self, calendar: &Calendar, etag: &str) -> Result<Arc<Feed>, Refusal> {
        if let Some(known) = self.feeds.at(calendar.id, etag) {
            return Ok(known);
        }
        let _turn = self.feeds.writing.lock([calendar.org]).await;
        if let Some(known) = self.feeds.at(calendar.id, etag) {
            return Ok(known);
        }
        if self.feeds.replaced.unread(calendar.org) >= UNREAD_MAX {
            return Err(Refusal::FeedsUnread);
        }
        // The semaphore is never closed. If it were, only this limit would be missing.
        let _permit = self.feeds.permits.acquire().await;
        let feed = Arc::new(self.write_feed(calendar).await?);
        self.feeds.texts.insert(calendar.id, Arc::clone(&feed));
        Ok(feed)
    }

    /// The text, with the tag of the revision that was read: something may have been scheduled in the meantime.
    async fn write_feed(&self, calendar: &Calendar) -> Result<Feed, Refusal> {
        let mut writer = FeedWriter::new(calendar);
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        let mut each = |event| {
            if bytes > FEED_MAX {
                return;
            }
            writer.event(event);
            if writer.written() >= PIECE {
                bytes += writer.written();
                pieces.push(exact(writer.take()));
            }
        };
        let read = self.store.read_feed(calendar.org, calendar.id, &mut each).await?;
        let missing = || Refusal::missing(Missing::Calendar, &calendar.id.to_string());
        let revision = read.ok_or_else(missing)?;
        if bytes > FEED_MAX {
            return Err(Refusal::FeedTooLarge);
        }
        pieces.push(exact(writer.end()));
        Ok(Feed { org: calendar.org, etag: etag(revision, calendar.version), pieces })
    }
}

/// The text without the spare capacity of its string, which would be kept as long as the feed: up to as much again.
fn exact(text: String) -> Bytes {
    Bytes::from(text.into_bytes().into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Timestamp;
    use kalends_testkit::fixtures::Fixtures;

    use super::*;

    /// A feed of that many pieces of 1 MiB. All feeds of the test share one piece.
    fn feed(org: OrgId, piece: &Bytes, pieces: usize) -> Arc<Feed> {
        Arc::new(Feed { org, etag: "\"1\"".into(), pieces: vec![piece.clone(); pieces] })
    }

    #[test]
    fn the_cache_is_bounded() {
        let (cache, make, piece) = (FeedCache::new(), Fixtures::new(), Bytes::from(vec![b'x'; 1 << 20]));
        let org = make.organization().id;
        let calendars: Vec<_> = (0..100).map(|_| CalendarId::new(Timestamp::EARLIEST, &make.entropy)).collect();
        for calendar in &calendars {
            cache.texts.insert(*calendar, feed(org, &piece, 10));
            cache.texts.run_pending_tasks();
            assert!(cache.texts.weighted_size() <= BYTES_MAX);
        }
        let kept = calendars.iter().filter(|calendar| cache.at(**calendar, "\"1\"").is_some());
        // The most recently used feeds stay.
        assert_eq!(kept.collect::<Vec<_>>(), calendars[94..].iter().collect::<Vec<_>>());

        // A feed that is larger than the whole cache does not stay.
        let huge = CalendarId::new(Timestamp::EARLIEST, &make.entropy);
        cache.texts.insert(huge, feed(org, &piece, 65));
        cache.texts.run_pending_tasks();
        assert!(cache.texts.weighted_size() <= BYTES_MAX);
        assert!(cache.at(huge, "\"1\"").is_none());
    }

    #[test]
    fn a_cached_text_answers_only_for_its_state() {
        let (cache, make) = (FeedCache::new(), Fixtures::new());
        let org = make.organization().id;
        let calendar = CalendarId::new(Timestamp::EARLIEST, &make.entropy);
        cache.texts.insert(calendar, feed(org, &Bytes::from_static(b"x"), 1));
        assert!(cache.at(calendar, "\"1\"").is_some());
        assert!(cache.at(calendar, "\"2\"").is_none());
    }

    #[test]
    fn replaced_texts_count_while_they_are_read() {
        let (cache, make, piece) = (FeedCache::new(), Fixtures::new(), Bytes::from(vec![b'x'; 1 << 20]));
        let (org, other) = (make.organization().id, make.organization().id);
        let calendar = CalendarId::new(Timestamp::EARLIEST, &make.entropy);
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
