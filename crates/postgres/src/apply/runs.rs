//! The journal of runs.

use std::collections::BTreeSet;

use kalends_kernel::OrgId;
use kalends_rows::{SealedChangeSet, resource_uuid, run_owner};
use kalends_runs::{Change, Entry, RunKey, WRITES_MAX};
use sqlx::{PgConnection, types::Uuid};

use super::usage;
use crate::error::{ApplyError, all_written};

/// Stores the new writes with one statement, then marks the writes of each undone run.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    record(connection, batch).await?;
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for change in &changes.runs {
            let Change::Undo { run, count, at } = change else { continue };
            let undone = sqlx::query!(
                "UPDATE run_writes SET undone_at = $4
                 WHERE org_id = $1 AND owner = $2 AND name = $3 AND undone_at IS NULL",
                changes.org.uuid(),
                run_owner(run),
                run.name.as_str(),
                at.as_micros(),
            )
            .execute(&mut *connection)
            .await?;
            all_written(undone.rows_affected(), usize::try_from(*count).unwrap_or(usize::MAX))?;
        }
    }
    Ok(())
}

/// Refuses as stale if a run has more writes than it may have. The organization's row is locked first, so that the count
/// includes what other transactions have committed.
pub(crate) async fn check(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let recorded = batch.iter().map(SealedChangeSet::changes).flat_map(|changes| {
        changes.runs.iter().filter_map(move |change| match change {
            Change::Record { run, .. } => Some((changes.org, run)),
            Change::Undo { .. } => None,
        })
    });
    let runs: BTreeSet<(OrgId, &RunKey)> = recorded.collect();
    for (org, run) in runs {
        usage::lock_organization(&mut *connection, org).await?;
        let counted = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM run_writes WHERE org_id = $1 AND owner = $2 AND name = $3"#,
            org.uuid(),
            run_owner(run),
            run.name.as_str(),
        )
        .fetch_one(&mut *connection)
        .await?;
        if u64::try_from(counted).unwrap_or_default() > WRITES_MAX as u64 {
            return Err(ApplyError::STALE);
        }
    }
    Ok(())
}

async fn record(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let mut orgs = Vec::new();
    let mut writes: Vec<(&RunKey, &Entry, Option<&str>)> = Vec::new();
    for sealed in batch {
        for (change, state) in sealed.runs() {
            if let Change::Record { run, entry } = change {
                orgs.push(sealed.changes().org.uuid());
                writes.push((run, entry.as_ref(), state));
            }
        }
    }
    if writes.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = writes.iter().map(|(_, entry, _)| entry.id.uuid()).collect();
    let owners: Vec<Uuid> = writes.iter().map(|(run, ..)| run_owner(run)).collect();
    let names: Vec<&str> = writes.iter().map(|(run, ..)| run.name.as_str()).collect();
    let operations: Vec<&str> = writes.iter().map(|(_, entry, _)| entry.operation.as_str()).collect();
    let kinds: Vec<&str> = writes.iter().map(|(_, entry, _)| entry.resource.kind().as_str()).collect();
    let resources: Vec<Uuid> = writes.iter().map(|(_, entry, _)| resource_uuid(entry.resource)).collect();
    let states: Vec<Option<&str>> = writes.iter().map(|(.., state)| *state).collect();
    let versions: Vec<i64> = writes.iter().map(|(_, entry, _)| entry.after.0).collect();
    let times: Vec<i64> = writes.iter().map(|(_, entry, _)| entry.at.as_micros()).collect();
    sqlx::query!(
        "INSERT INTO run_writes (org_id, id, owner, name, operation, resource_type, resource_id, state, version,
             written_at)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[],
             $8::text[], $9::bigint[], $10::bigint[])",
        &orgs,
        &ids,
        &owners,
        &names as &[&str],
        &operations as &[&str],
        &kinds as &[&str],
        &resources,
        &states as &[Option<&str>],
        &versions,
        &times,
    )
    .execute(connection)
    .await?;
    Ok(())
}
