//! Publishing calendars: the use cases that the workers call.
//!
//! A worker claims the destinations that are due ([`App::claim_publications`]) and publishes each in its own task
//! ([`App::publish`]). It compares the events that should be copied with the recorded copies, sends the difference in
//! groups, and records the results of each group before it sends the next. If an attempt may have sent something that
//! is not recorded, the next one first asks the provider for the copies that exist. So no event has two copies.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kalends_bridge::{
    CLAIM_LASTS, COPIES_MAX, Change, Copy, CopyContent, CopyKey, Destination, ExternalCalendar, PublicationPolicy,
    PublishOutcome, next_publication, ports::ClaimedDestination, throttled_until, wanted, window,
};
use kalends_calendars::{
    Calendar, Event, EventSource, EventStatus,
    ports::{InstanceFilter, InstanceScope, StatusAt},
};
use kalends_kernel::{ExternalCalendarId, MetadataFilter, Page, Version, random_bytes};
use kalends_time::{SignedDuration, Span};

use crate::{
    App, ChangeSet, Refusal,
    claimed_work::outcome_of,
    ports::CommitError,
    publishing_steps::{ERROR_MAX, Halt, NO_CONSENT, Publishing, TARGET_GONE, failed},
};

/// How much longer an access token must be valid at the beginning of an attempt.
const TOKEN_LASTS: SignedDuration = SignedDuration::seconds(30);
/// How many events of each status are read: as many as are copied.
const READ_AT_ONCE: u32 = 2_000;
const _: () = assert!(READ_AT_ONCE as usize == COPIES_MAX);
/// The pause before events are read again that changed while they were read.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// The error of a destination whose connection cannot be read.
const UNREADABLE: &str = "the stored access to the account cannot be read; connect the account again";

/// Whether publishing may be due once the change-set is committed.
pub(crate) fn makes_publication_due(changes: &ChangeSet) -> bool {
    changes.bridge.iter().any(|change| match change {
        Change::PutDestination { .. } | Change::ReauthorizeConnection { .. } => true,
        Change::EndDestination { keep, .. } => !keep,
        Change::UpdateConnection { due, .. } => due.is_some(),
        Change::CreateLink(_)
        | Change::UpdateLink { .. }
        | Change::CreateConnection { .. }
        | Change::DeleteConnection { .. }
        | Change::AskRefresh { .. }
        | Change::EndRefresh { .. }
        | Change::CreateGrant(_)
        | Change::DeleteGrant { .. }
        | Change::RecordCopies { .. }
        | Change::EndPublishing { .. } => false,
    })
}

impl App {
    /// Waits until this process has made a publication due.
    pub async fn nudged_to_publish(&self) {
        self.nudges.publish.notified().await;
    }

    /// Claims up to `limit` destinations that are due.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn claim_publications(&self, limit: u32) -> Result<Vec<ClaimedDestination>, Refusal> {
        let now = self.now();
        Ok(self.parts.store.claim_publications(now, now + CLAIM_LASTS, limit).await?)
    }

    /// Publishes a calendar whose destination this worker has claimed. A failure is stored with the destination, or
    /// logged.
    pub async fn publish(&self, claimed: ClaimedDestination) {
        let began = tokio::time::Instant::now();
        let (claim, calendar) = (claimed.claim, claimed.claim.calendar);
        let attempt = self.publish_claimed(&claimed).await;
        let outcome = outcome_of(attempt, &calendar, "a calendar cannot be published");
        kalends_metrics::PUBLICATIONS.with_label_values(&[outcome]).inc();
        kalends_metrics::PUBLICATION_SECONDS.observe(began.elapsed().as_secs_f64());
        tracing::debug!(%calendar, fence = claim.fence.0, outcome, "an attempt to publish a calendar ended");
    }

    async fn publish_claimed(&self, claimed: &ClaimedDestination) -> Result<&'static str, CommitError> {
        let ClaimedDestination { claim, destination, connection, .. } = claimed;
        let calendar = self.parts.store.find_calendar(claim.org, claim.calendar).await?;
        let (outcome, pause, is_over) = match self.published(claimed, calendar.as_ref()).await {
            Ok((outcome, is_over)) => (outcome, None, is_over),
            Err(Halt::Outcome(outcome)) => (outcome, None, false),
            Err(Halt::Pause(after)) => (PublishOutcome::Paused, Some(after), false),
            Err(Halt::NeedsToken) => (PublishOutcome::WaitsForToken, None, false),
            Err(Halt::Commit(error)) => return Err(error),
        };
        let label = match &outcome {
            PublishOutcome::Done => "good",
            PublishOutcome::Partly(_) => "partly",
            PublishOutcome::Paused | PublishOutcome::Throttled => "throttled",
            PublishOutcome::WaitsForToken => "no_token",
            PublishOutcome::Failed(_) => "failed",
        };
        let at = self.now();
        let mut changes = ChangeSet::new(claim.org);
        let asks = connection.as_ref().is_some_and(|connection| connection.should_ask_for_token(at));
        if outcome == PublishOutcome::WaitsForToken && asks {
            changes.bridge.push(Change::AskRefresh { org: claim.org, connection: destination.connection, at });
        }
        let wants_pause = pause.is_some() || outcome == PublishOutcome::Throttled;
        let state = destination.state.after(outcome, at);
        let random = u32::from_le_bytes(random_bytes(self.entropy()));
        let later = pause.map_or_else(|| next_publication(&state, at, random), |after| throttled_until(at, after));
        let (claim, next) = (*claim, if is_over { None } else { Some(later) });
        let not_before = next.filter(|_| wants_pause);
        let revision = calendar.map(|calendar| calendar.revision);
        changes.bridge.push(Change::EndPublishing { claim, state, revision, next, not_before });
        self.store_changes(changes).await?;
        Ok(label)
    }

    /// Publishes everything. Returns the result, and whether nothing is left to do for the destination, ever.
    async fn published(
        &self,
        claimed: &ClaimedDestination,
        calendar: Option<&Calendar>,
    ) -> Result<(PublishOutcome, bool), Halt> {
        let ClaimedDestination { claim, destination, connection, target, .. } = claimed;
        let org = claim.org;
        let Some(connection) = connection else { return Err(failed(UNREADABLE)) };
        let copies = self.parts.store.copies_of(org, claim.calendar).await?;
        let of = calendar.filter(|_| !destination.ending);
        let is_ending = of.is_none();
        if is_ending && copies.is_empty() && !may_have_unrecorded(claimed) {
            return Ok((PublishOutcome::Done, true));
        }
        if target.is_none() && !is_ending {
            return Err(failed(TARGET_GONE));
        }
        let Some(tokens) = connection.access.tokens().filter(|tokens| tokens.publishing) else {
            return Err(failed(NO_CONSENT));
        };
        if tokens.access_until <= self.now() + TOKEN_LASTS {
            return Err(Halt::NeedsToken);
        }
        let events = match of {
            Some(calendar) => self.events_to_publish(destination, calendar).await?,
            None => Vec::new(),
        };
        let mut publishing = Publishing {
            app: self,
            claim: *claim,
            destination,
            connection,
            targets: self.targets_of(claimed, &copies).await?,
            copies: copies.into_iter().map(|copy| (copy.key, copy)).collect(),
            refused: (0, None),
            left_out: false,
        };
        if may_have_unrecorded(claimed) {
            publishing.adopt().await?;
        }
        publishing.forget_unreachable().await?;
        publishing.send_all(&events).await?;
        if is_ending {
            publishing.forget_rest().await?;
        }
        let is_over = is_ending && publishing.copies.is_empty();
        let outcome = match publishing.refused {
            (0, _) => PublishOutcome::Done,
            (count, reason) => {
                let reason = reason.unwrap_or_default();
                let error = format!("the provider refused {count} of the events, the first one with {reason}");
                PublishOutcome::Partly(error.chars().take(ERROR_MAX).collect())
            }
        };
        Ok((outcome, is_over))
    }

    /// What is to be copied.
    async fn events_to_publish(
        &self,
        destination: &Destination,
        calendar: &Calendar,
    ) -> Result<Vec<(CopyKey, CopyContent)>, Halt> {
        let statuses: &[EventStatus] = match destination.policy {
            PublicationPolicy::None => return Ok(Vec::new()),
            PublicationPolicy::Confirmed => &[EventStatus::Confirmed],
            PublicationPolicy::ConfirmedTentative => &[EventStatus::Confirmed, EventStatus::Tentative],
        };
        let mut window = window(self.now());
        let events = loop {
            if let Some(events) = self.instances_in(destination, statuses, window).await? {
                break events;
            }
            // There are too many to read them at once, so the earliest are enough.
            match first_half(window) {
                Some(half) => window = half,
                None => {
                    return Err(failed(
                        "the calendar has too many events at one time to copy them; delete some of them",
                    ));
                }
            }
        };
        // One read sees all events as they were at one time. Two may miss an event that changes between them.
        if statuses.len() > 1 {
            let again = self.parts.store.find_calendar(destination.org, destination.calendar).await?;
            if again.is_none_or(|again| again.revision != calendar.revision) {
                return Err(Halt::Pause(READ_AGAIN));
            }
        }
        Ok(wanted(destination.policy, &events, calendar.zone))
    }

    /// The instances in the window with one of these statuses, the earliest of each: as many as are copied, if there
    /// are that many. `None` if there are too many to find them.
    async fn instances_in(
        &self,
        destination: &Destination,
        statuses: &[EventStatus],
        window: Span,
    ) -> Result<Option<Vec<Event>>, Halt> {
        let (calendars, page) = ([destination.calendar], Page { limit: READ_AT_ONCE, offset: 0 });
        let mut events = Vec::new();
        for status in statuses.iter().copied() {
            let status = Some(StatusAt { status, now: self.now() });
            let source = Some(EventSource::Internal);
            let filter = InstanceFilter { window, status, source, metadata: MetadataFilter::default() };
            let scope = InstanceScope::Calendars(&calendars);
            let found = self.parts.store.list_instances(destination.org, scope, filter, page).await?;
            let Some(found) = found else { return Ok(None) };
            events.extend(found.data);
        }
        Ok(Some(events))
    }

    /// The provider's identifiers of the calendars that have copies, may have them, or are to have them.
    async fn targets_of(
        &self,
        claimed: &ClaimedDestination,
        copies: &[Copy],
    ) -> Result<BTreeMap<ExternalCalendarId, String>, Halt> {
        let mut targets = BTreeMap::new();
        if let Some(target) = &claimed.target {
            targets.insert(target.id, target.theirs.reference.clone());
        }
        let of_copies = copies.iter().map(|copy| copy.target);
        let missing: BTreeSet<ExternalCalendarId> = of_copies.filter(|id| !targets.contains_key(id)).collect();
        let may_have_moved = may_have_moved(claimed);
        if may_have_moved || !missing.is_empty() {
            let (org, connection) = (claimed.claim.org, claimed.destination.connection);
            let known = self.parts.store.external_calendars(org, connection).await?;
            let is_needed = |known: &ExternalCalendar| may_have_moved || missing.contains(&known.id);
            let known = known.into_iter().map(|known| known.calendar).filter(is_needed);
            targets.extend(known.map(|known| (known.id, known.theirs.reference)));
        }
        Ok(targets)
    }
}

/// Whether copies may exist that are not recorded. After an error too, something may have been sent.
fn may_have_unrecorded(claimed: &ClaimedDestination) -> bool {
    claimed.claim.interrupted || claimed.destination.state.last_error.is_some()
}

/// Whether an attempt that did not end may have written to another calendar, which is not known any more: the
/// destination has changed since everything was last published.
fn may_have_moved(claimed: &ClaimedDestination) -> bool {
    let destination = &claimed.destination;
    let was_changed = destination.version != Version::FIRST;
    let since = destination.state.published_at.is_none_or(|published_at| published_at <= destination.updated_at);
    claimed.claim.interrupted && was_changed && since
}

/// The first half of a window; `None` if it has none.
fn first_half(window: Span) -> Option<Span> {
    let half = (window.end() - window.start()).as_micros() / 2;
    Span::new(window.start(), window.start() + SignedDuration::micros(half)).ok()
}
