//! Events that move to another calendar.

use kalends_calendars::Event;
use kalends_kernel::{CalendarId, Version};
use kalends_rows::EventWrite;
use sqlx::PgConnection;
use uuid::Uuid;

use super::reservations::Revisions;
use crate::error::{ApplyError, all_written};

/// Puts the events that move on their new calendar, with their timers, and records for mirrors that they left the old
/// one. The update that follows writes everything else. Both calendars are locked.
///
/// Reminders that an event inherits are found again, and those that were due before are not emitted.
pub(super) async fn apply(
    connection: &mut PgConnection,
    writes: &[EventWrite<'_>],
    revisions: &Revisions,
) -> Result<(), ApplyError> {
    let moves: Vec<(&Event, CalendarId, Version)> =
        writes.iter().filter_map(|write| Some((write.event, write.from?, write.seen?))).collect();
    if moves.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = moves.iter().map(|(event, ..)| event.org.uuid()).collect();
    let ids: Vec<Uuid> = moves.iter().map(|(event, ..)| event.id.uuid()).collect();
    let left: Vec<Uuid> = moves.iter().map(|(_, from, _)| from.uuid()).collect();
    let calendars: Vec<Uuid> = moves.iter().map(|(event, ..)| event.calendar.uuid()).collect();
    let seen: Vec<i64> = moves.iter().map(|(.., seen)| seen.0).collect();
    let moved_at: Vec<i64> = moves.iter().map(|(event, ..)| event.updated_at.as_micros()).collect();
    // Every write on a calendar raises its revision, so there is one.
    let at =
        |(event, from, _): &(&Event, CalendarId, Version)| revisions.get(&(event.org.uuid(), from.uuid())).copied();
    let left_at: Vec<i64> = moves.iter().map(at).collect::<Option<_>>().ok_or(ApplyError::STALE)?;
    let occurrences = || moves.iter().map(|(event, ..)| event.occurrence());
    let series: Vec<Option<Uuid>> = occurrences().map(|occurrence| Some(occurrence?.series.uuid())).collect();
    let original_starts: Vec<Option<i64>> =
        occurrences().map(|occurrence| Some(occurrence?.start.as_micros())).collect();
    let moved = sqlx::query!(
        "UPDATE events SET calendar_id = row.calendar_id
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[])
             AS row (org_id, id, left_id, calendar_id, seen)
         WHERE events.org_id = row.org_id AND events.id = row.id AND events.calendar_id = row.left_id
             AND events.version = row.seen",
        &orgs,
        &ids,
        &left,
        &calendars,
        &seen,
    )
    .execute(&mut *connection)
    .await?;
    all_written(moved.rows_affected(), moves.len())?;
    sqlx::query!(
        "UPDATE timers SET calendar_id = row.calendar_id, again = inherits AND NOT hold,
             reminded_until = CASE WHEN inherits AND NOT hold THEN greatest(reminded_until, row.moved_at)
                 ELSE reminded_until END,
             version = timers.version + 1, claimed_until = 0
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[])
             AS row (org_id, event_id, left_id, calendar_id, moved_at)
         WHERE timers.org_id = row.org_id AND timers.calendar_id = row.left_id AND timers.event_id = row.event_id",
        &orgs,
        &ids,
        &left,
        &calendars,
        &moved_at,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE event_metadata m SET calendar_id = row.calendar_id
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS row (org_id, event_id, calendar_id)
         WHERE m.org_id = row.org_id AND m.event_id = row.event_id",
        &orgs,
        &ids,
        &calendars,
    )
    .execute(&mut *connection)
    .await?;
    // An event that comes back is on its calendar again.
    sqlx::query!(
        "DELETE FROM moved_events m
         USING unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS row (org_id, event_id, calendar_id)
         WHERE m.org_id = row.org_id AND m.calendar_id = row.calendar_id AND m.event_id = row.event_id",
        &orgs,
        &ids,
        &calendars,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "INSERT INTO moved_events (org_id, calendar_id, event_id, series_id, original_start, revision, moved_at)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[])
         ON CONFLICT (org_id, calendar_id, event_id) DO UPDATE SET series_id = excluded.series_id,
             original_start = excluded.original_start, revision = excluded.revision, moved_at = excluded.moved_at",
        &orgs,
        &left,
        &ids,
        &series as &[Option<Uuid>],
        &original_starts as &[Option<i64>],
        &left_at,
        &moved_at,
    )
    .execute(connection)
    .await?;
    Ok(())
}
