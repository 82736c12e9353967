//! The stored answers of change-sets.

use kalends_app::ports::CommitError;
use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

const ANSWERED: ApplyError = ApplyError::Refused(CommitError::AlreadyAnswered);

/// Stores the answers. Each may replace an expired one of its scope, but never one that has not expired.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let answers = batch.iter().filter_map(|sealed| Some((sealed.changes().org, sealed.answer()?)));
    let mut answers: Vec<_> = answers.map(|(org, (stored, body))| (org, stored, body)).collect();
    if answers.is_empty() {
        return Ok(());
    }
    // Ordered by scope, so that two transactions never wait for each other in both directions.
    answers.sort_unstable_by_key(|(_, stored, _)| stored.scope);
    if answers.windows(2).any(|pair| pair[0].1.scope == pair[1].1.scope) {
        return Err(ANSWERED);
    }
    let scopes: Vec<&[u8]> = answers.iter().map(|(_, stored, _)| stored.scope.as_slice()).collect();
    let orgs: Vec<Uuid> = answers.iter().map(|(org, ..)| org.uuid()).collect();
    let fingerprints: Vec<&[u8]> = answers.iter().map(|(_, stored, _)| stored.fingerprint.as_slice()).collect();
    let statuses: Vec<i32> = answers.iter().map(|(_, stored, _)| i32::from(stored.answer.status)).collect();
    let versions: Vec<Option<i64>> =
        answers.iter().map(|(_, stored, _)| stored.answer.version.map(|version| version.0)).collect();
    let bodies: Vec<Option<&str>> = answers.iter().map(|(.., body)| *body).collect();
    let created: Vec<i64> = answers.iter().map(|(_, stored, _)| stored.created_at.as_micros()).collect();
    let expires: Vec<i64> = answers.iter().map(|(_, stored, _)| stored.expires_at.as_micros()).collect();
    let stored = sqlx::query!(
        "INSERT INTO idempotent_answers AS kept (scope, org_id, fingerprint, status, resource_version, body,
             created_at, expires_at)
         SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::bytea[], $4::integer[], $5::bigint[], $6::text[],
             $7::bigint[], $8::bigint[])
         ON CONFLICT (scope) DO UPDATE SET
             org_id = excluded.org_id, fingerprint = excluded.fingerprint, status = excluded.status,
             resource_version = excluded.resource_version, body = excluded.body, created_at = excluded.created_at,
             expires_at = excluded.expires_at
         WHERE kept.expires_at <= excluded.created_at",
        &scopes as &[&[u8]],
        &orgs,
        &fingerprints as &[&[u8]],
        &statuses,
        &versions as &[Option<i64>],
        &bodies as &[Option<&str>],
        &created,
        &expires,
    )
    .execute(connection)
    .await?;
    if u64::try_from(answers.len()) == Ok(stored.rows_affected()) { Ok(()) } else { Err(ANSWERED) }
}
