//! Feeds: a calendar as iCalendar text, for readers that have its address and for its owner.

use std::sync::Arc;

use bytes::Bytes;
use kalends_calendars::Calendar;
use kalends_feeds::write::{FeedWriter, etag};

use crate::{
    Actor, App, Feed, Missing, Refusal,
    feed_cache::{FEED_MAX, UNREAD_MAX},
};

/// The approximate size of a piece, in bytes.
const PIECE: usize = 64 << 10;

/// The answer to a request for a feed.
#[derive(Debug)]
pub enum FeedAnswer {
    /// The caller already has the current text, with this entity tag.
    Unchanged(String),
    /// The text.
    Whole(Arc<Feed>),
}

impl App {
    /// The feed with this token. `has` returns whether the caller already has the text with the given entity tag.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no visible calendar has that token now.
    pub async fn feed(&self, token: &str, has: impl Fn(&str) -> bool) -> Result<FeedAnswer, Refusal> {
        // The error does not repeat the address: it is a secret.
        let missing = || Refusal::missing(Missing::Feed, "at this address");
        let calendar = self.parts.store.calendar_of_feed(token).await?.ok_or_else(missing)?;
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
        let read = self.parts.store.read_feed(calendar.org, calendar.id, &mut each).await?;
        let missing = || Refusal::missing(Missing::Calendar, &calendar.id.to_string());
        let revision = read.ok_or_else(missing)?;
        if bytes > FEED_MAX {
            return Err(Refusal::FeedTooLarge);
        }
        pieces.push(exact(writer.end()));
        Ok(Feed { org: calendar.org, etag: etag(revision, calendar.version), pieces })
    }
}

/// The text without the spare capacity of its string. That capacity would be kept as long as the feed, and can be as
/// large as the text.
fn exact(text: String) -> Bytes {
    Bytes::from(text.into_bytes().into_boxed_slice())
}
