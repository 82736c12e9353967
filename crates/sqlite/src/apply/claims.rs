//! Claims on organizations.

use kalends_accounts::Claim;
use kalends_app::ports::CommitError;
use kalends_kernel::Version;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::error::{Failure, fresh, is_duplicate_of};

/// Translates a duplicate claim to "stale". Either another claim of the user waits for a code of the same mailbox, or
/// another claim on the organization is on hold. The decision did not see it.
fn overtaken(error: sqlx::Error) -> Failure {
    let unique = ["account_claims.user_id, account_claims.address", "account_claims.org_id"];
    if unique.iter().any(|columns| is_duplicate_of(&error, columns)) { CommitError::Stale.into() } else { error.into() }
}

pub(super) async fn create(connection: &mut SqliteConnection, claim: &Claim) -> Result<(), Failure> {
    let (id, org_id, user_id) = (claim.id.uuid(), claim.org.map(|org| org.uuid()), claim.user.uuid());
    let (address, stored) = (claim.address.0.as_slice(), claim.state.stored());
    let (code, revocation) = (stored.code.map(|hash| hash.0.to_vec()), stored.revocation.map(|hash| hash.0.to_vec()));
    let (due_at, ended_at) = (stored.due_at.map(Timestamp::as_micros), stored.ended_at.map(Timestamp::as_micros));
    let (version, created_at) = (claim.version.0, claim.created_at.as_micros());
    sqlx::query!(
        "insert into account_claims (id, org_id, user_id, address, state, code, attempts, due_at, revocation, ended_at,
            version, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        id,
        org_id,
        user_id,
        address,
        stored.name,
        code,
        stored.attempts,
        due_at,
        revocation,
        ended_at,
        version,
        created_at
    )
    .execute(connection)
    .await
    .map_err(overtaken)?;
    Ok(())
}

pub(super) async fn update(connection: &mut SqliteConnection, claim: &Claim, seen: Version) -> Result<(), Failure> {
    let (id, stored) = (claim.id.uuid(), claim.state.stored());
    let (code, revocation) = (stored.code.map(|hash| hash.0.to_vec()), stored.revocation.map(|hash| hash.0.to_vec()));
    let (due_at, ended_at) = (stored.due_at.map(Timestamp::as_micros), stored.ended_at.map(Timestamp::as_micros));
    let updated = sqlx::query!(
        "update account_claims set state = ?3, code = ?4, attempts = ?5, due_at = ?6, revocation = ?7, ended_at = ?8,
            version = ?9
         where id = ?1 and version = ?2",
        id,
        seen.0,
        stored.name,
        code,
        stored.attempts,
        due_at,
        revocation,
        ended_at,
        claim.version.0
    )
    .execute(connection)
    .await
    .map_err(overtaken)?;
    fresh(updated.rows_affected(), 1)
}
