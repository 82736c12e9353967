//! The hold sets that keys of agents place on calendars of others.

use kalends_app::Guard;
use kalends_calendars::Change;
use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;

use super::usage;
use crate::error::ApplyError;

/// Records the agents that placed hold sets. Their events are written already.
pub(super) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for change in batch.iter().flat_map(|sealed| &sealed.changes().calendars) {
        let Change::PlaceHolds { org, set, agent } = *change else { continue };
        sqlx::query!(
            "UPDATE events SET placed_by = $3 WHERE org_id = $1 AND hold_set_id = $2",
            org.uuid(),
            set.uuid(),
            agent.uuid(),
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Refuses as stale if an agent has placed more live holds on calendars of others than a guard allows, after all other
/// writes. The organization's row is locked first, so that the count includes what other transactions have committed.
pub(crate) async fn check(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for guard in &changes.guards {
            let Guard::PlacedAtMost { agent, limit, now } = *guard else { continue };
            usage::lock_organization(&mut *connection, changes.org).await?;
            let placed = sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!"
                 FROM events e
                 JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE e.org_id = $1 AND e.placed_by = $2 AND e.status = 'hold' AND e.deleted_at IS NULL
                     AND e.hold_expires_at > $3 AND c.agent_id IS DISTINCT FROM $2 AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
                changes.org.uuid(),
                agent.uuid(),
                now.as_micros(),
            )
            .fetch_one(&mut *connection)
            .await?;
            if u64::try_from(placed).unwrap_or_default() > limit {
                return Err(ApplyError::STALE);
            }
        }
    }
    Ok(())
}
