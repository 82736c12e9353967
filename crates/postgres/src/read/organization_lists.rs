//! The organizations of the server, as the operator reads them.

use async_trait::async_trait;
use kalends_accounts::ports::OrganizationLists;
use kalends_accounts::{Organization, OrganizationCounts, OrganizationSearch};
use kalends_kernel::{Listed, OrgId, Page, StoreError};
use kalends_plans::{Metric, Plan};
use kalends_quotas::Period;

use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;
use crate::rows::{Located, OrganizationRow};

/// The total of a list, which is counted by another statement than its page is read. It is never less than what the
/// page shows.
fn total(page: Page, read: usize, counted: i64) -> u64 {
    let shown = if read == 0 { 0 } else { u64::from(page.offset) + u64::try_from(read).unwrap_or(0) };
    count(counted).max(shown)
}

#[async_trait]
impl OrganizationLists for PostgresStore {
    async fn find_organizations(
        &self,
        search: &OrganizationSearch,
        page: Page,
    ) -> Result<Listed<Organization>, StoreError> {
        let (text, org) = (search.text(), search.org().map(|org| org.uuid()));
        let plan = search.plan.map(Plan::as_str);
        // `lower` would depend on the collation of the database.
        let rows = sqlx::query_as!(
            OrganizationRow,
            "SELECT id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source,
                 accepted_terms, accepted_at, reply_to, version, created_at
             FROM organizations
             WHERE ($1::text = '' OR id = $2::uuid
                     OR strpos(translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), $1) > 0
                     OR strpos(translate(email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), $1) > 0)
                 AND ($3::text IS NULL OR plan = $3)
                 AND ($4::boolean IS NULL OR (waitlisted_at IS NOT NULL) = $4)
             ORDER BY created_at DESC, id DESC LIMIT $5::bigint OFFSET $6::bigint",
            text,
            org,
            plan,
            search.waiting,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let total = match page.total_if_known(rows.len()) {
            Some(total) => total,
            None => {
                let counted = sqlx::query_scalar!(
                    r#"SELECT count(*) AS "count!"
                     FROM organizations
                     WHERE ($1::text = '' OR id = $2::uuid
                             OR strpos(translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), $1) > 0
                             OR strpos(translate(email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), $1) > 0)
                         AND ($3::text IS NULL OR plan = $3)
                         AND ($4::boolean IS NULL OR (waitlisted_at IS NOT NULL) = $4)"#,
                    text,
                    org,
                    plan,
                    search.waiting,
                );
                total(page, rows.len(), counted.fetch_one(&self.connections).await.map_err(store_error)?)
            }
        };
        let data = rows.into_iter().map(OrganizationRow::into_domain).collect::<Result<_, _>>()?;
        Ok(Listed { data, total })
    }

    async fn waiting_organizations(&self, page: Page) -> Result<Listed<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            OrganizationRow,
            "SELECT id, name, plan, limit_overrides, test, email, verified_at, waitlisted_at, signup_source,
                 accepted_terms, accepted_at, reply_to, version, created_at
             FROM organizations WHERE waitlisted_at IS NOT NULL
             ORDER BY waitlisted_at, id LIMIT $1::bigint OFFSET $2::bigint",
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let total = match page.total_if_known(rows.len()) {
            Some(total) => total,
            None => {
                let counted = sqlx::query_scalar!(
                    r#"SELECT count(*) AS "count!" FROM organizations WHERE waitlisted_at IS NOT NULL"#
                );
                total(page, rows.len(), counted.fetch_one(&self.connections).await.map_err(store_error)?)
            }
        };
        let data = rows.into_iter().map(OrganizationRow::into_domain).collect::<Result<_, _>>()?;
        Ok(Listed { data, total })
    }

    async fn count_organizations(&self) -> Result<OrganizationCounts, StoreError> {
        let counted =
            sqlx::query!(r#"SELECT count(*) AS "total!", count(waitlisted_at) AS "waiting!" FROM organizations"#);
        let counted = counted.fetch_one(&self.connections).await.map_err(store_error)?;
        Ok(OrganizationCounts { total: count(counted.total), waiting: count(counted.waiting) })
    }

    async fn use_in_month(&self, orgs: &[OrgId], month: Period) -> Result<Vec<(OrgId, Metric, u64)>, StoreError> {
        let orgs: Vec<_> = orgs.iter().map(|org| org.uuid()).collect();
        let rows = sqlx::query!(
            "SELECT org_id, metric, used FROM usage_counters WHERE org_id = ANY($1) AND period = $2",
            &orgs,
            month.number(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let used = rows.into_iter().map(|row| {
            let org = OrgId::from_uuid(row.org_id);
            let located = Located { table: "usage_counters", id: org };
            Ok((org, located.named("metric", &row.metric, Metric::from_name)?, count(row.used)))
        });
        used.collect()
    }
}
