//! Timers: written with their events, marked when their calendars change, and advanced.

use std::collections::BTreeMap;

use kalends_calendars::{Advance, Calendar, Change, Event, Reminders, Timer};
use kalends_kernel::{CalendarId, OrgId, Version};
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::{
    error::{Failure, fresh},
    json::{self, Hex},
    rows::reminders_json,
};

/// The default reminders of the calendars that are written to.
pub(super) type Defaults = BTreeMap<(OrgId, CalendarId), Option<Reminders>>;

/// Writes the timers of events that were written. Each event comes with its previous version, if it had one. A timer
/// whose event's timing has not changed stays as it is.
pub(super) async fn keep<'a>(
    connection: &mut SqliteConnection,
    written: impl Iterator<Item = (&'a Event, Option<Version>)>,
    defaults: &Defaults,
) -> Result<(), Failure> {
    let (mut kept, mut ended) = (Vec::new(), Vec::new());
    for (event, seen) in written {
        let defaults = defaults.get(&(event.org, event.calendar)).and_then(Option::as_ref);
        match event.timer(defaults, event.updated_at) {
            Some(timer) => kept.push(timer),
            // A new event has no timer to remove.
            None if seen.is_some() => {
                ended.push((Hex(event.org.uuid()), Hex(event.calendar.uuid()), Hex(event.id.uuid()), event.timing()));
            }
            None => {}
        }
    }
    if !kept.is_empty() {
        let rows = json::rows(&kept.iter().map(columns).collect::<Vec<_>>())?;
        sqlx::query!(
            "insert or fail into timers (org_id, calendar_id, event_id, hold, inherits, again, due_at, told_until,
                reminded_until, timing, version, claimed_until)
             select unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), value ->> 3, value ->> 4, 0, value ->> 5,
                value ->> 6, value ->> 7, value ->> 8, 1, 0
             from jsonb_each(?1) where true
             on conflict (org_id, calendar_id, event_id) do update set hold = excluded.hold,
                inherits = excluded.inherits, again = 0, due_at = excluded.due_at,
                told_until = max(timers.told_until, excluded.told_until),
                reminded_until = max(timers.reminded_until, excluded.reminded_until), timing = excluded.timing,
                version = timers.version + 1, claimed_until = 0
             where timers.timing <> excluded.timing",
            rows
        )
        .execute(&mut *connection)
        .await?;
    }
    if !ended.is_empty() {
        let rows = json::rows(&ended)?;
        sqlx::query!(
            "delete from timers where rowid in (
                select t.rowid from jsonb_each(?1) ended cross join timers t
                where t.org_id = unhex(ended.value ->> 0) and t.calendar_id = unhex(ended.value ->> 1)
                    and t.event_id = unhex(ended.value ->> 2) and t.timing <> (ended.value ->> 3))",
            rows
        )
        .execute(connection)
        .await?;
    }
    Ok(())
}

/// Writes the timers of events that have none yet.
pub(crate) async fn seed(connection: &mut SqliteConnection, timers: &[Timer]) -> Result<(), sqlx::Error> {
    let rows = json::rows(&timers.iter().map(columns).collect::<Vec<_>>())?;
    sqlx::query!(
        "insert into timers (org_id, calendar_id, event_id, hold, inherits, again, due_at, told_until, reminded_until,
            timing, version, claimed_until)
         select unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), value ->> 3, value ->> 4, 0, value ->> 5,
            value ->> 6, value ->> 7, value ->> 8, 1, 0
         from jsonb_each(?1) where true
         on conflict (org_id, calendar_id, event_id) do nothing",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The columns of a new row that differ from timer to timer.
type Columns = (Hex, Hex, Hex, bool, bool, i64, i64, i64, i64);

fn columns(timer: &Timer) -> Columns {
    (
        Hex(timer.org.uuid()),
        Hex(timer.calendar.uuid()),
        Hex(timer.event.uuid()),
        timer.hold,
        timer.inherits,
        timer.due_at.as_micros(),
        timer.emitted_until.all.as_micros(),
        timer.emitted_until.reminders.as_micros(),
        timer.timing,
    )
}

/// Marks the timers that inherit their calendar's reminders, so that a worker writes them again. Runs before the
/// calendar is written.
pub(super) async fn mark_for_recompute(connection: &mut SqliteConnection, calendar: &Calendar) -> Result<(), Failure> {
    let (org_id, id) = (calendar.org.uuid(), calendar.id.uuid());
    let reminders = reminders_json(calendar.default_reminders.as_ref());
    let updated_at = calendar.updated_at.as_micros();
    sqlx::query!(
        "update timers set again = 1, reminded_until = max(reminded_until, ?4), version = version + 1, claimed_until = 0
         where org_id = ?1 and calendar_id = ?2 and inherits and not hold and exists (
            select 1 from calendars c
            where c.org_id = ?1 and c.id = ?2 and c.default_reminders is not ?3)",
        org_id,
        id,
        reminders,
        updated_at
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Advances and removes timers that a worker looked at, if they have not changed since.
pub(super) async fn advance(connection: &mut SqliteConnection, group: &[&SealedChangeSet]) -> Result<(), Failure> {
    let advances = group.iter().flat_map(|sealed| &sealed.changes().calendars).filter_map(|change| match change {
        Change::AdvanceTimer(advance) => Some(advance),
        _ => None,
    });
    let (going_on, ended): (Vec<&Advance>, Vec<&Advance>) = advances.partition(|advance| advance.next.is_some());
    let key = |advance: &Advance| {
        (Hex(advance.org.uuid()), Hex(advance.calendar.uuid()), Hex(advance.event.uuid()), advance.seen.0)
    };
    if !going_on.is_empty() {
        let rows: Vec<_> = going_on
            .iter()
            .map(|advance| {
                let next = advance
                    .next
                    .map(|(due_at, emitted)| [due_at, emitted.all, emitted.reminders].map(Timestamp::as_micros));
                (key(advance), next)
            })
            .collect();
        let rows = json::rows(&rows)?;
        let written = sqlx::query!(
            "update or fail timers set again = 0, due_at = row.value ->> '$[1][0]', told_until = row.value ->> '$[1][1]',
                reminded_until = row.value ->> '$[1][2]', version = version + 1, claimed_until = 0
             from jsonb_each(?1) row
             where timers.org_id = unhex(row.value ->> '$[0][0]') and timers.calendar_id = unhex(row.value ->> '$[0][1]')
                and timers.event_id = unhex(row.value ->> '$[0][2]') and timers.version = (row.value ->> '$[0][3]')",
            rows
        )
        .execute(&mut *connection)
        .await?;
        fresh(written.rows_affected(), going_on.len() as u64)?;
    }
    if !ended.is_empty() {
        let rows = json::rows(&ended.iter().map(|advance| key(advance)).collect::<Vec<_>>())?;
        let removed = sqlx::query!(
            "delete from timers where rowid in (
                select t.rowid from jsonb_each(?1) ended cross join timers t
                where t.org_id = unhex(ended.value ->> 0) and t.calendar_id = unhex(ended.value ->> 1)
                    and t.event_id = unhex(ended.value ->> 2) and t.version = (ended.value ->> 3))",
            rows
        )
        .execute(connection)
        .await?;
        fresh(removed.rows_affected(), ended.len() as u64)?;
    }
    Ok(())
}
