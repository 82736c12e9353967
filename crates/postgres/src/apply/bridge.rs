//! Connection links, connections, and what was read of their calendars.

use kalends_bridge::{Change, Connection, ConnectionLink, ExternalCalendar, RefreshClaim, RefreshState};
use kalends_kernel::{ConnectionId, ExternalCalendarId, OrgId, Version};
use kalends_rows::{SealedBridge, SealedChangeSet};
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{grants, publications};
use crate::error::{ApplyError, all_written};
use crate::rows::{pack, write_copies};

/// Writes the rows in the order of the changes.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, sealed) in batch.iter().flat_map(SealedChangeSet::bridge) {
        match change {
            Change::CreateLink(link) => create_link(connection, link).await?,
            Change::UpdateLink { link, seen } => update_link(connection, link, *seen).await?,
            Change::CreateConnection { connection: made, calendars } => {
                create(connection, made, sealed).await?;
                write_calendars(connection, (made.org, made.id), calendars, sealed).await?;
            }
            Change::UpdateConnection { connection: changed, seen, due } => {
                update(connection, changed, sealed, *seen, *due).await?;
                if due.is_some() {
                    publications::wake_of_connection(connection, changed.org, changed.id).await?;
                }
            }
            Change::ReauthorizeConnection { connection: changed, seen, at } => {
                reauthorize(connection, changed, sealed, *seen, *at).await?;
                publications::wake_of_connection(connection, changed.org, changed.id).await?;
            }
            Change::DeleteConnection { org, connection: gone, seen } => {
                delete(connection, *org, *gone, *seen).await?;
                publications::remove_of_connection(connection, *org, *gone).await?;
            }
            Change::AskRefresh { org, connection: id, at } => ask(connection, *org, *id, *at).await?,
            Change::EndRefresh { claim, access: _, state, calendars, gone, next, at } => {
                end(connection, *claim, state, sealed, (*next, *at)).await?;
                write_calendars(connection, (claim.org, claim.connection), calendars, sealed).await?;
                remove_calendars(connection, *claim, gone).await?;
            }
            Change::CreateGrant(grant) => grants::create(connection, grant).await?,
            Change::DeleteGrant { org, grant } => grants::delete(connection, *org, *grant).await?,
            Change::PutDestination { destination, seen } => publications::put(connection, destination, *seen).await?,
            Change::EndDestination { org, calendar, seen, keep, at } => {
                publications::end(connection, (*org, *calendar), *seen, *keep, *at).await?;
            }
            Change::RecordCopies { claim, written, forgotten, until } => {
                publications::record(connection, *claim, (written, forgotten), sealed, *until).await?;
            }
            Change::EndPublishing { claim, state, revision, next, not_before } => {
                publications::end_attempt(connection, *claim, state, *revision, (*next, *not_before)).await?;
            }
        }
    }
    Ok(())
}

async fn create_link(connection: &mut PgConnection, link: &ConnectionLink) -> Result<(), ApplyError> {
    // If two are created at once, the second waits for the first. It is not inserted if the first awaits a user.
    let created = sqlx::query!(
        "INSERT INTO connection_links (org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state,
             human_id, connection_id, expires_at, version, created_at, updated_at)
         SELECT c.org_id, $2, c.agent_id, c.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
         FROM calendars c
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE c.org_id = $1 AND c.id = $3 AND c.deleted_at IS NULL
             AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
         ON CONFLICT (org_id, calendar_id) WHERE state = 'awaiting_human' DO NOTHING",
        link.org.uuid(),
        link.id.uuid(),
        link.calendar.uuid(),
        link.secret.0.as_slice(),
        link.requested.publishing,
        link.requested.policy.as_str(),
        link.state.as_str(),
        link.human.map(|human| human.uuid()),
        link.connection.map(|connected| connected.uuid()),
        link.expires_at.as_micros(),
        link.version.0,
        link.created_at.as_micros(),
        link.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(created.rows_affected(), 1)
}

async fn update_link(
    connection: &mut PgConnection,
    link: &ConnectionLink,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let updated = sqlx::query!(
        "UPDATE connection_links SET secret_hash = $4, publishing = $5, policy = $6, state = $7, human_id = $8,
             connection_id = $9, expires_at = $10, version = $11, updated_at = $12
         WHERE org_id = $1 AND id = $2 AND version = $3",
        link.org.uuid(),
        link.id.uuid(),
        seen,
        link.secret.0.as_slice(),
        link.requested.publishing,
        link.requested.policy.as_str(),
        link.state.as_str(),
        link.human.map(|human| human.uuid()),
        link.connection.map(|connected| connected.uuid()),
        link.expires_at.as_micros(),
        link.version.0,
        link.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn create(
    connection: &mut PgConnection,
    made: &Connection,
    SealedBridge { label, access, .. }: &SealedBridge,
) -> Result<(), ApplyError> {
    let due = made.is_refreshed().then_some(made.created_at);
    sqlx::query!(
        "INSERT INTO calendar_connections (org_id, id, human_id, provider, label, tokens, paused, lapsed, due_at, fence,
             refreshed_at, last_error, failures, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, $12, $13, $14, $15)",
        made.org.uuid(),
        made.id.uuid(),
        made.human.uuid(),
        made.provider.as_str(),
        label.as_deref(),
        access.as_deref().unwrap_or_default(),
        made.paused,
        made.refresh.lapsed,
        due.map(Timestamp::as_micros),
        made.refresh.refreshed_at.map(Timestamp::as_micros),
        made.refresh.last_error,
        i64::from(made.refresh.failures),
        made.version.0,
        made.created_at.as_micros(),
        made.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn update(
    connection: &mut PgConnection,
    changed: &Connection,
    SealedBridge { label, .. }: &SealedBridge,
    Version(seen): Version,
    due: Option<Timestamp>,
) -> Result<(), ApplyError> {
    // While a connection is claimed, no other worker refreshes it, even if it was paused and resumed in between. A
    // resumed connection is due when the claim ends, and once more after the refresh that is under way.
    let updated = sqlx::query!(
        "UPDATE calendar_connections SET label = $4, paused = $5, version = $6, updated_at = $7,
             due_at = CASE WHEN $5 OR lapsed THEN NULL ELSE coalesce(greatest(claimed_until, $8), due_at) END,
             asked_at = CASE WHEN claimed_until IS NOT NULL THEN coalesce($8, asked_at) ELSE asked_at END
         WHERE org_id = $1 AND id = $2 AND version = $3",
        changed.org.uuid(),
        changed.id.uuid(),
        seen,
        label.as_deref(),
        changed.paused,
        changed.version.0,
        changed.updated_at.as_micros(),
        due.map(Timestamp::as_micros),
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn reauthorize(
    connection: &mut PgConnection,
    changed: &Connection,
    SealedBridge { access, .. }: &SealedBridge,
    Version(seen): Version,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let updated = sqlx::query!(
        "UPDATE calendar_connections SET tokens = $4, lapsed = $5, refreshed_at = $6, last_error = $7, failures = $8,
             version = $9, updated_at = $10, fence = fence + 1, claimed_until = NULL, asked_at = NULL,
             due_at = CASE WHEN paused THEN NULL ELSE $11::bigint END
         WHERE org_id = $1 AND id = $2 AND version = $3",
        changed.org.uuid(),
        changed.id.uuid(),
        seen,
        access.as_deref().unwrap_or_default(),
        changed.refresh.lapsed,
        changed.refresh.refreshed_at.map(Timestamp::as_micros),
        changed.refresh.last_error,
        i64::from(changed.refresh.failures),
        changed.version.0,
        changed.updated_at.as_micros(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn delete(
    connection: &mut PgConnection,
    org: OrgId,
    gone: ConnectionId,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let (org_id, id) = (org.uuid(), gone.uuid());
    let deleted = sqlx::query!(
        "DELETE FROM calendar_connections WHERE org_id = $1 AND id = $2 AND version = $3",
        org_id,
        id,
        seen,
    )
    .execute(&mut *connection)
    .await?;
    all_written(deleted.rows_affected(), 1)?;
    // A transaction that makes a grant of these calendars locks them too, in the same order.
    let calendars = sqlx::query_scalar!(
        "SELECT id FROM external_calendars WHERE org_id = $1 AND connection_id = $2 ORDER BY id FOR UPDATE",
        org_id,
        id,
    )
    .fetch_all(&mut *connection)
    .await?;
    remove_locked(connection, org, &calendars).await
}

async fn ask(
    connection: &mut PgConnection,
    org: OrgId,
    connection_id: ConnectionId,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let updated = sqlx::query!(
        "UPDATE calendar_connections
         SET asked_at = $3, due_at = CASE WHEN claimed_until > $3 THEN due_at ELSE $3 END
         WHERE org_id = $1 AND id = $2 AND NOT paused AND NOT lapsed",
        org.uuid(),
        connection_id.uuid(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn end(
    connection: &mut PgConnection,
    claim: RefreshClaim,
    state: &RefreshState,
    SealedBridge { access, .. }: &SealedBridge,
    (next, at): (Option<Timestamp>, Timestamp),
) -> Result<(), ApplyError> {
    let ended = sqlx::query!(
        "UPDATE calendar_connections
         SET claimed_until = NULL, asked_at = NULL, tokens = coalesce($4, tokens), refreshed_at = $5, last_error = $6,
             failures = $7, lapsed = $8,
             due_at = CASE WHEN paused OR $8 OR $9::bigint IS NULL THEN NULL
                 WHEN asked_at IS NOT NULL THEN $10::bigint ELSE $9 END
         WHERE org_id = $1 AND id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        claim.org.uuid(),
        claim.connection.uuid(),
        claim.fence.0,
        access.as_deref(),
        state.refreshed_at.map(Timestamp::as_micros),
        state.last_error,
        i64::from(state.failures),
        state.lapsed,
        next.map(Timestamp::as_micros),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(ended.rows_affected(), 1)
}

/// Inserts calendars of a locked connection, or overwrites those that are known.
async fn write_calendars(
    connection: &mut PgConnection,
    (org, of): (OrgId, ConnectionId),
    calendars: &[ExternalCalendar],
    SealedBridge { contents, .. }: &SealedBridge,
) -> Result<(), ApplyError> {
    if calendars.is_empty() {
        return Ok(());
    }
    let readings = || calendars.iter().map(|calendar| calendar.reading.as_ref());
    let ids: Vec<Uuid> = calendars.iter().map(|calendar| calendar.id.uuid()).collect();
    let primary: Vec<bool> = calendars.iter().map(|calendar| calendar.theirs.primary).collect();
    let revisions: Vec<i64> = calendars.iter().map(|calendar| calendar.revision.0).collect();
    let read: Vec<Option<i64>> = readings().map(|reading| Some(reading?.read_at.as_micros())).collect();
    let from: Vec<Option<i64>> = readings().map(|reading| Some(reading?.covers.start().as_micros())).collect();
    let until: Vec<Option<i64>> = readings().map(|reading| Some(reading?.covers.end().as_micros())).collect();
    let spans: Vec<Option<Vec<u8>>> = readings().map(|reading| Some(pack(&reading?.spans))).collect();
    let copies: Vec<Option<Vec<u8>>> = readings().map(|reading| write_copies(&reading?.copies)).collect();
    let tags: Vec<Option<Vec<u8>>> = readings().map(|reading| reading?.tag.map(Vec::from)).collect();
    sqlx::query!(
        "INSERT INTO external_calendars (org_id, id, connection_id, content, is_primary, revision, read_at, covers_from,
             covers_until, spans, copies, tag)
         SELECT $1, row.id, $2, row.content, row.is_primary, row.revision, row.read_at, row.covers_from,
             row.covers_until, row.spans, row.copies, row.tag
         FROM unnest($3::uuid[], $4::text[], $5::boolean[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
                 $10::bytea[], $11::bytea[], $12::bytea[])
             AS row (id, content, is_primary, revision, read_at, covers_from, covers_until, spans, copies, tag)
         ORDER BY row.id
         ON CONFLICT (org_id, id) DO UPDATE SET content = excluded.content, is_primary = excluded.is_primary,
             revision = excluded.revision, read_at = excluded.read_at, covers_from = excluded.covers_from,
             covers_until = excluded.covers_until, spans = excluded.spans, copies = excluded.copies,
             tag = excluded.tag",
        org.uuid(),
        of.uuid(),
        &ids,
        contents,
        &primary,
        &revisions,
        &read as &[Option<i64>],
        &from as &[Option<i64>],
        &until as &[Option<i64>],
        &spans as &[Option<Vec<u8>>],
        &copies as &[Option<Vec<u8>>],
        &tags as &[Option<Vec<u8>>],
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes calendars of a connection that its provider no longer returns.
async fn remove_calendars(
    connection: &mut PgConnection,
    claim: RefreshClaim,
    gone: &[ExternalCalendarId],
) -> Result<(), ApplyError> {
    if gone.is_empty() {
        return Ok(());
    }
    let gone: Vec<Uuid> = gone.iter().map(|calendar| calendar.uuid()).collect();
    let calendars = sqlx::query_scalar!(
        "SELECT id FROM external_calendars WHERE org_id = $1 AND connection_id = $2 AND id = ANY($3::uuid[])
         ORDER BY id FOR UPDATE",
        claim.org.uuid(),
        claim.connection.uuid(),
        &gone,
    )
    .fetch_all(&mut *connection)
    .await?;
    remove_locked(connection, claim.org, &calendars).await
}

/// Removes calendars that are already locked, also from grants.
async fn remove_locked(connection: &mut PgConnection, org: OrgId, calendars: &[Uuid]) -> Result<(), ApplyError> {
    if calendars.is_empty() {
        return Ok(());
    }
    sqlx::query!("DELETE FROM external_calendars WHERE org_id = $1 AND id = ANY($2::uuid[])", org.uuid(), calendars)
        .execute(&mut *connection)
        .await?;
    grants::forget_sources(connection, org, calendars).await
}
