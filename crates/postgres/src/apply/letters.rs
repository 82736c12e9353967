//! Letters (outgoing mail), and the use of allowances.

use kalends_accounts::Taken;
use kalends_app::Use;
use kalends_app::ports::CommitError;
use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;

use super::allowances::use_up;
use crate::error::ApplyError;

/// Stores the letters.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (letter, content) in batch.iter().flat_map(SealedChangeSet::letters) {
        sqlx::query!(
            "INSERT INTO letters (org_id, id, recipient, about, content, created_at, due_at, fence, put_off)
             VALUES ($1, $2, $3, $4, $5, $6, $6, 0, 0)",
            letter.org.uuid(),
            letter.id.uuid(),
            letter.recipient.as_slice(),
            letter.about.uuid(),
            content,
            letter.created_at.as_micros(),
        )
        .execute(&mut *connection)
        .await?;
    }
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
