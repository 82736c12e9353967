//! Reading claims on organizations.

use async_trait::async_trait;
use kalends_accounts::{AddressHash, Claim, ClaimState, ports::Claims};
use kalends_kernel::{ClaimId, Listed, OrgId, Page, StoreError, UserId};
use kalends_time::Timestamp;

use super::{MemoryStore, account_data::remove, state::page_of};

#[async_trait]
impl Claims for MemoryStore {
    async fn find_claim(&self, claim: ClaimId) -> Result<Option<Claim>, StoreError> {
        Ok(self.state().claims.get(&claim).copied())
    }

    async fn waiting_claim(&self, user: UserId, address: AddressHash) -> Result<Option<Claim>, StoreError> {
        let state = self.state();
        let mut waiting = state.claims.values().filter(|claim| matches!(claim.state, ClaimState::Initiated { .. }));
        Ok(waiting.find(|claim| (claim.user, claim.address) == (user, address)).copied())
    }

    async fn held_claim(&self, org: OrgId) -> Result<Option<Claim>, StoreError> {
        let state = self.state();
        Ok(state.claims.values().find(|claim| claim.org == Some(org) && claim.due_at().is_some()).copied())
    }

    async fn claims_of(&self, user: UserId, page: Page) -> Result<Listed<Claim>, StoreError> {
        let state = self.state();
        let own = state.claims.values().filter(|claim| claim.user == user);
        Ok(page_of(own, |claim| (claim.created_at, claim.id), page))
    }

    async fn unfinished_claims(&self, user: UserId, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let state = self.state();
        let unfinished = |claim: &&Claim| match claim.state {
            ClaimState::Initiated { expires_at, .. } => now < expires_at,
            ClaimState::Held { .. } => true,
            ClaimState::Effective { .. } | ClaimState::Revoked { .. } | ClaimState::Void { .. } => false,
        };
        let own = state.claims.values().filter(|claim| claim.user == user);
        let mut found: Vec<_> = own.filter(unfinished).copied().collect();
        found.sort_by_key(|claim| (claim.created_at, claim.id));
        found.drain(..found.len().saturating_sub(limit as usize));
        Ok(found)
    }

    async fn due_claims(&self, user: Option<UserId>, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let state = self.state();
        let due = state.claims.values().filter(|claim| claim.due_at().is_some_and(|due| due <= now));
        let mut due: Vec<_> = due.filter(|claim| user.is_none_or(|user| claim.user == user)).copied().collect();
        due.sort_by_key(|claim| (claim.due_at(), claim.id));
        due.truncate(limit as usize);
        Ok(due)
    }

    async fn forget_claims(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let over = |claim: &Claim| {
            let counts = matches!(claim.state, ClaimState::Held { .. } | ClaimState::Effective { .. });
            claim.created_at < before && !counts
        };
        Ok(self.write(|state| remove!(state.claims, limit, |(_, claim)| over(claim))))
    }
}
