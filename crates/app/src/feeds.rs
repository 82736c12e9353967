//! Feeds: a calendar as iCalendar text, for whoever has its address and for its owner (ruling 8.1).

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

/// The most memory that cached feeds take, in bytes.
const BYTES_MAX: u64 = 64 << 20;
/// What an entry takes beside its text, in bytes.
const ENTRY_BYTES: usize = 256;
/// About how many bytes go together.
const PIECE: usize = 64 << 10;
/// How many feeds are written at once: each is in memory as a whole.
const AT_ONCE: usize = 4;
/// The most bytes of a feed.
pub(crate) const FEED_MAX: usize = 32 << 20;
/// How many bytes of an organization's feeds may be in memory for their readers alone. Beyond that, no other version is
/// written: a slow reader keeps the version that it reads.
pub(crate) const UNREAD_MAX: usize = 32 << 20;

/// The text of a calendar at one of its states.
#[derive(Debug)]
pub struct Feed {
    /// Whose calendar it is.
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

    /// Whether there is no text, which no calendar has.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}

/// What is answered to who asks for a feed.
#[derive(Debug)]
pub enum FeedAnswer {
    /// The caller has it as it is, under this entity tag.
    Unchanged(String),
    /// The text.
    Whole(Arc<Feed>),
}

/// The texts of organizations that left the cache.
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

    /// How many bytes of an organization's texts are still being read.
    fn unread(&self, org: OrgId) -> usize {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(&org).into_iter().flatten().filter_map(Weak::upgrade).map(|feed| feed.len()).sum()
    }
}

/// The latest text of calendars, and who may write one.
pub(crate) struct FeedCache {
    texts: Cache<CalendarId, Arc<Feed>>,
    /// The texts that are not cached any more, but may still be read.
    replaced: Arc<Replaced>,
    /// An organization's feeds are written one after another: if many ask for the same one at once, it is written once.
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
    /// The feed with this token. `has` says whether the caller has the text of an entity tag already.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a token that no calendar in sight has, or has no more.
    pub async fn feed(&self, token: &str, has: impl Fn(&str) -> bool) -> Result<FeedAnswer, Refusal> {
        // The address is a secret: it is not told back.
        let missing = || Refusal::missing(Missing::Feed, "at this address");
        let calendar = self.store.calendar_of_feed(token).await?.ok_or_else(missing)?;
        self.answer_feed(&calendar, has).await
    }

    /// A calendar as its feed shows it, for whoever may read the calendar.
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

    /// The text of a calendar, written if it is not cached at that state.
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
        // The semaphore is never closed; were it, no more than the lock would hold back.
        let _permit = self.feeds.permits.acquire().await;
        let feed = Arc::new(self.write_feed(calendar).await?);
        self.feeds.texts.insert(calendar.id, Arc::clone(&feed));
        Ok(feed)
    }

    /// The text, under the tag of the revision that was read: something may have been scheduled meanwhile.
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
                pieces.push(Bytes::from(writer.take()));
            }
        };
        let read = self.store.read_feed(calendar.org, calendar.id, &mut each).await?;
        let missing = || Refusal::missing(Missing::Calendar, &calendar.id.to_string());
        let revision = read.ok_or_else(missing)?;
        if bytes > FEED_MAX {
            return Err(Refusal::FeedTooLarge);
        }
        pieces.push(Bytes::from(writer.end()));
        Ok(Feed { org: calendar.org, etag: etag(revision, calendar.version), pieces })
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Timestamp;
    use kalends_testkit::fixtures::Fixtures;

    use super::*;

    /// A feed of so many pieces of a MiB, which all feeds of the test share.
    fn feed(org: OrgId, piece: &Bytes, pieces: usize) -> Arc<Feed> {
        Arc::new(Feed { org, etag: "\"1\"".into(), pieces: vec![piece.clone(); pieces] })
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (cache, make, piece) = (FeedCache::new(), Fixtures::new(), Bytes::from(vec![b'x'; 1 << 20]));
        let org = make.organization().id;
        let calendars: Vec<_> = (0..100).map(|_| CalendarId::new(Timestamp::EARLIEST, &make.entropy)).collect();
        for calendar in &calendars {
            cache.texts.insert(*calendar, feed(org, &piece, 10));
            cache.texts.run_pending_tasks();
            assert!(cache.texts.weighted_size() <= BYTES_MAX);
        }
        let kept = calendars.iter().filter(|calendar| cache.at(**calendar, "\"1\"").is_some());
        // What was asked for last stays.
        assert_eq!(kept.collect::<Vec<_>>(), calendars[94..].iter().collect::<Vec<_>>());

        // One that is larger than all that may be kept displaces nothing for long.
        let huge = CalendarId::new(Timestamp::EARLIEST, &make.entropy);
        cache.texts.insert(huge, feed(org, &piece, 65));
        cache.texts.run_pending_tasks();
        assert!(cache.texts.weighted_size() <= BYTES_MAX);
        assert!(cache.at(huge, "\"1\"").is_none());
    }

    #[test]
    fn another_state_is_not_what_is_kept() {
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
