//! Reads claims on organizations.

use async_trait::async_trait;
use kalends_accounts::ports::Claims;
use kalends_accounts::{AddressHash, Claim};
use kalends_kernel::{ClaimId, Listed, OrgId, Page, StoreError, UserId};
use kalends_time::Timestamp;

use super::listed;
use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{ClaimRow, claim_row};

#[async_trait]
impl Claims for PostgresStore {
    async fn find_claim(&self, claim: ClaimId) -> Result<Option<Claim>, StoreError> {
        let row = sqlx::query_as!(
            ClaimRow,
            "SELECT id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version, created_at
             FROM account_claims WHERE id = $1",
            claim.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(ClaimRow::into_domain).transpose()
    }

    async fn waiting_claim(&self, user: UserId, address: AddressHash) -> Result<Option<Claim>, StoreError> {
        let row = sqlx::query_as!(
            ClaimRow,
            "SELECT id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version, created_at
             FROM account_claims WHERE user_id = $1 AND address = $2 AND state = 'initiated'",
            user.uuid(),
            address.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(ClaimRow::into_domain).transpose()
    }

    async fn held_claim(&self, org: OrgId) -> Result<Option<Claim>, StoreError> {
        let row = sqlx::query_as!(
            ClaimRow,
            "SELECT id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version, created_at
             FROM account_claims WHERE org_id = $1 AND state = 'held'",
            org.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(ClaimRow::into_domain).transpose()
    }

    async fn claims_of(&self, user: UserId, page: Page) -> Result<Listed<Claim>, StoreError> {
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                     created_at
                 FROM account_claims WHERE user_id = $1 ORDER BY created_at, id LIMIT $2::bigint OFFSET $3::bigint
             )
             SELECT id, org_id, user_id, address, state, code, attempts::bigint AS "attempts!", due_at, revocation,
                 ended_at, version, created_at,
                 CASE WHEN (SELECT count(*) FROM page) = $2 THEN (
                     SELECT count(*) FROM account_claims WHERE user_id = $1
                 ) END AS total
             FROM page
             ORDER BY created_at, id"#,
            user.uuid(),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().and_then(|record| record.total);
        let claims = records.into_iter().map(|record| claim_row!(record).into_domain());
        let claims = claims.collect::<Result<_, _>>()?;
        let count =
            sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM account_claims WHERE user_id = $1"#, user.uuid());
        listed(claims, page, counted, count.fetch_one(&self.connections)).await
    }

    async fn unfinished_claims(&self, user: UserId, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let rows = sqlx::query_as!(
            ClaimRow,
            "SELECT id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version, created_at
             FROM account_claims
             WHERE user_id = $1 AND (state = 'held' OR (state = 'initiated' AND due_at > $3))
             ORDER BY created_at DESC, id DESC LIMIT $2::bigint",
            user.uuid(),
            i64::from(limit),
            now.as_micros(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().rev().map(ClaimRow::into_domain).collect()
    }

    async fn due_claims(&self, user: Option<UserId>, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let rows = match user {
            None => {
                sqlx::query_as!(
                    ClaimRow,
                    "SELECT id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version, created_at
                     FROM account_claims WHERE state = 'held' AND due_at <= $1 ORDER BY due_at, id LIMIT $2::bigint",
                    now.as_micros(),
                    i64::from(limit),
                )
                .fetch_all(&self.connections)
                .await
            }
            Some(user) => {
                sqlx::query_as!(
                    ClaimRow,
                    "SELECT id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version, created_at
                     FROM account_claims WHERE user_id = $3 AND state = 'held' AND due_at <= $1
                     ORDER BY due_at, id LIMIT $2::bigint",
                    now.as_micros(),
                    i64::from(limit),
                    user.uuid(),
                )
                .fetch_all(&self.connections)
                .await
            }
        };
        rows.map_err(store_error)?.into_iter().map(ClaimRow::into_domain).collect()
    }

    async fn forget_claims(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM account_claims WHERE id IN (
                     SELECT id FROM account_claims
                     WHERE created_at < $1 AND state <> 'held' AND state <> 'effective' LIMIT $2
                 )",
                before.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
