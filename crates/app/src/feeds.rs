//! Feeds: a calendar as iCalendar text, for whoever has its address and for its owner (ruling 8.1).

use std::sync::Arc;

use bytes::Bytes;
use kalends_calendars::Calendar;
use kalends_feeds::write::{FeedWriter, etag};
use kalends_kernel::CalendarId;
use moka::{policy::EvictionPolicy, sync::Cache};
use tokio::sync::Semaphore;

use crate::{Actor, App, Missing, Refusal, holds::Turns};

/// The most memory that cached feeds take, in bytes.
const BYTES_MAX: u64 = 64 << 20;
/// What an entry takes beside its text, in bytes.
const ENTRY_BYTES: usize = 256;
/// About how many bytes go together.
const PIECE: usize = 64 << 10;
/// How many feeds are written at once: each is in memory as a whole, however large.
const AT_ONCE: usize = 4;

/// The text of a calendar at one of its states.
#[derive(Debug)]
pub struct Feed {
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

/// The latest text of calendars, and who may write one.
pub(crate) struct FeedCache {
    texts: Cache<CalendarId, Arc<Feed>>,
    /// Of many that ask for the same feed at once, one writes it.
    writing: Turns,
    permits: Semaphore,
}

impl FeedCache {
    pub(crate) fn new() -> Self {
        let texts = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_, feed: &Arc<Feed>| u32::try_from(feed.len() + ENTRY_BYTES).unwrap_or(u32::MAX))
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self { texts, writing: Turns::new(), permits: Semaphore::new(AT_ONCE) }
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

    /// The text of a calendar, written anew where it is not known at that state.
    async fn written(&self, calendar: &Calendar, etag: &str) -> Result<Arc<Feed>, Refusal> {
        if let Some(known) = self.feeds.at(calendar.id, etag) {
            return Ok(known);
        }
        let _turn = self.feeds.writing.lock([calendar.id]).await;
        if let Some(known) = self.feeds.at(calendar.id, etag) {
            return Ok(known);
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
        let mut pieces = Vec::new();
        let mut each = |event| {
            writer.event(event);
            if writer.written() >= PIECE {
                pieces.push(Bytes::from(writer.take()));
            }
        };
        let read = self.store.read_feed(calendar.org, calendar.id, &mut each).await?;
        let missing = || Refusal::missing(Missing::Calendar, &calendar.id.to_string());
        let revision = read.ok_or_else(missing)?;
        pieces.push(Bytes::from(writer.end()));
        Ok(Feed { etag: etag(revision, calendar.version), pieces })
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Instant;
    use kalends_testkit::fixtures::Fixtures;

    use super::*;

    /// A feed of so many pieces of a MiB, which all feeds of the test share.
    fn feed(piece: &Bytes, pieces: usize) -> Arc<Feed> {
        Arc::new(Feed { etag: "\"1\"".into(), pieces: vec![piece.clone(); pieces] })
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (cache, make, piece) = (FeedCache::new(), Fixtures::new(), Bytes::from(vec![b'x'; 1 << 20]));
        let calendars: Vec<_> = (0..100).map(|_| CalendarId::new(Instant::EARLIEST, &make.entropy)).collect();
        for calendar in &calendars {
            cache.texts.insert(*calendar, feed(&piece, 10));
            cache.texts.run_pending_tasks();
            assert!(cache.texts.weighted_size() <= BYTES_MAX);
        }
        let kept = calendars.iter().filter(|calendar| cache.at(**calendar, "\"1\"").is_some());
        // What was asked for last stays.
        assert_eq!(kept.collect::<Vec<_>>(), calendars[94..].iter().collect::<Vec<_>>());

        // One that is larger than all that may be kept displaces nothing for long.
        let huge = CalendarId::new(Instant::EARLIEST, &make.entropy);
        cache.texts.insert(huge, feed(&piece, 65));
        cache.texts.run_pending_tasks();
        assert!(cache.texts.weighted_size() <= BYTES_MAX);
        assert!(cache.at(huge, "\"1\"").is_none());
    }

    #[test]
    fn another_state_is_not_what_is_kept() {
        let (cache, make) = (FeedCache::new(), Fixtures::new());
        let calendar = CalendarId::new(Instant::EARLIEST, &make.entropy);
        cache.texts.insert(calendar, feed(&Bytes::from_static(b"x"), 1));
        assert!(cache.at(calendar, "\"1\"").is_some());
        assert!(cache.at(calendar, "\"2\"").is_none());
    }
}
