//! Second factors of users, and their recovery codes.

use kalends_accounts::{FactorUse, SecondFactor, TokenHash};
use kalends_kernel::UserId;
use kalends_time::Timestamp;
use sqlx::PgConnection;

use crate::error::{ApplyError, all_written};

/// Stores a factor that waits for its first code, with its sealed secret. A confirmed one stays.
pub(super) async fn put(connection: &mut PgConnection, factor: &SecondFactor, secret: &str) -> Result<(), ApplyError> {
    let put = sqlx::query!(
        "INSERT INTO second_factors (user_id, secret, created_at)
         SELECT u.id, $2, $3 FROM users u WHERE u.id = $1 FOR KEY SHARE
         ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at
         WHERE second_factors.confirmed_at IS NULL",
        factor.user.uuid(),
        secret,
        factor.created_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(put.rows_affected(), 1)
}

pub(super) async fn confirm(connection: &mut PgConnection, factor: &SecondFactor) -> Result<(), ApplyError> {
    let confirmed = sqlx::query!(
        "UPDATE second_factors SET confirmed_at = $3, last_step = $4
         WHERE user_id = $1 AND created_at = $2 AND confirmed_at IS NULL",
        factor.user.uuid(),
        factor.created_at.as_micros(),
        factor.confirmed_at.map(Timestamp::as_micros),
        stored(factor.last_step),
    )
    .execute(connection)
    .await?;
    all_written(confirmed.rows_affected(), 1)
}

pub(super) async fn use_up(
    connection: &mut PgConnection,
    user: UserId,
    used: FactorUse,
    seen: Option<u64>,
) -> Result<(), ApplyError> {
    let used = match used {
        FactorUse::Step(step) => {
            sqlx::query!(
                "UPDATE second_factors SET last_step = $2
                 WHERE user_id = $1 AND confirmed_at IS NOT NULL AND last_step IS NOT DISTINCT FROM $3::bigint",
                user.uuid(),
                stored(Some(step)),
                stored(seen),
            )
            .execute(connection)
            .await?
        }
        FactorUse::Recovery(TokenHash(hash)) => {
            sqlx::query!(
                "DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2",
                user.uuid(),
                hash.as_slice(),
            )
            .execute(connection)
            .await?
        }
    };
    all_written(used.rows_affected(), 1)
}

/// Locks the row of the factor first, so that two replacements do not mix.
pub(super) async fn put_codes(
    connection: &mut PgConnection,
    user: UserId,
    codes: &[TokenHash],
) -> Result<(), ApplyError> {
    let locked = sqlx::query_scalar!(
        "SELECT user_id FROM second_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL FOR UPDATE",
        user.uuid(),
    )
    .fetch_all(&mut *connection)
    .await?;
    all_written(u64::from(!locked.is_empty()), 1)?;
    sqlx::query!("DELETE FROM recovery_codes WHERE user_id = $1", user.uuid()).execute(&mut *connection).await?;
    let hashes: Vec<&[u8]> = codes.iter().map(|TokenHash(hash)| hash.as_slice()).collect();
    sqlx::query!(
        "INSERT INTO recovery_codes (user_id, code_hash) SELECT $1::uuid, hash FROM unnest($2::bytea[]) AS row (hash)",
        user.uuid(),
        &hashes as &[&[u8]],
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn remove(connection: &mut PgConnection, user: UserId) -> Result<(), ApplyError> {
    sqlx::query!("DELETE FROM second_factors WHERE user_id = $1", user.uuid()).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM recovery_codes WHERE user_id = $1", user.uuid()).execute(connection).await?;
    Ok(())
}

/// A step as a column holds it. No clock reaches a step that does not fit.
fn stored(step: Option<u64>) -> Option<i64> {
    step.map(|step| i64::try_from(step).unwrap_or(i64::MAX))
}
