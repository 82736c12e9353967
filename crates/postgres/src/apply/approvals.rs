//! Approvals.

use kalends_approvals::{Approval, Change, PENDING_MAX};
use kalends_kernel::Version;
use kalends_rows::{SealedChangeSet, approval_decided_at};
use kalends_time::Timestamp;
use sqlx::PgConnection;

use super::usage;
use crate::error::{ApplyError, all_written};

/// Stores new approvals, and writes decisions.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, content) in batch.iter().flat_map(SealedChangeSet::approvals) {
        match change {
            Change::Ask(approval) => ask(connection, approval, content).await?,
            Change::Decide { approval, seen } => decide(connection, approval, *seen, content).await?,
        }
    }
    Ok(())
}

/// Refuses as stale if a key that asks has more pending approvals than it may have, after all other writes. The
/// organization's row is locked first, so that the count includes what other transactions have committed.
pub(crate) async fn check(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for change in batch.iter().flat_map(|sealed| &sealed.changes().approvals) {
        let Change::Ask(asked) = change else { continue };
        usage::lock_organization(&mut *connection, asked.org).await?;
        let pending = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM approvals
             WHERE org_id = $1 AND key_id = $2 AND status = 'pending' AND expires_at > $3"#,
            asked.org.uuid(),
            asked.key.uuid(),
            asked.created_at.as_micros(),
        )
        .fetch_one(&mut *connection)
        .await?;
        if u64::try_from(pending).unwrap_or_default() > PENDING_MAX {
            return Err(ApplyError::STALE);
        }
    }
    Ok(())
}

async fn ask(connection: &mut PgConnection, approval: &Approval, content: &str) -> Result<(), ApplyError> {
    sqlx::query!(
        "INSERT INTO approvals (org_id, id, key_id, key_prefix, agent_id, operation, status, content, version,
             created_at, expires_at, decided_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        approval.org.uuid(),
        approval.id.uuid(),
        approval.key.uuid(),
        approval.key_prefix,
        approval.agent.uuid(),
        approval.operation,
        approval.state.status().as_str(),
        content,
        approval.version.0,
        approval.created_at.as_micros(),
        approval.expires_at.as_micros(),
        approval_decided_at(approval).map(Timestamp::as_micros),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn decide(
    connection: &mut PgConnection,
    approval: &Approval,
    seen: Version,
    content: &str,
) -> Result<(), ApplyError> {
    let decided = sqlx::query!(
        "UPDATE approvals SET status = $4, content = $5, version = $6, decided_at = $7
         WHERE org_id = $1 AND id = $2 AND version = $3",
        approval.org.uuid(),
        approval.id.uuid(),
        seen.0,
        approval.state.status().as_str(),
        content,
        approval.version.0,
        approval_decided_at(approval).map(Timestamp::as_micros),
    )
    .execute(connection)
    .await?;
    all_written(decided.rows_affected(), 1)
}
