//! Answers stored under an `Idempotency-Key`.

use kalends_app::ports::CommitError;
use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::{
    error::Failure,
    json::{self, Hex, HexDigest},
};

/// Stores the answers of all change-sets of the group, in place of expired ones.
///
/// Refuses with [`CommitError::AlreadyAnswered`] if one of them is already stored and has not expired.
pub(crate) async fn store_answers(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
) -> Result<(), Failure> {
    let rows: Vec<_> = group
        .iter()
        .filter_map(|sealed| sealed.answer().map(|(answer, body)| (sealed, answer, body)))
        .map(|(sealed, stored, body)| {
            (
                HexDigest(&stored.scope),
                Hex(sealed.changes().org.uuid()),
                HexDigest(&stored.fingerprint),
                stored.answer.status,
                stored.answer.version.map(|version| version.0),
                body,
                stored.created_at.as_micros(),
                stored.expires_at.as_micros(),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let (count, rows) = (rows.len() as u64, json::rows(&rows)?);
    let stored = sqlx::query!(
        "insert or fail into idempotent_answers (scope, org_id, fingerprint, status, resource_version, body, created_at,
            expires_at)
         select unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, value ->> 7
         from jsonb_each(?1) where true
         on conflict (scope) do update set org_id = excluded.org_id, fingerprint = excluded.fingerprint,
            status = excluded.status, resource_version = excluded.resource_version, body = excluded.body,
            created_at = excluded.created_at, expires_at = excluded.expires_at
         where idempotent_answers.expires_at <= excluded.created_at",
        rows
    )
    .execute(connection)
    .await?;
    if stored.rows_affected() == count { Ok(()) } else { Err(CommitError::AlreadyAnswered.into()) }
}
