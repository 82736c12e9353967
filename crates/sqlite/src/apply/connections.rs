//! Connections: their tokens, when they are refreshed, and what is known of their calendars.

use kalends_bridge::{Connection, ExternalCalendar, RefreshClaim, RefreshState};
use kalends_kernel::{ConnectionId, OrgId, Version};
use kalends_rows::SealedBridge;
use kalends_time::Timestamp;
use serde::Serialize;
use sqlx::SqliteConnection;

use super::publishing;
use crate::{
    error::{Failure, fresh},
    json,
    rows::{pack, write_copies},
};

pub(super) async fn create(
    connection: &mut SqliteConnection,
    made: &Connection,
    calendars: &[ExternalCalendar],
    sealed: &SealedBridge,
) -> Result<(), Failure> {
    let (org_id, id, human_id) = (made.org.uuid(), made.id.uuid(), made.human.uuid());
    let (provider, refreshed_at) = (made.provider.as_str(), made.refresh.refreshed_at.map(Timestamp::as_micros));
    let (created_at, updated_at) = (made.created_at.as_micros(), made.updated_at.as_micros());
    sqlx::query!(
        "insert into calendar_connections (org_id, id, human_id, provider, label, tokens, paused, lapsed, due_at, fence,
            refreshed_at, last_error, failures, version, created_at, updated_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?13, 0, ?9, ?10, ?11, ?12, ?13, ?14)",
        org_id,
        id,
        human_id,
        provider,
        sealed.label,
        sealed.access,
        made.paused,
        made.refresh.lapsed,
        refreshed_at,
        made.refresh.last_error,
        made.refresh.failures,
        made.version.0,
        created_at,
        updated_at
    )
    .execute(&mut *connection)
    .await?;
    keep_calendars(connection, calendars, sealed).await
}

pub(super) async fn update(
    connection: &mut SqliteConnection,
    changed: &Connection,
    sealed: &SealedBridge,
    seen: Version,
    due: Option<Timestamp>,
) -> Result<(), Failure> {
    let (org_id, id, updated_at) = (changed.org.uuid(), changed.id.uuid(), changed.updated_at.as_micros());
    let due = due.map(Timestamp::as_micros);
    // A connection that is resumed while it is still claimed is due when the claim ends. After that refresh it is due
    // once more.
    let updated = sqlx::query!(
        "update calendar_connections set label = ?4, paused = ?5, version = ?6, updated_at = ?7,
            due_at = iif(?5 or lapsed, null, coalesce(max(claimed_until, ?8), claimed_until, ?8, due_at)),
            asked_at = iif(claimed_until is not null, coalesce(?8, asked_at), asked_at)
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        sealed.label,
        changed.paused,
        changed.version.0,
        updated_at,
        due
    )
    .execute(&mut *connection)
    .await?;
    fresh(updated.rows_affected(), 1)?;
    if due.is_some() && !changed.paused {
        publishing::resume(connection, changed.org, changed.id).await?;
    }
    Ok(())
}

pub(super) async fn reauthorize(
    connection: &mut SqliteConnection,
    changed: &Connection,
    sealed: &SealedBridge,
    seen: Version,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, id, updated_at) = (changed.org.uuid(), changed.id.uuid(), changed.updated_at.as_micros());
    let (refreshed_at, at) = (changed.refresh.refreshed_at.map(Timestamp::as_micros), at.as_micros());
    let updated = sqlx::query!(
        "update calendar_connections set tokens = ?4, lapsed = ?5, refreshed_at = ?6, last_error = ?7, failures = ?8,
            version = ?9, updated_at = ?10, fence = fence + 1, claimed_until = null, asked_at = null,
            due_at = iif(paused, null, ?11)
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        sealed.access,
        changed.refresh.lapsed,
        refreshed_at,
        changed.refresh.last_error,
        changed.refresh.failures,
        changed.version.0,
        updated_at,
        at
    )
    .execute(&mut *connection)
    .await?;
    fresh(updated.rows_affected(), 1)?;
    publishing::resume(connection, changed.org, changed.id).await
}

pub(super) async fn delete(
    connection: &mut SqliteConnection,
    org: OrgId,
    gone: ConnectionId,
    seen: Version,
) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), gone.uuid());
    let deleted = sqlx::query!(
        "delete from calendar_connections where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0
    )
    .execute(&mut *connection)
    .await?;
    fresh(deleted.rows_affected(), 1)?;
    publishing::forget_connection(connection, org, gone).await?;
    let calendars = sqlx::query_scalar!(
        r#"select hex(id) as "id!: String" from external_calendars where org_id = ?1 and connection_id = ?2"#,
        org_id,
        id
    )
    .fetch_all(&mut *connection)
    .await?;
    forget_calendars(connection, org, &calendars).await
}

pub(super) async fn ask(
    connection: &mut SqliteConnection,
    org: OrgId,
    connection_id: ConnectionId,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, id, at) = (org.uuid(), connection_id.uuid(), at.as_micros());
    let updated = sqlx::query!(
        "update calendar_connections set asked_at = ?3, due_at = iif(claimed_until > ?3, due_at, ?3)
         where org_id = ?1 and id = ?2 and not paused and not lapsed",
        org_id,
        id,
        at
    )
    .execute(connection)
    .await?;
    fresh(updated.rows_affected(), 1)
}

/// Writes the result of a refresh except for the calendars, under the claim number.
pub(super) async fn end(
    connection: &mut SqliteConnection,
    claim: RefreshClaim,
    state: &RefreshState,
    sealed: &SealedBridge,
    (next, at): (Option<Timestamp>, Timestamp),
) -> Result<(), Failure> {
    let (org_id, id) = (claim.org.uuid(), claim.connection.uuid());
    let (next, at) = (next.map(Timestamp::as_micros), at.as_micros());
    let refreshed_at = state.refreshed_at.map(Timestamp::as_micros);
    let ended = sqlx::query!(
        "update calendar_connections set claimed_until = null, asked_at = null, tokens = coalesce(?4, tokens),
            refreshed_at = ?5, last_error = ?6, failures = ?7, lapsed = ?8,
            due_at = case when paused or ?8 or ?9 is null then null when asked_at is not null then ?10 else ?9 end
         where org_id = ?1 and id = ?2 and fence = ?3 and claimed_until is not null",
        org_id,
        id,
        claim.fence.0,
        sealed.access,
        refreshed_at,
        state.last_error,
        state.failures,
        state.lapsed,
        next,
        at
    )
    .execute(connection)
    .await?;
    fresh(ended.rows_affected(), 1)
}

/// Inserts the calendars, or overwrites those that are known.
pub(super) async fn keep_calendars(
    connection: &mut SqliteConnection,
    calendars: &[ExternalCalendar],
    sealed: &SealedBridge,
) -> Result<(), Failure> {
    for (calendar, content) in calendars.iter().zip(&sealed.contents) {
        let (org_id, id, connection_id) = (calendar.org.uuid(), calendar.id.uuid(), calendar.connection.uuid());
        let reading = calendar.reading.as_ref();
        let read_at = reading.map(|reading| reading.read_at.as_micros());
        let covers_from = reading.map(|reading| reading.covers.start().as_micros());
        let covers_until = reading.map(|reading| reading.covers.end().as_micros());
        let spans = reading.map(|reading| pack(&reading.spans));
        let copies = reading.and_then(|reading| write_copies(&reading.copies));
        let tag = reading.and_then(|reading| reading.tag).map(Vec::from);
        sqlx::query!(
            "insert into external_calendars (org_id, id, connection_id, content, is_primary, revision, read_at,
                covers_from, covers_until, spans, copies, tag)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             on conflict (org_id, id) do update set content = excluded.content, is_primary = excluded.is_primary,
                revision = excluded.revision, read_at = excluded.read_at, covers_from = excluded.covers_from,
                covers_until = excluded.covers_until, spans = excluded.spans,
                copies = excluded.copies, tag = excluded.tag",
            org_id,
            id,
            connection_id,
            content,
            calendar.theirs.primary,
            calendar.revision.0,
            read_at,
            covers_from,
            covers_until,
            spans,
            copies,
            tag
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Removes the calendars with these identifiers, also from grants. A grant that loses its last calendar is removed,
/// with its agents.
pub(super) async fn forget_calendars<T: Serialize>(
    connection: &mut SqliteConnection,
    org: OrgId,
    gone: &[T],
) -> Result<(), Failure> {
    if gone.is_empty() {
        return Ok(());
    }
    let (org_id, gone) = (org.uuid(), json::rows(gone)?);
    sqlx::query!(
        "delete from external_calendars where org_id = ?1 and id in (select unhex(value) from json_each(?2))",
        org_id,
        gone
    )
    .execute(&mut *connection)
    .await?;
    let touched = sqlx::query_scalar!(
        r#"delete from availability_grant_sources
         where org_id = ?1 and external_calendar_id in (select unhex(value) from json_each(?2))
         returning hex(grant_id) as "grant_id!: String""#,
        org_id,
        gone
    )
    .fetch_all(&mut *connection)
    .await?;
    if touched.is_empty() {
        return Ok(());
    }
    let touched = json::rows(&touched)?;
    let empty = sqlx::query_scalar!(
        r#"delete from availability_grants
         where org_id = ?1 and id in (select unhex(value) from json_each(?2)) and not exists (
            select 1 from availability_grant_sources s
            where s.org_id = ?1 and s.grant_id = availability_grants.id)
         returning hex(id) as "id!: String""#,
        org_id,
        touched
    )
    .fetch_all(&mut *connection)
    .await?;
    let empty = json::rows(&empty)?;
    sqlx::query!(
        "delete from availability_grant_agents
         where org_id = ?1 and grant_id in (select unhex(value) from json_each(?2))",
        org_id,
        empty
    )
    .execute(connection)
    .await?;
    Ok(())
}
