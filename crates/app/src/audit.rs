//! The audit log: reading it, recording failures now and then, and shortening it.

use kalends_accounts::{Action, AuditCursor, AuditEntry, AuditQuery, AuditRange, audit_kept_since};
use kalends_kernel::{AuditId, OrgId, RequestId, SignedDuration, Timestamp};
use kalends_quotas::{Plan, RateDecision, RateState};
use kalends_wire::{AuditLog, AuditPagination, AuditQuery};
use moka::sync::Cache;
use sha2::{Digest, Sha256};

use crate::{Actor, App, ChangeSet, Refusal, Request, app::Subject, ports::CommitError};

/// The most keys of which this process knows when a failure was recorded last.
const SAMPLED_MAX: u64 = 50_000;

/// When each key, or whoever else, was last worth an entry of an action that is sampled.
///
/// It is kept by the process: several nodes may each write one entry a minute, key and action.
pub(crate) struct Sampler(Cache<[u8; 32], RateState>);

impl Sampler {
    pub(crate) fn new() -> Self {
        Self(Cache::builder().max_capacity(SAMPLED_MAX).build())
    }

    /// Whether an entry of `action` by `who` is to be written at `now`.
    pub(crate) fn admits(&self, action: Action, who: &[u8], now: Timestamp) -> bool {
        let Some(rate) = action.sampled() else { return true };
        let place: [u8; 32] =
            Sha256::new().chain_update(action.as_str()).chain_update([0]).chain_update(who).finalize().into();
        let mut admitted = false;
        // Two at once for one key take turns here, so that one of them is admitted.
        self.0.entry(place).and_upsert_with(|known| {
            let state = known.map_or(RateState::FRESH, moka::Entry::into_value);
            match rate.decide(state, now) {
                RateDecision::Admitted { state, .. } => {
                    admitted = true;
                    state
                }
                RateDecision::Refused { .. } => state,
            }
        });
        admitted
    }
}

/// By what an entry of the audit log was caused.
pub(crate) enum By<'a> {
    /// A request, of the key that begins so, if of any.
    Request {
        /// The request.
        request: &'a Request,
        /// The beginning of its key.
        key_prefix: Option<&'a str>,
    },
    /// An operator's command.
    Command(&'a str),
}

impl App {
    /// A page of the organization's audit log, the newest entry first.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key, [`Refusal::Invalid`] for a range that ends before it begins.
    pub async fn audit_log(&self, actor: &Actor, query: AuditQuery) -> Result<AuditLog, Refusal> {
        actor.for_organization()?;
        let range = AuditRange::ask(query.from, query.to, actor.principal.plan, self.now())?;
        let mut asked = AuditQuery {
            range,
            action: query.action,
            actor_key_prefix: query.actor_key_prefix,
            after: query.after,
            // One more tells whether there are more.
            limit: query.limit.saturating_add(1),
        };
        let mut entries =
            if range.is_empty() { Vec::new() } else { self.store.audit_page(actor.org(), &asked).await? };
        asked.limit = query.limit;
        let more = entries.len() > asked.limit as usize;
        entries.truncate(asked.limit as usize);
        let next_cursor = entries.last().filter(|_| more).map(|last| AuditCursor::after(last).encode());
        Ok(AuditLog {
            data: entries.into_iter().map(Into::into).collect(),
            pagination: AuditPagination { next_cursor },
            retention_days: range.retention_days,
            range_clamped: range.clamped,
        })
    }

    /// Records an action that is sampled, on behalf of an authenticated caller: a wrong code. What fails here is
    /// logged only; the caller's answer does not depend on it.
    pub async fn note_sampled(&self, actor: &Actor, action: Action, status: u16) {
        let (principal, org) = (&actor.principal, actor.org());
        if self.sampler.admits(action, &principal.credential.bytes(), self.now()) {
            let subject = Subject { org, agent: None, resource: org.to_string() };
            let by = By::Request { request: &actor.request, key_prefix: Some(&principal.key_prefix) };
            self.note(action, subject, &by, status).await;
        }
    }

    /// [`Self::note_sampled`] of somebody who is not let in, told by what the log shows of them.
    pub(crate) async fn note_sampled_of(
        &self,
        request: &Request,
        org: OrgId,
        action: Action,
        prefix: &str,
        status: u16,
    ) {
        if self.sampler.admits(action, prefix.as_bytes(), self.now()) {
            let subject = Subject { org, agent: None, resource: org.to_string() };
            self.note(action, subject, &By::Request { request, key_prefix: Some(prefix) }, status).await;
        }
    }

    /// Writes an entry by itself. What fails is logged only.
    pub(crate) async fn note(&self, action: Action, subject: Subject, by: &By<'_>, status: u16) {
        let mut changes = ChangeSet::new(subject.org);
        changes.audit = Some(self.audit_entry(action, subject, by, status, self.now()));
        match self.store.commit(changes).await {
            // The account was deleted meanwhile, and its log with it.
            Ok(()) | Err(CommitError::NoOrganization) => {}
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a failure could not be recorded");
            }
        }
    }

    /// The entry that tells at `now` of `action`, which answered `status`.
    pub(crate) fn audit_entry(
        &self,
        action: Action,
        Subject { org, agent, resource }: Subject,
        by: &By<'_>,
        status: u16,
        now: Timestamp,
    ) -> AuditEntry {
        let (actor_key_prefix, ip, method, path, duration, request) = match *by {
            By::Request { request: Request { id, ip, operation, started, .. }, key_prefix } => {
                (key_prefix, *ip, operation.method, operation.path, now - *started, *id)
            }
            By::Command(command) => {
                (None, None, "CLI", command, SignedDuration::ZERO, RequestId::new(now, self.entropy()))
            }
        };
        AuditEntry {
            id: AuditId::new(now, self.entropy()),
            org,
            action,
            actor_key_prefix: actor_key_prefix.map(str::to_owned),
            agent,
            resource,
            ip,
            status,
            method: method.to_owned(),
            path: path.to_owned(),
            duration,
            request,
            created_at: now,
        }
    }

    /// Removes up to `limit` entries of each plan that it does not keep any more, and says whether that was
    /// all. Nobody saw them since they were too old: the log is read from what the plan keeps.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn purge_audit(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let mut all = true;
        for plan in Plan::ALL {
            let Some(before) = audit_kept_since(plan, now) else { continue };
            all &= self.store.purge_audit(plan, before, limit).await? < u64::from(limit);
        }
        Ok(all)
    }

    /// Forgets up to `limit` counts that say nothing any more, and says whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_allowances(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.store.forget_allowances(self.now(), limit).await? < u64::from(limit))
    }

    /// Forgets up to `limit` attempts to sign in with a provider, and as many to connect calendars there, that have expired, and
    /// says whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_attempts(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let to_sign_in = self.store.forget_attempts(now, limit).await?;
        let to_connect = self.store.forget_connect_attempts(now, limit).await?;
        Ok(to_sign_in.max(to_connect) < u64::from(limit))
    }

    /// Removes up to `limit` sessions that have expired, and says whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_sessions(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.store.forget_sessions(self.now(), limit).await? < u64::from(limit))
    }

    /// Removes up to `limit` tokens for passwords that have expired, and says whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_resets(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.store.forget_resets(self.now(), limit).await? < u64::from(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_sampled_by_key_and_action_and_nothing_else_is() {
        let sampler = Sampler::new();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        assert!(sampler.admits(Action::AuthFailure, b"a", now));
        assert!(!sampler.admits(Action::AuthFailure, b"a", now + SignedDuration::seconds(59)));
        assert!(sampler.admits(Action::AuthFailure, b"b", now));
        assert!(sampler.admits(Action::RateLimitExceeded, b"a", now));
        assert!(sampler.admits(Action::AuthFailure, b"a", now + SignedDuration::minutes(1)));
        for _ in 0..3 {
            assert!(sampler.admits(Action::EventCreate, b"a", now));
        }
    }
}
