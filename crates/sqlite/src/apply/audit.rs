//! Entries of the audit log.

use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::{
    error::Failure,
    json::{self, Hex},
};

/// Stores the entries of all change-sets of the group.
pub(crate) async fn store_entries(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
) -> Result<(), Failure> {
    let rows: Vec<_> = group
        .iter()
        .flat_map(|sealed| &sealed.changes().audit)
        .map(|entry| {
            (
                Hex(entry.org.uuid()),
                Hex(entry.id.uuid()),
                entry.action.as_str(),
                entry.actor_key_prefix.as_deref(),
                entry.agent.map(|agent| Hex(agent.uuid())),
                entry.resource.as_str(),
                entry.ip.map(|ip| ip.to_string()),
                entry.status,
                entry.method.as_str(),
                entry.path.as_str(),
                entry.duration.as_micros(),
                Hex(entry.request.uuid()),
                entry.created_at.as_micros(),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert or fail into audit_log (org_id, id, action, actor_key_prefix, agent_id, resource, ip, status, method, path,
            duration_us, request_id, created_at)
         select unhex(value ->> 0), unhex(value ->> 1), value ->> 2, value ->> 3, unhex(value ->> 4), value ->> 5,
            value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, unhex(value ->> 11), value ->> 12
         from jsonb_each(?1)",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}
