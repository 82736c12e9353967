//! The hold sets that keys of agents place on calendars of others.

use kalends_app::{Guard, ports::CommitError};
use kalends_calendars::Change;
use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::error::Failure;

/// Records the agents that placed hold sets. Their events are written already.
pub(super) async fn apply(connection: &mut SqliteConnection, group: &[&SealedChangeSet]) -> Result<(), Failure> {
    for change in group.iter().flat_map(|sealed| &sealed.changes().calendars) {
        let Change::PlaceHolds { org, set, agent } = *change else { continue };
        let (org_id, set, agent_id) = (org.uuid(), set.uuid(), agent.uuid());
        sqlx::query!("update events set placed_by = ?3 where org_id = ?1 and hold_set_id = ?2", org_id, set, agent_id)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Refuses as stale if an agent has placed more live holds on calendars of others than a guard allows.
pub(crate) async fn check(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    let org_id = sealed.changes().org.uuid();
    for guard in &sealed.changes().guards {
        let Guard::PlacedAtMost { agent, limit, now } = *guard else { continue };
        let (agent_id, now) = (agent.uuid(), now.as_micros());
        let placed = sqlx::query_scalar!(
            "select count(*)
             from events e
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.org_id = ?1 and e.placed_by = ?2 and e.status = 'hold' and e.deleted_at is null
                and e.hold_expires_at > ?3 and c.agent_id is not ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            agent_id,
            now
        )
        .fetch_one(&mut *connection)
        .await?;
        if u64::try_from(placed).unwrap_or_default() > limit {
            return Err(CommitError::Stale.into());
        }
    }
    Ok(())
}
