//! What is allowed so often, counted in one place: a count and the end of its window for each allowance, which
//! are read, decided on, and swapped where they are still the same.

use async_trait::async_trait;
use kalends_accounts::ports::Allowances;
use kalends_accounts::{Allowance, Taken, Used};
use kalends_kernel::{Instant, StoreError};

use crate::PostgresStore;
use crate::error::{failed, store_error};
use crate::retry::retried;

/// How often a count is read again that others change meanwhile. Each time one of them has got through.
const ATTEMPTS: u32 = 64;

/// Others kept changing the same count.
#[derive(Debug, thiserror::Error)]
#[error("an allowance was changed by others {ATTEMPTS} times in a row")]
struct Contended;

#[async_trait]
impl Allowances for PostgresStore {
    async fn take(&self, allowance: &Allowance, now: Instant) -> Result<Taken, StoreError> {
        let scope = allowance.scope.as_slice();
        for _ in 0..ATTEMPTS {
            let stored = sqlx::query!("SELECT state, expires_at FROM allowances WHERE scope = $1", scope)
                .fetch_optional(&self.connections)
                .await
                .map_err(store_error)?;
            let read = |count, until| Used { count, until: Instant::from_micros(until) };
            let used = match allowance.take(stored.as_ref().map(|row| read(row.state, row.expires_at)), now) {
                Taken::Granted(used) => used,
                refused @ Taken::Refused { .. } => return Ok(refused),
            };
            let swapped = match stored {
                Some(row) => {
                    sqlx::query!(
                        "UPDATE allowances SET state = $4, expires_at = $5
                         WHERE scope = $1 AND state = $2 AND expires_at = $3",
                        scope,
                        row.state,
                        row.expires_at,
                        used.count,
                        used.until.as_micros(),
                    )
                    .execute(&self.connections)
                    .await
                }
                None => {
                    let org_id = allowance.org.map(|org| org.uuid());
                    sqlx::query!(
                        "INSERT INTO allowances (scope, org_id, state, expires_at) VALUES ($1, $2, $3, $4)
                         ON CONFLICT (scope) DO NOTHING",
                        scope,
                        org_id,
                        used.count,
                        used.until.as_micros(),
                    )
                    .execute(&self.connections)
                    .await
                }
            };
            if swapped.map_err(store_error)?.rows_affected() == 1 {
                return Ok(Taken::Granted(used));
            }
        }
        Err(failed(Contended))
    }

    async fn forget_allowances(&self, now: Instant, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM allowances WHERE expires_at <= $1 AND scope IN (
                     SELECT scope FROM allowances WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
