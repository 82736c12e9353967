//! Approvals.

use kalends_app::ports::CommitError;
use kalends_approvals::{Approval, Change, PENDING_MAX};
use kalends_kernel::Version;
use kalends_rows::{SealedChangeSet, approval_decided_at};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::error::{Failure, fresh};

/// Stores new approvals, and writes decisions.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for (change, content) in sealed.approvals() {
        match change {
            Change::Ask(approval) => ask(connection, approval, content).await?,
            Change::Decide { approval, seen } => decide(connection, approval, *seen, content).await?,
        }
    }
    Ok(())
}

/// Refuses as stale if a key that asks has more pending approvals than it may have.
pub(crate) async fn check(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for change in &sealed.changes().approvals {
        let Change::Ask(asked) = change else { continue };
        let (org_id, key_id, now) = (asked.org.uuid(), asked.key.uuid(), asked.created_at.as_micros());
        let pending = sqlx::query_scalar!(
            "select count(*) from approvals
             where org_id = ?1 and key_id = ?2 and status = 'pending' and expires_at > ?3",
            org_id,
            key_id,
            now
        )
        .fetch_one(&mut *connection)
        .await?;
        if u64::try_from(pending).unwrap_or_default() > PENDING_MAX {
            return Err(CommitError::Stale.into());
        }
    }
    Ok(())
}

async fn ask(connection: &mut SqliteConnection, approval: &Approval, content: &str) -> Result<(), Failure> {
    let (org_id, id) = (approval.org.uuid(), approval.id.uuid());
    let (key_id, agent_id) = (approval.key.uuid(), approval.agent.uuid());
    let (status, version) = (approval.state.status().as_str(), approval.version.0);
    let (created_at, expires_at) = (approval.created_at.as_micros(), approval.expires_at.as_micros());
    let decided_at = approval_decided_at(approval).map(Timestamp::as_micros);
    sqlx::query!(
        "insert into approvals (org_id, id, key_id, key_prefix, agent_id, operation, status, content, version,
            created_at, expires_at, decided_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        org_id,
        id,
        key_id,
        approval.key_prefix,
        agent_id,
        approval.operation,
        status,
        content,
        version,
        created_at,
        expires_at,
        decided_at
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn decide(
    connection: &mut SqliteConnection,
    approval: &Approval,
    seen: Version,
    content: &str,
) -> Result<(), Failure> {
    let (org_id, id) = (approval.org.uuid(), approval.id.uuid());
    let (status, version) = (approval.state.status().as_str(), approval.version.0);
    let decided_at = approval_decided_at(approval).map(Timestamp::as_micros);
    let decided = sqlx::query!(
        "update approvals set status = ?4, content = ?5, version = ?6, decided_at = ?7
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        status,
        content,
        version,
        decided_at
    )
    .execute(connection)
    .await?;
    fresh(decided.rows_affected(), 1)
}
