//! Timers: written with their events, marked when their calendars change, and advanced.

use std::collections::BTreeMap;

use kalends_calendars::{Advance, Calendar, Change, Reminders, Timer};
use kalends_rows::{EventWrite, SealedChangeSet};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{ApplyError, all_written};
use crate::rows::reminders_json;

/// The default reminders of the calendars that are written to.
pub(super) type Defaults = BTreeMap<(Uuid, Uuid), Option<Reminders>>;

/// Writes the timers of events that were written. A timer whose event's timing has not changed stays as it is.
pub(super) async fn keep(
    connection: &mut PgConnection,
    writes: &[EventWrite<'_>],
    defaults: &Defaults,
) -> Result<(), ApplyError> {
    let (mut kept, mut ended) = (Vec::new(), Vec::new());
    for EventWrite { event, seen, .. } in writes {
        let defaults = defaults.get(&(event.org.uuid(), event.calendar.uuid())).and_then(Option::as_ref);
        match event.timer(defaults, event.updated_at) {
            Some(timer) => kept.push(timer),
            // A new event has no timer to remove.
            None if seen.is_some() => ended.push((event, event.timing())),
            None => {}
        }
    }
    put(connection, &kept).await?;
    if ended.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = ended.iter().map(|(event, _)| event.org.uuid()).collect();
    let calendars: Vec<Uuid> = ended.iter().map(|(event, _)| event.calendar.uuid()).collect();
    let events: Vec<Uuid> = ended.iter().map(|(event, _)| event.id.uuid()).collect();
    let timings: Vec<i64> = ended.iter().map(|(_, timing)| *timing).collect();
    sqlx::query!(
        "DELETE FROM timers t
         USING unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[]) AS row (org_id, calendar_id, event_id, timing)
         WHERE t.org_id = row.org_id AND t.calendar_id = row.calendar_id AND t.event_id = row.event_id
             AND t.timing <> row.timing",
        &orgs,
        &calendars,
        &events,
        &timings,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn put(connection: &mut PgConnection, timers: &[Timer]) -> Result<(), ApplyError> {
    if timers.is_empty() {
        return Ok(());
    }
    let columns = Columns::of(timers);
    sqlx::query!(
        "INSERT INTO timers (org_id, calendar_id, event_id, hold, inherits, again, due_at, told_until, reminded_until,
             timing, version, claimed_until)
         SELECT org_id, calendar_id, event_id, hold, inherits, FALSE, due_at, told_until, reminded_until, timing, 1, 0
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[], $5::boolean[], $6::bigint[], $7::bigint[],
                 $8::bigint[], $9::bigint[])
             AS row (org_id, calendar_id, event_id, hold, inherits, due_at, told_until, reminded_until, timing)
         ON CONFLICT (org_id, calendar_id, event_id) DO UPDATE SET hold = excluded.hold, inherits = excluded.inherits,
             again = FALSE, due_at = excluded.due_at, told_until = greatest(timers.told_until, excluded.told_until),
             reminded_until = greatest(timers.reminded_until, excluded.reminded_until), timing = excluded.timing,
             version = timers.version + 1, claimed_until = 0
         WHERE timers.timing <> excluded.timing",
        &columns.orgs,
        &columns.calendars,
        &columns.events,
        &columns.holds,
        &columns.inherits,
        &columns.due,
        &columns.emitted,
        &columns.reminded,
        &columns.timings,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the timers of events that have none yet.
pub(crate) async fn seed(connection: &mut PgConnection, timers: &[Timer]) -> Result<(), ApplyError> {
    let columns = Columns::of(timers);
    sqlx::query!(
        "INSERT INTO timers (org_id, calendar_id, event_id, hold, inherits, again, due_at, told_until, reminded_until,
             timing, version, claimed_until)
         SELECT org_id, calendar_id, event_id, hold, inherits, FALSE, due_at, told_until, reminded_until, timing, 1, 0
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[], $5::boolean[], $6::bigint[], $7::bigint[],
                 $8::bigint[], $9::bigint[])
             AS row (org_id, calendar_id, event_id, hold, inherits, due_at, told_until, reminded_until, timing)
         ON CONFLICT (org_id, calendar_id, event_id) DO NOTHING",
        &columns.orgs,
        &columns.calendars,
        &columns.events,
        &columns.holds,
        &columns.inherits,
        &columns.due,
        &columns.emitted,
        &columns.reminded,
        &columns.timings,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The parameters that both statements on new timers take.
struct Columns {
    orgs: Vec<Uuid>,
    calendars: Vec<Uuid>,
    events: Vec<Uuid>,
    holds: Vec<bool>,
    inherits: Vec<bool>,
    due: Vec<i64>,
    emitted: Vec<i64>,
    reminded: Vec<i64>,
    timings: Vec<i64>,
}

impl Columns {
    fn of(timers: &[Timer]) -> Self {
        Self {
            orgs: timers.iter().map(|timer| timer.org.uuid()).collect(),
            calendars: timers.iter().map(|timer| timer.calendar.uuid()).collect(),
            events: timers.iter().map(|timer| timer.event.uuid()).collect(),
            holds: timers.iter().map(|timer| timer.hold).collect(),
            inherits: timers.iter().map(|timer| timer.inherits).collect(),
            due: timers.iter().map(|timer| timer.due_at.as_micros()).collect(),
            emitted: timers.iter().map(|timer| timer.emitted_until.all.as_micros()).collect(),
            reminded: timers.iter().map(|timer| timer.emitted_until.reminders.as_micros()).collect(),
            timings: timers.iter().map(|timer| timer.timing).collect(),
        }
    }
}

/// Marks the timers that inherit their calendar's reminders, so that a worker writes them again. Runs before the
/// calendars are written.
pub(super) async fn mark_for_recompute(
    connection: &mut PgConnection,
    calendars: &[&Calendar],
) -> Result<(), ApplyError> {
    if calendars.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = calendars.iter().map(|calendar| calendar.org.uuid()).collect();
    let ids: Vec<Uuid> = calendars.iter().map(|calendar| calendar.id.uuid()).collect();
    let reminders: Vec<Option<String>> =
        calendars.iter().map(|calendar| reminders_json(calendar.default_reminders.as_ref())).collect();
    let updated: Vec<i64> = calendars.iter().map(|calendar| calendar.updated_at.as_micros()).collect();
    sqlx::query!(
        "UPDATE timers SET again = TRUE, reminded_until = greatest(reminded_until, row.updated_at),
             version = timers.version + 1, claimed_until = 0
         FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) AS row (org_id, id, reminders, updated_at)
         JOIN calendars c ON c.org_id = row.org_id AND c.id = row.id
         WHERE timers.org_id = row.org_id AND timers.calendar_id = row.id AND timers.inherits AND NOT timers.hold
             AND c.default_reminders IS DISTINCT FROM row.reminders",
        &orgs,
        &ids,
        &reminders as &[Option<String>],
        &updated,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Advances and removes timers that a worker looked at, if they have not changed since.
pub(super) async fn advance(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let advances = batch.iter().flat_map(|sealed| &sealed.changes().calendars).filter_map(|change| match change {
        Change::AdvanceTimer(advance) => Some(advance),
        _ => None,
    });
    let (going_on, ended): (Vec<&Advance>, Vec<&Advance>) = advances.partition(|advance| advance.next.is_some());
    let keys = |advances: &[&Advance]| -> (Vec<Uuid>, Vec<Uuid>, Vec<Uuid>, Vec<i64>) {
        let orgs = advances.iter().map(|advance| advance.org.uuid()).collect();
        let calendars = advances.iter().map(|advance| advance.calendar.uuid()).collect();
        let events = advances.iter().map(|advance| advance.event.uuid()).collect();
        (orgs, calendars, events, advances.iter().map(|advance| advance.seen.0).collect())
    };
    if !going_on.is_empty() {
        let (orgs, calendars, events, seen) = keys(&going_on);
        let next = || going_on.iter().filter_map(|advance| advance.next);
        let due: Vec<i64> = next().map(|(due_at, _)| due_at.as_micros()).collect();
        let emitted: Vec<i64> = next().map(|(_, emitted)| emitted.all.as_micros()).collect();
        let reminded: Vec<i64> = next().map(|(_, emitted)| emitted.reminders.as_micros()).collect();
        let written = sqlx::query!(
            "UPDATE timers SET again = FALSE, due_at = row.due_at, told_until = row.told_until,
                 reminded_until = row.reminded_until, version = timers.version + 1, claimed_until = 0
             FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
                 AS row (org_id, calendar_id, event_id, seen, due_at, told_until, reminded_until)
             WHERE timers.org_id = row.org_id AND timers.calendar_id = row.calendar_id
                 AND timers.event_id = row.event_id AND timers.version = row.seen",
            &orgs,
            &calendars,
            &events,
            &seen,
            &due,
            &emitted,
            &reminded,
        )
        .execute(&mut *connection)
        .await?;
        all_written(written.rows_affected(), going_on.len())?;
    }
    if !ended.is_empty() {
        let (orgs, calendars, events, seen) = keys(&ended);
        let removed = sqlx::query!(
            "DELETE FROM timers t
             USING unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[]) AS row (org_id, calendar_id, event_id, seen)
             WHERE t.org_id = row.org_id AND t.calendar_id = row.calendar_id AND t.event_id = row.event_id
                 AND t.version = row.seen",
            &orgs,
            &calendars,
            &events,
            &seen,
        )
        .execute(connection)
        .await?;
        all_written(removed.rows_affected(), ended.len())?;
    }
    Ok(())
}
