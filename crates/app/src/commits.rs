//! The last step of every use case: the commit of its change-set, with the audit entry and the stored answer.

use std::time::Duration;

use kalends_accounts::Action;
use kalends_kernel::{AgentId, MessageId, OrgId, StoreError, Version};
use kalends_notifications::{EventType, Message};
use kalends_plans::{Counted, Metric};
use kalends_quotas::{Period, retry_after_seconds};
use kalends_time::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::{
    Actor, Answer, Answered, App, Approving, ChangeSet, Charge, Guard, Missing, Refusal, Request, StoredAnswer,
    answered::json,
    attempt::Attempt,
    audit::{By, Subject},
    ports::CommitError,
    publishing::makes_publication_due,
    refreshing::makes_refresh_due,
    syncing::makes_due,
};

/// How long the service counts as not ready after a failed write, unless a later write succeeds.
const WRITES_FAIL: SignedDuration = SignedDuration::seconds(10);
/// How long the store may take over a trivial read and still count as ready.
const READY_WITHIN: Duration = Duration::from_secs(3);
/// How long an answer is kept for repetitions of its request.
const ANSWER_KEPT: SignedDuration = SignedDuration::hours(24);

/// The store answers reads but takes no writes.
#[derive(Debug, thiserror::Error)]
#[error("the last change could not be written")]
struct WritesFail;

impl App {
    /// Checks that the store answers. After a failed write (for example, because the disk is full), also checks that
    /// the store takes writes again.
    ///
    /// # Errors
    /// [`Refusal::Store`] if it does not.
    pub async fn ready(&self) -> Result<(), Refusal> {
        let ready = async {
            self.parts.store.ready().await?;
            if let Some(failed_at) = self.writes.failed_at() {
                // A small write may succeed when a larger one has just failed.
                if self.now() - failed_at < WRITES_FAIL {
                    return Err(StoreError::Unavailable(Box::new(WritesFail)));
                }
                self.parts.store.writable().await?;
                // Another write may have failed since.
                self.writes.works_since(failed_at);
            }
            Ok::<(), StoreError>(())
        };
        tokio::time::timeout(READY_WITHIN, ready).await.map_err(|late| StoreError::Unavailable(Box::new(late)))??;
        Ok(())
    }

    /// Adds the answer and, unless there is one already, the audit entry to `changes`, and commits them.
    pub(crate) async fn commit<T: Send>(
        &self,
        request: &Request,
        key_prefix: Option<&str>,
        subject: Subject,
        changes: ChangeSet,
        answered: Answered<T>,
    ) -> Result<Answered<T>, Attempt> {
        self.commit_answer(request, key_prefix, subject, changes, &answered.answer).await?;
        Ok(answered)
    }

    async fn commit_answer(
        &self,
        request: &Request,
        key_prefix: Option<&str>,
        subject: Subject,
        mut changes: ChangeSet,
        answer: &Answer,
    ) -> Result<(), Attempt> {
        let now = self.parts.clock.now();
        changes.request = Some(request.id);
        changes.dry_run = request.dry_run;
        if let Some(Approving::Ask(asking)) = &request.approving
            && !request.dry_run
        {
            // Few requests need approval, so this future is not part of every other one.
            return Err(Box::pin(self.ask(request, subject, changes, asking)).await);
        }
        if changes.audit.is_empty()
            && let Some(action) = request.operation.action
        {
            let by = By::Request { request, key_prefix };
            changes.audit.push(self.audit_entry(action, subject, &by, answer.status, now));
        }
        if let Some(Approving::Make(approved)) = &request.approving {
            Box::pin(self.add_approved(request, approved, answer, &mut changes)).await?;
        }
        changes.answer = stored_answer(request, answer, now);
        self.commit_changes(changes).await
    }

    /// Keeps the answer of a request that changed nothing, for its repetitions. Without an idempotency key, this commits
    /// nothing.
    pub(crate) async fn keep_answer(&self, actor: &Actor, answer: &Answer) -> Result<(), Attempt> {
        let request = &actor.request;
        let Some(stored) = stored_answer(request, answer, self.now()) else { return Ok(()) };
        let mut changes = ChangeSet::new(actor.org());
        (changes.request, changes.answer) = (Some(request.id), Some(stored));
        self.commit_changes(changes).await
    }

    /// Commits `changes`. If they revoke keys, waits until no node accepts them.
    pub(crate) async fn commit_changes(&self, changes: ChangeSet) -> Result<(), Attempt> {
        let is_kept = !changes.dry_run;
        let alters_principals = is_kept && changes.alters_principals();
        let revokes = is_kept && changes.revokes_keys();
        self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
        if alters_principals {
            // This process refreshes its cache at once. Other nodes see the new epoch within their lease.
            self.refresh_principals().await;
        }
        if revokes {
            self.wait_out_principals().await;
        }
        Ok(())
    }

    /// Commits `changes` with their entries of the change feed, and wakes the workers and readers of this process for
    /// which that matters.
    pub(crate) async fn store_changes(&self, mut changes: ChangeSet) -> Result<(), CommitError> {
        if changes.dry_run {
            return match self.parts.store.commit(changes).await {
                Err(CommitError::RolledBack) => Ok(()),
                outcome => outcome,
            };
        }
        self.add_entries(&mut changes);
        let (org, is_read) = (changes.org, !changes.messages.is_empty() || !changes.entries.is_empty());
        let (announces, resends) = (!changes.messages.is_empty(), !changes.webhooks.is_empty());
        let (syncs, refreshes) = (makes_due(&changes), makes_refresh_due(&changes));
        let publishes = makes_publication_due(&changes);
        let writes = !changes.letters.is_empty();
        let committed = self.parts.store.commit(changes).await;
        match &committed {
            Err(CommitError::Store(StoreError::Unavailable(_))) => self.writes.fails(self.now()),
            Ok(()) => self.writes.works(),
            _ => {}
        }
        committed?;
        if is_read {
            self.feed_waits.wake(org);
        }
        if announces {
            self.nudges.fan_out.notify_one();
        }
        if resends {
            self.nudges.send.notify_one();
        }
        if writes {
            self.nudges.letters.notify_one();
        }
        if syncs {
            self.nudges.sync.notify_one();
        }
        if refreshes {
            self.nudges.refresh.notify_one();
        }
        if publishes {
            self.nudges.publish.notify_one();
        }
        Ok(())
    }

    /// [`Self::commit`] on behalf of an authenticated caller, with the entries in the journal of its run.
    pub(crate) async fn commit_for<T: Send>(
        &self,
        actor: &Actor,
        agent: Option<AgentId>,
        resource: String,
        mut changes: ChangeSet,
        answered: Answered<T>,
    ) -> Result<Answered<T>, Attempt> {
        if actor.request.run.is_some() {
            // Few requests are part of a run, so their future is not part of every other one.
            Box::pin(self.journal(actor, &mut changes)).await?;
        }
        let subject = Subject { org: actor.org(), agent, resource };
        self.commit(&actor.request, Some(&actor.principal.key_prefix), subject, changes, answered).await
    }

    pub(crate) fn refused_commit(&self, error: CommitError) -> Attempt {
        match error {
            CommitError::Stale => Attempt::Stale,
            CommitError::LimitReached { metric, limit } => Attempt::Refused(Refusal::LimitReached {
                metric,
                limit,
                retry_after: Period::of(self.now()).seconds_left(self.now()),
            }),
            CommitError::TooMany { limited, retry_after } => {
                Attempt::Refused(Refusal::TooMany { limited, retry_after: retry_after_seconds(retry_after) })
            }
            CommitError::EmailTaken => Attempt::Refused(Refusal::EmailTaken),
            CommitError::SlugTaken => Attempt::Refused(Refusal::SlugTaken),
            // As for any request after the deletion: the key is no longer valid.
            CommitError::NoOrganization => Attempt::Refused(Refusal::Unauthorized),
            CommitError::AlreadyAnswered => Attempt::Refused(Refusal::AlreadyAnswered),
            // Only a dry run is rolled back, and that is its success.
            CommitError::RolledBack => Attempt::Refused(Refusal::Contended),
            CommitError::Store(error) => Attempt::Refused(Refusal::Store(error)),
        }
    }

    /// Builds a message about `resource` to the organization's webhook endpoints.
    pub(crate) fn message(
        &self,
        org: OrgId,
        event_type: EventType,
        resource: &impl Serialize,
        version: Version,
        now: Timestamp,
    ) -> Message {
        Message {
            id: MessageId::new(now, self.entropy()),
            org,
            event_type,
            payload: json(resource),
            resource_version: version,
            about: None,
            created_at: now,
        }
    }

    /// Commits a change to an organization by an operator's command, with the audit entry of `action`.
    pub(crate) async fn commit_command(
        &self,
        changes: ChangeSet,
        action: Action,
        command: &str,
    ) -> Result<(), Attempt> {
        let resource = changes.org.to_string();
        self.commit_command_about(resource, changes, action, command).await
    }

    /// [`Self::commit_command`], for a command that changes something else than the organization.
    pub(crate) async fn commit_command_about(
        &self,
        resource: String,
        mut changes: ChangeSet,
        action: Action,
        command: &str,
    ) -> Result<(), Attempt> {
        let org = changes.org;
        let subject = Subject { org, agent: None, resource };
        changes.audit.push(self.audit_entry(action, subject, &By::Command(command), 200, self.now()));
        self.parts.store.commit(changes).await.map_err(|error| match error {
            // It was deleted since it was read. An operator has no key that could be invalid.
            CommitError::NoOrganization => Refusal::missing(Missing::Organization, &org.to_string()).into(),
            error => self.refused_commit(error),
        })
    }
}

/// Adds the limit of the caller's plan for `metric` to `changes`, which uses `amount` of the metric.
pub(crate) fn limit(actor: &Actor, changes: &mut ChangeSet, metric: Metric, amount: u64, now: Timestamp) {
    let limit = actor.limit(metric);
    match metric.counted() {
        Counted::Existing => changes.guards.extend(limit.map(|limit| Guard::AtMost { metric, limit })),
        Counted::Monthly => changes.charges.push(Charge { metric, period: Period::of(now), amount, limit }),
    }
}

/// The answer to store for repetitions of a request, if it has an idempotency key.
pub(crate) fn stored_answer(request: &Request, answer: &Answer, now: Timestamp) -> Option<StoredAnswer> {
    request.idempotency.map(|idempotency| StoredAnswer {
        scope: idempotency.scope,
        fingerprint: idempotency.fingerprint,
        answer: answer.clone(),
        created_at: now,
        expires_at: now + ANSWER_KEPT,
    })
}
