//! Reads approvals.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_approvals::ports::{ApprovalFilter, Approvals};
use kalends_approvals::{Approval, PENDING_MAX, Status};
use kalends_kernel::{ApprovalId, KeyId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError};
use kalends_rows::approval_status;
use kalends_time::Timestamp;
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use uuid::Uuid;

use super::listed_of;
use crate::PostgresStore;
use crate::counts::count;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{ApprovalRow, approval_row};

#[async_trait]
impl Approvals for PostgresStore {
    async fn find_approval(&self, org: OrgId, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let row = sqlx::query_as!(
            ApprovalRow,
            "SELECT org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at, expires_at,
                 decided_at
             FROM approvals
             WHERE org_id = $1 AND id = $2",
            org.uuid(),
            id.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(&*self.cipher)).transpose()
    }

    async fn approval_status(&self, org: OrgId, id: ApprovalId) -> Result<Option<(Status, Timestamp)>, StoreError> {
        let row = sqlx::query!(
            "SELECT status, expires_at FROM approvals WHERE org_id = $1 AND id = $2",
            org.uuid(),
            id.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((approval_status(id, &row.status)?, Timestamp::from_micros(row.expires_at))))
    }

    async fn list_approvals(
        &self,
        org: OrgId,
        filter: ApprovalFilter,
        page: Page,
    ) -> Result<Listed<Approval>, StoreError> {
        let agent = filter.agent.map(|agent| agent.uuid());
        let status = filter.status.map(|(status, _)| Status::as_str(status));
        let at = filter.status.map(|(_, at)| at.as_micros());
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
                     expires_at, decided_at
                 FROM approvals
                 WHERE org_id = $1 AND ($2::uuid IS NULL OR agent_id = $2)
                     AND ($3::text IS NULL OR $3 = CASE WHEN status = 'pending' AND expires_at <= $4 THEN 'expired'
                         ELSE status END)
                 ORDER BY created_at DESC, id DESC LIMIT $5::bigint OFFSET $6::bigint
             )
             SELECT org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
                 expires_at, decided_at,
                 CASE WHEN (SELECT count(*) FROM page) = $5 THEN (
                     SELECT count(*) FROM approvals
                     WHERE org_id = $1 AND ($2::uuid IS NULL OR agent_id = $2)
                         AND ($3::text IS NULL OR $3 = CASE WHEN status = 'pending' AND expires_at <= $4 THEN 'expired'
                             ELSE status END)
                 ) END AS total
             FROM page
             ORDER BY created_at DESC, id DESC"#,
            org.uuid(),
            agent,
            status,
            at,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let rows =
            rows_within(records.fetch(&self.connections), |record| sealed_weight(&record.content), PAGE_BYTES_MAX);
        let RowsWithin { rows, fetched } = rows.await.map_err(store_error)?;
        let counted = rows.first().and_then(|record| record.total);
        let approvals = rows.into_iter().map(|record| approval_row!(record).open(&*self.cipher));
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM approvals
             WHERE org_id = $1 AND ($2::uuid IS NULL OR agent_id = $2)
                 AND ($3::text IS NULL OR $3 = CASE WHEN status = 'pending' AND expires_at <= $4 THEN 'expired'
                     ELSE status END)"#,
            org.uuid(),
            agent,
            status,
            at,
        );
        let data = approvals.collect::<Result<_, _>>()?;
        listed_of(data, fetched, page, counted, total.fetch_one(&self.connections)).await
    }

    async fn pending_approvals(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError> {
        let rows = sqlx::query_as!(
            ApprovalRow,
            "SELECT org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at, expires_at,
                 decided_at
             FROM approvals
             WHERE org_id = $1 AND status = 'pending' AND expires_at > $2
             ORDER BY expires_at, id LIMIT $3::bigint",
            org.uuid(),
            now.as_micros(),
            i64::from(limit),
        );
        let rows = rows_within(rows.fetch(&self.connections), |row| sealed_weight(&row.content), PAGE_BYTES_MAX);
        let RowsWithin { rows, .. } = rows.await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(&*self.cipher)).collect()
    }

    async fn count_pending_approvals(&self, org: OrgId, key: KeyId, now: Timestamp) -> Result<u64, StoreError> {
        let pending = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM approvals
             WHERE org_id = $1 AND key_id = $2 AND status = 'pending' AND expires_at > $3"#,
            org.uuid(),
            key.uuid(),
            now.as_micros(),
        );
        Ok(count(pending.fetch_one(&self.connections).await.map_err(store_error)?))
    }

    async fn pending_approvals_of_key(
        &self,
        org: OrgId,
        key: KeyId,
        now: Timestamp,
    ) -> Result<Vec<Approval>, StoreError> {
        let rows = sqlx::query_as!(
            ApprovalRow,
            "SELECT org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at, expires_at,
                 decided_at
             FROM approvals
             WHERE org_id = $1 AND key_id = $2 AND status = 'pending' AND expires_at > $3
             ORDER BY expires_at LIMIT $4::bigint",
            org.uuid(),
            key.uuid(),
            now.as_micros(),
            i64::try_from(PENDING_MAX).unwrap_or(i64::MAX),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(&*self.cipher)).collect()
    }

    async fn overdue_approvals(&self, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError> {
        let rows = sqlx::query_as!(
            ApprovalRow,
            "SELECT org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at, expires_at,
                 decided_at
             FROM approvals
             WHERE status = 'pending' AND expires_at <= $1
             ORDER BY expires_at, id LIMIT $2::bigint",
            now.as_micros(),
            i64::from(limit),
        );
        let rows = rows_within(rows.fetch(&self.connections), |row| sealed_weight(&row.content), PAGE_BYTES_MAX);
        let RowsWithin { rows, .. } = rows.await.map_err(store_error)?;
        let read = rows.into_iter().filter_map(|row| {
            // An unreadable approval must not keep the others from being ended.
            let report = |error: &StoreError| {
                tracing::error!(error = error as &dyn std::error::Error, "an overdue approval cannot be read");
            };
            row.open(&*self.cipher).inspect_err(report).ok()
        });
        Ok(read.collect())
    }

    async fn purge_approvals(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let found = sqlx::query!(
            "SELECT org_id, id FROM approvals
             WHERE COALESCE(decided_at, expires_at) <= $1
             ORDER BY COALESCE(decided_at, expires_at) LIMIT $2",
            before.as_micros(),
            i64::from(limit),
        );
        let mut of: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
        for row in found.fetch_all(&self.connections).await.map_err(store_error)? {
            of.entry(row.org_id).or_default().push(row.id);
        }
        let mut purged = 0;
        // Each statement locks rows of one organization, and skips those that others hold.
        for (org_id, ids) in of {
            let deleted = retried(|| {
                sqlx::query!(
                    "DELETE FROM approvals WHERE org_id = $1 AND id IN (
                         SELECT a.id
                         FROM unnest($2::uuid[]) AS row (id)
                         JOIN approvals a ON a.org_id = $1 AND a.id = row.id
                         WHERE COALESCE(a.decided_at, a.expires_at) <= $3
                         ORDER BY a.id FOR UPDATE OF a SKIP LOCKED
                     )",
                    org_id,
                    &ids,
                    before.as_micros(),
                )
                .execute(&self.connections)
            });
            purged += deleted.await.map_err(store_error)?.rows_affected();
        }
        Ok(purged)
    }
}
