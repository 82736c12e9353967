//! The index by which lists find events by their metadata.

use kalends_rows::EventWrite;
use sqlx::SqliteConnection;

use crate::{
    error::Failure,
    json::{self, Hex},
};

/// Adds the digests of events that have none.
pub(super) async fn add(connection: &mut SqliteConnection, writes: &[EventWrite<'_>]) -> Result<(), Failure> {
    let rows: Vec<_> = writes
        .iter()
        .filter(|write| !write.digests.is_empty())
        .map(|EventWrite { event, digests, .. }| {
            (Hex(event.org.uuid()), Hex(event.id.uuid()), Hex(event.calendar.uuid()), digests)
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert or fail into event_metadata (org_id, event_id, digest, calendar_id)
         select unhex(event.value ->> 0), unhex(event.value ->> 1), digest.value, unhex(event.value ->> 2)
         from jsonb_each(?1) event cross join jsonb_each(event.value, '$[3]') digest",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Replaces the digests of events.
pub(super) async fn replace(connection: &mut SqliteConnection, writes: &[EventWrite<'_>]) -> Result<(), Failure> {
    let rows: Vec<_> = writes.iter().map(|write| (Hex(write.event.org.uuid()), Hex(write.event.id.uuid()))).collect();
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "delete from event_metadata where (org_id, event_id) in (
            select unhex(value ->> 0), unhex(value ->> 1) from jsonb_each(?1))",
        rows
    )
    .execute(&mut *connection)
    .await?;
    add(connection, writes).await
}
