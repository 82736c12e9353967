//! Claims on organizations.

use kalends_accounts::{Claim, StoredClaimState};
use kalends_kernel::Version;
use sqlx::PgConnection;

use crate::error::{ApplyError, all_written};

fn attempts(stored: StoredClaimState<'_>) -> i32 {
    i32::try_from(stored.attempts).unwrap_or(i32::MAX)
}

pub(super) async fn create(connection: &mut PgConnection, claim: &Claim) -> Result<(), ApplyError> {
    let stored = claim.state.stored();
    sqlx::query!(
        "INSERT INTO account_claims (id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at,
             version, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        claim.id.uuid(),
        claim.org.map(|org| org.uuid()),
        claim.user.uuid(),
        claim.address.0.as_slice(),
        stored.name,
        stored.code.map(|hash| hash.0.to_vec()),
        attempts(stored),
        stored.due_at.map(|at| at.as_micros()),
        stored.revocation.map(|hash| hash.0.to_vec()),
        stored.ended_at.map(|at| at.as_micros()),
        claim.version.0,
        claim.created_at.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn update(
    connection: &mut PgConnection,
    claim: &Claim,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let stored = claim.state.stored();
    let written = sqlx::query!(
        "UPDATE account_claims SET state = $3, code = $4, attempts = $5, due_at = $6, revocation = $7, ended_at = $8,
             version = $9
         WHERE id = $1 AND version = $2",
        claim.id.uuid(),
        seen,
        stored.name,
        stored.code.map(|hash| hash.0.to_vec()),
        attempts(stored),
        stored.due_at.map(|at| at.as_micros()),
        stored.revocation.map(|hash| hash.0.to_vec()),
        stored.ended_at.map(|at| at.as_micros()),
        claim.version.0,
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}
