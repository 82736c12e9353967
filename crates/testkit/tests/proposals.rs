//! A store with nothing but proposals passes the cases of their port.
#![expect(clippy::unwrap_used, reason = "the helpers are part of tests")]

use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_kernel::{Listed, OrgId, Page, ProposalId, StoreError};
use kalends_proposals::{
    Change, Proposal, State,
    ports::{ProposalFilter, Proposals},
};
use kalends_testkit::conformance::proposals::{Parties, ProposalsUnderTest, WritesProposals};
use kalends_time::Timestamp;

/// The proposals by creation.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<Vec<Proposal>>>);

impl Rows {
    fn lock(&self) -> MutexGuard<'_, Vec<Proposal>> {
        self.0.lock().unwrap()
    }
}

#[async_trait]
impl Proposals for Rows {
    async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
        Ok(self.lock().iter().find(|row| row.org() == org && row.id() == id).cloned())
    }

    async fn list_proposals(
        &self,
        org: OrgId,
        filter: ProposalFilter,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError> {
        let selects = |row: &&Proposal| {
            row.org() == org
                && filter.organizer.is_none_or(|agent| row.organizer() == agent)
                && filter.party.is_none_or(|agent| row.organizer() == agent || row.participants().contains(&agent))
                && filter.status.is_none_or(|at| row.state_at(at.now).status() == at.status)
        };
        let selected: Vec<Proposal> = self.lock().iter().filter(selects).cloned().collect();
        let total = selected.len() as u64;
        let data = selected.into_iter().skip(page.offset as usize).take(page.limit as usize).collect();
        Ok(Listed { data, total })
    }

    async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError> {
        let is_overdue = |row: &&Proposal| row.state() == State::Pending && row.expires_at() <= now;
        let mut overdue: Vec<Proposal> = self.lock().iter().filter(is_overdue).cloned().collect();
        overdue.sort_by_key(Proposal::expires_at);
        overdue.truncate(limit as usize);
        Ok(overdue)
    }

    async fn forget_reservations(&self, _now: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl WritesProposals for Rows {
    async fn write(&self, org: OrgId, changes: Vec<Change>) -> Result<(), CommitError> {
        let mut rows = self.lock();
        let mut changed = rows.clone();
        for change in changes {
            match change {
                Change::Create(proposal) => changed.push(*proposal),
                Change::Update { proposal, seen, .. } => {
                    let is_seen =
                        |row: &&mut Proposal| row.org() == org && row.id() == proposal.id() && row.version() == seen;
                    let row = changed.iter_mut().find(is_seen).ok_or(CommitError::Stale)?;
                    // The version is the same, but the responses may be others.
                    Change::update(row, (*proposal).clone()).map_err(|_| CommitError::Stale)?;
                    *row = *proposal;
                }
            }
        }
        *rows = changed;
        Ok(())
    }
}

#[async_trait]
impl ProposalsUnderTest for Rows {
    fn proposals(&self) -> Arc<dyn Proposals> {
        Arc::new(self.clone())
    }

    fn writer(&self) -> Arc<dyn WritesProposals> {
        Arc::new(self.clone())
    }

    // These rows know neither organizations nor agents, so any exist.
    async fn parties(&self) -> [Parties; 2] {
        [1, 2].map(|org| Parties {
            org: format!("org_{org:026}").parse().unwrap(),
            agents: (0..Parties::AGENTS).map(|agent| format!("agt_{org}{agent:025}").parse().unwrap()).collect(),
            calendar: format!("cal_{org:026}").parse().unwrap(),
        })
    }
}

async fn empty_rows() -> Rows {
    Rows::default()
}

kalends_testkit::port_suite!(proposals, empty_rows);
