//! Reservations. Their calendars are locked, and were visible when their revisions were raised.
//!
//! The column `proposal_id` has the owner, which may be an approval. Its name is older than approvals.

use std::collections::BTreeMap;

use kalends_calendars::{Change, Reservation};
use kalends_kernel::{CalendarId, OrgId};
use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

/// The revisions of calendars after they were raised.
pub(super) type Revisions = BTreeMap<(Uuid, Uuid), i64>;

/// Writes and removes reservations, at the revisions of their calendars.
pub(super) async fn apply(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
    revisions: &Revisions,
) -> Result<(), ApplyError> {
    for change in batch.iter().flat_map(|sealed| &sealed.changes().calendars) {
        match change {
            Change::Reserve { org, calendar, reservations } => {
                let revision = revisions.get(&(org.uuid(), calendar.uuid())).copied().unwrap_or_default();
                reserve(connection, (*org, *calendar), reservations, revision).await?;
            }
            Change::Unreserve { org, calendar, owner } => {
                sqlx::query!(
                    "DELETE FROM reservations WHERE org_id = $1 AND calendar_id = $2 AND proposal_id = $3",
                    org.uuid(),
                    calendar.uuid(),
                    owner.uuid(),
                )
                .execute(&mut *connection)
                .await?;
            }
            _ => {}
        }
    }
    Ok(())
}

async fn reserve(
    connection: &mut PgConnection,
    (org, calendar): (OrgId, CalendarId),
    reservations: &[Reservation],
    revision: i64,
) -> Result<(), ApplyError> {
    let owners: Vec<Uuid> = reservations.iter().map(|reservation| reservation.owner.uuid()).collect();
    let places: Vec<i64> = (0..).take(reservations.len()).collect();
    let starts: Vec<i64> = reservations.iter().map(|reservation| reservation.span.start().as_micros()).collect();
    let ends: Vec<i64> = reservations.iter().map(|reservation| reservation.span.end().as_micros()).collect();
    let expiries: Vec<i64> = reservations.iter().map(|reservation| reservation.expires_at.as_micros()).collect();
    sqlx::query!(
        "INSERT INTO reservations (org_id, calendar_id, proposal_id, place, start_at, end_at, expires_at, revision)
         SELECT $1, $2, kept.proposal_id, kept.place, kept.start_at, kept.end_at, kept.expires_at, $8
         FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
             AS kept (proposal_id, place, start_at, end_at, expires_at)",
        org.uuid(),
        calendar.uuid(),
        &owners,
        &places,
        &starts,
        &ends,
        &expiries,
        revision,
    )
    .execute(connection)
    .await?;
    Ok(())
}
