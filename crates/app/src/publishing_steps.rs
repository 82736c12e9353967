//! One attempt to publish a calendar: what is sent to the provider, and what is recorded of the results.

use std::{collections::BTreeMap, time::Duration};

use kalends_bridge::{
    CLAIM_LASTS, Change, Connection, Copy, CopyContent, CopyKey, CopyState, Destination, PublishClaim, PublishOutcome,
    Recorded, STEPS_AT_ONCE, Step, adopted, intents, plan, window,
};
use kalends_kernel::{ExternalCalendarId, StoreError};
use kalends_time::SignedDuration;

use crate::{
    App, ChangeSet,
    ports::{CommitError, ProviderError, PublishedStep},
};

/// The longest error that is stored, in characters.
pub(crate) const ERROR_MAX: usize = 255;
/// The error of a destination whose calendar is gone.
pub(crate) const TARGET_GONE: &str = "the account no longer has the calendar; choose another one";
/// The error of a destination whose calendar the account may not change.
const FORBIDDEN: &str =
    "the account may not write to this calendar; choose another one, or consent again to the copying of events";
/// The error of a destination whose user has not consented to copies.
pub(crate) const NO_CONSENT: &str =
    "the consent of the account does not include the copying of events; consent again to it";

/// Why an attempt ends before everything was published.
pub(crate) enum Halt {
    /// The attempt has this result.
    Outcome(PublishOutcome),
    /// The provider wants a pause of this length.
    Pause(Duration),
    /// The access token is not valid any more.
    NeedsToken,
    /// Nothing can be recorded.
    Commit(CommitError),
}

impl From<CommitError> for Halt {
    fn from(error: CommitError) -> Self {
        Self::Commit(error)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Commit(CommitError::Store(error))
    }
}

impl From<ProviderError> for Halt {
    fn from(error: ProviderError) -> Self {
        match error {
            // Another token would have the same scopes.
            ProviderError::Lapsed(code) if code == "insufficient_scope" => failed(FORBIDDEN),
            ProviderError::Lapsed(_) => Self::NeedsToken,
            error @ (ProviderError::Unavailable(_) | ProviderError::Malformed(_)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot write to a calendar provider");
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                failed(&format!("{error}{cause}"))
            }
        }
    }
}

/// The end of an attempt with this error.
pub(crate) fn failed(error: &str) -> Halt {
    Halt::Outcome(PublishOutcome::Failed(error.chars().take(ERROR_MAX).collect()))
}

/// One attempt to publish a calendar.
pub(crate) struct Publishing<'a> {
    pub(crate) app: &'a App,
    pub(crate) claim: PublishClaim,
    pub(crate) destination: &'a Destination,
    pub(crate) connection: &'a Connection,
    /// The provider's identifiers of the calendars that have copies, or are to have them. Those that are gone from the
    /// account are not among them.
    pub(crate) targets: BTreeMap<ExternalCalendarId, String>,
    /// The copies as they are recorded.
    pub(crate) copies: BTreeMap<CopyKey, Copy>,
    /// How many steps the provider refused, and the reason for the first of them.
    pub(crate) refused: (usize, Option<String>),
    /// Whether the provider left out steps while it did others.
    pub(crate) left_out: bool,
}

impl Publishing<'_> {
    /// Records copies that exist at the provider and are not recorded, and deletes second copies. Those that ended
    /// before the window stay as they are. A day more is read, because the provider may return whole days in another zone.
    pub(crate) async fn adopt(&mut self) -> Result<(), Halt> {
        let provider = self.connection.provider;
        let since = window(self.app.now()).start() - SignedDuration::days(1);
        let mut targets: Vec<(ExternalCalendarId, String)> = self.targets.clone().into_iter().collect();
        // A copy that is where it should be is kept, and one elsewhere is the second one.
        targets.sort_by_key(|(target, _)| *target != self.destination.target);
        for (target, reference) in targets {
            let is_known = target == self.destination.target || self.copies.values().any(|copy| copy.target == target);
            let providers = &self.app.parts.calendar_providers;
            let (access, calendar) = (&self.connection.access, self.claim.calendar);
            let found = match providers.copies(provider, access, &reference, calendar, since).await {
                Ok(found) => found,
                // It may be a calendar that the account cannot read. Few attempts have written to it.
                Err(_) if !is_known => Vec::new(),
                Err(error) => return Err(error.into()),
            };
            if !is_known {
                // There may be many, so the claim has to last longer.
                self.record(Vec::new(), Vec::new()).await?;
            }
            let copies: Vec<Copy> = self.copies.values().cloned().collect();
            let adopted = adopted(&found, &copies, target);
            self.forget(adopted.gone).await?;
            for written in adopted.copies.chunks(STEPS_AT_ONCE) {
                self.record(written.to_vec(), Vec::new()).await?;
            }
            for steps in adopted.duplicates.chunks(STEPS_AT_ONCE) {
                // Steps of one call concern different copies, which may have one key here.
                for step in steps {
                    let results = self.call(target, std::slice::from_ref(step)).await?;
                    if let Some(PublishedStep::Later(after)) = results.first() {
                        return Err(paused(*after));
                    }
                }
                self.record(Vec::new(), Vec::new()).await?;
            }
        }
        Ok(())
    }

    /// Forgets the copies in calendars that are gone from the account: they are gone with them.
    pub(crate) async fn forget_unreachable(&mut self) -> Result<(), Halt> {
        let gone = self.copies.values().filter(|copy| !self.targets.contains_key(&copy.target));
        let gone: Vec<CopyKey> = gone.map(|copy| copy.key).collect();
        self.forget(gone).await
    }

    /// Forgets the copies that a person changed, of a destination that ends.
    pub(crate) async fn forget_rest(&mut self) -> Result<(), Halt> {
        let changed = self.copies.values().filter(|copy| copy.state == CopyState::Diverged);
        let changed: Vec<CopyKey> = changed.map(|copy| copy.key).collect();
        self.forget(changed).await
    }

    async fn forget(&mut self, keys: Vec<CopyKey>) -> Result<(), Halt> {
        if keys.is_empty() {
            return Ok(());
        }
        self.record(Vec::new(), keys).await
    }

    /// Makes the copies equal to what is wanted.
    pub(crate) async fn send_all(&mut self, events: &[(CopyKey, CopyContent)]) -> Result<(), Halt> {
        let target = self.destination.target;
        let copies: Vec<Copy> = self.copies.values().cloned().collect();
        let mut plan = plan(events, &copies, target, window(self.app.now()));
        self.forget(std::mem::take(&mut plan.forgotten)).await?;
        loop {
            let group = plan.next_group();
            if group.is_empty() {
                return if self.left_out { Err(paused(None)) } else { Ok(()) };
            }
            let concerned: Vec<Copy> = group.iter().filter_map(|step| self.copies.get(&step.key())).cloned().collect();
            let intended = intents(&group, &concerned);
            if !intended.is_empty() {
                self.record(intended, Vec::new()).await?;
            }
            let mut by_target: BTreeMap<ExternalCalendarId, Vec<Step>> = BTreeMap::new();
            for step in group {
                by_target.entry(self.target_of(&step)).or_default().push(step);
            }
            for (target, steps) in by_target {
                let not_done = self.send(target, &steps).await?;
                not_done.into_iter().for_each(|key| plan.give_up(key));
            }
        }
    }

    /// The calendar that a step concerns. A deletion concerns the one in which the copy is.
    fn target_of(&self, step: &Step) -> ExternalCalendarId {
        let recorded = match step {
            Step::Delete { key, .. } => self.copies.get(key).map(|copy| copy.target),
            Step::Create { .. } | Step::Update { .. } => None,
        };
        recorded.unwrap_or(self.destination.target)
    }

    /// Sends steps, and records their results. Returns the keys of those that were not done.
    async fn send(&mut self, target: ExternalCalendarId, steps: &[Step]) -> Result<Vec<CopyKey>, Halt> {
        let results = self.call(target, steps).await?;
        let (mut written, mut forgotten, mut not_done) = (Vec::new(), Vec::new(), Vec::new());
        let mut pauses: Vec<Option<Duration>> = Vec::new();
        for (step, result) in steps.iter().zip(results) {
            kalends_metrics::PUBLICATION_STEPS.with_label_values(&[label(&result)]).inc();
            match result {
                PublishedStep::Done(reference) => match step.done(target, reference) {
                    Recorded::Written(copy) => written.push(copy),
                    Recorded::Gone(key) => forgotten.push(key),
                },
                PublishedStep::Diverged => {
                    written.extend(self.copies.get(&step.key()).map(Copy::diverged));
                    not_done.push(step.key());
                }
                PublishedStep::Later(after) => {
                    pauses.push(after);
                    not_done.push(step.key());
                }
                PublishedStep::Refused(reason) => {
                    let (count, first) = &mut self.refused;
                    *count += 1;
                    first.get_or_insert(reason);
                    not_done.push(step.key());
                }
            }
        }
        self.record(written, forgotten).await?;
        let some_done = pauses.len() < steps.len();
        // The longest pause counts.
        match pauses.into_iter().max() {
            // One event that the provider cannot do must not stop all others.
            Some(None) if some_done => {
                self.left_out = true;
                Ok(not_done)
            }
            Some(after) => Err(paused(after)),
            None => Ok(not_done),
        }
    }

    async fn call(&self, target: ExternalCalendarId, steps: &[Step]) -> Result<Vec<PublishedStep>, Halt> {
        let Some(reference) = self.targets.get(&target) else { return Err(failed(TARGET_GONE)) };
        let (provider, access) = (self.connection.provider, &self.connection.access);
        let providers = &self.app.parts.calendar_providers;
        let results = providers.publish(provider, access, reference, self.claim.calendar, steps).await?;
        if results.len() == steps.len() {
            return Ok(results);
        }
        Err(ProviderError::Malformed("it did not answer every step".into()).into())
    }

    /// Records copies under the claim, which lasts longer then.
    async fn record(&mut self, written: Vec<Copy>, forgotten: Vec<CopyKey>) -> Result<(), Halt> {
        let until = self.app.now() + CLAIM_LASTS;
        let mut changes = ChangeSet::new(self.claim.org);
        let (claim, copies) = (self.claim, written.clone());
        changes.bridge.push(Change::RecordCopies { claim, written, forgotten: forgotten.clone(), until });
        self.app.store_changes(changes).await?;
        for key in forgotten {
            self.copies.remove(&key);
        }
        self.copies.extend(copies.into_iter().map(|copy| (copy.key, copy)));
        Ok(())
    }
}

/// The end of an attempt because the provider wants a pause.
fn paused(after: Option<Duration>) -> Halt {
    after.map_or(Halt::Outcome(PublishOutcome::Throttled), Halt::Pause)
}

fn label(result: &PublishedStep) -> &'static str {
    match result {
        PublishedStep::Done(_) => "done",
        PublishedStep::Diverged => "diverged",
        PublishedStep::Later(_) => "later",
        PublishedStep::Refused(_) => "refused",
    }
}
