//! Feeds of others, kept in step: what the workers call (ruling 8.2).
//!
//! A worker claims subscriptions that are due ([`App::claim_syncs`]) and syncs each in a task of its own ([`App::sync`]):
//! fetches, reads off the async threads, compares with what was imported, and commits in chunks, each of which renews the
//! claim and is refused once that is lost. What fails before the first chunk changes no event.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use kalends_calendars::{Calendar, Change as Write, DELETED_KEPT, Event, EventSource};
use kalends_feeds::{
    Change, Origin, Remains, Subscription, SyncClaim,
    read::{self, Context, ReadError},
    sync::{
        CHUNK_MAX, CLAIM_LASTS, Chunk, Counts, Diff, Ended, KnownItem, KnownItems, LEFT_KEPT, Memory, Report, Seen,
        TooManyImported, Validators, diff, diff_file, ends_withheld, next_due,
    },
};
use kalends_kernel::{EventId, RemoteUrl, StoreError, random_bytes};
use kalends_quotas::Metric;

use crate::{
    App, ChangeSet, Guard, Refusal,
    ports::{CommitError, FeedFetcher, FetchError, FetchedFeed},
};

/// How many feeds and files are read at once.
pub(crate) const READ_AT_ONCE: usize = 1;
/// How many subscriptions to feeds of one host are synced at once, over all nodes.
const PER_HOST: u32 = 2;

/// Fetches nothing: for what has no workers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFetcher;

#[async_trait]
impl FeedFetcher for NoFetcher {
    async fn fetch(&self, _: &RemoteUrl, _: &Validators) -> Result<FetchedFeed, FetchError> {
        Err(FetchError("nothing is fetched from here".to_owned()))
    }
}

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

/// A feed or file that was read, compared with what was imported of it before.
pub(crate) struct Compared {
    pub(crate) diff: Diff,
    pub(crate) report: Report,
    /// Whether what is gone stays for now.
    pub(crate) withheld: bool,
}

/// Why a sync ends early.
enum Broken {
    /// The claim is lost, or the calendar is gone: whoever comes next knows better.
    Lost,
    /// The organization would hold more imported events than this limit.
    Full(u64),
    /// The store failed.
    Store(StoreError),
}

impl From<CommitError> for Broken {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Store(error) => Self::Store(error),
            CommitError::LimitReached { metric: Metric::ImportedEvents, limit } => Self::Full(limit),
            // Nothing else is a condition of these change-sets.
            CommitError::Stale
            | CommitError::NoOrganization
            | CommitError::LimitReached { .. }
            | CommitError::EmailTaken
            | CommitError::TooMany { .. }
            | CommitError::AlreadyAnswered => Self::Lost,
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
    /// What is wrong with it.
    #[error(transparent)]
    Text(#[from] ReadError),
    /// The reading panicked.
    #[error("the feed could not be read to its end")]
    Broken(#[source] tokio::task::JoinError),
}

impl App {
    /// Waits until this process has made a subscription due.
    pub async fn nudged_to_sync(&self) {
        self.nudges.sync.notified().await;
    }

    /// Claims up to `limit` subscriptions that are due.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn claim_syncs(&self, limit: u32) -> Result<Vec<(SyncClaim, Subscription)>, Refusal> {
        let now = self.now();
        Ok(self.store.claim_subscriptions(now, now + CLAIM_LASTS, PER_HOST, limit).await?)
    }

    /// Syncs a subscription that this worker has claimed. What fails is kept with the subscription, or logged.
    pub async fn sync(&self, claim: SyncClaim, subscription: Subscription) {
        let began = tokio::time::Instant::now();
        let outcome = match self.sync_claimed(claim, &subscription).await {
            Ok(outcome) => outcome,
            Err(Broken::Lost) => "lost",
            // Only a reservation is refused, and `synced` ends the sync then.
            Err(Broken::Full(_)) => "over_limit",
            Err(Broken::Store(error)) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    subscription = %claim.subscription,
                    "a subscription cannot be synced; it is claimed again once its claim has run out"
                );
                "broken"
            }
        };
        // Its host may be asked for another feed now.
        self.nudges.sync.notify_one();
        metrics::counter!("kalends_ical_syncs_total", "outcome" => outcome).increment(1);
        metrics::histogram!("kalends_ical_sync_seconds").record(began.elapsed());
        tracing::debug!(subscription = %claim.subscription, outcome, "a sync ended");
    }

    async fn sync_claimed(&self, claim: SyncClaim, subscription: &Subscription) -> Result<&'static str, Broken> {
        let calendar = self.store.find_calendar(claim.org, subscription.calendar).await?.ok_or(Broken::Lost)?;
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

    /// Deletes what a deleted subscription has imported, where that is not to stay, and forgets it once nothing of it is
    /// there any more.
    async fn clear_away(
        &self,
        (claim, subscription): (SyncClaim, &Subscription),
        calendar: &Calendar,
        remains: Remains,
    ) -> Result<&'static str, Broken> {
        let origin = Origin::Subscription(subscription.origin);
        let known = self.store.known_items(claim.org, origin).await?;
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

    /// Fetches the feed and applies it; tells how that ended.
    async fn synced(
        &self,
        claim: SyncClaim,
        subscription: &Subscription,
        calendar: &Calendar,
    ) -> Result<(Ended, &'static str), Broken> {
        let (now, memory) = (self.now(), &subscription.state.memory);
        let asked = memory.validators(calendar.zone, now);
        let (body, validators) = match self.fetcher.fetch(&subscription.url, &asked).await {
            Err(FetchError(problem)) => return Ok((Ended::Failed(problem), "unfetched")),
            Ok(FetchedFeed::Unchanged) => return Ok((Ended::Unchanged, "unchanged")),
            Ok(FetchedFeed::Whole { body, .. }) if memory.knows(&body, calendar.zone, now) => {
                return Ok((Ended::Unchanged, "unchanged"));
            }
            Ok(FetchedFeed::Whole { body, validators }) => (body, validators),
        };
        self.commit_under(claim, vec![Change::RenewClaim { claim, at: self.now(), reserved: 0 }], Vec::new()).await?;
        let origin = Origin::Subscription(subscription.origin);
        let known: KnownItems = self.store.known_items(claim.org, origin).await?.into_iter().collect();
        let seen = Seen::of(&body, validators, calendar.zone, now);
        let context = Context { calendar_zone: calendar.zone, now };
        let compared = match self.read_and_compare(origin, body, context, known, memory.believes()).await {
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
            // What is added in this commit is counted as it is, and reserved no more.
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
        // What was withheld is asked for as a whole again.
        let seen = (!withheld).then_some(seen);
        Ok((Ended::Applied(Memory { report: Some(report), seen, shrunk: withheld, adopted: false }), "applied"))
    }

    /// Reads a feed or file and compares it, off the async threads. A panic is logged; the caller is told no more than that.
    pub(crate) async fn read_and_compare(
        &self,
        origin: Origin,
        body: Bytes,
        context: Context,
        known: KnownItems,
        believed: bool,
    ) -> Result<Compared, Unreadable> {
        // The semaphore is never closed; were it, no more than the wait would be missing.
        let _turn = self.reading.acquire().await;
        let entropy = Arc::clone(&self.entropy);
        let read = tokio::task::spawn_blocking(move || {
            let mut feed = read::read(&body, &context)?;
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

    /// Reserves room for as many imported events as a sync is going to add, before it writes the first of them: of
    /// several at once that together pass the limit, one is refused as a whole. A sync that adds nothing needs no room,
    /// also where the limit was lowered below what exists.
    async fn reserve_room(&self, claim: SyncClaim, added: u64) -> Result<(), Broken> {
        if added == 0 {
            return Ok(());
        }
        let organization = self.store.find_organization(claim.org).await?.ok_or(Broken::Lost)?;
        let limits = organization.limits().map_err(|error| {
            Broken::Store(StoreError::corrupt("organizations", "limit_overrides", claim.org, error))
        })?;
        let renewed = Change::RenewClaim { claim, at: self.now(), reserved: added };
        let mut changes = ChangeSet { feeds: vec![renewed], ..ChangeSet::new(claim.org) };
        let metric = Metric::ImportedEvents;
        changes.guards.extend(limits.get(metric).map(|limit| Guard::AtMost { metric, limit }));
        Ok(self.store_changes(changes).await?)
    }

    /// Removes up to `limit` imported events that were deleted so long ago that no mirror hears of them any more, and
    /// says whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn purge_imported_events(&self, limit: u32) -> Result<bool, Refusal> {
        let before = self.now() - DELETED_KEPT;
        Ok(self.store.purge_imported_events(before, limit).await? < u64::from(limit))
    }

    /// Writes items of a feed as imported events. `reserved` is how many more events later chunks add.
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

    /// The events of a calendar that are to be written over; nothing is read for none.
    pub(crate) async fn seen_events(
        &self,
        calendar: &Calendar,
        ids: &[EventId],
    ) -> Result<BTreeMap<EventId, Event>, StoreError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let seen = self.store.events_of(calendar.org, calendar.id, ids).await?;
        Ok(seen.into_iter().map(|event| (event.id, event)).collect())
    }

    async fn commit_under(&self, claim: SyncClaim, feeds: Vec<Change>, calendars: Vec<Write>) -> Result<(), Broken> {
        let changes = ChangeSet { feeds, calendars, ..ChangeSet::new(claim.org) };
        Ok(self.store_changes(changes).await?)
    }
}
