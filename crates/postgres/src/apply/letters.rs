//! Letters (outgoing mail), and the use of allowances.

use kalends_accounts::Taken;
use kalends_app::Use;
use kalends_app::ports::CommitError;
use kalends_notifications::{Letter, LetterStatus, Withdrawn};
use kalends_rows::{LetterWrite, SealedChangeSet};
use kalends_time::Timestamp;
use sqlx::{PgConnection, types::Uuid};

use super::allowances::use_up;
use crate::error::ApplyError;

/// Removes the letters that the change-sets withdraw, with one statement each.
pub(crate) async fn withdraw(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for Withdrawn { recipient, about, at } in &changes.withdrawn {
            sqlx::query!(
                "WITH gone AS (
                     DELETE FROM letters WHERE org_id = $1 AND recipient = $2 AND about = $3 RETURNING id
                 )
                 UPDATE letter_records r SET status = $4, next_attempt_at = NULL, ended_at = $5
                 FROM gone WHERE r.org_id = $1 AND r.id = gone.id",
                changes.org.uuid(),
                recipient.as_slice(),
                about.event.uuid(),
                LetterStatus::Outdated.as_str(),
                at.as_micros(),
            )
            .execute(&mut *connection)
            .await?;
        }
    }
    Ok(())
}

/// Stores the letters.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let letters: Vec<LetterWrite<'_>> = batch.iter().flat_map(SealedChangeSet::letters).collect();
    if letters.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = letters.iter().map(|write| write.letter.org.uuid()).collect();
    let ids: Vec<Uuid> = letters.iter().map(|write| write.letter.id.uuid()).collect();
    let recipients: Vec<&[u8]> = letters.iter().map(|write| write.letter.recipient.as_slice()).collect();
    let events: Vec<Uuid> = letters.iter().map(|write| write.letter.about.event.uuid()).collect();
    let occurrence = |letter: &Letter| letter.about.occurrence.map(Timestamp::as_micros);
    let occurrences: Vec<Option<i64>> = letters.iter().map(|write| occurrence(write.letter)).collect();
    let contents: Vec<&str> = letters.iter().map(|write| write.content).collect();
    let created: Vec<i64> = letters.iter().map(|write| write.letter.created_at.as_micros()).collect();
    let due: Vec<i64> = letters.iter().map(|write| write.due_at.as_micros()).collect();
    sqlx::query!(
        "INSERT INTO letters (org_id, id, recipient, about, occurrence, content, created_at, due_at, fence, put_off)
         SELECT org_id, id, recipient, about, occurrence, content, created_at, due_at, 0, 0
         FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[], $5::bigint[], $6::text[], $7::bigint[],
                     $8::bigint[])
             AS row (org_id, id, recipient, about, occurrence, content, created_at, due_at)",
        &orgs,
        &ids,
        &recipients as &[&[u8]],
        &events,
        &occurrences as &[Option<i64>],
        &contents as &[&str],
        &created,
        &due,
    )
    .execute(&mut *connection)
    .await?;
    let envelopes: Vec<Option<&str>> = letters.iter().map(|write| write.envelope).collect();
    sqlx::query!(
        "INSERT INTO letter_records (org_id, id, status, attempts, envelope, created_at, next_attempt_at)
         SELECT org_id, id, $1, 0, envelope, created_at, due_at
         FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[])
             AS row (org_id, id, envelope, created_at, due_at)
         WHERE envelope IS NOT NULL",
        LetterStatus::Pending.as_str(),
        &orgs,
        &ids,
        &envelopes as &[Option<&str>],
        &created,
        &due,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Uses the allowances, with one statement each.
pub(crate) async fn take(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for Use { allowance, count, now } in batch.iter().flat_map(|sealed| &sealed.changes().uses) {
        if let Taken::Refused { retry_after } = use_up(connection, allowance, *count, *now).await? {
            return Err(ApplyError::Refused(CommitError::TooMany { limited: allowance.limited, retry_after }));
        }
    }
    Ok(())
}
