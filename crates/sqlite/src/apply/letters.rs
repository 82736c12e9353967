//! Letters (outgoing mail), and the use of allowances.

use kalends_accounts::Taken;
use kalends_app::{Use, ports::CommitError};
use kalends_notifications::{LetterStatus, Withdrawn};
use kalends_rows::{LetterWrite, SealedChangeSet};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use super::allowances::use_up;
use crate::error::Failure;

/// Uses the allowances of one change-set, removes the letters that it withdraws, and stores its own.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for Use { allowance, count, now } in &sealed.changes().uses {
        if let Taken::Refused { retry_after } = use_up(connection, allowance, *count, *now).await? {
            return Err(CommitError::TooMany { limited: allowance.limited, retry_after }.into());
        }
    }
    for Withdrawn { recipient, about, at } in &sealed.changes().withdrawn {
        let (org_id, recipient) = (sealed.changes().org.uuid(), recipient.as_slice());
        let (about, at) = (about.event.uuid(), at.as_micros());
        let gone = sqlx::query_scalar!(
            r#"delete from letters where org_id = ?1 and recipient = ?2 and about = ?3 returning id as "id!""#,
            org_id,
            recipient,
            about
        )
        .fetch_all(&mut *connection)
        .await?;
        for id in gone {
            let status = LetterStatus::Outdated.as_str();
            sqlx::query!(
                "update letter_records set status = ?3, next_attempt_at = null, ended_at = ?4
                 where org_id = ?1 and id = ?2",
                org_id,
                id,
                status,
                at
            )
            .execute(&mut *connection)
            .await?;
        }
    }
    for LetterWrite { letter, content, envelope, due_at } in sealed.letters() {
        let (org_id, id, recipient) = (letter.org.uuid(), letter.id.uuid(), letter.recipient.as_slice());
        let (about, occurrence) = (letter.about.event.uuid(), letter.about.occurrence.map(Timestamp::as_micros));
        let (created_at, due_at) = (letter.created_at.as_micros(), due_at.as_micros());
        sqlx::query!(
            "insert into letters (org_id, id, recipient, about, occurrence, content, created_at, due_at, fence, put_off)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0)",
            org_id,
            id,
            recipient,
            about,
            occurrence,
            content,
            created_at,
            due_at
        )
        .execute(&mut *connection)
        .await?;
        let Some(envelope) = envelope else { continue };
        let status = LetterStatus::Pending.as_str();
        sqlx::query!(
            "insert into letter_records (org_id, id, status, attempts, envelope, created_at, next_attempt_at)
             values (?1, ?2, ?3, 0, ?4, ?5, ?6)",
            org_id,
            id,
            status,
            envelope,
            created_at,
            due_at
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}
