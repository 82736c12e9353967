//! Second factors of users, and their recovery codes.

use kalends_accounts::{FactorUse, SecondFactor, TokenHash};
use kalends_kernel::UserId;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::error::{Failure, fresh};

/// Stores a factor that waits for its first code, with its sealed secret. A confirmed one stays.
pub(super) async fn put(connection: &mut SqliteConnection, factor: &SecondFactor, secret: &str) -> Result<(), Failure> {
    let (user_id, created_at) = (factor.user.uuid(), factor.created_at.as_micros());
    let put = sqlx::query!(
        "insert into second_factors (user_id, secret, created_at)
         select u.id, ?2, ?3 from users u where u.id = ?1
         on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at
         where second_factors.confirmed_at is null",
        user_id,
        secret,
        created_at
    )
    .execute(connection)
    .await?;
    fresh(put.rows_affected(), 1)
}

pub(super) async fn confirm(connection: &mut SqliteConnection, factor: &SecondFactor) -> Result<(), Failure> {
    let (user_id, created_at) = (factor.user.uuid(), factor.created_at.as_micros());
    let (confirmed_at, last_step) = (factor.confirmed_at.map(Timestamp::as_micros), stored(factor.last_step));
    let confirmed = sqlx::query!(
        "update second_factors set confirmed_at = ?3, last_step = ?4
         where user_id = ?1 and created_at = ?2 and confirmed_at is null",
        user_id,
        created_at,
        confirmed_at,
        last_step
    )
    .execute(connection)
    .await?;
    fresh(confirmed.rows_affected(), 1)
}

pub(super) async fn use_up(
    connection: &mut SqliteConnection,
    user: UserId,
    used: FactorUse,
    seen: Option<u64>,
) -> Result<(), Failure> {
    let user_id = user.uuid();
    let used = match used {
        FactorUse::Step(step) => {
            let (step, seen) = (stored(Some(step)), stored(seen));
            sqlx::query!(
                "update second_factors set last_step = ?2
                 where user_id = ?1 and confirmed_at is not null and last_step is ?3",
                user_id,
                step,
                seen
            )
            .execute(connection)
            .await?
        }
        FactorUse::Recovery(TokenHash(hash)) => {
            let hash = hash.as_slice();
            sqlx::query!("delete from recovery_codes where user_id = ?1 and code_hash = ?2", user_id, hash)
                .execute(connection)
                .await?
        }
    };
    fresh(used.rows_affected(), 1)
}

pub(super) async fn put_codes(
    connection: &mut SqliteConnection,
    user: UserId,
    codes: &[TokenHash],
) -> Result<(), Failure> {
    let user_id = user.uuid();
    sqlx::query!("delete from recovery_codes where user_id = ?1", user_id).execute(&mut *connection).await?;
    for TokenHash(hash) in codes {
        let hash = hash.as_slice();
        let put = sqlx::query!(
            "insert into recovery_codes (user_id, code_hash)
             select f.user_id, ?2 from second_factors f where f.user_id = ?1 and f.confirmed_at is not null",
            user_id,
            hash
        )
        .execute(&mut *connection)
        .await?;
        fresh(put.rows_affected(), 1)?;
    }
    Ok(())
}

pub(super) async fn remove(connection: &mut SqliteConnection, user: UserId) -> Result<(), Failure> {
    let user_id = user.uuid();
    sqlx::query!("delete from recovery_codes where user_id = ?1", user_id).execute(&mut *connection).await?;
    sqlx::query!("delete from second_factors where user_id = ?1", user_id).execute(connection).await?;
    Ok(())
}

/// A step as a column holds it. No clock reaches a step that does not fit.
fn stored(step: Option<u64>) -> Option<i64> {
    step.map(|step| i64::try_from(step).unwrap_or(i64::MAX))
}
