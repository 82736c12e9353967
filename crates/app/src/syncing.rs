//! Syncing subscriptions with their feeds: the use cases that the workers call.
//!
//! A worker claims due subscriptions ([`App::claim_syncs`]) and syncs each in its own task ([`App::sync`]). A sync
//! fetches the feed, reads it on a blocking thread, compares it with what was imported, and commits in chunks. Each
//! chunk renews the claim, and is refused once the claim is lost. A failure before the first chunk changes no event.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use kalends_calendars::{Calendar, Change as Write, DELETED_KEPT, Event, EventSource};
use kalends_feeds::{
    Change, Origin, Remains, Subscription, SyncClaim,
    read::{self, Context, ReadError},
    sync::{
        CHUNK_MAX, CLAIM_LASTS, Chunk, Counts, Diff, Ended, KnownItem, KnownItems, LEFT_KEPT, Memory, Report, Seen,
        TooManyImported, diff, diff_file, ends_withheld, next_due,
    },
};
use kalends_kernel::{EventId, StoreError, random_bytes};
use kalends_plans::Metric;
use tracing::Span;

use crate::{
    App, ChangeSet, Guard, Refusal,
    ports::{CommitError, FetchError, FetchedFeed},
};

/// How many subscriptions to feeds of one host are synced at once, across all nodes.
const PER_HOST: u32 = 2;

/// Whether a sync may be due once the change-set is committed.
pub(crate) fn makes_due(changes: &ChangeSet) -> bool {
    changes.feeds.iter().any(|change| match change {
        Change::CreateSubscription(_)
        | Change::UpdateSubscription { .. }
        | Change::DeleteSubscription { remains: Remains::Removed, .. }
        | Change::RemoveRemains { .. }
        | Change::AskSync { .. } => true,
        Change::DeleteSubscription { remains: Remains::Kept, .. }
        | Change::AdoptRemains { .. }
        | Change::ForgetSubscription { .. }
        | Change::RenewClaim { .. }
        | Change::EndSync { .. }
        | Change::KeepItems { .. }
        | Change::ForgetItems { .. } => false,
    })
}

/// A feed or file that was read and compared with what was imported from it before.
pub(crate) struct Compared {
    pub(crate) diff: Diff,
    pub(crate) report: Report,
    /// Whether events that are gone from the feed stay for now.
    pub(crate) withheld: bool,
}

/// Why a sync ends early.
enum Broken {
    /// The claim is lost, or the calendar is gone. Another worker has taken over, if needed.
    Lost,
    /// The organization would have more imported events than this limit.
    Full(u64),
    /// The store failed.
    Store(StoreError),
}

impl From<CommitError> for Broken {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Store(error) => Self::Store(error),
            CommitError::LimitReached { metric: Metric::ImportedEvents, limit } => Self::Full(limit),
            // These change-sets have no other conditions.
            CommitError::Stale
            | CommitError::NoOrganization
            | CommitError::LimitReached { .. }
            | CommitError::EmailTaken
            | CommitError::SlugTaken
            | CommitError::TooMany { .. }
            | CommitError::AlreadyAnswered
            | CommitError::RolledBack => Self::Lost,
        }
    }
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Why a feed or file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The text is not valid.
    #[error(transparent)]
    Text(#[from] ReadError),
    /// The reader panicked.
    #[error("the feed could not be read completely")]
    Broken(#[source] tokio::task::JoinError),
}

impl App {
    /// Waits until this process has made a subscription due.
    pub async fn nudged_to_sync(&self) {
        self.nudges.sync.notified().await;
    }

    /// Claims up to `limit` due subscriptions.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn claim_syncs(&self, limit: u32) -> Result<Vec<(SyncClaim, Subscription)>, Refusal> {
        let now = self.now();
        Ok(self.parts.store.claim_subscriptions(now, now + CLAIM_LASTS, PER_HOST, limit).await?)
    }

    /// Syncs a subscription that this worker has claimed. A failure is stored with the subscription, or logged.
    pub async fn sync(&self, claim: SyncClaim, subscription: Subscription) {
        let began = tokio::time::Instant::now();
        let outcome = match self.sync_claimed(claim, &subscription).await {
            Ok(outcome) => outcome,
            Err(Broken::Lost) => "lost",
            // Only a reservation can be refused with this, and `synced` handles it.
            Err(Broken::Full(_)) => "over_limit",
            Err(Broken::Store(error)) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    subscription = %claim.subscription,
                    "a subscription cannot be synced; it is claimed again once its claim has expired"
                );
                "broken"
            }
        };
        // Another feed of its host may be claimed now.
        self.nudges.sync.notify_one();
        kalends_metrics::ICAL_SYNCS.with_label_values(&[outcome]).inc();
        kalends_metrics::ICAL_SYNC_SECONDS.observe(began.elapsed().as_secs_f64());
        tracing::debug!(subscription = %claim.subscription, outcome, "a sync ended");
    }

    async fn sync_claimed(&self, claim: SyncClaim, subscription: &Subscription) -> Result<&'static str, Broken> {
        let calendar = self.parts.store.find_calendar(claim.org, subscription.calendar).await?.ok_or(Broken::Lost)?;
        if let Some(remains) = subscription.remains {
            return self.clear_away((claim, subscription), &calendar, remains).await;
        }
        let (ended, outcome) = self.synced(claim, subscription, &calendar).await?;
        let now = self.now();
        let state = subscription.state.after(ended, now);
        let next = next_due(&state, now, u32::from_le_bytes(random_bytes(self.entropy())));
        self.commit_under(claim, vec![Change::EndSync { claim, state: Box::new(state), next, at: now }], Vec::new())
            .await?;
        Ok(outcome)
    }

    /// Deletes the imported events of a deleted subscription unless they are to stay. Once none is left, the
    /// subscription is forgotten.
    async fn clear_away(
        &self,
        (claim, subscription): (SyncClaim, &Subscription),
        calendar: &Calendar,
        remains: Remains,
    ) -> Result<&'static str, Broken> {
        let origin = Origin::Subscription(subscription.origin);
        let known = self.parts.store.known_items(claim.org, origin).await?;
        if remains == Remains::Kept && !known.is_empty() {
            let (state, now) = (Box::new(subscription.state.clone()), self.now());
            let next = now + LEFT_KEPT;
            self.commit_under(claim, vec![Change::EndSync { claim, state, next, at: now }], Vec::new()).await?;
            return Ok("kept");
        }
        for gone in known.chunks(CHUNK_MAX) {
            self.remove_chunk((claim, origin), calendar, gone, &mut Counts::default()).await?;
        }
        self.commit_under(claim, vec![Change::ForgetSubscription { claim }], Vec::new()).await?;
        Ok("removed")
    }

    /// Fetches the feed and applies it. Returns the result.
    async fn synced(
        &self,
        claim: SyncClaim,
        subscription: &Subscription,
        calendar: &Calendar,
    ) -> Result<(Ended, &'static str), Broken> {
        let (now, memory) = (self.now(), &subscription.state.memory);
        let known_validators = memory.validators(calendar.zone, now);
        let (body, validators) = match self.parts.fetcher.fetch(&subscription.url, &known_validators).await {
            Err(FetchError(problem)) => return Ok((Ended::Failed(problem), "unfetched")),
            Ok(FetchedFeed::Unchanged) => return Ok((Ended::Unchanged, "unchanged")),
            Ok(FetchedFeed::Full { body, .. }) if memory.knows(&body, calendar.zone, now) => {
                return Ok((Ended::Unchanged, "unchanged"));
            }
            Ok(FetchedFeed::Full { body, validators }) => (body, validators),
        };
        self.commit_under(claim, vec![Change::RenewClaim { claim, at: self.now(), reserved: 0 }], Vec::new()).await?;
        let origin = Origin::Subscription(subscription.origin);
        let known: KnownItems = self.parts.store.known_items(claim.org, origin).await?.into_iter().collect();
        let seen = Seen::of(&body, validators, calendar.zone, now);
        let context = Context { calendar_zone: calendar.zone, now };
        let compared = match self
            .read_and_compare(origin, body, context, known, (memory.believes(), subscription.busy_only))
            .await
        {
            Ok(compared) => compared,
            Err(error) => return Ok((Ended::Failed(error.to_string()), "unreadable")),
        };
        let Compared { diff, mut report, withheld } = compared;
        report.counts.untouched = diff.untouched;
        let mut reserved = diff.added();
        match self.reserve_room(claim, reserved).await {
            Err(Broken::Full(limit)) => {
                let error = TooManyImported { added: reserved, limit };
                return Ok((Ended::Failed(error.to_string()), "over_limit"));
            }
            outcome => outcome?,
        }
        for chunk in diff.chunks {
            // The events that this commit adds are counted as existing, so they are no longer reserved.
            reserved = reserved.saturating_sub(chunk.added());
            self.import_chunk((claim, origin), calendar, (chunk, reserved), &mut report.counts).await?;
        }
        if withheld {
            report.withheld = u32::try_from(diff.gone.len()).unwrap_or(u32::MAX);
        } else {
            for gone in diff.gone.chunks(CHUNK_MAX) {
                self.remove_chunk((claim, origin), calendar, gone, &mut report.counts).await?;
            }
        }
        // If something was withheld, the next fetch must be complete.
        let seen = (!withheld).then_some(seen);
        Ok((Ended::Applied(Memory { report: Some(report), seen, shrunk: withheld, adopted: false }), "applied"))
    }

    /// Reads a feed or file and compares it with what was imported before, on a blocking thread. A panic is logged,
    /// and the text of the error does not contain its message. If it is read `busy_only`, its texts are dropped.
    pub(crate) async fn read_and_compare(
        &self,
        origin: Origin,
        body: Bytes,
        context: Context,
        known: KnownItems,
        (believed, busy_only): (bool, bool),
    ) -> Result<Compared, Unreadable> {
        // The semaphore is never closed. If it were, only this limit would be missing.
        let _turn = self.reading.acquire().await;
        let entropy = Arc::clone(&self.parts.entropy);
        let span = Span::current();
        let read = tokio::task::spawn_blocking(move || {
            let _inside = span.entered();
            let mut feed = match read::read(&body, &context) {
                Ok(feed) if busy_only => feed.busy_only(),
                Err(error) if busy_only => return Err(Unreadable::from(error.busy_only())),
                read => read?,
            };
            drop(body);
            let report = Report::of(&feed);
            let items = std::mem::take(&mut feed.items);
            let withheld = ends_withheld(items.len(), &known, believed);
            let fresh = || EventId::new(context.now, entropy.as_ref());
            let diff = match origin {
                Origin::Subscription(_) => diff(items, &known, fresh),
                Origin::Files(_) => diff_file(items, &feed.editions, &known, fresh),
            };
            Ok(Compared { withheld: withheld && !diff.gone.is_empty(), diff, report })
        });
        read.await.unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "the reading of a feed panicked");
            Err(Unreadable::Broken(error))
        })
    }

    /// Reserves room for the imported events that a sync will add, before it writes the first one. If several
    /// concurrent syncs would exceed the limit together, one of them is refused as a whole. A sync that adds nothing
    /// needs no room, even if the limit was lowered below what exists.
    async fn reserve_room(&self, claim: SyncClaim, added: u64) -> Result<(), Broken> {
        if added == 0 {
            return Ok(());
        }
        let organization = self.parts.store.find_organization(claim.org).await?.ok_or(Broken::Lost)?;
        let limits = organization.limits().map_err(|error| {
            Broken::Store(StoreError::corrupt("organizations", "limit_overrides", claim.org, error))
        })?;
        let renewed = Change::RenewClaim { claim, at: self.now(), reserved: added };
        let mut changes = ChangeSet { feeds: vec![renewed], ..ChangeSet::new(claim.org) };
        let metric = Metric::ImportedEvents;
        changes.guards.extend(limits.get(metric).map(|limit| Guard::AtMost { metric, limit }));
        Ok(self.store_changes(changes).await?)
    }

    /// Removes up to `limit` imported events that were deleted so long ago that no copy of a calendar still needs to
    /// read the deletion. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn purge_imported_events(&self, limit: u32) -> Result<bool, Refusal> {
        let before = self.now() - DELETED_KEPT;
        Ok(self.parts.store.purge_imported_events(before, limit).await? < u64::from(limit))
    }

    /// Writes items of a feed as imported events. `reserved` is the number of events that later chunks add.
    async fn import_chunk(
        &self,
        (claim, origin): (SyncClaim, Origin),
        calendar: &Calendar,
        (chunk, reserved): (Chunk, u64),
        counts: &mut Counts,
    ) -> Result<(), Broken> {
        let now = self.now();
        let Chunk { planned, former: _ } = chunk;
        let known: Vec<EventId> =
            planned.iter().filter(|planned| !planned.is_new).map(|planned| planned.known.event).collect();
        let seen = self.seen_events(calendar, &known).await?;
        let mut writes = Vec::with_capacity(planned.len());
        for planned in &planned {
            writes.push(if planned.is_new {
                counts.created += 1;
                Write::CreateEvent(planned.created(calendar, EventSource::ExternalIcal, now))
            } else {
                counts.updated += 1;
                let seen = seen.get(&planned.known.event).ok_or(Broken::Lost)?;
                Write::UpdateEvent { event: planned.updated(seen, now), seen: seen.version }
            });
        }
        let org = claim.org;
        let items = planned.iter().map(|planned| planned.known).collect();
        let kept = vec![Change::RenewClaim { claim, at: now, reserved }, Change::KeepItems { org, origin, items }];
        self.commit_under(claim, kept, writes).await
    }

    /// Deletes events that are gone from their feed.
    async fn remove_chunk(
        &self,
        (claim, origin): (SyncClaim, Origin),
        calendar: &Calendar,
        gone: &[KnownItem],
        counts: &mut Counts,
    ) -> Result<(), Broken> {
        let now = self.now();
        let ids: Vec<EventId> = gone.iter().map(|item| item.event).collect();
        let seen = self.seen_events(calendar, &ids).await?;
        counts.deleted += u32::try_from(seen.len()).unwrap_or(u32::MAX);
        let writes =
            seen.values().map(|event| Write::UpdateEvent { event: event.gone(now), seen: event.version }).collect();
        let org = claim.org;
        let keys = gone.iter().map(|item| item.key).collect();
        let forgotten =
            vec![Change::RenewClaim { claim, at: now, reserved: 0 }, Change::ForgetItems { org, origin, keys }];
        self.commit_under(claim, forgotten, writes).await
    }

    /// The events of a calendar that will be overwritten. Reads nothing if `ids` is empty.
    pub(crate) async fn seen_events(
        &self,
        calendar: &Calendar,
        ids: &[EventId],
    ) -> Result<BTreeMap<EventId, Event>, StoreError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let seen = self.parts.store.events_of(calendar.org, &[calendar.id], ids).await?;
        Ok(seen.into_iter().map(|event| (event.id, event)).collect())
    }

    async fn commit_under(&self, claim: SyncClaim, feeds: Vec<Change>, calendars: Vec<Write>) -> Result<(), Broken> {
        let changes = ChangeSet { feeds, calendars, ..ChangeSet::new(claim.org) };
        Ok(self.store_changes(changes).await?)
    }
}
