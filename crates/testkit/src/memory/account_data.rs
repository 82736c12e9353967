//! The audit log, allowances, exports, and what is left of deleted accounts.

use async_trait::async_trait;
use kalends_accounts::{
    Acceptance, Allowance, AuditEntry, AuditSearch, KeyView, Scopes, Taken,
    ports::{AccountData, Allowances, AuditLog, Deletions},
};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::{Counted, Metric, Plan};
use kalends_quotas::Period;
use kalends_time::Timestamp;

use super::{MemoryStore, state::State};

/// Removes the first `limit` entries that match `goes`, and returns how many were removed.
macro_rules! remove {
    ($map:expr, $limit:expr, $goes:expr) => {{
        let keys: Vec<_> = $map.iter().filter($goes).map(|(key, _)| key.clone()).take($limit as usize).collect();
        keys.iter().filter(|key| $map.remove(*key).is_some()).count() as u64
    }};
}
pub(super) use remove;

impl MemoryStore {
    /// Changes the state outside a change-set.
    pub(super) fn write<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut next = State::clone(&state);
        let outcome = change(&mut next);
        *state = std::sync::Arc::new(next);
        outcome
    }
}

#[async_trait]
impl AuditLog for MemoryStore {
    async fn audit_page(&self, org: OrgId, search: &AuditSearch) -> Result<Vec<AuditEntry>, StoreError> {
        let state = self.state();
        let mut entries: Vec<_> =
            state.audit.values().filter(|entry| entry.org == org && search.matches(entry)).cloned().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse((entry.created_at, entry.id)));
        entries.truncate(search.limit as usize);
        Ok(entries)
    }

    async fn purge_audit(&self, plan: Plan, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let organizations = state.organizations.clone();
            remove!(state.audit, limit, |((org, _), entry)| {
                entry.created_at < before && organizations.get(org).is_some_and(|org| org.plan == plan)
            })
        }))
    }
}

#[async_trait]
impl Allowances for MemoryStore {
    async fn take(&self, allowance: &Allowance, now: Timestamp) -> Result<Taken, StoreError> {
        Ok(self.write(|state| {
            let taken = allowance.take(state.allowances.get(&allowance.scope).map(|(used, _)| *used), now);
            if let Taken::Granted(used) = taken {
                state.allowances.insert(allowance.scope, (used, allowance.org));
            }
            taken
        }))
    }

    async fn give_back(&self, allowance: &Allowance, until: Timestamp) -> Result<(), StoreError> {
        self.write(|state| {
            if let Some((used, _)) = state.allowances.get_mut(&allowance.scope) {
                *used = used.given_back(until);
            }
        });
        Ok(())
    }

    async fn forget_allowances(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.allowances, limit, |(_, (used, _))| used.until <= now)))
    }
}

#[async_trait]
impl AccountData for MemoryStore {
    async fn keys_in_force(&self, org: OrgId) -> Result<Vec<KeyView>, StoreError> {
        let state = self.state();
        let of_organization = state.keys.values().filter(|key| key.org == org).map(|key| KeyView {
            id: key.id,
            prefix: key.prefix.clone(),
            agent: None,
            label: None,
            scopes: Scopes::NONE,
            approval: None,
            connector: None,
            created_at: key.created_at,
            created_by: None,
            last_used_on: state.own_keys_used.get(&(org, key.id)).copied(),
        });
        let scoped = state.scoped_keys_in_force(org).map(|key| KeyView {
            id: key.id,
            prefix: key.prefix.clone(),
            agent: Some(key.agent),
            label: key.label.clone(),
            scopes: key.scopes,
            approval: key.approval.clone(),
            connector: key.connector,
            created_at: key.created_at,
            created_by: key.created_by.clone(),
            last_used_on: key.last_used_on,
        });
        let mut keys: Vec<_> = of_organization.chain(scoped).collect();
        keys.sort_by_key(|key| (key.created_at, key.id));
        Ok(keys)
    }

    async fn use_by_month(&self, org: OrgId) -> Result<Vec<(Period, Metric, u64)>, StoreError> {
        let state = self.state();
        let used = state.used.iter().filter(|((by, ..), _)| *by == org);
        let mut used: Vec<_> = used.map(|((_, metric, period), amount)| (*period, *metric, *amount)).collect();
        used.sort_by_key(|(period, metric, _)| (*period, metric.as_str()));
        Ok(used)
    }

    async fn use_since(
        &self,
        org: OrgId,
        since: Period,
        now: Timestamp,
    ) -> Result<Vec<(Option<Period>, Metric, u64)>, StoreError> {
        let (state, months) = (self.state(), since..=Period::of(now));
        let monthly = state.used.iter().filter(|((by, _, period), _)| *by == org && months.contains(period));
        let monthly = monthly.map(|((_, metric, period), amount)| (Some(*period), *metric, *amount));
        let existing = Metric::ALL.into_iter().filter(|metric| metric.counted() == Counted::Existing);
        let existing = existing.map(|metric| (None, metric, state.existing_at(org, metric, now)));
        Ok(monthly.chain(existing.filter(|(.., used)| *used > 0)).collect())
    }

    async fn acceptances(&self, org: OrgId) -> Result<Vec<Acceptance>, StoreError> {
        let mut accepted = MemoryStore::acceptances(self, org);
        accepted.sort_by(|one, other| (one.at, &one.version).cmp(&(other.at, &other.version)));
        Ok(accepted)
    }
}

#[async_trait]
impl Deletions for MemoryStore {
    async fn deletions(&self, limit: u32) -> Result<Vec<(OrgId, Timestamp)>, StoreError> {
        let mut all: Vec<_> = self.state().deletions.iter().map(|(org, at)| (*org, *at)).collect();
        all.sort_by_key(|(org, at)| (*at, *org));
        all.truncate(limit as usize);
        Ok(all)
    }

    async fn remove_rows(&self, org: OrgId, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let of = |by: &OrgId| *by == org;
            state.waiting.retain(|(by, _)| !of(by));
            remove!(state.calendars, limit, |((by, _), _)| of(by))
                + remove!(state.agents, limit, |((by, _), _)| of(by))
                + remove!(state.events, limit, |((by, _), _)| of(by))
                + remove!(state.event_revisions, limit, |((by, _), _)| of(by))
                + remove!(state.placed, limit, |((by, ..), _)| of(by))
                + remove!(state.moved, limit, |((by, ..), _)| of(by))
                + remove!(state.timers, limit, |((by, ..), _)| of(by))
                + remove!(state.rules, limit, |((by, _), _)| of(by))
                + remove!(state.rules_revisions, limit, |((by, _), _)| of(by))
                + remove!(state.authorization_codes, limit, |(_, code)| code.org == org)
                + remove!(state.refresh_tokens, limit, |(_, token)| token.org == org)
                + remove!(state.codes, limit, |(by, _)| of(by))
                + remove!(state.claims, limit, |(_, claim)| claim.org == Some(org))
                + remove!(state.used, limit, |((by, ..), _)| of(by))
                + remove!(state.messages, limit, |((by, _), _)| of(by))
                + remove!(state.feed_heads, limit, |(by, _)| of(by))
                + remove!(state.feed_entries, limit, |((by, _), _)| of(by))
                + remove!(state.subscriptions, limit, |((by, _), _)| of(by))
                + remove!(state.run_writes, limit, |((by, _), _)| of(by))
                + remove!(state.approvals, limit, |((by, _), _)| of(by))
                + remove!(state.proposals, limit, |((by, _), _)| of(by))
                + remove!(state.imported, limit, |((by, ..), _)| of(by))
                + remove!(state.booking_pages, limit, |((by, _), _)| of(by))
                + remove!(state.bookings, limit, |((by, _), _)| of(by))
                + remove!(state.links, limit, |((by, _), _)| of(by))
                + remove!(state.connect_attempts, limit, |(_, attempt)| attempt.org == org)
                + remove!(state.connections, limit, |((by, _), _)| of(by))
                + remove!(state.external, limit, |((by, _), _)| of(by))
                + remove!(state.grants, limit, |((by, _), _)| of(by))
                + remove!(state.destinations, limit, |((by, _), _)| of(by))
                + remove!(state.copies, limit, |((by, ..), _)| of(by))
                + remove!(state.webhooks, limit, |((by, _), _)| of(by))
                + remove!(state.queues, limit, |((by, _), _)| of(by))
                + remove!(state.deliveries, limit, |((by, ..), _)| of(by))
                + remove!(state.audit, limit, |((by, _), _)| of(by))
                + remove!(state.letters, limit, |((by, _), _)| of(by))
                + remove!(state.letter_records, limit, |((by, _), _)| of(by))
                + remove!(state.allowances, limit, |(_, (_, by))| *by == Some(org))
                + remove!(state.members, limit, |((by, _), _)| of(by))
                + remove!(state.invitations, limit, |((by, _), _)| of(by))
                + remove!(state.sessions, limit, |(_, session)| session.org == Some(org))
        }))
    }

    async fn end_deletion(&self, org: OrgId) -> Result<(), StoreError> {
        self.write(|state| state.deletions.remove(&org));
        Ok(())
    }
}
