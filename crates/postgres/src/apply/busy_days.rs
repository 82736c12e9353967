//! The busy spans of each day as one value.

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::Event;
use kalends_calendars::ports::{BUSY_DAY_MAX, LONG};
use kalends_rows::EventWrite;
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

/// The most bytes that a row holds: 16 for each span.
const BYTES_MAX: i32 = BUSY_DAY_MAX as i32 * 16;

/// An organization, its calendar, and a day as the number of days since 1970 in UTC.
type Day = (Uuid, Uuid, i64);

/// Appends to each day the spans of the created events that begin on it.
pub(super) async fn add(connection: &mut PgConnection, created: &[EventWrite<'_>]) -> Result<(), ApplyError> {
    let mut added: BTreeMap<Day, Vec<u8>> = BTreeMap::new();
    for event in created.iter().map(|write| write.event) {
        if let Some(span) = event.busy().filter(|span| span.length() <= LONG) {
            added.entry(day(event, span.start())).or_default().extend(<[u8; 16]>::from(span));
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = added.keys().map(|(org, ..)| *org).collect();
    let calendars: Vec<Uuid> = added.keys().map(|(_, calendar, _)| *calendar).collect();
    let days: Vec<i64> = added.keys().map(|(.., day)| *day).collect();
    let spans: Vec<Vec<u8>> = added.into_values().collect();
    sqlx::query!(
        "INSERT INTO busy_days (org_id, calendar_id, day, spans)
         SELECT org_id, calendar_id, day, CASE WHEN length(spans) <= $5 THEN spans END
         FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bytea[]) AS row (org_id, calendar_id, day, spans)
         ON CONFLICT (org_id, calendar_id, day) DO UPDATE SET spans = CASE
             WHEN length(busy_days.spans) + length(excluded.spans) <= $5 THEN busy_days.spans || excluded.spans
         END",
        &orgs,
        &calendars,
        &days,
        &spans,
        BYTES_MAX,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The days on which the events that are about to be updated begin, before and after the update. Their calendars are
/// locked.
pub(super) async fn before_update(
    connection: &mut PgConnection,
    updated: &[EventWrite<'_>],
) -> Result<BTreeSet<Day>, ApplyError> {
    if updated.is_empty() {
        return Ok(BTreeSet::new());
    }
    let orgs: Vec<Uuid> = updated.iter().map(|write| write.event.org.uuid()).collect();
    let ids: Vec<Uuid> = updated.iter().map(|write| write.event.id.uuid()).collect();
    let were = sqlx::query!(
        "SELECT e.org_id, e.calendar_id, e.start_at
         FROM unnest($1::uuid[], $2::uuid[]) AS wanted (org_id, id)
         JOIN events e ON e.org_id = wanted.org_id AND e.id = wanted.id",
        &orgs,
        &ids,
    )
    .fetch_all(connection)
    .await?;
    let were = were.into_iter().map(|row| (row.org_id, row.calendar_id, day_of(Timestamp::from_micros(row.start_at))));
    let become_ = updated.iter().map(|write| day(write.event, write.event.times.span.start()));
    Ok(were.chain(become_).collect())
}

/// Reads the events of the days again, and writes the days.
pub(super) async fn renew(connection: &mut PgConnection, days: BTreeSet<Day>) -> Result<(), ApplyError> {
    if days.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = days.iter().map(|(org, ..)| *org).collect();
    let calendars: Vec<Uuid> = days.iter().map(|(_, calendar, _)| *calendar).collect();
    let days: Vec<i64> = days.iter().map(|(.., day)| *day).collect();
    sqlx::query!(
        "INSERT INTO busy_days (org_id, calendar_id, day, spans)
         SELECT row.org_id, row.calendar_id, row.day, (
             SELECT CASE WHEN count(*) * 16 <= $4 THEN coalesce(string_agg(e.busy, ''), '') END
             FROM events e
             WHERE e.org_id = row.org_id AND e.calendar_id = row.calendar_id AND e.busy IS NOT NULL
                 AND e.start_at >= row.day * 86400000000 AND e.start_at < (row.day + 1) * 86400000000
                 AND e.end_at - e.start_at <= 86400000000
         )
         FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS row (org_id, calendar_id, day)
         ON CONFLICT (org_id, calendar_id, day) DO UPDATE SET spans = excluded.spans",
        &orgs,
        &calendars,
        &days,
        i64::from(BYTES_MAX),
    )
    .execute(connection)
    .await?;
    Ok(())
}

fn day(event: &Event, start: Timestamp) -> Day {
    (event.org.uuid(), event.calendar.uuid(), day_of(start))
}

fn day_of(start: Timestamp) -> i64 {
    start.utc_date().as_days()
}
