//! The organizations of the server, as the operator reads them.

use std::cmp::Reverse;

use async_trait::async_trait;
use kalends_accounts::{Organization, OrganizationCounts, OrganizationSearch, ports::OrganizationLists};
use kalends_kernel::{Listed, OrgId, Page, StoreError};
use kalends_plans::Metric;
use kalends_quotas::Period;

use super::{MemoryStore, state::page_of};

#[async_trait]
impl OrganizationLists for MemoryStore {
    async fn find_organizations(
        &self,
        search: &OrganizationSearch,
        page: Page,
    ) -> Result<Listed<Organization>, StoreError> {
        let state = self.state();
        let found = state.organizations.values().filter(|organization| search.matches(organization));
        Ok(page_of(found, |organization| Reverse((organization.created_at, organization.id)), page))
    }

    async fn waiting_organizations(&self, page: Page) -> Result<Listed<Organization>, StoreError> {
        let state = self.state();
        let waiting = state.organizations.values().filter(|organization| organization.waitlist.since().is_some());
        Ok(page_of(waiting, |organization| (organization.waitlist.since(), organization.id), page))
    }

    async fn count_organizations(&self) -> Result<OrganizationCounts, StoreError> {
        let state = self.state();
        let waiting =
            state.organizations.values().filter(|organization| organization.waitlist.since().is_some()).count();
        Ok(OrganizationCounts { total: state.organizations.len() as u64, waiting: waiting as u64 })
    }

    async fn use_in_month(&self, orgs: &[OrgId], month: Period) -> Result<Vec<(OrgId, Metric, u64)>, StoreError> {
        let state = self.state();
        let used = state.used.iter().filter(|((org, _, period), _)| *period == month && orgs.contains(org));
        Ok(used.map(|((org, metric, _), used)| (*org, *metric, *used)).collect())
    }
}
