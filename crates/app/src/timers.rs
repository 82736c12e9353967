//! Work that falls due without a request: reminders, starts and ends of events, emails that remind guests, and expired
//! holds and proposals.
//!
//! The use cases for events claim a batch of timers, so that no two nodes process the same ones. Proposals are not
//! claimed. Each use case decides with the pure rules of the domain crates, and commits. The change-set, not the
//! claim, ensures that each thing happens once: it contains the messages together with the write that records them,
//! and is stale if the row has changed in the meantime.

use futures::stream::{self, StreamExt as _};
use kalends_calendars::{
    Advance, Change, EmittedUntil, EndedHold, Event, HappeningKind, HoldEnd, Reminders,
    ports::{ClaimedTimer, TimerQueue},
};
use kalends_kernel::{OrgId, StoreError};
use kalends_notifications::{EventType, Letter, Message};
use kalends_proposals::Change as ProposalChange;
use kalends_time::{SignedDuration, Timestamp};

use crate::{App, ChangeSet, Done, Refusal, ports::CommitError};

/// How long a claim lasts: the delay before another node does the work of a node that crashed. A batch takes a
/// fraction of it.
const CLAIM: SignedDuration = SignedDuration::seconds(10);
/// How many timers of one organization go into one change-set.
const TOGETHER: usize = 128;
/// The most bytes of messages and emails in one change-set, unless a single step has more.
const TOGETHER_BYTES: usize = 1 << 20;
/// How many bytes of messages and emails wait to be committed. A single event may have more.
const UNCOMMITTED_BYTES: usize = 8 << 20;
/// How many change-sets are committed at a time. Other use cases need connections too.
const COMMITS: usize = 4;

/// The writes for one due thing: a timer or an expired proposal.
#[derive(Debug, Clone)]
struct Step {
    org: OrgId,
    calendars: Vec<Change>,
    proposals: Vec<ProposalChange>,
    messages: Vec<Message>,
    letters: Vec<Letter>,
    /// When each of the things fell due.
    due: Vec<Timestamp>,
}

impl App {
    /// Announces the due reminders, starts and ends of up to `limit` events, each once, even if several nodes run
    /// this.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn announce_due(&self, limit: u32) -> Result<Done, Refusal> {
        self.process_timers(TimerQueue::Events, limit).await
    }

    /// Recomputes the timers of up to `limit` events whose calendar's default reminders were changed.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn recompute_timers(&self, limit: u32) -> Result<Done, Refusal> {
        self.process_timers(TimerQueue::Again, limit).await
    }

    async fn process_timers(&self, queue: TimerQueue, limit: u32) -> Result<Done, Refusal> {
        let now = self.now();
        let claimed = self.parts.store.claim_timers(queue, now, now + CLAIM, limit).await?;
        let found = claimed.len();
        let (mut steps, mut weight, mut late) = (Vec::with_capacity(found), 0, Vec::new());
        for timer in &claimed {
            match self.announcement(timer, now).await {
                Ok(step) => {
                    weight += step.weight();
                    steps.push(step);
                }
                // It is due again once its claim has expired.
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(org = %timer.org, event = %timer.event, error, "an event cannot be announced");
                }
            }
            if weight > UNCOMMITTED_BYTES {
                late.extend(self.commit_steps(std::mem::take(&mut steps)).await?);
                weight = 0;
            }
        }
        late.extend(self.commit_steps(steps).await?);
        Ok(Done { late, ..Done::found(found, limit) })
    }

    /// Marks up to `limit` expired holds as expired, each once, even if several nodes run this. They stopped blocking
    /// when they expired. This updates their status and announces it.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn expire_holds(&self, limit: u32) -> Result<Done, Refusal> {
        let now = self.now();
        let claimed = self.parts.store.claim_timers(TimerQueue::Holds, now, now + CLAIM, limit).await?;
        let found = claimed.len();
        let steps = claimed.into_iter().map(|timer| self.expired(timer, now)).collect();
        Ok(Done { late: self.commit_steps(steps).await?, ..Done::found(found, limit) })
    }

    /// Sets timers for up to `limit` events that were created before timers existed. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn seed_timers(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.seed_timers(self.now(), limit).await?)
    }

    /// Removes up to `limit` timers of calendars that are no longer visible, and returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_timers(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_timers(limit).await? < u64::from(limit))
    }

    /// The messages about an event at `now`, and the time of its next timer.
    async fn announcement(&self, timer: &ClaimedTimer, now: Timestamp) -> Result<Step, StoreError> {
        let Some(event) = &timer.seen else { return Ok(removed(timer)) };
        let reminders = Reminders::effective(event.reminders.as_ref(), timer.defaults.as_ref());
        let (mut messages, mut letters, mut due) = (Vec::new(), Vec::new(), Vec::new());
        for happening in event.happenings(&reminders, timer.emitted_until, now) {
            let Some(occurrence) = event.event_of(&happening) else { continue };
            let event_type = match happening.kind {
                HappeningKind::GuestReminder => {
                    // One email is enough for several reminders that are due at once.
                    if letters.is_empty() {
                        letters = self.reminders_of_guests(event, now).await?;
                    }
                    due.push(happening.at);
                    continue;
                }
                HappeningKind::Reminder => EventType::EventReminder,
                HappeningKind::Start => EventType::EventStarted,
                HappeningKind::End => EventType::EventEnded,
            };
            let version = occurrence.version;
            let resource = kalends_wire::Event::from(occurrence);
            messages.push(self.message(timer.org, event_type, &resource, version, now));
            due.push(happening.at);
        }
        // Never move backwards: a clock that is behind must not announce anything twice.
        let emitted_until = EmittedUntil {
            all: timer.emitted_until.all.max(now),
            reminders: timer.emitted_until.reminders.max(timer.emitted_until.all).max(now),
        };
        let next = event.look_after(timer.defaults.as_ref(), emitted_until).map(|due_at| (due_at, emitted_until));
        Ok(Step { messages, letters, due, ..Step::of(timer.org, advanced(timer, next)) })
    }

    /// The emails that remind the guests who booked an event. None once the event has begun.
    async fn reminders_of_guests(&self, event: &Event, now: Timestamp) -> Result<Vec<Letter>, StoreError> {
        if event.times.span.start() <= now {
            return Ok(Vec::new());
        }
        match self.parts.store.bookings_of_event(event.org, event.id).await {
            Ok(None) => Ok(Vec::new()),
            Ok(Some((page, bookings))) => {
                let letters = bookings.iter().filter_map(|booking| self.guest_reminder(&page, booking, event, now));
                Ok(letters.collect())
            }
            // It will not become readable, and must not hold up other timers.
            Err(error @ StoreError::Corrupt(_)) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(org = %event.org, event = %event.id, error, "guests cannot be reminded");
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    /// The expiry of a hold at `now`.
    fn expired(&self, timer: ClaimedTimer, now: Timestamp) -> Step {
        let removed = removed(&timer);
        let Some(seen) = timer.seen else { return removed };
        let (Some(event), Some(hold)) = (seen.expired(now), seen.hold) else { return removed };
        let mut changes = ChangeSet::new(timer.org);
        self.end_hold(EndedHold { seen, event, end: HoldEnd::Expired }, now, &mut changes);
        match changes.calendars.pop() {
            Some(change) => {
                Step { messages: changes.messages, due: vec![hold.expires_at], ..Step::of(timer.org, change) }
            }
            None => removed,
        }
    }

    /// Marks up to `limit` expired proposals as expired, each once, even if several nodes run this. They stopped
    /// reserving times and taking responses when they expired.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn expire_proposals(&self, limit: u32) -> Result<Done, Refusal> {
        let now = self.now();
        let overdue = self.parts.store.overdue_proposals(now, limit).await?;
        let found = overdue.len();
        let mut steps = Vec::with_capacity(found);
        for seen in overdue {
            let Ok(proposal) = seen.expired(now) else { continue };
            let expired = kalends_wire::ProposalExpired { proposal_id: proposal.id() };
            let (org, version) = (proposal.org(), proposal.version());
            let due = vec![proposal.expires_at()];
            let Ok(change) = ProposalChange::update(&seen, proposal) else { continue };
            steps.push(Step {
                org,
                calendars: self.unreserve(&seen).await?,
                proposals: vec![change],
                messages: vec![self.message(org, EventType::ProposalExpired, &expired, version, now)],
                letters: Vec::new(),
                due,
            });
        }
        Ok(Done { late: self.commit_steps(steps).await?, ..Done::found(found, limit) })
    }

    /// Removes up to `limit` reservations of ended proposals, and returns whether that was all. Such reservations are
    /// on calendars that were not visible when their proposals ended.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_reservations(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_reservations(self.now(), limit).await? < u64::from(limit))
    }

    /// Commits the steps, those of one organization together, and returns how late each was. If a change-set is
    /// stale, each of its steps is tried alone. A step that is still stale was overtaken by another write, which set
    /// a new timer.
    async fn commit_steps(&self, steps: Vec<Step>) -> Result<Vec<SignedDuration>, Refusal> {
        let mut commits = stream::iter(together(steps).into_iter().map(|steps| self.commit_together(steps)))
            .buffer_unordered(COMMITS);
        let mut late = Vec::new();
        while let Some(committed) = commits.next().await {
            late.extend(committed?);
        }
        Ok(late)
    }

    async fn commit_together(&self, steps: Vec<Step>) -> Result<Vec<SignedDuration>, Refusal> {
        let several = steps.len() > 1;
        match self.try_commit(steps.clone()).await {
            Err(CommitError::Stale) if several => {}
            outcome => return self.judged(outcome),
        }
        let mut late = Vec::new();
        for step in steps {
            late.extend(self.judged(self.try_commit(vec![step]).await)?);
        }
        Ok(late)
    }

    async fn try_commit(&self, steps: Vec<Step>) -> Result<Vec<Timestamp>, CommitError> {
        let Some(first) = steps.first() else { return Ok(Vec::new()) };
        let (mut changes, mut due) = (ChangeSet::new(first.org), Vec::new());
        for step in steps {
            changes.calendars.extend(step.calendars);
            changes.proposals.extend(step.proposals);
            changes.messages.extend(step.messages);
            changes.letters.extend(step.letters);
            due.extend(step.due);
        }
        self.store_changes(changes).await.map(|()| due)
    }

    /// How late the committed things were, if they were committed.
    fn judged(&self, outcome: Result<Vec<Timestamp>, CommitError>) -> Result<Vec<SignedDuration>, Refusal> {
        match outcome {
            Ok(due) => {
                let now = self.now();
                Ok(due.into_iter().map(|due| now - due).collect())
            }
            // Another writer was faster, either with this or an earlier change, or with the account's deletion.
            Err(CommitError::Stale | CommitError::NoOrganization) => Ok(Vec::new()),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(other) => {
                tracing::error!(error = &other as &dyn std::error::Error, "a due change could not be written");
                Ok(Vec::new())
            }
        }
    }
}

const fn advanced(timer: &ClaimedTimer, next: Option<(Timestamp, EmittedUntil)>) -> Change {
    let ClaimedTimer { org, calendar, event, version, .. } = *timer;
    Change::AdvanceTimer(Advance { org, calendar, event, seen: version, next })
}

/// The step that removes a timer, because nothing is left to announce.
fn removed(timer: &ClaimedTimer) -> Step {
    Step::of(timer.org, advanced(timer, None))
}

impl Step {
    /// The size of its messages and emails, in bytes.
    fn weight(&self) -> usize {
        let messages = self.messages.iter().map(|message| message.payload.len());
        messages.chain(self.letters.iter().map(|letter| letter.content.len())).sum()
    }

    /// One change without a message.
    fn of(org: OrgId, change: Change) -> Self {
        Self {
            org,
            calendars: vec![change],
            proposals: Vec::new(),
            messages: Vec::new(),
            letters: Vec::new(),
            due: Vec::new(),
        }
    }
}

/// Groups the steps by organization, up to the limits of one change-set.
fn together(mut steps: Vec<Step>) -> Vec<Vec<Step>> {
    steps.sort_by_key(|step| step.org);
    let mut all: Vec<Vec<Step>> = Vec::new();
    let mut bytes = 0;
    for step in steps {
        let weight = step.weight();
        bytes += weight;
        match all.last_mut() {
            Some(last)
                if last.len() < TOGETHER
                    && bytes <= TOGETHER_BYTES
                    && last.first().is_some_and(|first| first.org == step.org) =>
            {
                last.push(step);
            }
            _ => {
                bytes = weight;
                all.push(vec![step]);
            }
        }
    }
    all
}
