//! Allowances: one row for each, with its count and the end of its window.

use async_trait::async_trait;
use kalends_accounts::{Allowance, Taken, Used, ports::Allowances};
use kalends_kernel::{StoreError, Timestamp};
use sqlx::SqliteConnection;

use crate::{SqliteStore, error::store_error};

/// Takes several uses at once, all or none, in one statement, as [`Allowance::take_many`] does. If they are refused,
/// a second statement finds out how long to wait. The connection is the writing one, so nobody changes the row in
/// between.
pub(crate) async fn use_up(
    connection: &mut SqliteConnection,
    allowance: &Allowance,
    count: u32,
    now: Timestamp,
) -> Result<Taken, sqlx::Error> {
    let terms = allowance.terms(now);
    let (scope, org_id) = (allowance.scope.as_slice(), allowance.org.map(|org| org.uuid()));
    let (at, until, longest) = (terms.now.as_micros(), terms.until.as_micros(), terms.longest.as_micros());
    // The first use has no row to compare with the limit, so the insert compares it.
    let granted = sqlx::query!(
        "insert into allowances (scope, org_id, state, expires_at)
         select ?1, ?2, ?3, ?4 where ?3 <= ?5
         on conflict (scope) do update set
            state = case when expires_at > ?6 and expires_at <= ?7 then state else 0 end + excluded.state,
            expires_at = case when expires_at > ?6 and expires_at <= ?7 then expires_at else excluded.expires_at end
            where expires_at <= ?6 or expires_at > ?7 or state <= ?5 - excluded.state
         returning state, expires_at",
        scope,
        org_id,
        count,
        until,
        terms.limit,
        at,
        longest
    )
    .fetch_all(&mut *connection)
    .await?;
    if let Some(row) = granted.first() {
        return Ok(Taken::Granted(Used { count: row.state, until: Timestamp::from_micros(row.expires_at) }));
    }
    let kept = sqlx::query_scalar!("select expires_at from allowances where scope = ?1", scope)
        .fetch_optional(connection)
        .await?;
    Ok(Taken::Refused { retry_after: terms.retry_after(kept.map(Timestamp::from_micros)) })
}

#[async_trait]
impl Allowances for SqliteStore {
    async fn take(&self, allowance: &Allowance, now: Timestamp) -> Result<Taken, StoreError> {
        let mut writing = self.database.writer.take().await?;
        match use_up(&mut writing.connection, allowance, 1, now).await {
            Ok(taken) => {
                writing.hand_back();
                Ok(taken)
            }
            Err(error) => {
                writing.close().await;
                Err(store_error(error))
            }
        }
    }

    async fn give_back(&self, allowance: &Allowance, until: Timestamp) -> Result<(), StoreError> {
        let (scope, until) = (allowance.scope.as_slice(), until.as_micros());
        let mut writing = self.database.writer.take().await?;
        let given_back = sqlx::query!(
            "update allowances set state = state - 1 where scope = ?1 and expires_at = ?2 and state > 0",
            scope,
            until
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(given_back).await.map(drop)
    }

    async fn forget_allowances(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from allowances where rowid in (select rowid from allowances where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
