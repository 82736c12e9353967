//! Reads approvals.

use async_trait::async_trait;
use kalends_approvals::{
    Approval, PENDING_MAX, Status,
    ports::{ApprovalFilter, Approvals},
};
use kalends_kernel::{ApprovalId, KeyId, Listed, OrgId, PAGE_BYTES_MAX, Page, StoreError};
use kalends_rows::approval_status;
use kalends_time::Timestamp;
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};

use super::count;
use crate::{SqliteStore, error::store_error, rows::ApprovalRow};

#[async_trait]
impl Approvals for SqliteStore {
    async fn find_approval(&self, org: OrgId, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let (org_id, id) = (org.uuid(), id.uuid());
        let row = sqlx::query_as!(
            ApprovalRow,
            "select org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
                expires_at, decided_at
             from approvals where org_id = ?1 and id = ?2",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        row.map(|row| row.open(self.cipher.as_ref())).transpose()
    }

    async fn approval_status(&self, org: OrgId, id: ApprovalId) -> Result<Option<(Status, Timestamp)>, StoreError> {
        let (org_id, approval_id) = (org.uuid(), id.uuid());
        let row =
            sqlx::query!("select status, expires_at from approvals where org_id = ?1 and id = ?2", org_id, approval_id)
                .fetch_optional(self.readers())
                .await
                .map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((approval_status(id, &row.status)?, Timestamp::from_micros(row.expires_at))))
    }

    async fn list_approvals(
        &self,
        org: OrgId,
        filter: ApprovalFilter,
        page: Page,
    ) -> Result<Listed<Approval>, StoreError> {
        let (org_id, agent) = (org.uuid(), filter.agent.map(|agent| agent.uuid()));
        let status = filter.status.map(|(status, _)| Status::as_str(status));
        let at = filter.status.map(|(_, at)| at.as_micros());
        let (rows, total) = self
            .snapshot(async |snapshot| {
                let rows = sqlx::query_as!(
                    ApprovalRow,
                    "select org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
                        expires_at, decided_at
                     from approvals
                     where org_id = ?1 and (?2 is null or agent_id = ?2)
                        and (?3 is null or ?3 = iif(status = 'pending' and expires_at <= ?4, 'expired', status))
                     order by created_at desc, id desc limit ?5 offset ?6",
                    org_id,
                    agent,
                    status,
                    at,
                    page.limit,
                    page.offset
                )
                .fetch(&mut *snapshot);
                let RowsWithin { rows, fetched } =
                    rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
                let total = match page.total_if_known(fetched) {
                    Some(total) => total,
                    None => sqlx::query_scalar!(
                        "select count(*) from approvals
                         where org_id = ?1 and (?2 is null or agent_id = ?2)
                            and (?3 is null or ?3 = iif(status = 'pending' and expires_at <= ?4, 'expired', status))",
                        org_id,
                        agent,
                        status,
                        at
                    )
                    .fetch_one(&mut *snapshot)
                    .await
                    .map(count)
                    .map_err(store_error)?,
                };
                Ok((rows, total))
            })
            .await?;
        let data = rows.into_iter().map(|row| row.open(self.cipher.as_ref())).collect::<Result<_, _>>()?;
        Ok(Listed { data, total })
    }

    async fn pending_approvals(&self, org: OrgId, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError> {
        let (org_id, now) = (org.uuid(), now.as_micros());
        let rows = sqlx::query_as!(
            ApprovalRow,
            "select org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
                expires_at, decided_at
             from approvals
             where org_id = ?1 and status = 'pending' and expires_at > ?2 order by expires_at, id limit ?3",
            org_id,
            now,
            limit
        )
        .fetch(self.readers());
        let RowsWithin { rows, .. } =
            rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(self.cipher.as_ref())).collect()
    }

    async fn count_pending_approvals(&self, org: OrgId, key: KeyId, now: Timestamp) -> Result<u64, StoreError> {
        let (org_id, key_id, now) = (org.uuid(), key.uuid(), now.as_micros());
        let pending = sqlx::query_scalar!(
            "select count(*) from approvals
             where org_id = ?1 and key_id = ?2 and status = 'pending' and expires_at > ?3",
            org_id,
            key_id,
            now
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        Ok(count(pending))
    }

    async fn pending_approvals_of_key(
        &self,
        org: OrgId,
        key: KeyId,
        now: Timestamp,
    ) -> Result<Vec<Approval>, StoreError> {
        let (org_id, key_id, now) = (org.uuid(), key.uuid(), now.as_micros());
        let most = i64::try_from(PENDING_MAX).unwrap_or(i64::MAX);
        let rows = sqlx::query_as!(
            ApprovalRow,
            "select org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
                expires_at, decided_at
             from approvals
             where org_id = ?1 and key_id = ?2 and status = 'pending' and expires_at > ?3
             order by expires_at limit ?4",
            org_id,
            key_id,
            now,
            most
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.open(self.cipher.as_ref())).collect()
    }

    async fn overdue_approvals(&self, now: Timestamp, limit: u32) -> Result<Vec<Approval>, StoreError> {
        let now = now.as_micros();
        let rows = sqlx::query_as!(
            ApprovalRow,
            "select org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
                expires_at, decided_at
             from approvals indexed by approvals_pending
             where status = 'pending' and expires_at <= ?1 order by expires_at, id limit ?2",
            now,
            limit
        )
        .fetch(self.readers());
        let RowsWithin { rows, .. } =
            rows_within(rows, |row| sealed_weight(&row.content), PAGE_BYTES_MAX).await.map_err(store_error)?;
        let read = rows.into_iter().filter_map(|row| {
            // An unreadable approval must not keep the others from being ended.
            let report = |error: &StoreError| {
                tracing::error!(error = error as &dyn std::error::Error, "an overdue approval cannot be read");
            };
            row.open(self.cipher.as_ref()).inspect_err(report).ok()
        });
        Ok(read.collect())
    }

    async fn purge_approvals(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let purged = sqlx::query!(
            "delete from approvals where rowid in (
                select rowid from approvals
                where coalesce(decided_at, expires_at) <= ?1 order by coalesce(decided_at, expires_at) limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(purged).await
    }
}
