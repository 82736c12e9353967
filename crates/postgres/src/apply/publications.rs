//! Destinations of calendars, their copies, and when they are due.
//!
//! The first statement of a transaction has locked the calendars that these changes name, and those of the connections
//! and agents in [`calendars_to_wake`]. Connections, their calendars, destinations and copies follow in this order.

use std::collections::BTreeSet;

use kalends_bridge::{Change, Copy, CopyKey, Destination, PublishClaim, PublishState};
use kalends_calendars::{AgentStatus, Change as CalendarChange};
use kalends_kernel::{CalendarId, ConnectionId, OrgId, Revision, Version};
use kalends_rows::{SealedBridge, SealedChangeSet};
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{ApplyError, all_written};
use crate::rows::{copy_state_name, original_start, places};

/// The calendars whose destinations a change of a connection or an agent makes due, or removes.
pub(super) async fn calendars_to_wake(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
) -> Result<Vec<(Uuid, Uuid)>, ApplyError> {
    let (mut of_connections, mut of_agents) = (BTreeSet::new(), BTreeSet::new());
    for changes in batch.iter().map(SealedChangeSet::changes) {
        of_connections.extend(changes.bridge.iter().filter_map(connection_to_wake));
        of_agents.extend(decommissioned(&changes.calendars));
    }
    let mut found = Vec::new();
    if !of_connections.is_empty() {
        let (orgs, ids): (Vec<Uuid>, Vec<Uuid>) = of_connections.into_iter().unzip();
        let rows = sqlx::query!(
            "SELECT d.org_id, d.calendar_id
             FROM unnest($1::uuid[], $2::uuid[]) AS wanted (org_id, id)
             JOIN publication_destinations d ON d.org_id = wanted.org_id AND d.connection_id = wanted.id",
            &orgs,
            &ids,
        )
        .fetch_all(&mut *connection)
        .await?;
        found.extend(rows.into_iter().map(|row| (row.org_id, row.calendar_id)));
    }
    if !of_agents.is_empty() {
        let (orgs, ids): (Vec<Uuid>, Vec<Uuid>) = of_agents.into_iter().unzip();
        let rows = sqlx::query!(
            "SELECT c.org_id, c.id
             FROM unnest($1::uuid[], $2::uuid[]) AS wanted (org_id, id)
             JOIN calendars c ON c.org_id = wanted.org_id AND c.agent_id = wanted.id
             WHERE c.publication_due_at IS NOT NULL",
            &orgs,
            &ids,
        )
        .fetch_all(connection)
        .await?;
        found.extend(rows.into_iter().map(|row| (row.org_id, row.id)));
    }
    Ok(found)
}

/// The calendar that the change locks.
pub(super) fn calendar_to_lock(change: &Change) -> Option<CalendarId> {
    match change {
        Change::PutDestination { destination, .. } => Some(destination.calendar),
        Change::EndDestination { calendar, .. } => Some(*calendar),
        Change::EndPublishing { claim, .. } => Some(claim.calendar),
        // Copies are recorded under a claim, whose row alone they lock.
        Change::RecordCopies { .. }
        | Change::CreateLink(_)
        | Change::UpdateLink { .. }
        | Change::CreateConnection { .. }
        | Change::UpdateConnection { .. }
        | Change::ReauthorizeConnection { .. }
        | Change::DeleteConnection { .. }
        | Change::AskRefresh { .. }
        | Change::EndRefresh { .. }
        | Change::CreateGrant(_)
        | Change::DeleteGrant { .. } => None,
    }
}

fn connection_to_wake(change: &Change) -> Option<(Uuid, Uuid)> {
    match change {
        Change::UpdateConnection { connection, due: Some(_), .. }
        | Change::ReauthorizeConnection { connection, .. } => Some((connection.org.uuid(), connection.id.uuid())),
        Change::DeleteConnection { org, connection, .. } => Some((org.uuid(), connection.uuid())),
        Change::UpdateConnection { due: None, .. }
        | Change::CreateLink(_)
        | Change::UpdateLink { .. }
        | Change::CreateConnection { .. }
        | Change::AskRefresh { .. }
        | Change::EndRefresh { .. }
        | Change::CreateGrant(_)
        | Change::DeleteGrant { .. }
        | Change::PutDestination { .. }
        | Change::EndDestination { .. }
        | Change::RecordCopies { .. }
        | Change::EndPublishing { .. } => None,
    }
}

/// The agents that the changes decommission.
fn decommissioned(changes: &[CalendarChange]) -> impl Iterator<Item = (Uuid, Uuid)> {
    changes.iter().filter_map(|change| match change {
        CalendarChange::UpdateAgent { agent, .. } if agent.status == AgentStatus::Decommissioned => {
            Some((agent.org.uuid(), agent.id.uuid()))
        }
        _ => None,
    })
}

/// Makes the calendars of decommissioned agents due, so that their copies are deleted.
pub(super) async fn wake_of_agents(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let gone: BTreeSet<(Uuid, Uuid)> =
        batch.iter().flat_map(|sealed| decommissioned(&sealed.changes().calendars)).collect();
    if gone.is_empty() {
        return Ok(());
    }
    let (orgs, ids): (Vec<Uuid>, Vec<Uuid>) = gone.into_iter().unzip();
    sqlx::query!(
        "UPDATE calendars SET publication_due_at = -1
         FROM unnest($1::uuid[], $2::uuid[]) AS gone (org_id, id)
         WHERE calendars.org_id = gone.org_id AND calendars.agent_id = gone.id
             AND calendars.publication_due_at IS NOT NULL",
        &orgs,
        &ids,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes the calendars that are published to a locked connection due.
pub(super) async fn wake_of_connection(
    connection: &mut PgConnection,
    org: OrgId,
    of: ConnectionId,
) -> Result<(), ApplyError> {
    sqlx::query!(
        "UPDATE calendars SET publication_due_at = -1
         WHERE org_id = $1 AND publication_due_at IS NOT NULL AND id IN (
             SELECT calendar_id FROM publication_destinations WHERE org_id = $1 AND connection_id = $2
         )",
        org.uuid(),
        of.uuid(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes the destinations at a connection that this transaction has deleted, and forgets their copies.
pub(super) async fn remove_of_connection(
    connection: &mut PgConnection,
    org: OrgId,
    of: ConnectionId,
) -> Result<(), ApplyError> {
    let gone = sqlx::query_scalar!(
        "DELETE FROM publication_destinations WHERE org_id = $1 AND connection_id = $2 RETURNING calendar_id",
        org.uuid(),
        of.uuid(),
    )
    .fetch_all(&mut *connection)
    .await?;
    forget(connection, org, &gone).await
}

/// Removes what is left of destinations whose rows are removed.
async fn forget(connection: &mut PgConnection, org: OrgId, calendars: &[Uuid]) -> Result<(), ApplyError> {
    if calendars.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "DELETE FROM publication_copies WHERE org_id = $1 AND calendar_id = ANY($2::uuid[])",
        org.uuid(),
        calendars,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE calendars SET publication_policy = NULL, publication_due_at = NULL
         WHERE org_id = $1 AND id = ANY($2::uuid[])",
        org.uuid(),
        calendars,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes a new or changed destination.
pub(super) async fn put(
    connection: &mut PgConnection,
    destination: &Destination,
    seen: Option<Version>,
) -> Result<(), ApplyError> {
    let (org, calendar) = (destination.org.uuid(), destination.calendar.uuid());
    // If the agent is decommissioned at the same time, one of the two transactions waits for the other here.
    let owner = sqlx::query_scalar!(
        "SELECT a.status
         FROM calendars c
         JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE c.org_id = $1 AND c.id = $2
         FOR SHARE OF a",
        org,
        calendar,
    )
    .fetch_optional(&mut *connection)
    .await?;
    if owner.is_some_and(|status| status == AgentStatus::Decommissioned.as_str()) {
        return Err(ApplyError::STALE);
    }
    let visible = sqlx::query!(
        "UPDATE calendars SET publication_policy = $3, publication_due_at = 0
         WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL",
        org,
        calendar,
        destination.policy.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    all_written(visible.rows_affected(), 1)?;
    // A transaction that removes the connection or the target waits, or this one does.
    let target = sqlx::query_scalar!(
        "SELECT x.id
         FROM calendar_connections k
         JOIN external_calendars x ON x.org_id = k.org_id AND x.connection_id = k.id
         WHERE k.org_id = $1 AND k.id = $2 AND x.id = $3
         FOR KEY SHARE OF k, x",
        org,
        destination.connection.uuid(),
        destination.target.uuid(),
    )
    .fetch_optional(&mut *connection)
    .await?;
    if target.is_none() {
        return Err(ApplyError::STALE);
    }
    match seen {
        None => create(connection, destination).await,
        Some(seen) => change(connection, destination, seen).await,
    }
}

async fn create(connection: &mut PgConnection, destination: &Destination) -> Result<(), ApplyError> {
    let created = sqlx::query!(
        "INSERT INTO publication_destinations (org_id, calendar_id, human_id, connection_id, target_id, policy, ending,
             published_at, last_error, failures, fence, claimed_until, attempting, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, NULL, false, $11, $12, $13)
         ON CONFLICT (org_id, calendar_id) DO NOTHING",
        destination.org.uuid(),
        destination.calendar.uuid(),
        destination.human.uuid(),
        destination.connection.uuid(),
        destination.target.uuid(),
        destination.policy.as_str(),
        destination.ending,
        destination.state.published_at.map(Timestamp::as_micros),
        destination.state.last_error,
        i64::from(destination.state.failures),
        destination.version.0,
        destination.created_at.as_micros(),
        destination.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(created.rows_affected(), 1)
}

/// Changes a destination, and ends the claim of an attempt in progress. `attempting` stays: that attempt may have made
/// copies that are not recorded.
async fn change(
    connection: &mut PgConnection,
    destination: &Destination,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let changed = sqlx::query!(
        "UPDATE publication_destinations
         SET human_id = $4, connection_id = $5, target_id = $6, policy = $7, ending = $8, version = $9,
             created_at = $10, updated_at = $11, fence = fence + 1, claimed_until = NULL
         WHERE org_id = $1 AND calendar_id = $2 AND version = $3",
        destination.org.uuid(),
        destination.calendar.uuid(),
        seen,
        destination.human.uuid(),
        destination.connection.uuid(),
        destination.target.uuid(),
        destination.policy.as_str(),
        destination.ending,
        destination.version.0,
        destination.created_at.as_micros(),
        destination.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(changed.rows_affected(), 1)
}

/// Ends a destination: at once if its copies stay, else after a worker has deleted them.
pub(super) async fn end(
    connection: &mut PgConnection,
    (org, calendar): (OrgId, CalendarId),
    seen: Version,
    keep: bool,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let (org_id, id) = (org.uuid(), calendar.uuid());
    if keep {
        let removed = sqlx::query!(
            "DELETE FROM publication_destinations WHERE org_id = $1 AND calendar_id = $2 AND version = $3",
            org_id,
            id,
            seen.0,
        )
        .execute(&mut *connection)
        .await?;
        all_written(removed.rows_affected(), 1)?;
        return forget(connection, org, &[id]).await;
    }
    let ended = sqlx::query!(
        "UPDATE publication_destinations
         SET ending = true, version = $4, updated_at = $5, fence = fence + 1, claimed_until = NULL
         WHERE org_id = $1 AND calendar_id = $2 AND version = $3",
        org_id,
        id,
        seen.0,
        seen.next().0,
        at.as_micros(),
    )
    .execute(&mut *connection)
    .await?;
    all_written(ended.rows_affected(), 1)?;
    sqlx::query!(
        "UPDATE calendars SET publication_policy = NULL, publication_due_at = 0 WHERE org_id = $1 AND id = $2",
        org_id,
        id,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Records copies under a claim, and extends it.
pub(super) async fn record(
    connection: &mut PgConnection,
    claim: PublishClaim,
    (written, forgotten): (&[Copy], &[CopyKey]),
    sealed: &SealedBridge,
    until: Timestamp,
) -> Result<(), ApplyError> {
    let held = sqlx::query!(
        "UPDATE publication_destinations SET claimed_until = $4
         WHERE org_id = $1 AND calendar_id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        claim.org.uuid(),
        claim.calendar.uuid(),
        claim.fence.0,
        until.as_micros(),
    )
    .execute(&mut *connection)
    .await?;
    all_written(held.rows_affected(), 1)?;
    forget_copies(connection, claim, forgotten).await?;
    write_copies(connection, claim, written, sealed).await
}

async fn forget_copies(
    connection: &mut PgConnection,
    claim: PublishClaim,
    forgotten: &[CopyKey],
) -> Result<(), ApplyError> {
    if forgotten.is_empty() {
        return Ok(());
    }
    let events: Vec<Uuid> = forgotten.iter().map(|key| key.event.uuid()).collect();
    let starts: Vec<i64> = forgotten.iter().map(original_start).collect();
    sqlx::query!(
        "DELETE FROM publication_copies p
         USING unnest($3::uuid[], $4::bigint[]) AS row (event_id, original_start)
         WHERE p.org_id = $1 AND p.calendar_id = $2 AND p.event_id = row.event_id
             AND p.original_start = row.original_start",
        claim.org.uuid(),
        claim.calendar.uuid(),
        &events,
        &starts,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn write_copies(
    connection: &mut PgConnection,
    claim: PublishClaim,
    written: &[Copy],
    SealedBridge { references, .. }: &SealedBridge,
) -> Result<(), ApplyError> {
    if written.is_empty() {
        return Ok(());
    }
    let events: Vec<Uuid> = written.iter().map(|copy| copy.key.event.uuid()).collect();
    let starts: Vec<i64> = written.iter().map(|copy| original_start(&copy.key)).collect();
    let ids: Vec<Uuid> = written.iter().map(|copy| places::copy_id(claim.calendar, &copy.key)).collect();
    let targets: Vec<Uuid> = written.iter().map(|copy| copy.target.uuid()).collect();
    let digests: Vec<Vec<u8>> = written.iter().map(|copy| copy.digest.to_vec()).collect();
    let visible: Vec<Vec<u8>> = written.iter().map(|copy| copy.visible.to_vec()).collect();
    let ends: Vec<i64> = written.iter().map(|copy| copy.ends_at.as_micros()).collect();
    let states: Vec<&str> = written.iter().map(|copy| copy_state_name(copy.state)).collect();
    sqlx::query!(
        "INSERT INTO publication_copies (org_id, calendar_id, event_id, original_start, id, target_id, content, digest,
             visible, ends_at, state)
         SELECT $1, $2, row.event_id, row.original_start, row.id, row.target_id, row.content, row.digest, row.visible,
             row.ends_at, row.state
         FROM unnest($3::uuid[], $4::bigint[], $5::uuid[], $6::uuid[], $7::text[], $8::bytea[], $9::bytea[],
                 $10::bigint[], $11::text[])
             AS row (event_id, original_start, id, target_id, content, digest, visible, ends_at, state)
         ON CONFLICT (org_id, calendar_id, event_id, original_start) DO UPDATE SET target_id = excluded.target_id,
             content = excluded.content, digest = excluded.digest, visible = excluded.visible,
             ends_at = excluded.ends_at, state = excluded.state",
        claim.org.uuid(),
        claim.calendar.uuid(),
        &events,
        &starts,
        &ids,
        &targets,
        references,
        &digests,
        &visible,
        &ends,
        &states as &[&str],
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends an attempt and its claim, or lets the claim last until the end of a pause, so that nobody begins before.
pub(super) async fn end_attempt(
    connection: &mut PgConnection,
    claim: PublishClaim,
    state: &PublishState,
    revision: Option<Revision>,
    (next, not_before): (Option<Timestamp>, Option<Timestamp>),
) -> Result<(), ApplyError> {
    let (org_id, id) = (claim.org.uuid(), claim.calendar.uuid());
    let Some(next) = next else {
        let removed = sqlx::query!(
            "DELETE FROM publication_destinations
             WHERE org_id = $1 AND calendar_id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
            org_id,
            id,
            claim.fence.0,
        )
        .execute(&mut *connection)
        .await?;
        all_written(removed.rows_affected(), 1)?;
        return forget(connection, claim.org, &[id]).await;
    };
    let ended = sqlx::query!(
        "UPDATE publication_destinations
         SET claimed_until = $7, fence = fence + 1, attempting = false, published_at = $4, last_error = $5,
             failures = $6
         WHERE org_id = $1 AND calendar_id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        org_id,
        id,
        claim.fence.0,
        state.published_at.map(Timestamp::as_micros),
        state.last_error,
        i64::from(state.failures),
        not_before.map(Timestamp::as_micros),
    )
    .execute(&mut *connection)
    .await?;
    all_written(ended.rows_affected(), 1)?;
    // A negative time was set since the claim, for a reason that the revision does not show. What is written to a
    // calendar sets 0, so that this counts if the revision is not known.
    sqlx::query!(
        "UPDATE calendars
         SET publication_due_at = CASE
             WHEN coalesce(revision = $3::bigint, publication_due_at <> 0) AND publication_due_at >= 0 THEN $4::bigint
             ELSE 0 END
         WHERE org_id = $1 AND id = $2",
        org_id,
        id,
        revision.map(|Revision(read)| read),
        next.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
