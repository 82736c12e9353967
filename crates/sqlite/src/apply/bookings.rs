//! Booking pages and bookings.

use kalends_app::{Guard, ports::CommitError};
use kalends_bookings::{Booking, BookingPage, CancelledBy, Change, SecretHash};
use kalends_kernel::{BookingId, EventId, OrgId, Version};
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::{
    error::{Failure, fresh, slug_taken},
    rows::{constraints_json, team_json},
};

/// Applies the changes of one change-set in their order.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for (change, sealed) in sealed.bookings() {
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

/// Refuses as stale if an event has another number of bookings that nobody cancelled than a guard says.
pub(crate) async fn check(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    let org_id = sealed.changes().org.uuid();
    for guard in &sealed.changes().guards {
        let Guard::Guests { event, count } = *guard else { continue };
        let event_id = event.uuid();
        let guests = sqlx::query_scalar!(
            "select count(*) from bookings where org_id = ?1 and event_id = ?2 and cancelled_by is null",
            org_id,
            event_id
        )
        .fetch_one(&mut *connection)
        .await?;
        if u64::try_from(guests) != Ok(count) {
            return Err(CommitError::Stale.into());
        }
    }
    Ok(())
}

async fn create(connection: &mut SqliteConnection, page: &BookingPage, content: &str) -> Result<(), Failure> {
    let (org_id, id, calendar_id) = (page.org.uuid(), page.id.uuid(), page.calendar.uuid());
    let SecretHash(slug) = page.slug.hash();
    let (slug, zone) = (slug.as_slice(), page.timetable.zone.name());
    let constraints =
        constraints_json(page.timetable.constraints.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let team = team_json(page.team.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let (created_at, updated_at) = (page.created_at.as_micros(), page.updated_at.as_micros());
    let created = sqlx::query!(
        "insert into booking_pages (org_id, id, calendar_id, agent_id, content, slug_hash, duration_minutes,
            buffer_minutes, window_days, min_notice_minutes, timezone, constraints, active, bookings, version, created_at,
            updated_at, team)
         select ?1, ?2, ?3, c.agent_id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, ?13, ?14, ?15, ?16
         from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
         where c.org_id = ?1 and c.id = ?3 and c.deleted_at is null
            and (c.agent_id is null or a.status <> 'decommissioned')",
        org_id,
        id,
        calendar_id,
        content,
        slug,
        page.timetable.duration_minutes,
        page.buffer_minutes,
        page.window_days,
        page.min_notice_minutes,
        zone,
        constraints,
        page.active,
        page.version.0,
        created_at,
        updated_at,
        team
    )
    .execute(&mut *connection)
    .await
    .map_err(slug_taken)?;
    fresh(created.rows_affected(), 1)?;
    keep_slug(connection, page).await
}

/// Records that the page has or had its slug, unless another one has or had it. A deleted page gives up all of its slugs.
async fn keep_slug(connection: &mut SqliteConnection, page: &BookingPage) -> Result<(), Failure> {
    let (org_id, page_id) = (page.org.uuid(), page.id.uuid());
    let SecretHash(slug) = page.slug.hash();
    let slug = slug.as_slice();
    if page.deleted_at.is_some() {
        sqlx::query!("delete from booking_slugs where org_id = ?1 and page_id = ?2", org_id, page_id)
            .execute(connection)
            .await?;
        return Ok(());
    }
    let kept = sqlx::query!(
        "insert into booking_slugs (slug_hash, org_id, page_id) values (?1, ?2, ?3)
         on conflict (slug_hash) do nothing",
        slug,
        org_id,
        page_id
    )
    .execute(&mut *connection)
    .await?;
    if kept.rows_affected() == 1 {
        return Ok(());
    }
    let own = sqlx::query_scalar!(
        "select count(*) from booking_slugs where slug_hash = ?1 and org_id = ?2 and page_id = ?3",
        slug,
        org_id,
        page_id
    )
    .fetch_one(connection)
    .await?;
    if own == 1 { Ok(()) } else { Err(CommitError::SlugTaken.into()) }
}

async fn update(
    connection: &mut SqliteConnection,
    page: &BookingPage,
    content: &str,
    seen: Version,
) -> Result<(), Failure> {
    let (org_id, id, zone) = (page.org.uuid(), page.id.uuid(), page.timetable.zone.name());
    let SecretHash(slug) = page.slug.hash();
    let slug = slug.as_slice();
    let constraints =
        constraints_json(page.timetable.constraints.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let team = team_json(page.team.as_ref()).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let (updated_at, deleted_at) = (page.updated_at.as_micros(), page.deleted_at.map(Timestamp::as_micros));
    let updated = sqlx::query!(
        "update booking_pages set content = ?4, duration_minutes = ?5, buffer_minutes = ?6, window_days = ?7,
            min_notice_minutes = ?8, timezone = ?9, constraints = ?10, active = ?11, version = ?12, updated_at = ?13,
            deleted_at = ?14, slug_hash = ?15, team = ?16
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        content,
        page.timetable.duration_minutes,
        page.buffer_minutes,
        page.window_days,
        page.min_notice_minutes,
        zone,
        constraints,
        page.active,
        page.version.0,
        updated_at,
        deleted_at,
        slug,
        team
    )
    .execute(&mut *connection)
    .await
    .map_err(slug_taken)?;
    fresh(updated.rows_affected(), 1)?;
    keep_slug(connection, page).await
}

async fn cancel(
    connection: &mut SqliteConnection,
    org: OrgId,
    (booking, from): (BookingId, EventId),
    (by, at): (CancelledBy, Timestamp),
) -> Result<(), Failure> {
    let (org_id, id, from, by, at) = (org.uuid(), booking.uuid(), from.uuid(), by.as_str(), at.as_micros());
    let cancelled = sqlx::query!(
        "update bookings set cancelled_by = ?4, cancelled_at = ?5
         where org_id = ?1 and id = ?2 and event_id = ?3 and cancelled_by is null",
        org_id,
        id,
        from,
        by,
        at
    )
    .execute(connection)
    .await?;
    fresh(cancelled.rows_affected(), 1)
}

async fn move_to(
    connection: &mut SqliteConnection,
    booking: &Booking,
    guest: &str,
    from: EventId,
) -> Result<(), Failure> {
    let (org_id, id, from) = (booking.org.uuid(), booking.id.uuid(), from.uuid());
    let (calendar_id, event_id) = (booking.calendar.uuid(), booking.event.uuid());
    let moved = sqlx::query!(
        "update bookings set calendar_id = ?4, event_id = ?5, guest = ?6, shared = ?7,
            start_at = (select e.start_at from events e where e.org_id = ?1 and e.id = ?5)
         where org_id = ?1 and id = ?2 and event_id = ?3 and cancelled_by is null",
        org_id,
        id,
        from,
        calendar_id,
        event_id,
        guest,
        booking.shared
    )
    .execute(connection)
    .await?;
    fresh(moved.rows_affected(), 1)
}

async fn book(
    connection: &mut SqliteConnection,
    booking: &Booking,
    guest: &str,
    (Version(seen), count): (Version, Option<u64>),
) -> Result<(), Failure> {
    let (org_id, id, page_id) = (booking.org.uuid(), booking.id.uuid(), booking.page.uuid());
    let (calendar_id, event_id, created_at) =
        (booking.calendar.uuid(), booking.event.uuid(), booking.created_at.as_micros());
    let (SecretHash(cancel), SecretHash(moves)) = (booking.cancel, booking.moves);
    let (cancel, moves) = (cancel.as_slice(), moves.as_slice());
    let count = count.map(u64::cast_signed);
    let counted = sqlx::query!(
        "update booking_pages set bookings = bookings + 1
         where org_id = ?1 and id = ?2 and version = ?3 and deleted_at is null and (?4 is null or bookings = ?4)",
        org_id,
        page_id,
        seen,
        count
    )
    .execute(&mut *connection)
    .await?;
    fresh(counted.rows_affected(), 1)?;
    sqlx::query!(
        "insert into bookings (org_id, id, page_id, calendar_id, event_id, cancel_hash, move_hash, guest, created_at,
            shared, start_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
            (select e.start_at from events e where e.org_id = ?1 and e.id = ?5))",
        org_id,
        id,
        page_id,
        calendar_id,
        event_id,
        cancel,
        moves,
        guest,
        created_at,
        booking.shared
    )
    .execute(connection)
    .await?;
    Ok(())
}
