//! Reservations. Raising the revisions of their calendars has checked that the calendars are visible.
//!
//! The column `proposal_id` has the owner, which may be an approval. Its name is older than approvals.

use std::collections::BTreeMap;

use kalends_app::ports::CommitError;
use kalends_calendars::{Change, Reservation};
use kalends_kernel::{CalendarId, OrgId};
use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::{
    error::Failure,
    json::{self, Hex},
};

/// The revisions of calendars after they were raised. The group writes everything on a calendar at its new revision.
pub(super) type Revisions = BTreeMap<(OrgId, CalendarId), i64>;

/// The revision at which the group writes to the calendar.
pub(super) fn revision_of(revisions: &Revisions, org: OrgId, calendar: CalendarId) -> Result<i64, Failure> {
    // Every write on a calendar raises its revision, so there is one.
    revisions.get(&(org, calendar)).copied().ok_or_else(|| CommitError::Stale.into())
}

/// Writes and removes the reservations of all change-sets of the group, at the revisions of their calendars.
pub(super) async fn apply(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
    revisions: &Revisions,
) -> Result<(), Failure> {
    for change in group.iter().flat_map(|sealed| &sealed.changes().calendars) {
        match change {
            Change::Reserve { org, calendar, reservations } => {
                let revision = revision_of(revisions, *org, *calendar)?;
                reserve(connection, (*org, *calendar), reservations, revision).await?;
            }
            Change::Unreserve { org, calendar, owner } => {
                let (org_id, calendar_id, proposal_id) = (org.uuid(), calendar.uuid(), owner.uuid());
                sqlx::query!(
                    "delete from reservations where org_id = ?1 and calendar_id = ?2 and proposal_id = ?3",
                    org_id,
                    calendar_id,
                    proposal_id
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
    connection: &mut SqliteConnection,
    (org, calendar): (OrgId, CalendarId),
    reservations: &[Reservation],
    revision: i64,
) -> Result<(), Failure> {
    let (org_id, calendar_id) = (org.uuid(), calendar.uuid());
    let row = |reservation: &Reservation| {
        let Reservation { owner, span, expires_at } = *reservation;
        (Hex(owner.uuid()), span.start().as_micros(), span.end().as_micros(), expires_at.as_micros())
    };
    let rows: Vec<_> = reservations.iter().map(row).collect();
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert into reservations (org_id, calendar_id, proposal_id, place, start_at, end_at, expires_at, revision)
         select ?1, ?2, unhex(kept.value ->> 0), kept.key, kept.value ->> 1, kept.value ->> 2, kept.value ->> 3, ?4
         from jsonb_each(?3) kept",
        org_id,
        calendar_id,
        rows,
        revision
    )
    .execute(connection)
    .await?;
    Ok(())
}
