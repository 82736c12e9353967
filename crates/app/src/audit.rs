//! The audit log: reading it, recording sampled failures in the background, and purging it.

use std::sync::Arc;

use kalends_accounts::{
    Action, AuditCursor, AuditEntry, AuditRange, AuditSearch, KeyForm, KeyHash, Principal, Reach, audit_kept_since,
};
use kalends_kernel::{AgentId, AuditId, OrgId, RequestId};
use kalends_plans::Plan;
use kalends_time::{SignedDuration, Timestamp};
use kalends_wire::{AuditLog, AuditQuery, CursorPagination};
use tracing::Instrument as _;

use crate::{Actor, App, ChangeSet, Leased, Refusal, Request, ports::CommitError};

/// The subject of a change, for the audit log.
pub(crate) struct Subject {
    /// The organization whose audit log records it.
    pub org: OrgId,
    /// The agent concerned.
    pub agent: Option<AgentId>,
    /// The identifier of the changed resource.
    pub resource: String,
}

/// The cause of an audit entry.
pub(crate) enum By<'a> {
    /// A request.
    Request {
        /// The request.
        request: &'a Request,
        /// The prefix of its key, if it has one.
        key_prefix: Option<&'a str>,
    },
    /// An operator's command.
    Command(&'a str),
    /// A duty of the background work, with the cause.
    Duty(&'a str),
}

impl App {
    /// A page of the organization's audit log, the newest entry first.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key; [`Refusal::Invalid`] for a range that ends before it begins.
    pub async fn audit_log(&self, actor: &Actor, query: AuditQuery) -> Result<AuditLog, Refusal> {
        actor.for_organization()?;
        let range = AuditRange::ask(query.from, query.to, actor.principal.plan, self.now())?;
        let mut search = AuditSearch {
            range,
            action: query.action,
            actor_key_prefix: query.actor_key_prefix,
            agent: query.agent,
            after: query.after,
            // One extra entry shows whether there are more.
            limit: query.limit.saturating_add(1),
        };
        let mut entries =
            if range.is_empty() { Vec::new() } else { self.parts.store.audit_page(actor.org(), &search).await? };
        search.limit = query.limit;
        let more = entries.len() > search.limit as usize;
        entries.truncate(search.limit as usize);
        let next_cursor = entries.last().filter(|_| more).map(|last| AuditCursor::after(last).encode());
        Ok(AuditLog {
            data: entries.into_iter().map(Into::into).collect(),
            pagination: CursorPagination { next_cursor },
            retention_days: range.retention_days,
            range_clamped: range.clamped,
        })
    }

    /// Records an action of an authenticated caller, such as entering a wrong code, if the sampler admits it. Errors
    /// here are only logged: the caller's answer does not depend on them.
    pub async fn note_sampled(&self, actor: &Actor, action: Action, status: u16) {
        let (principal, org) = (&actor.principal, actor.org());
        if self.sampler.admits(action, &principal.credential.bytes(), self.now()) {
            let subject = Subject { org, agent: None, resource: org.to_string() };
            let by = By::Request { request: &actor.request, key_prefix: Some(&principal.key_prefix) };
            self.note(action, subject, &by, status).await;
        }
    }

    /// [`Self::note_sampled`] for a caller that is not authenticated. `prefix` identifies it in the log.
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

    /// Writes an entry in a change-set of its own. Errors are only logged.
    pub(crate) async fn note(&self, action: Action, subject: Subject, by: &By<'_>, status: u16) {
        let mut changes = ChangeSet::new(subject.org);
        changes.audit.push(self.audit_entry(action, subject, by, status, self.now()));
        match self.parts.store.commit(changes).await {
            // The account may have been deleted in the meantime, and its log with it.
            Ok(()) | Err(CommitError::NoOrganization) => {}
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "an audit entry could not be written");
            }
        }
    }

    /// The entry for `action`, which was answered with `status` at `now`.
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
            By::Duty(cause) => (None, None, "AUTO", cause, SignedDuration::ZERO, RequestId::new(now, self.entropy())),
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

    /// For each plan, removes up to `limit` entries that the plan no longer keeps, and returns whether that was all.
    /// They were already invisible: the log only shows what the plan keeps.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn purge_audit(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let mut all = true;
        for plan in Plan::ALL {
            let Some(before) = audit_kept_since(plan, now) else { continue };
            all &= self.parts.store.purge_audit(plan, before, limit).await? < u64::from(limit);
        }
        Ok(all)
    }

    /// Removes up to `limit` counts of allowances that no longer matter, and returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_allowances(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_allowances(self.now(), limit).await? < u64::from(limit))
    }

    /// Removes up to `limit` expired attempts to sign in with a provider, and up to `limit` expired attempts to
    /// connect calendars. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_attempts(&self, limit: u32) -> Result<bool, Refusal> {
        let now = self.now();
        let to_sign_in = self.parts.store.forget_attempts(now, limit).await?;
        let to_connect = self.parts.store.forget_connect_attempts(now, limit).await?;
        Ok(to_sign_in.max(to_connect) < u64::from(limit))
    }

    /// Removes up to `limit` expired sessions, and returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_sessions(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_sessions(self.now(), limit).await? < u64::from(limit))
    }

    /// Removes up to `limit` expired password tokens, and returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_user_tokens(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_user_tokens(self.now(), limit).await? < u64::from(limit))
    }

    /// Records that a request exceeded its rate, a leased monthly quota, or an allowance. Ignores other refusals.
    pub fn note_over_limit(self: &Arc<Self>, principal: &Principal, request: &Request, refusal: &Refusal) {
        match refusal {
            Refusal::TooFast { .. } | Refusal::TooMany { .. } => {}
            Refusal::LimitReached { metric, .. } if Leased::counts(*metric) => {}
            _ => return,
        }
        let Some(place) = self.failures.place() else { return };
        let action = Action::RateLimitExceeded;
        if !self.sampler.admits(action, &principal.credential.bytes(), self.now()) {
            return;
        }
        let org = principal.org;
        let agent = match principal.reach {
            Reach::Organization => None,
            Reach::Agent(agent) => Some(agent.id),
        };
        let (app, request, prefix) = (Arc::clone(self), request.clone(), principal.key_prefix.clone());
        let noting = async move {
            let subject = Subject { org, agent, resource: org.to_string() };
            let by = By::Request { request: &request, key_prefix: Some(&prefix) };
            app.note(action, subject, &by, 429).await;
            drop(place);
        };
        tokio::spawn(noting.instrument(tracing::error_span!("note_refusal")));
    }

    /// Records the use of a key that is no longer valid. A key that never existed belongs to no organization, so
    /// nothing is recorded for it.
    pub fn note_refused_key(self: &Arc<Self>, key: &str, request: &Request) {
        if KeyForm::of(key).is_none() {
            return;
        }
        let Some(place) = self.failures.place() else { return };
        let hash = KeyHash::of(key);
        if !self.failures.looks_up(hash, self.now()) {
            return;
        }
        let (app, request) = (Arc::clone(self), request.clone());
        let noting = async move {
            match app.parts.store.find_ended_key(hash).await {
                Ok(Some(ended)) => {
                    let subject = Subject { org: ended.org, agent: ended.agent, resource: ended.org.to_string() };
                    let by = By::Request { request: &request, key_prefix: Some(&ended.prefix) };
                    app.note(Action::AuthFailure, subject, &by, 401).await;
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "a refused key could not be looked up"),
            }
            drop(place);
        };
        tokio::spawn(noting.instrument(tracing::error_span!("note_refusal")));
    }
}
