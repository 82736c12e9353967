//! Approvals.

use std::cmp::Reverse;

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_approvals::{
    Approval, Change, PENDING_MAX, State as Decision, Status,
    ports::{ApprovalFilter, Approvals},
};
use kalends_kernel::{ApprovalId, KeyId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    apply::{create, unchanged},
    state::{State, page_of, within_bytes},
};

impl State {
    pub(super) fn apply_to_approvals(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::Ask(approval) => {
                create(self.approvals.entry((approval.org, approval.id)), &Approval::clone(approval))?;
                let pending = self.pending_approvals(approval.org, approval.key, approval.created_at);
                if pending > PENDING_MAX { Err(CommitError::Stale) } else { Ok(()) }
            }
            Change::Decide { approval, seen } => {
                let row = self.approvals.get_mut(&(approval.org, approval.id)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                row.clone_from(approval);
                Ok(())
            }
        }
    }

    fn pending_approvals(&self, org: OrgId, key: KeyId, now: Timestamp) -> u64 {
        self.pending_of_key(org, key, now).count() as u64
    }

    fn pending_of_key(&self, org: OrgId, key: KeyId, now: Timestamp) -> impl Iterator<Item = &Approval> {
        let of_key = self.approvals.values().filter(move |approval| (approval.org, approval.key) == (org, key));
        of_key.filter(move |approval| approval.status(now) == Status::Pending)
    }
}

/// The approximate size in bytes, counting only the part that varies much.
fn weight(approval: &Approval) -> usize {
    approval.request.body.len()
}

/// When it was decided, or expires undecided.
fn ended_at(approval: &Approval) -> Timestamp {
    match approval.state {
        Decision::Pending | Decision::Expired => approval.expires_at,
        Decision::Approved { at, .. }
        | Decision::Failed { at, .. }
        | Decision::Denied { at, .. }
        | Decision::Cancelled { at, .. } => at,
    }
}

#[async_trait]
impl Approvals for MemoryStore {
    async fn find_approval(&self, org: OrgId, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        Ok(self.state().approvals.get(&(org, id)).cloned())
    }

    async fn approval_status(&self, org: OrgId, id: ApprovalId) -> Result<Option<(Status, Timestamp)>, StoreError> {
        let state = self.state();
        Ok(state.approvals.get(&(org, id)).map(|approval| (approval.state.status(), approval.expires_at)))
    }

    async fn list_approvals(
        &self,
        org: OrgId,
        filter: ApprovalFilter,
        page: Page,
    ) -> Result<Listed<Approval>, StoreError> {
        let state = self.state();
        let matching = state.approvals.values().filter(|approval| {
            approval.org == org
                && filter.agent.is_none_or(|agent| approval.agent == agent)
                && filter.status.is_none_or(|(status, at)| approval.status(at) == status)
        });
        let Listed { data, total } = page_of(matching, |approval| Reverse((approval.created_at, approval.id)), page);
        Ok(Listed { data: within_bytes(data, weight), total })
    }

    async fn pending_approvals(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError> {
        let state = self.state();
        let all = state.approvals.values();
        let pending = all.filter(|approval| approval.org == org && approval.status(now) == Status::Pending);
        let page = Page { limit, offset: 0 };
        let first = page_of(pending, |approval| (approval.expires_at, approval.id), page).data;
        Ok(within_bytes(first, weight))
    }

    async fn count_pending_approvals(&self, org: OrgId, key: KeyId, now: Timestamp) -> Result<u64, StoreError> {
        Ok(self.state().pending_approvals(org, key, now))
    }

    async fn pending_approvals_of_key(
        &self,
        org: OrgId,
        key: KeyId,
        now: Timestamp,
    ) -> Result<Vec<Approval>, StoreError> {
        let state = self.state();
        let page = Page { limit: u32::try_from(PENDING_MAX).unwrap_or(u32::MAX), offset: 0 };
        let pending = state.pending_of_key(org, key, now);
        Ok(page_of(pending, |approval| (approval.expires_at, approval.id), page).data)
    }

    async fn overdue_approvals(&self, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError> {
        let state = self.state();
        let overdue = state.approvals.values().filter(|approval| approval.expired(now).is_some());
        let page = Page { limit, offset: 0 };
        let overdue = page_of(overdue, |approval| (approval.expires_at, approval.id), page).data;
        Ok(within_bytes(overdue, weight))
    }

    async fn purge_approvals(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let mut over: Vec<_> =
                state.approvals.iter().filter(|(_, approval)| ended_at(approval) <= before).collect();
            over.sort_by_key(|(_, approval)| ended_at(approval));
            let over: Vec<_> = over.into_iter().map(|(key, _)| *key).take(limit as usize).collect();
            over.iter().filter(|key| state.approvals.remove(*key).is_some()).count() as u64
        }))
    }
}
