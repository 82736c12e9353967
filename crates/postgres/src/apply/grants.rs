//! Grants: which agents a user's calendars count for.

use kalends_bridge::Grant;
use kalends_kernel::{GrantId, OrgId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{ApplyError, all_written};

pub(super) async fn create(connection: &mut PgConnection, grant: &Grant) -> Result<(), ApplyError> {
    let (org_id, id) = (grant.org.uuid(), grant.id.uuid());
    let sources: Vec<Uuid> = grant.sources.iter().map(|source| source.uuid()).collect();
    let agents: Vec<Uuid> = grant.agents.iter().map(|agent| agent.uuid()).collect();
    // A transaction that removes one of these calendars waits until the grant exists and then removes the calendar
    // from it, or has removed the calendar before.
    let found = sqlx::query_scalar!(
        "SELECT id FROM external_calendars WHERE org_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR KEY SHARE",
        org_id,
        &sources,
    )
    .fetch_all(&mut *connection)
    .await?;
    all_written(u64::try_from(found.len()).unwrap_or(u64::MAX), sources.len())?;
    sqlx::query!(
        "INSERT INTO availability_grants (org_id, id, human_id, audience, version, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        org_id,
        id,
        grant.human.uuid(),
        grant.audience.as_str(),
        grant.version.0,
        grant.created_at.as_micros(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "INSERT INTO availability_grant_sources (org_id, grant_id, external_calendar_id)
         SELECT $1, $2, source FROM unnest($3::uuid[]) AS source",
        org_id,
        id,
        &sources,
    )
    .execute(&mut *connection)
    .await?;
    if !agents.is_empty() {
        sqlx::query!(
            "INSERT INTO availability_grant_agents (org_id, grant_id, agent_id)
             SELECT $1, $2, agent FROM unnest($3::uuid[]) AS agent",
            org_id,
            id,
            &agents,
        )
        .execute(connection)
        .await?;
    }
    Ok(())
}

/// Removes a grant. Busy times that no grant covers any more are deleted too.
pub(super) async fn delete(connection: &mut PgConnection, org: OrgId, grant: GrantId) -> Result<(), ApplyError> {
    let (org_id, id) = (org.uuid(), grant.uuid());
    // If two transactions remove the last two grants of a calendar, the second sees that the first grant is gone.
    let sources = sqlx::query_scalar!(
        "SELECT id FROM external_calendars
         WHERE org_id = $1 AND id IN (
             SELECT external_calendar_id FROM availability_grant_sources WHERE org_id = $1 AND grant_id = $2
         )
         ORDER BY id FOR UPDATE",
        org_id,
        id,
    )
    .fetch_all(&mut *connection)
    .await?;
    let deleted = sqlx::query!("DELETE FROM availability_grants WHERE org_id = $1 AND id = $2", org_id, id)
        .execute(&mut *connection)
        .await?;
    all_written(deleted.rows_affected(), 1)?;
    sqlx::query!("DELETE FROM availability_grant_sources WHERE org_id = $1 AND grant_id = $2", org_id, id)
        .execute(&mut *connection)
        .await?;
    sqlx::query!("DELETE FROM availability_grant_agents WHERE org_id = $1 AND grant_id = $2", org_id, id)
        .execute(&mut *connection)
        .await?;
    sqlx::query!(
        "UPDATE external_calendars e
         SET revision = e.revision + 1, read_at = NULL, covers_from = NULL, covers_until = NULL, spans = NULL,
             copies = NULL, tag = NULL
         WHERE e.org_id = $1 AND e.id = ANY($2::uuid[]) AND e.read_at IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM availability_grant_sources s WHERE s.org_id = e.org_id AND s.external_calendar_id = e.id
         )",
        org_id,
        &sources,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes deleted calendars from the grants that name them, and then removes grants that name none.
pub(super) async fn forget_sources(connection: &mut PgConnection, org: OrgId, gone: &[Uuid]) -> Result<(), ApplyError> {
    let org_id = org.uuid();
    // If two transactions take the last two calendars from a grant, the second sees what the first left.
    let touched = sqlx::query_scalar!(
        "SELECT id FROM availability_grants
         WHERE org_id = $1 AND id IN (
             SELECT grant_id FROM availability_grant_sources WHERE org_id = $1 AND external_calendar_id = ANY($2::uuid[])
         )
         ORDER BY id FOR UPDATE",
        org_id,
        gone,
    )
    .fetch_all(&mut *connection)
    .await?;
    if touched.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "DELETE FROM availability_grant_sources WHERE org_id = $1 AND external_calendar_id = ANY($2::uuid[])",
        org_id,
        gone,
    )
    .execute(&mut *connection)
    .await?;
    let ended = sqlx::query_scalar!(
        "DELETE FROM availability_grants g
         WHERE g.org_id = $1 AND g.id = ANY($2::uuid[]) AND NOT EXISTS (
             SELECT 1 FROM availability_grant_sources s WHERE s.org_id = g.org_id AND s.grant_id = g.id
         )
         RETURNING g.id",
        org_id,
        &touched,
    )
    .fetch_all(&mut *connection)
    .await?;
    if !ended.is_empty() {
        sqlx::query!(
            "DELETE FROM availability_grant_agents WHERE org_id = $1 AND grant_id = ANY($2::uuid[])",
            org_id,
            &ended,
        )
        .execute(connection)
        .await?;
    }
    Ok(())
}
