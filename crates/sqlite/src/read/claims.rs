//! Claims on organizations.

use async_trait::async_trait;
use kalends_accounts::{AddressHash, Claim, ports::Claims};
use kalends_kernel::{ClaimId, Listed, OrgId, Page, StoreError, UserId};
use kalends_time::Timestamp;

use super::count;
use crate::{SqliteStore, error::store_error, rows::ClaimRow};

#[async_trait]
impl Claims for SqliteStore {
    async fn find_claim(&self, claim: ClaimId) -> Result<Option<Claim>, StoreError> {
        let id = claim.uuid();
        sqlx::query_as!(
            ClaimRow,
            "select id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                created_at
             from account_claims where id = ?1",
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(ClaimRow::into_domain)
        .transpose()
    }

    async fn waiting_claim(&self, user: UserId, address: AddressHash) -> Result<Option<Claim>, StoreError> {
        let (user_id, address) = (user.uuid(), address.0.as_slice());
        sqlx::query_as!(
            ClaimRow,
            "select id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                created_at
             from account_claims where user_id = ?1 and address = ?2 and state = 'initiated'",
            user_id,
            address
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(ClaimRow::into_domain)
        .transpose()
    }

    async fn held_claim(&self, org: OrgId) -> Result<Option<Claim>, StoreError> {
        let org_id = org.uuid();
        sqlx::query_as!(
            ClaimRow,
            "select id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                created_at
             from account_claims where org_id = ?1 and state = 'held'",
            org_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(ClaimRow::into_domain)
        .transpose()
    }

    async fn claims_of(&self, user: UserId, page: Page) -> Result<Listed<Claim>, StoreError> {
        let user_id = user.uuid();
        self.snapshot(async |snapshot| {
            let rows = sqlx::query_as!(
                ClaimRow,
                "select id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                created_at
                 from account_claims where user_id = ?1 order by created_at, id limit ?2 offset ?3",
                user_id,
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(rows.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!("select count(*) from account_claims where user_id = ?1", user_id)
                    .fetch_one(&mut *snapshot)
                    .await
                    .map(count)
                    .map_err(store_error)?,
            };
            let data = rows.into_iter().map(ClaimRow::into_domain).collect::<Result<_, _>>()?;
            Ok(Listed { data, total })
        })
        .await
    }

    async fn unfinished_claims(&self, user: UserId, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let (user_id, now) = (user.uuid(), now.as_micros());
        let rows = sqlx::query_as!(
            ClaimRow,
            "select id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                created_at
             from account_claims
             where user_id = ?1 and (state = 'held' or (state = 'initiated' and due_at > ?3))
             order by created_at desc, id desc limit ?2",
            user_id,
            limit,
            now
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().rev().map(ClaimRow::into_domain).collect()
    }

    async fn due_claims(&self, user: Option<UserId>, now: Timestamp, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let (user_id, now) = (user.map(|user| user.uuid()), now.as_micros());
        let rows = match user_id {
            None => {
                sqlx::query_as!(
                    ClaimRow,
                    "select id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                created_at
                     from account_claims where state = 'held' and due_at <= ?1 order by due_at, id limit ?2",
                    now,
                    limit
                )
                .fetch_all(self.readers())
                .await
            }
            Some(user_id) => {
                sqlx::query_as!(
                    ClaimRow,
                    "select id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at, version,
                created_at
                     from account_claims where user_id = ?3 and state = 'held' and due_at <= ?1
                     order by due_at, id limit ?2",
                    now,
                    limit,
                    user_id
                )
                .fetch_all(self.readers())
                .await
            }
        };
        rows.map_err(store_error)?.into_iter().map(ClaimRow::into_domain).collect()
    }

    async fn forget_claims(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from account_claims where rowid in (
                select rowid from account_claims
                where created_at < ?1 and state <> 'held' and state <> 'effective' limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
