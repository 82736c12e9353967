//! The change feed of an organization: reading it, waiting for it, and removing what is old.

use std::{sync::Arc, time::Duration};

use kalends_kernel::OrgId;
use kalends_notifications::{
    CHANGES_KEPT, FeedPage, FeedPosition, FeedResync, FeedToken, READS_NOTED_EVERY, UNREAD_FEED_LASTS, WantedTypes,
};
use kalends_time::Timestamp;
use kalends_wire::{FeedQuery, OrganizationChange, OrganizationChanges};
use tokio::time::Instant;

use crate::{
    Actor, App, Refusal,
    feed_waits::{WAITS_OF_KEY, Wait},
    ports::RateKey,
};

/// For how many organizations one statement asks whether their feeds have come further.
const POLLED_AT_ONCE: usize = 500;

impl App {
    /// The next page of the organization's changes. If there is none yet, waits for up to `wait`, or until the node
    /// stops. Without `since`, answers the present end at once.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key; [`Refusal::FeedResync`] if the reader must start over;
    /// [`Refusal::TooManyWaits`] if the key waits too often at once.
    pub async fn organization_changes(
        &self,
        actor: &Actor,
        query: &FeedQuery,
        wait: Duration,
    ) -> Result<OrganizationChanges, Refusal> {
        actor.for_organization()?;
        let (org, now) = (actor.org(), self.now());
        let Some(since) = query.since.as_deref() else {
            let reached = self.feed_end(org, now).await?;
            return Ok(shown(org, FeedPage { entries: Vec::new(), reached, has_more: false }));
        };
        let mut after = FeedToken::parse(since, org)?;
        let until = Instant::now() + wait;
        let mut waiting = if wait.is_zero() { None } else { self.feed_wait(actor)? };
        loop {
            let page = self.feed_page(org, after, query, waiting.as_mut()).await?;
            let goes_on = page.entries.is_empty() && Instant::now() < until && !self.feed_waits.have_ended();
            let Some(waiting) = waiting.as_mut().filter(|_| goes_on) else {
                return Ok(shown(org, page));
            };
            // While there are changes of other types, the reader goes on without waiting.
            if !page.has_more && !waiting.until_woken(until).await {
                return Ok(shown(org, page));
            }
            after = page.reached;
        }
    }

    /// A place to wait in; `None` if the caller is to be answered at once.
    pub(crate) fn feed_wait(&self, actor: &Actor) -> Result<Option<Wait>, Refusal> {
        let key = RateKey::from(&actor.principal.credential);
        self.feed_waits.enter(actor.org(), key).map_err(|_| Refusal::TooManyWaits { most: WAITS_OF_KEY })
    }

    async fn feed_page(
        &self,
        org: OrgId,
        after: FeedPosition,
        query: &FeedQuery,
        waiting: Option<&mut Wait>,
    ) -> Result<FeedPage, Refusal> {
        let now = self.now();
        let turn = match waiting.as_deref() {
            Some(waiting) => Some(waiting.turn().await),
            None => None,
        };
        // One extra entry shows whether there are more.
        let read = self.parts.store.read_changes(org, after, &query.types, query.limit.saturating_add(1)).await?;
        drop(turn);
        let read = read.ok_or(FeedResync::Unknown)?;
        if let Some(waiting) = waiting {
            waiting.has_seen(read.head.last);
        }
        if now - read.head.read_at >= READS_NOTED_EVERY {
            self.parts.store.start_feed(org, now).await?;
        }
        Ok(read.page(after, query.limit)?)
    }

    /// Starts to follow the organization's changes for longer than one answer, from `since` or from the present end.
    /// The first page is read at once.
    ///
    /// # Errors
    /// As [`Self::organization_changes`].
    pub async fn follow_changes(self: &Arc<Self>, actor: &Actor, query: FeedQuery) -> Result<FeedReader, Refusal> {
        actor.for_organization()?;
        let org = actor.org();
        let after = match query.since.as_deref() {
            Some(since) => FeedToken::parse(since, org)?,
            None => self.feed_end(org, self.now()).await?,
        };
        let waiting = self.feed_wait(actor)?;
        let mut reader =
            FeedReader { app: Arc::clone(self), org, query, after, waiting, is_current: false, first: Vec::new() };
        reader.first = reader.read().await?;
        Ok(reader)
    }

    /// The present end of the organization's feed, which starts now if nobody has read it yet.
    async fn feed_end(&self, org: OrgId, now: Timestamp) -> Result<FeedPosition, Refusal> {
        // Nothing is after the last possible position, so this reads only the head.
        let read = self.parts.store.read_changes(org, FeedPosition(i64::MAX), &WantedTypes::ALL, 1).await?;
        match read.map(|read| read.head).filter(|head| now - head.read_at < READS_NOTED_EVERY) {
            Some(head) => Ok(head.last),
            // Without the organization, the key is no longer valid.
            None => self.parts.store.start_feed(org, now).await?.ok_or(Refusal::Unauthorized),
        }
    }

    /// Looks for changes that other nodes committed, and wakes the readers of this node that wait for them. Called
    /// every 250 ms while the service runs. Asks nothing if nobody waits.
    pub async fn poll_change_feeds(&self) {
        for organizations in self.feed_waits.organizations().chunks(POLLED_AT_ONCE) {
            match self.parts.store.feed_ends(organizations).await {
                Ok(ends) => ends.into_iter().for_each(|(org, end)| self.feed_waits.has_come_to(org, end)),
                Err(error) => {
                    tracing::warn!(%error, "the ends of change feeds could not be read");
                    return;
                }
            }
        }
    }

    /// Answers all readers that wait, and lets nobody wait from now on. Called when the node stops.
    pub fn end_waits(&self) {
        self.feed_waits.close();
    }

    /// Removes up to about `limit` old entries of change feeds, and as many feeds that nobody reads. Returns whether
    /// that was all.
    ///
    /// # Errors
    /// The store fails.
    pub async fn purge_changes(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let removed = self.parts.store.forget_changes(now - CHANGES_KEPT, limit).await?;
        let ended = self.parts.store.end_unread_feeds(now - UNREAD_FEED_LASTS, limit).await?;
        Ok(removed < u64::from(limit) && ended < u64::from(limit))
    }
}

/// A reader that follows the changes of an organization. Dropping it frees its place among those that wait.
pub struct FeedReader {
    app: Arc<App>,
    org: OrgId,
    query: FeedQuery,
    after: FeedPosition,
    /// Without a place the reader gets what there is, and then ends.
    waiting: Option<Wait>,
    /// Whether it has read everything that it knows of.
    is_current: bool,
    /// The changes that were read when the reader was made.
    first: Vec<FollowedChange>,
}

/// A change, and the token of a reader that has it and everything before it.
pub type FollowedChange = (String, OrganizationChange);

impl FeedReader {
    /// The token of what was read so far.
    pub fn token(&self) -> String {
        FeedToken::new(self.org, self.after).to_text()
    }

    /// The next changes, as soon as there are any. Empty if there are none within `patience`; `None` if the reader
    /// ends, because the node stops or has no place for it. Asks the database nothing while nothing changes.
    ///
    /// # Errors
    /// As [`App::organization_changes`].
    pub async fn next(&mut self, patience: Duration) -> Result<Option<Vec<FollowedChange>>, Refusal> {
        if !self.first.is_empty() {
            return Ok(Some(std::mem::take(&mut self.first)));
        }
        let until = Instant::now() + patience;
        loop {
            if self.app.feed_waits.have_ended() {
                return Ok(None);
            }
            if self.is_current {
                let Some(waiting) = self.waiting.as_mut() else { return Ok(None) };
                if !waiting.until_woken(until).await {
                    return Ok((!self.app.feed_waits.have_ended()).then(Vec::new));
                }
            }
            let changes = self.read().await?;
            if !changes.is_empty() || Instant::now() >= until {
                return Ok(Some(changes));
            }
        }
    }

    async fn read(&mut self) -> Result<Vec<FollowedChange>, Refusal> {
        let page = self.app.feed_page(self.org, self.after, &self.query, self.waiting.as_mut()).await?;
        self.after = page.reached;
        self.is_current = !page.has_more;
        let token = |position| FeedToken::new(self.org, position).to_text();
        Ok(page.entries.into_iter().map(|(position, entry)| (token(position), entry.into())).collect())
    }
}

/// The page as callers see it.
fn shown(org: OrgId, page: FeedPage) -> OrganizationChanges {
    let FeedPage { entries, reached, has_more } = page;
    OrganizationChanges {
        data: entries.into_iter().map(|(_, entry)| entry.into()).collect(),
        next: FeedToken::new(org, reached).to_text(),
        has_more,
    }
}
