//! Events that move to another calendar.

use kalends_rows::EventWrite;
use sqlx::SqliteConnection;

use super::reservations::{Revisions, revision_of};
use crate::{
    error::{Failure, fresh},
    json::{self, Hex},
};

/// Puts the events that move on their new calendar, with their timers, and records for mirrors that they left the old
/// one. The update that follows writes everything else.
///
/// Reminders that an event inherits are found again, and those that were due before are not emitted.
pub(super) async fn apply(
    connection: &mut SqliteConnection,
    writes: &[EventWrite<'_>],
    revisions: &Revisions,
) -> Result<(), Failure> {
    let moves = writes.iter().filter_map(|write| Some((write.event, write.from?, write.seen?)));
    let rows: Vec<_> = moves
        .map(|(event, from, seen)| {
            let occurrence = event.occurrence();
            Ok((
                Hex(event.org.uuid()),
                Hex(from.uuid()),
                Hex(event.id.uuid()),
                Hex(event.calendar.uuid()),
                seen.0,
                event.updated_at.as_micros(),
                revision_of(revisions, event.org, from)?,
                occurrence.map(|occurrence| (Hex(occurrence.series.uuid()), occurrence.start.as_micros())),
            ))
        })
        .collect::<Result<_, Failure>>()?;
    if rows.is_empty() {
        return Ok(());
    }
    let (count, rows) = (rows.len() as u64, json::rows(&rows)?);
    let moved = sqlx::query!(
        "update or fail events set calendar_id = unhex(row.value ->> 3)
         from jsonb_each(?1) row
         where events.org_id = unhex(row.value ->> 0) and events.id = unhex(row.value ->> 2)
            and events.calendar_id = unhex(row.value ->> 1) and events.version = (row.value ->> 4)",
        rows
    )
    .execute(&mut *connection)
    .await?;
    fresh(moved.rows_affected(), count)?;
    sqlx::query!(
        "update or fail timers set calendar_id = unhex(row.value ->> 3), again = inherits and not hold,
            reminded_until = case when inherits and not hold then max(reminded_until, row.value ->> 5)
                else reminded_until end,
            version = timers.version + 1, claimed_until = 0
         from jsonb_each(?1) row
         where timers.org_id = unhex(row.value ->> 0) and timers.calendar_id = unhex(row.value ->> 1)
            and timers.event_id = unhex(row.value ->> 2)",
        rows
    )
    .execute(&mut *connection)
    .await?;
    // An event that comes back is on its calendar again.
    sqlx::query!(
        "delete from moved_events where (org_id, calendar_id, event_id) in (
            select unhex(value ->> 0), unhex(value ->> 3), unhex(value ->> 2) from jsonb_each(?1))",
        rows
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "insert or fail into moved_events (org_id, calendar_id, event_id, series_id, original_start, revision, moved_at)
         select unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), unhex(value ->> '$[7][0]'),
            value ->> '$[7][1]', value ->> 6, value ->> 5
         from jsonb_each(?1) where true
         on conflict (org_id, calendar_id, event_id) do update set series_id = excluded.series_id,
            original_start = excluded.original_start, revision = excluded.revision, moved_at = excluded.moved_at",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}
