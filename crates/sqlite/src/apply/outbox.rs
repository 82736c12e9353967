//! Messages to webhook endpoints.

use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::{
    error::Failure,
    json::{self, Hex},
};

/// Stores those messages of all change-sets of the group that an endpoint listens for.
pub(crate) async fn store_messages(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
) -> Result<(), Failure> {
    let rows: Vec<_> = group
        .iter()
        .flat_map(|sealed| sealed.messages())
        .map(|(message, payload)| {
            (
                Hex(message.org.uuid()),
                Hex(message.id.uuid()),
                message.event_type.as_str(),
                payload,
                message.resource_version.0,
                message.created_at.as_micros(),
                message.about.map(|about| Hex(about.uuid())),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert or fail into outbox (org_id, id, event_type, payload, resource_version, created_at)
         select unhex(value ->> 0), unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4, value ->> 5
         from jsonb_each(?1)
         where exists (select 1 from webhooks where org_id = unhex(value ->> 0) and active)",
        rows
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "insert or fail into waiting_messages (created_at, org_id, id, event_type, about)
         select value ->> 5, unhex(value ->> 0), unhex(value ->> 1), value ->> 2, unhex(value ->> 6)
         from jsonb_each(?1)
         where exists (select 1 from webhooks where org_id = unhex(value ->> 0) and active)",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}
