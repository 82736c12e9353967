//! The organizations of the server, as the operator reads them.

use async_trait::async_trait;
use kalends_accounts::{Organization, OrganizationCounts, OrganizationSearch, ports::OrganizationLists};
use kalends_kernel::{Listed, OrgId, Page, StoreError};
use kalends_plans::{Metric, Plan};
use kalends_quotas::Period;

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{Located, OrganizationRow, row_id},
};

#[async_trait]
impl OrganizationLists for SqliteStore {
    async fn find_organizations(
        &self,
        search: &OrganizationSearch,
        page: Page,
    ) -> Result<Listed<Organization>, StoreError> {
        let (text, org) = (search.text(), search.org().map(|org| org.uuid()));
        let (plan, waiting) = (search.plan.map(Plan::as_str), search.waiting);
        self.snapshot(async |snapshot| {
            let rows = sqlx::query_as!(
                OrganizationRow,
                "select id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source,
                    accepted_terms, accepted_at, reply_to, version, created_at
                 from organizations
                 where (?1 = '' or id = ?2 or instr(lower(name), ?1) > 0 or instr(lower(email), ?1) > 0)
                    and (?3 is null or plan = ?3)
                    and (?4 is null or (waitlisted_at is not null) = ?4)
                 order by created_at desc, id desc limit ?5 offset ?6",
                text,
                org,
                plan,
                waiting,
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(rows.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*) from organizations
                     where (?1 = '' or id = ?2 or instr(lower(name), ?1) > 0 or instr(lower(email), ?1) > 0)
                        and (?3 is null or plan = ?3)
                        and (?4 is null or (waitlisted_at is not null) = ?4)",
                    text,
                    org,
                    plan,
                    waiting
                )
                .fetch_one(&mut *snapshot)
                .await
                .map(count)
                .map_err(store_error)?,
            };
            let data = rows.into_iter().map(OrganizationRow::into_domain).collect::<Result<_, _>>()?;
            Ok(Listed { data, total })
        })
        .await
    }

    async fn waiting_organizations(&self, page: Page) -> Result<Listed<Organization>, StoreError> {
        self.snapshot(async |snapshot| {
            let rows = sqlx::query_as!(
                OrganizationRow,
                "select id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source,
                    accepted_terms, accepted_at, reply_to, version, created_at
                 from organizations where waitlisted_at is not null
                 order by waitlisted_at, id limit ?1 offset ?2",
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(rows.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!("select count(*) from organizations where waitlisted_at is not null")
                    .fetch_one(&mut *snapshot)
                    .await
                    .map(count)
                    .map_err(store_error)?,
            };
            let data = rows.into_iter().map(OrganizationRow::into_domain).collect::<Result<_, _>>()?;
            Ok(Listed { data, total })
        })
        .await
    }

    async fn count_organizations(&self) -> Result<OrganizationCounts, StoreError> {
        let counted = sqlx::query!(
            r#"select (select count(*) from organizations) as "total!: i64",
                (select count(*) from organizations where waitlisted_at is not null) as "waiting!: i64""#
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        Ok(OrganizationCounts { total: count(counted.total), waiting: count(counted.waiting) })
    }

    async fn use_in_month(&self, orgs: &[OrgId], month: Period) -> Result<Vec<(OrgId, Metric, u64)>, StoreError> {
        let orgs: Vec<Hex> = orgs.iter().map(|org| Hex(org.uuid())).collect();
        let (orgs, month) = (json::rows(&orgs).map_err(store_error)?, month.number());
        let rows = sqlx::query!(
            r#"select u.org_id as "org_id!", u.metric as "metric!", u.used as "used!"
             from json_each(?1) asked cross join usage_counters u on u.org_id = unhex(asked.value)
             where u.period = ?2"#,
            orgs,
            month
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let used = rows.into_iter().map(|row| {
            let org = OrgId::from_uuid(row_id("usage_counters", "org_id", &row.org_id)?);
            let located = Located { table: "usage_counters", id: &org };
            Ok((org, located.named("metric", &row.metric, Metric::from_name)?, count(row.used)))
        });
        used.collect()
    }
}
