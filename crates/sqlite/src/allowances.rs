//! What is allowed so often, counted in one place: a count and the end of its window for each allowance, which
//! are read, decided on, and swapped where they are still the same.

use async_trait::async_trait;
use kalends_accounts::{Allowance, Taken, Used, ports::Allowances};
use kalends_kernel::{Instant, StoreError};

use crate::{
    SqliteStore,
    error::{failed, store_error},
};

/// How often a count is read again that others change meanwhile. Each time one of them has got through.
const ATTEMPTS: u32 = 64;

/// Others kept changing the same count.
#[derive(Debug, thiserror::Error)]
#[error("an allowance was changed by others {ATTEMPTS} times in a row")]
struct Contended;

#[async_trait]
impl Allowances for SqliteStore {
    async fn take(&self, allowance: &Allowance, now: Instant) -> Result<Taken, StoreError> {
        let scope = allowance.scope.as_slice();
        let org_id = allowance.org.map(|org| org.uuid());
        for _ in 0..ATTEMPTS {
            let stored = sqlx::query!("select state, expires_at from allowances where scope = ?1", scope)
                .fetch_optional(self.readers())
                .await
                .map_err(store_error)?;
            let read = |count, until| Used { count, until: Instant::from_micros(until) };
            let used = match allowance.take(stored.as_ref().map(|row| read(row.state, row.expires_at)), now) {
                Taken::Granted(used) => used,
                refused @ Taken::Refused { .. } => return Ok(refused),
            };
            let (state, until) = (used.count, used.until.as_micros());
            let mut writing = self.database.writer.take().await?;
            let swapped = match stored {
                Some(row) => {
                    sqlx::query!(
                        "update allowances set state = ?4, expires_at = ?5
                         where scope = ?1 and state = ?2 and expires_at = ?3",
                        scope,
                        row.state,
                        row.expires_at,
                        state,
                        until
                    )
                    .execute(&mut writing.connection)
                    .await
                }
                None => {
                    sqlx::query!(
                        "insert into allowances (scope, org_id, state, expires_at) values (?1, ?2, ?3, ?4)
                         on conflict (scope) do nothing",
                        scope,
                        org_id,
                        state,
                        until
                    )
                    .execute(&mut writing.connection)
                    .await
                }
            };
            if writing.done(swapped).await? == 1 {
                return Ok(Taken::Granted(used));
            }
        }
        Err(failed(Contended))
    }

    async fn forget_allowances(&self, now: Instant, limit: u32) -> Result<u64, StoreError> {
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
