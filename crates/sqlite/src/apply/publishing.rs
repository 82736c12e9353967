//! Destinations, the copies that were written there, and when calendars are due for publication.

use kalends_bridge::{Copy, CopyKey, Destination, PublishClaim, PublishState};
use kalends_kernel::{AgentId, CalendarId, ConnectionId, OrgId, Revision, Version};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::{
    error::{Failure, fresh},
    json::{self, Hex, HexDigest},
    rows::{copy_state_name, original_start, places::copy_id},
};

pub(super) async fn put(
    connection: &mut SqliteConnection,
    destination: &Destination,
    seen: Option<Version>,
) -> Result<(), Failure> {
    let (org_id, calendar_id) = (destination.org.uuid(), destination.calendar.uuid());
    let (human_id, connection_id) = (destination.human.uuid(), destination.connection.uuid());
    let (target_id, policy) = (destination.target.uuid(), destination.policy.as_str());
    let (created_at, updated_at) = (destination.created_at.as_micros(), destination.updated_at.as_micros());
    let due = sqlx::query!(
        "update calendars set publication_policy = ?3, publication_due_at = 0
         where org_id = ?1 and id = ?2 and deleted_at is null
            and (agent_id is null or exists (select 1 from agents a
                where a.org_id = calendars.org_id and a.id = calendars.agent_id and a.status <> 'decommissioned'))",
        org_id,
        calendar_id,
        policy
    )
    .execute(&mut *connection)
    .await?;
    fresh(due.rows_affected(), 1)?;
    let put = match seen {
        None => {
            let published_at = destination.state.published_at.map(Timestamp::as_micros);
            sqlx::query!(
                "insert into publication_destinations (org_id, calendar_id, human_id, connection_id, target_id, policy,
                    ending, published_at, last_error, failures, fence, attempting, version, created_at, updated_at)
                 select ?1, ?2, ?3, e.connection_id, e.id, ?6, ?7, ?8, ?9, ?10, 0, false, ?11, ?12, ?13
                 from external_calendars e where e.org_id = ?1 and e.id = ?5 and e.connection_id = ?4
                 on conflict (org_id, calendar_id) do nothing",
                org_id,
                calendar_id,
                human_id,
                connection_id,
                target_id,
                policy,
                destination.ending,
                published_at,
                destination.state.last_error,
                destination.state.failures,
                destination.version.0,
                created_at,
                updated_at
            )
            .execute(connection)
            .await?
        }
        Some(seen) => {
            sqlx::query!(
                "update publication_destinations set human_id = ?4, connection_id = ?5, target_id = ?6, policy = ?7,
                    ending = ?8, version = ?9, updated_at = ?10, created_at = ?11, fence = fence + 1,
                    claimed_until = null
                 where org_id = ?1 and calendar_id = ?2 and version = ?3 and exists (
                    select 1 from external_calendars e where e.org_id = ?1 and e.id = ?6 and e.connection_id = ?5)",
                org_id,
                calendar_id,
                seen.0,
                human_id,
                connection_id,
                target_id,
                policy,
                destination.ending,
                destination.version.0,
                updated_at,
                created_at
            )
            .execute(connection)
            .await?
        }
    };
    fresh(put.rows_affected(), 1)
}

/// Ends a destination: removes it with the records of its copies, or leaves it to a worker, which deletes the copies.
pub(super) async fn end_destination(
    connection: &mut SqliteConnection,
    (org, calendar): (OrgId, CalendarId),
    seen: Version,
    keep: bool,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, calendar_id, at) = (org.uuid(), calendar.uuid(), at.as_micros());
    if keep {
        let removed = sqlx::query!(
            "delete from publication_destinations where org_id = ?1 and calendar_id = ?2 and version = ?3",
            org_id,
            calendar_id,
            seen.0
        )
        .execute(&mut *connection)
        .await?;
        fresh(removed.rows_affected(), 1)?;
        return forget_all(connection, org, calendar).await;
    }
    let version = seen.next().0;
    let ended = sqlx::query!(
        "update publication_destinations set ending = true, version = ?4, updated_at = ?5, fence = fence + 1,
            claimed_until = null
         where org_id = ?1 and calendar_id = ?2 and version = ?3",
        org_id,
        calendar_id,
        seen.0,
        version,
        at
    )
    .execute(&mut *connection)
    .await?;
    fresh(ended.rows_affected(), 1)?;
    sqlx::query!(
        "update calendars set publication_policy = null, publication_due_at = 0 where org_id = ?1 and id = ?2",
        org_id,
        calendar_id
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Lets a claim last until `until` from now on. Stale if it was lost.
pub(super) async fn extend_claim(
    connection: &mut SqliteConnection,
    claim: PublishClaim,
    until: Timestamp,
) -> Result<(), Failure> {
    let (org_id, calendar_id, until) = (claim.org.uuid(), claim.calendar.uuid(), until.as_micros());
    let extended = sqlx::query!(
        "update publication_destinations set claimed_until = ?4
         where org_id = ?1 and calendar_id = ?2 and fence = ?3 and claimed_until is not null",
        org_id,
        calendar_id,
        claim.fence.0,
        until
    )
    .execute(connection)
    .await?;
    fresh(extended.rows_affected(), 1)
}

/// Writes the records of copies of the claimed calendar. The claim has been checked.
pub(super) async fn write_copies(
    connection: &mut SqliteConnection,
    claim: PublishClaim,
    written: &[Copy],
    references: &[String],
) -> Result<(), Failure> {
    if written.is_empty() {
        return Ok(());
    }
    let (org_id, calendar_id) = (claim.org.uuid(), claim.calendar.uuid());
    let rows: Vec<_> = written
        .iter()
        .zip(references)
        .map(|(copy, reference)| {
            (
                Hex(copy.key.event.uuid()),
                original_start(&copy.key),
                Hex(copy_id(claim.calendar, &copy.key)),
                Hex(copy.target.uuid()),
                reference,
                HexDigest(&copy.digest),
                HexDigest(&copy.visible),
                copy.ends_at.as_micros(),
                copy_state_name(copy.state),
            )
        })
        .collect();
    let rows = json::rows(&rows)?;
    // Without a condition, the parser would read what follows as a join.
    sqlx::query!(
        "insert into publication_copies (org_id, calendar_id, event_id, original_start, id, target_id, content, digest,
            visible, ends_at, state)
         select ?1, ?2, unhex(value ->> 0), value ->> 1, unhex(value ->> 2), unhex(value ->> 3), value ->> 4,
            unhex(value ->> 5), unhex(value ->> 6), value ->> 7, value ->> 8
         from jsonb_each(?3) where true
         on conflict (org_id, calendar_id, event_id, original_start) do update set target_id = excluded.target_id,
            content = excluded.content, digest = excluded.digest, visible = excluded.visible,
            ends_at = excluded.ends_at, state = excluded.state",
        org_id,
        calendar_id,
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes the records of these copies of the claimed calendar. The claim has been checked.
pub(super) async fn forget_copies(
    connection: &mut SqliteConnection,
    claim: PublishClaim,
    forgotten: &[CopyKey],
) -> Result<(), Failure> {
    if forgotten.is_empty() {
        return Ok(());
    }
    let (org_id, calendar_id) = (claim.org.uuid(), claim.calendar.uuid());
    let keys: Vec<_> = forgotten.iter().map(|key| (Hex(key.event.uuid()), original_start(key))).collect();
    let keys = json::rows(&keys)?;
    sqlx::query!(
        "delete from publication_copies where org_id = ?1 and calendar_id = ?2
            and (event_id, original_start) in (select unhex(value ->> 0), value ->> 1 from jsonb_each(?3))",
        org_id,
        calendar_id,
        keys
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends an attempt under its claim. Without a next one, the destination is removed. The claim lasts until the end of a
/// pause, so that nobody begins before.
pub(super) async fn end(
    connection: &mut SqliteConnection,
    claim: PublishClaim,
    state: &PublishState,
    revision: Option<Revision>,
    (next, not_before): (Option<Timestamp>, Option<Timestamp>),
) -> Result<(), Failure> {
    let (org_id, calendar_id) = (claim.org.uuid(), claim.calendar.uuid());
    let Some(next) = next else {
        let removed = sqlx::query!(
            "delete from publication_destinations
             where org_id = ?1 and calendar_id = ?2 and fence = ?3 and claimed_until is not null",
            org_id,
            calendar_id,
            claim.fence.0
        )
        .execute(&mut *connection)
        .await?;
        fresh(removed.rows_affected(), 1)?;
        return forget_all(connection, claim.org, claim.calendar).await;
    };
    let (next, published_at) = (next.as_micros(), state.published_at.map(Timestamp::as_micros));
    let not_before = not_before.map(Timestamp::as_micros);
    let ended = sqlx::query!(
        "update publication_destinations set claimed_until = ?7, fence = fence + 1, attempting = false,
            published_at = ?4, last_error = ?5, failures = ?6
         where org_id = ?1 and calendar_id = ?2 and fence = ?3 and claimed_until is not null",
        org_id,
        calendar_id,
        claim.fence.0,
        published_at,
        state.last_error,
        state.failures,
        not_before
    )
    .execute(&mut *connection)
    .await?;
    fresh(ended.rows_affected(), 1)?;
    // Below 0, the calendar became due during the attempt for a cause that its revision does not show. What is written
    // to a calendar sets 0, so that this counts if the revision is not known.
    let revision = revision.map(|Revision(read)| read);
    sqlx::query!(
        "update calendars set publication_due_at =
            iif(coalesce(revision <> ?3, publication_due_at = 0) or publication_due_at < 0, 0, ?4)
         where org_id = ?1 and id = ?2 and publication_due_at is not null",
        org_id,
        calendar_id,
        revision,
        next
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes the calendars that are published to a connection due: it was resumed, or its user consented again.
pub(super) async fn resume(
    connection: &mut SqliteConnection,
    org: OrgId,
    resumed: ConnectionId,
) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), resumed.uuid());
    sqlx::query!(
        "update calendars set publication_due_at = min(publication_due_at, -1)
         where org_id = ?1 and id in (
            select d.calendar_id from publication_destinations d where d.org_id = ?1 and d.connection_id = ?2)",
        org_id,
        id
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes the calendars of a decommissioned agent due, so that a worker deletes their copies.
pub(super) async fn decommission(connection: &mut SqliteConnection, org: OrgId, agent: AgentId) -> Result<(), Failure> {
    let (org_id, agent_id) = (org.uuid(), agent.uuid());
    sqlx::query!(
        "update calendars set publication_due_at = min(publication_due_at, -1)
         where org_id = ?1 and agent_id = ?2 and publication_due_at is not null",
        org_id,
        agent_id
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes the destinations at a connection with the records of their copies.
pub(super) async fn forget_connection(
    connection: &mut SqliteConnection,
    org: OrgId,
    gone: ConnectionId,
) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), gone.uuid());
    let calendars = sqlx::query_scalar!(
        r#"delete from publication_destinations where org_id = ?1 and connection_id = ?2
         returning hex(calendar_id) as "calendar_id!: String""#,
        org_id,
        id
    )
    .fetch_all(&mut *connection)
    .await?;
    if calendars.is_empty() {
        return Ok(());
    }
    let calendars = json::rows(&calendars)?;
    sqlx::query!(
        "update calendars set publication_policy = null, publication_due_at = null
         where org_id = ?1 and id in (select unhex(value) from json_each(?2))",
        org_id,
        calendars
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "delete from publication_copies
         where org_id = ?1 and calendar_id in (select unhex(value) from json_each(?2))",
        org_id,
        calendars
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes the records of all copies of a calendar whose destination is gone.
async fn forget_all(connection: &mut SqliteConnection, org: OrgId, calendar: CalendarId) -> Result<(), Failure> {
    let (org_id, calendar_id) = (org.uuid(), calendar.uuid());
    sqlx::query!(
        "update calendars set publication_policy = null, publication_due_at = null where org_id = ?1 and id = ?2",
        org_id,
        calendar_id
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("delete from publication_copies where org_id = ?1 and calendar_id = ?2", org_id, calendar_id)
        .execute(connection)
        .await?;
    Ok(())
}
