//! Proposals and their reservations.

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_kernel::{Listed, OrgId, Page, ProposalId, StoreError};
use kalends_proposals::{
    Change, Proposal, Status,
    ports::{ProposalFilter, Proposals},
};
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    apply::{create, unchanged},
    state::{State, page_of},
};

impl State {
    pub(super) fn apply_to_proposals(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::Create(proposal) => {
                create(self.proposals.entry((proposal.org(), proposal.id())), &Proposal::clone(proposal))
            }
            Change::Update { proposal, seen, response, .. } => {
                let row = self.proposals.get_mut(&(proposal.org(), proposal.id())).ok_or(CommitError::Stale)?;
                unchanged(row.version(), *seen)?;
                let responded = |by| row.responses().iter().any(|other| other.agent() == by);
                if response.as_ref().is_some_and(|response| responded(response.agent())) {
                    return Err(CommitError::Stale);
                }
                row.clone_from(proposal);
                Ok(())
            }
        }
    }
}

#[async_trait]
impl Proposals for MemoryStore {
    async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
        Ok(self.state().proposals.get(&(org, id)).cloned())
    }

    async fn list_proposals(
        &self,
        org: OrgId,
        filter: ProposalFilter,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError> {
        let state = self.state();
        let matching = state
            .proposals
            .values()
            .filter(|proposal| proposal.org() == org)
            .filter(|proposal| filter.status.is_none_or(|at| proposal.state_at(at.now).status() == at.status))
            .filter(|proposal| filter.organizer.is_none_or(|agent| proposal.organizer() == agent))
            .filter(|proposal| {
                let is_party = |agent| proposal.organizer() == agent || proposal.participants().contains(&agent);
                filter.party.is_none_or(is_party)
            });
        Ok(page_of(matching, |proposal| (proposal.created_at(), proposal.id()), page))
    }

    async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError> {
        let state = self.state();
        let mut overdue: Vec<Proposal> = state
            .proposals
            .values()
            .filter(|proposal| proposal.state().status() == Status::Pending && proposal.expires_at() <= now)
            .cloned()
            .collect();
        overdue.sort_by_key(|proposal| (proposal.expires_at(), proposal.id()));
        overdue.truncate(limit as usize);
        Ok(overdue)
    }

    async fn forget_reservations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let mut left = limit;
            let mut forgotten = 0;
            state.reservations.retain(|row| {
                let over = !row.reservation.blocks_at(now) && left > 0;
                left -= u32::from(over);
                forgotten += u64::from(over);
                !over
            });
            forgotten
        }))
    }
}
