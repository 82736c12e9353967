//! Booking pages and bookings.

use kalends_app::{Guard, ports::CommitError};
use kalends_bookings::{Booking, BookingPage, CancelledBy, Change, SecretHash};
use kalends_kernel::{BookingId, EventId, OrgId, Version};
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::PgConnection;

use crate::error::{ApplyError, all_written};
use crate::rows::{constraints_json, team_json};

/// Writes the rows in the order of the changes.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, sealed) in batch.iter().flat_map(SealedChangeSet::bookings) {
        match change {
            Change::CreatePage(page) => create(connection, page, sealed).await?,
            Change::UpdatePage { page, seen } => update(connection, page, sealed, *seen).await?,
            Change::CreateBooking { booking, seen, count } => {
                book(connection, booking, sealed, (*seen, *count)).await?;
            }
            Change::MoveBooking { booking, from } => move_to(connection, booking, sealed, *from).await?,
            Change::CancelBooking { org, booking, from, by, at } => {
                cancel(connection, *org, (*booking, *from), (*by, *at)).await?;
            }
        }
    }
    Ok(())
}

/// Refuses as stale if an event has another number of bookings that nobody cancelled than a guard says. The event's
/// calendar is locked, since the change-set writes the event.
pub(crate) async fn check(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for guard in &changes.guards {
            let Guard::Guests { event, count } = *guard else { continue };
            let guests = sqlx::query_scalar!(
                r#"SELECT count(*) AS "guests!"
                 FROM bookings
                 WHERE org_id = $1 AND event_id = $2 AND cancelled_by IS NULL"#,
                changes.org.uuid(),
                event.uuid(),
            )
            .fetch_one(&mut *connection)
            .await?;
            if u64::try_from(guests) != Ok(count) {
                return Err(ApplyError::STALE);
            }
        }
    }
    Ok(())
}

async fn create(connection: &mut PgConnection, page: &BookingPage, content: &str) -> Result<(), ApplyError> {
    let SecretHash(slug) = page.slug.hash();
    let created = sqlx::query!(
        "INSERT INTO booking_pages (org_id, id, calendar_id, agent_id, content, slug_hash, duration_minutes,
             buffer_minutes, window_days, min_notice_minutes, timezone, constraints, active, bookings, version,
             created_at, updated_at, team)
         SELECT c.org_id, $2, c.id, c.agent_id, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13, $14, $15, $16
         FROM calendars c
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE c.org_id = $1 AND c.id = $3 AND c.deleted_at IS NULL
             AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
        page.org.uuid(),
        page.id.uuid(),
        page.calendar.uuid(),
        content,
        slug.as_slice(),
        i64::from(page.timetable.duration_minutes),
        i64::from(page.buffer_minutes),
        i64::from(page.window_days),
        i64::from(page.min_notice_minutes),
        page.timetable.zone.name(),
        constraints_json(page.timetable.constraints.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?,
        page.active,
        page.version.0,
        page.created_at.as_micros(),
        page.updated_at.as_micros(),
        team_json(page.team.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?,
    )
    .execute(&mut *connection)
    .await?;
    all_written(created.rows_affected(), 1)?;
    keep_slug(connection, page).await
}

/// Records that the page has or had its slug, unless another one has or had it. A deleted page gives up all of its slugs.
async fn keep_slug(connection: &mut PgConnection, page: &BookingPage) -> Result<(), ApplyError> {
    let SecretHash(slug) = page.slug.hash();
    if page.deleted_at.is_some() {
        sqlx::query!("DELETE FROM booking_slugs WHERE org_id = $1 AND page_id = $2", page.org.uuid(), page.id.uuid(),)
            .execute(connection)
            .await?;
        return Ok(());
    }
    let kept = sqlx::query!(
        "INSERT INTO booking_slugs (slug_hash, org_id, page_id) VALUES ($1, $2, $3) ON CONFLICT (slug_hash) DO NOTHING",
        slug.as_slice(),
        page.org.uuid(),
        page.id.uuid(),
    )
    .execute(&mut *connection)
    .await?;
    if kept.rows_affected() == 1 {
        return Ok(());
    }
    let own = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM booking_slugs WHERE slug_hash = $1 AND org_id = $2 AND page_id = $3"#,
        slug.as_slice(),
        page.org.uuid(),
        page.id.uuid(),
    )
    .fetch_one(connection)
    .await?;
    if own == 1 { Ok(()) } else { Err(ApplyError::Refused(CommitError::SlugTaken)) }
}

async fn update(
    connection: &mut PgConnection,
    page: &BookingPage,
    content: &str,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let SecretHash(slug) = page.slug.hash();
    let updated = sqlx::query!(
        "UPDATE booking_pages SET content = $4, duration_minutes = $5, buffer_minutes = $6, window_days = $7,
             min_notice_minutes = $8, timezone = $9, constraints = $10, active = $11, version = $12, updated_at = $13,
             deleted_at = $14, slug_hash = $15, team = $16
         WHERE org_id = $1 AND id = $2 AND version = $3",
        page.org.uuid(),
        page.id.uuid(),
        seen,
        content,
        i64::from(page.timetable.duration_minutes),
        i64::from(page.buffer_minutes),
        i64::from(page.window_days),
        i64::from(page.min_notice_minutes),
        page.timetable.zone.name(),
        constraints_json(page.timetable.constraints.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?,
        page.active,
        page.version.0,
        page.updated_at.as_micros(),
        page.deleted_at.map(Timestamp::as_micros),
        slug.as_slice(),
        team_json(page.team.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?,
    )
    .execute(&mut *connection)
    .await?;
    all_written(updated.rows_affected(), 1)?;
    keep_slug(connection, page).await
}

async fn cancel(
    connection: &mut PgConnection,
    org: OrgId,
    (booking, from): (BookingId, EventId),
    (by, at): (CancelledBy, Timestamp),
) -> Result<(), ApplyError> {
    let cancelled = sqlx::query!(
        "UPDATE bookings SET cancelled_by = $4, cancelled_at = $5
         WHERE org_id = $1 AND id = $2 AND event_id = $3 AND cancelled_by IS NULL",
        org.uuid(),
        booking.uuid(),
        from.uuid(),
        by.as_str(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(cancelled.rows_affected(), 1)
}

async fn move_to(
    connection: &mut PgConnection,
    booking: &Booking,
    guest: &str,
    from: EventId,
) -> Result<(), ApplyError> {
    let moved = sqlx::query!(
        "UPDATE bookings SET calendar_id = $4, event_id = $5, guest = $6, shared = $7,
             start_at = (SELECT e.start_at FROM events e WHERE e.org_id = $1 AND e.id = $5)
         WHERE org_id = $1 AND id = $2 AND event_id = $3 AND cancelled_by IS NULL",
        booking.org.uuid(),
        booking.id.uuid(),
        from.uuid(),
        booking.calendar.uuid(),
        booking.event.uuid(),
        guest,
        booking.shared,
    )
    .execute(connection)
    .await?;
    all_written(moved.rows_affected(), 1)
}

async fn book(
    connection: &mut PgConnection,
    booking: &Booking,
    guest: &str,
    (Version(seen), count): (Version, Option<u64>),
) -> Result<(), ApplyError> {
    let (SecretHash(cancel), SecretHash(moves)) = (booking.cancel, booking.moves);
    let counted = sqlx::query!(
        "UPDATE booking_pages SET bookings = bookings + 1
         WHERE org_id = $1 AND id = $2 AND version = $3 AND deleted_at IS NULL
             AND ($4::bigint IS NULL OR bookings = $4)",
        booking.org.uuid(),
        booking.page.uuid(),
        seen,
        count.map(u64::cast_signed),
    )
    .execute(&mut *connection)
    .await?;
    all_written(counted.rows_affected(), 1)?;
    sqlx::query!(
        "INSERT INTO bookings (org_id, id, page_id, calendar_id, event_id, cancel_hash, move_hash, guest, created_at,
             shared, start_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
             (SELECT e.start_at FROM events e WHERE e.org_id = $1 AND e.id = $5))",
        booking.org.uuid(),
        booking.id.uuid(),
        booking.page.uuid(),
        booking.calendar.uuid(),
        booking.event.uuid(),
        cancel.as_slice(),
        moves.as_slice(),
        guest,
        booking.created_at.as_micros(),
        booking.shared,
    )
    .execute(connection)
    .await?;
    Ok(())
}
