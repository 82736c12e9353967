//! Decisions on writes that wait for approval, and reading them.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use kalends_accounts::Action;
use kalends_approvals::{APPROVALS_KEPT, Approval, Status, ports::ApprovalFilter};
use kalends_kernel::{ApprovalId, KeyId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;
use kalends_wire as wire;
use tokio::time::Instant;

use crate::{
    Actor, Answered, App, Caller, ChangeSet, Done, Missing, Refusal, Request,
    approvals::outcome,
    approving::Approved,
    attempt::{Attempt, retry_stale},
    audit::{By, Subject},
    ports::CommitError,
};

/// How often a wait looks for the decisions of other nodes.
const LOOKS_EVERY: Duration = Duration::from_secs(2);
/// How many approvals of an organization one read of a takeover returns.
const READ_AT_ONCE: u32 = 100;

/// An approval that is about to be carried out, with the caller in whose name the request is made.
pub struct ToMake {
    /// The approval, and who approved it.
    pub approved: Arc<Approved>,
    /// The key that asked; `None` if it is no longer in force.
    pub caller: Option<Arc<Caller>>,
}

impl App {
    /// The approvals that the caller reaches, the newest first. Their results are left out, because they may be long.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for the approvals of another agent; [`Refusal::NotFound`] for an unknown agent.
    pub async fn list_approvals(
        &self,
        actor: &Actor,
        status: Option<Status>,
        agent: Option<&str>,
        page: Page,
    ) -> Result<Listed<wire::Approval>, Refusal> {
        let agent = match agent {
            Some(id) => Some(self.agent(actor, id).await?.id),
            None => actor.narrowed_to(),
        };
        let filter = ApprovalFilter { agent, status: status.map(|status| (status, self.now())) };
        let listed = self.parts.store.list_approvals(actor.org(), filter, page).await?;
        Ok(listed.map(|approval| wire::Approval { result: None, ..self.shown_approval(approval) }))
    }

    /// An approval. If it is pending, waits for the decision for up to `wait`, or until the node stops.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::OutOfReach`] for that of another agent; [`Refusal::TooManyWaits`] if the key waits
    /// too often at once.
    pub async fn approval(&self, actor: &Actor, id: &str, wait: Duration) -> Result<wire::Approval, Refusal> {
        let until = Instant::now() + wait;
        let mut waiting = if wait.is_zero() { None } else { self.feed_wait(actor)? };
        let found = self.found_approval(actor, id).await?;
        let (org, approval, mut expires_at, mut status) = (found.org, found.id, found.expires_at, found.state.status());
        let Some(waiting) = waiting.as_mut().filter(|_| found.status(self.now()) == Status::Pending) else {
            return Ok(self.shown_approval(found));
        };
        // The whole approval may be long. It is read again when the wait is over.
        while status.at(self.now(), expires_at) == Status::Pending
            && Instant::now() < until
            && !self.feed_waits.have_ended()
        {
            // Decisions of this node wake it. It looks for those of others.
            waiting.until_woken(until.min(Instant::now() + LOOKS_EVERY)).await;
            let _turn = waiting.turn().await;
            let Some(read) = self.parts.store.approval_status(org, approval).await? else { break };
            (status, expires_at) = read;
        }
        let _turn = waiting.turn().await;
        Ok(self.shown_approval(self.found_approval(actor, id).await?))
    }

    /// Denies the write. Denying it again changes nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::ApprovalDecided`].
    pub async fn deny_approval(
        &self,
        actor: &Actor,
        id: &str,
        reason: Option<String>,
    ) -> Result<Answered<wire::Approval>, Refusal> {
        let by = actor.principal.key_prefix.as_str();
        self.decide_approval(actor, id, Status::Denied, |approval, now| approval.denied(by, reason.clone(), now)).await
    }

    /// Cancels the write. Cancelling it again changes nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::OutOfReach`] for that of another agent; [`Refusal::ApprovalDecided`].
    pub async fn cancel_approval(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Approval>, Refusal> {
        let by = actor.principal.key_prefix.as_str();
        self.decide_approval(actor, id, Status::Cancelled, |approval, now| approval.cancelled(by, now)).await
    }

    /// What is needed to make a request that is approved now; `None` if it was made before, so that there is nothing to
    /// do. What the key that asked may do is checked when the request is made.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::ApprovalDecided`] if it was decided otherwise, or expired.
    pub async fn approval_to_make(&self, actor: &Actor, id: &str) -> Result<Option<ToMake>, Refusal> {
        let approval = self.found_approval(actor, id).await?;
        match approval.status(self.now()) {
            Status::Pending => {}
            Status::Approved | Status::Failed => return Ok(None),
            status => return Err(Refusal::ApprovalDecided(status)),
        }
        let caller = self.caller_of(&approval).await?;
        let by = actor.principal.key_prefix.clone();
        Ok(Some(ToMake { approved: Arc::new(Approved { approval, by }), caller }))
    }

    /// The key that asked, as it is now; `None` if it is no longer in force.
    async fn caller_of(&self, approval: &Approval) -> Result<Option<Arc<Caller>>, Refusal> {
        let Some(key) = self.parts.store.find_scoped_key(approval.org, approval.key).await? else { return Ok(None) };
        let principal = self.parts.store.find_principal(key.hash).await?;
        Ok(principal.map(|principal| Arc::new(self.caller(Arc::new(principal)))))
    }

    /// Records the outcome of an approved request, unless its own commit did. A request that was refused, or that changed
    /// nothing, has no commit. Returns the approval as it is afterwards.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::ApprovalDecided`] if it was decided otherwise in the meantime.
    pub async fn settle_approval(
        &self,
        actor: &Actor,
        Approved { approval, by }: &Approved,
        status: u16,
        body: Option<String>,
    ) -> Result<Answered<wire::Approval>, Refusal> {
        let id = approval.id.to_string();
        let outcome = outcome(&approval.operation, status, body);
        let has_failed = status >= 400;
        retry_stale(|| async {
            let seen = self.found_approval(actor, &id).await?;
            let now = self.now();
            let decided = if has_failed {
                seen.failed(by, outcome.clone(), now)
            } else {
                seen.approved(by, outcome.clone(), now)
            };
            match decided {
                Ok(decided) => self.commit_decision(actor, &seen, decided).await,
                Err(decided) if matches!(decided.0, Status::Approved | Status::Failed) => {
                    self.repeated_decision(actor, seen).await
                }
                Err(decided) => Err(Refusal::ApprovalDecided(decided.0).into()),
            }
        })
        .await
    }

    /// The answer to a decision that was made before.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Store`].
    pub async fn decided_approval(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Approval>, Refusal> {
        let approval = self.found_approval(actor, id).await?;
        self.repeated_decision(actor, approval).await.map_err(Attempt::into_refusal)
    }

    /// The answer to a decision that changes nothing.
    async fn repeated_decision(&self, actor: &Actor, approval: Approval) -> Result<Answered<wire::Approval>, Attempt> {
        let answered = Answered::shows(&actor.request, self.shown_approval(approval), None);
        self.keep_answer(actor, &answered.answer).await?;
        Ok(answered)
    }

    async fn decide_approval(
        &self,
        actor: &Actor,
        id: &str,
        wanted: Status,
        decide: impl Fn(&Approval, Timestamp) -> Result<Approval, kalends_approvals::Decided> + Send + Sync,
    ) -> Result<Answered<wire::Approval>, Refusal> {
        retry_stale(|| async {
            let seen = self.found_approval(actor, id).await?;
            match decide(&seen, self.now()) {
                Ok(decided) => self.commit_decision(actor, &seen, decided).await,
                Err(decided) if decided.0 == wanted => self.repeated_decision(actor, seen).await,
                Err(decided) => Err(Refusal::ApprovalDecided(decided.0).into()),
            }
        })
        .await
    }

    async fn commit_decision(
        &self,
        actor: &Actor,
        seen: &Approval,
        decided: Approval,
    ) -> Result<Answered<wire::Approval>, Attempt> {
        let mut changes = ChangeSet::new(actor.org());
        let (agent, id) = (decided.agent, decided.id);
        let shown = self.shown_approval(decided.clone());
        self.add_decision(seen, decided, &mut changes).await?;
        let answer = Answered::shows(&actor.request, shown, None);
        self.commit_for(actor, Some(agent), id.to_string(), changes, answer).await
    }

    /// Cancels the writes that wait with these keys, which were revoked: they could not be made any more, and free their
    /// times. `by` revoked the keys. What cannot be cancelled expires. This follows the commit that revokes the keys,
    /// because other nodes accept a key for a while after it, and the key may ask for more writes until then.
    pub(crate) async fn cancel_approvals_of(&self, request: &Request, org: OrgId, by: &str, keys: &[KeyId]) {
        if request.dry_run {
            return;
        }
        let cause = By::Request { request, key_prefix: Some(by) };
        for key in keys {
            self.cancel_approvals_of_key(org, by, *key, &cause).await;
        }
    }

    async fn cancel_approvals_of_key(&self, org: OrgId, by: &str, key: KeyId, cause: &By<'_>) {
        if let Err(error) = self.try_cancel_approvals_of_key(org, by, key, cause).await {
            tracing::error!(%org, error = &error as &dyn std::error::Error, "the writes of a revoked key wait on");
        }
    }

    /// Cancels the writes that wait with the key, all in one commit.
    async fn try_cancel_approvals_of_key(
        &self,
        org: OrgId,
        by: &str,
        key: KeyId,
        cause: &By<'_>,
    ) -> Result<(), Refusal> {
        let request = match cause {
            By::Request { request, .. } => Some(request.id),
            By::Command(_) | By::Duty(_) => None,
        };
        // Somebody may decide one of them in the meantime. Then the others are read again.
        retry_stale(|| async {
            let now = self.now();
            let mut changes = ChangeSet::new(org);
            changes.request = request;
            for seen in self.parts.store.pending_approvals_of_key(org, key, now).await? {
                let Ok(cancelled) = seen.cancelled(by, now) else { continue };
                self.add_decision(&seen, cancelled, &mut changes).await?;
                let subject = Subject { org, agent: Some(seen.agent), resource: seen.id.to_string() };
                changes.audit.push(self.audit_entry(Action::ApprovalCancel, subject, cause, 200, now));
            }
            if changes.approvals.is_empty() {
                return Ok(());
            }
            self.store_changes(changes).await.map_err(|error| self.refused_commit(error))
        })
        .await
    }

    /// Cancels all writes of an organization that wait with revoked keys, after a takeover that revoked all of its keys:
    /// they could not be made any more, and free their times. `by` took over. What cannot be cancelled expires.
    pub(crate) async fn cancel_approvals_in(&self, org: OrgId, by: &str, cause: &By<'_>) {
        let mut tried = BTreeSet::new();
        loop {
            let waiting = match self.revoked_keys_that_wait(org).await {
                Ok(waiting) => waiting,
                Err(error) => {
                    tracing::error!(
                        %org,
                        error = &error as &dyn std::error::Error,
                        "the writes of revoked keys wait on"
                    );
                    return;
                }
            };
            // Keys are read again, because a decision between two pages may have hidden one. Each is tried once: what
            // waits with it afterwards cannot be cancelled.
            let found: Vec<KeyId> = waiting.into_iter().filter(|key| tried.insert(*key)).collect();
            if found.is_empty() {
                return;
            }
            for key in found {
                self.cancel_approvals_of_key(org, by, key, cause).await;
            }
        }
    }

    /// The keys of an organization that are not in force, and with which writes wait.
    async fn revoked_keys_that_wait(&self, org: OrgId) -> Result<BTreeSet<KeyId>, StoreError> {
        let filter = ApprovalFilter { agent: None, status: Some((Status::Pending, self.now())) };
        let (mut waiting, mut page) = (BTreeSet::new(), Page { limit: READ_AT_ONCE, offset: 0 });
        loop {
            let Listed { data, total } = self.parts.store.list_approvals(org, filter, page).await?;
            waiting.extend(data.iter().map(|approval| approval.key));
            // A page with long approvals ends early.
            page.offset = page.offset.saturating_add(u32::try_from(data.len()).unwrap_or(u32::MAX));
            if data.is_empty() || u64::from(page.offset) >= total {
                break;
            }
        }
        // Read after the approvals: the new owner may have made keys since, and asked with them.
        for key in self.parts.store.list_scoped_keys(org).await? {
            waiting.remove(&key.id);
        }
        Ok(waiting)
    }

    pub(crate) async fn found_approval(&self, actor: &Actor, id: &str) -> Result<Approval, Refusal> {
        let missing = || Refusal::missing(Missing::Approval, id);
        let parsed: ApprovalId = id.parse().map_err(|_| missing())?;
        let found = self.parts.store.find_approval(actor.org(), parsed).await?.ok_or_else(missing)?;
        actor.for_agent(Some(found.agent))?;
        Ok(found)
    }

    /// Marks up to `limit` approvals as expired that nobody decided in time, each once, even if several nodes run this.
    /// They stopped reserving times when they expired. This announces it.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn expire_approvals(&self, limit: u32) -> Result<Done, Refusal> {
        let now = self.now();
        let overdue = self.parts.store.overdue_approvals(now, limit).await?;
        let (found, mut late) = (overdue.len(), Vec::new());
        for seen in overdue {
            let Some(expired) = seen.expired(now) else { continue };
            let mut changes = ChangeSet::new(seen.org);
            self.add_decision(&seen, expired, &mut changes).await.map_err(Attempt::into_refusal)?;
            match self.store_changes(changes).await {
                Ok(()) => late.push(self.now() - seen.expires_at),
                // Somebody else was faster, or the account was deleted.
                Err(CommitError::Stale | CommitError::NoOrganization) => {}
                Err(CommitError::Store(error)) => return Err(error.into()),
                Err(other) => {
                    tracing::error!(error = &other as &dyn std::error::Error, "an approval could not expire");
                }
            }
        }
        Ok(Done { late, ..Done::found(found, limit) })
    }

    /// Forgets up to `limit` approvals that were decided long ago. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn purge_approvals(&self, limit: u32) -> Result<bool, Refusal> {
        let before = self.now() - APPROVALS_KEPT;
        Ok(self.parts.store.purge_approvals(before, limit).await? < u64::from(limit))
    }
}
