//! The journal of runs.

use std::collections::BTreeSet;

use kalends_app::ports::CommitError;
use kalends_kernel::OrgId;
use kalends_rows::{SealedChangeSet, resource_uuid, run_owner};
use kalends_runs::{Change, RunKey, WRITES_MAX};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::{
    error::{Failure, fresh},
    json::{self, Hex},
};

/// Applies the changes of one change-set: all new writes with one statement, then undos.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    let org = sealed.changes().org;
    let mut rows = Vec::new();
    for (change, state) in sealed.runs() {
        if let Change::Record { run, entry } = change {
            rows.push((
                Hex(org.uuid()),
                Hex(entry.id.uuid()),
                Hex(run_owner(run)),
                run.name.as_str(),
                entry.operation.as_str(),
                entry.resource.kind().as_str(),
                Hex(resource_uuid(entry.resource)),
                state,
                entry.after.0,
                entry.at.as_micros(),
                entry.undone_at.map(Timestamp::as_micros),
            ));
        }
    }
    if !rows.is_empty() {
        let rows = json::rows(&rows)?;
        sqlx::query!(
            "insert or fail into run_writes (org_id, id, owner, name, operation, resource_type, resource_id, state,
                version, written_at, undone_at)
             select unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), value ->> 3, value ->> 4, value ->> 5,
                unhex(value ->> 6), value ->> 7, value ->> 8, value ->> 9, value ->> 10
             from jsonb_each(?1)",
            rows
        )
        .execute(&mut *connection)
        .await?;
    }
    for (change, _) in sealed.runs() {
        if let Change::Undo { run, count, at } = change {
            undo(connection, org, run, (*count, *at)).await?;
        }
    }
    Ok(())
}

/// Refuses as stale if a run has more writes than it may have.
pub(crate) async fn check(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    let changes = sealed.changes();
    let recorded = changes.runs.iter().filter_map(|change| match change {
        Change::Record { run, .. } => Some(run),
        Change::Undo { .. } => None,
    });
    let runs: BTreeSet<&RunKey> = recorded.collect();
    for run in runs {
        let (org_id, owner, name) = (changes.org.uuid(), run_owner(run), run.name.as_str());
        let counted = sqlx::query_scalar!(
            "select count(*) from run_writes where org_id = ?1 and owner = ?2 and name = ?3",
            org_id,
            owner,
            name
        )
        .fetch_one(&mut *connection)
        .await?;
        if u64::try_from(counted).unwrap_or_default() > WRITES_MAX as u64 {
            return Err(CommitError::Stale.into());
        }
    }
    Ok(())
}

async fn undo(
    connection: &mut SqliteConnection,
    org: OrgId,
    run: &RunKey,
    (count, at): (u64, Timestamp),
) -> Result<(), Failure> {
    let (org_id, owner, name, at) = (org.uuid(), run_owner(run), run.name.as_str(), at.as_micros());
    let undone = sqlx::query!(
        "update run_writes set undone_at = ?4
         where org_id = ?1 and owner = ?2 and name = ?3 and undone_at is null",
        org_id,
        owner,
        name,
        at
    )
    .execute(connection)
    .await?;
    fresh(undone.rows_affected(), count)
}
