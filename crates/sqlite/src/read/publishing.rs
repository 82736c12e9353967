//! Reads destinations with the copies that were written there, and claims those that are due.

use async_trait::async_trait;
use kalends_bridge::{
    Connection, Copy, Destination, ExternalCalendar, Fence, PUBLICATIONS_PER_ORG, PublishClaim,
    ports::{ClaimedDestination, Connections as _, CopyCounts, Destinations},
};
use kalends_kernel::{CalendarId, ConnectionId, EventId, OrgId, StoreError};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json,
    rows::{CopyRow, DestinationRow, ExternalCalendarRow, destination_row, reading_row},
};

/// How many due calendars one claim looks at: more than it claims, since some wait for others of their organization.
const LOOKED_AT: i64 = 5_000;

#[async_trait]
impl Destinations for SqliteStore {
    async fn find_destination(&self, org: OrgId, calendar: CalendarId) -> Result<Option<Destination>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        sqlx::query_as!(
            DestinationRow,
            "select org_id, calendar_id, human_id, connection_id, target_id, policy, ending, published_at, last_error,
                failures, version, created_at, updated_at
             from publication_destinations where org_id = ?1 and calendar_id = ?2",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(DestinationRow::into_domain)
        .transpose()
    }

    async fn destinations_of(
        &self,
        org: OrgId,
        connection: ConnectionId,
    ) -> Result<Vec<(Destination, Option<String>)>, StoreError> {
        let (org_id, id) = (org.uuid(), connection.uuid());
        let rows = sqlx::query!(
            r#"select d.org_id as "org_id!: Vec<u8>", d.calendar_id as "calendar_id!: Vec<u8>",
                d.human_id as "human_id!: Vec<u8>", d.connection_id as "connection_id!: Vec<u8>",
                d.target_id as "target_id!: Vec<u8>", d.policy as "policy!: String", d.ending as "ending!: bool",
                d.published_at as "published_at?: i64", d.last_error as "last_error?: String",
                d.failures as "failures!: i64", d.version as "version!: i64", d.created_at as "created_at!: i64",
                d.updated_at as "updated_at!: i64",
                (select c.name from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where c.org_id = ?1 and c.id = d.calendar_id and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')) as "name?: String"
             from publication_destinations d
             where d.org_id = ?1 and d.connection_id = ?2 and not d.ending order by d.calendar_id"#,
            org_id,
            id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let read = rows.into_iter().map(|row| {
            let destination = destination_row!(row).into_domain()?;
            Ok((destination, row.name))
        });
        read.collect()
    }

    async fn count_copies(&self, org: OrgId, calendar: CalendarId) -> Result<CopyCounts, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let counted = sqlx::query!(
            r#"select count(*) filter (where state = 'published') as "published!: i64",
                count(*) filter (where state = 'diverged') as "diverged!: i64"
             from publication_copies where org_id = ?1 and calendar_id = ?2"#,
            org_id,
            id
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        Ok(CopyCounts { published: count(counted.published), diverged: count(counted.diverged) })
    }

    async fn copies_of(&self, org: OrgId, calendar: CalendarId) -> Result<Vec<Copy>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let rows = sqlx::query_as!(
            CopyRow,
            "select event_id, original_start, target_id, content, digest, visible, ends_at, state
             from publication_copies where org_id = ?1 and calendar_id = ?2 order by event_id, original_start",
            org_id,
            id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.open(calendar, self.cipher.as_ref())).collect()
    }

    async fn copies_of_event(&self, org: OrgId, calendar: CalendarId, event: EventId) -> Result<Vec<Copy>, StoreError> {
        let (org_id, calendar_id, event_id) = (org.uuid(), calendar.uuid(), event.uuid());
        let rows = sqlx::query_as!(
            CopyRow,
            "select event_id, original_start, target_id, content, digest, visible, ends_at, state
             from publication_copies where org_id = ?1 and calendar_id = ?2 and event_id = ?3
             order by original_start",
            org_id,
            calendar_id,
            event_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.open(calendar, self.cipher.as_ref())).collect()
    }

    async fn claim_publications(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedDestination>, StoreError> {
        let at = now.as_micros();
        // If there is nothing to do, do not wait for the writer. A claimed calendar may have become due again, and
        // others may have to wait for calendars of their organization.
        let any = sqlx::query_scalar!(
            r#"select exists (
                select 1 from calendars c where c.publication_due_at <= ?1 and not exists (
                    select 1 from publication_destinations d
                    where d.org_id = c.org_id and d.calendar_id = c.id and d.claimed_until > ?1)
                and c.org_id not in (
                    select org_id from publication_destinations indexed by publication_destinations_claimed
                    where attempting and claimed_until > ?1 group by org_id having count(*) >= ?2)) as "any!: bool""#,
            at,
            PUBLICATIONS_PER_ORG
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        if !any {
            return Ok(Vec::new());
        }
        let rows = self.written(async |connection| claim(connection, now, until, limit).await).await?;
        let mut claimed = Vec::with_capacity(rows.len());
        for ((fence, interrupted), row) in rows {
            // An unreadable destination must not keep the others from being published.
            let Some(destination) = readable(row.into_domain())? else { continue };
            let Destination { org, calendar, .. } = destination;
            claimed.push(ClaimedDestination {
                claim: PublishClaim { org, calendar, fence, interrupted },
                connection: self.connection_of(&destination).await?,
                target: self.target_of(&destination).await?,
                destination,
            });
        }
        Ok(claimed)
    }
}

impl SqliteStore {
    /// The connection of a claimed destination; `None` if it cannot be read.
    async fn connection_of(&self, destination: &Destination) -> Result<Option<Connection>, StoreError> {
        let found = self.find_connection(destination.org, destination.connection).await;
        readable(found).map(Option::flatten)
    }

    /// The calendar to which a claimed destination is published; `None` if it is gone, or cannot be read.
    async fn target_of(&self, destination: &Destination) -> Result<Option<ExternalCalendar>, StoreError> {
        let (org_id, id, connection_id) =
            (destination.org.uuid(), destination.target.uuid(), destination.connection.uuid());
        let row = sqlx::query!(
            "select id, connection_id, content, is_primary, revision, read_at, covers_from, covers_until, spans, copies,
                tag
             from external_calendars where org_id = ?1 and id = ?2 and connection_id = ?3",
            org_id,
            id,
            connection_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        let calendar = ExternalCalendarRow {
            connection_id: row.connection_id,
            content: row.content,
            is_primary: row.is_primary,
            reading: reading_row!(row),
        };
        readable(calendar.open(destination.org, self.cipher.as_ref()))
    }
}

/// The value; `None` if its row is corrupt, which is reported here.
fn readable<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error @ StoreError::Corrupt(_)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a row of a due destination cannot be read");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A claim number, and whether the attempt before did not end.
type Claimed = (Fence, bool);

/// Claims the destinations that are due, and returns them with their new claim numbers.
async fn claim(
    connection: &mut SqliteConnection,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(Claimed, DestinationRow)>, StoreError> {
    let (at, until) = (now.as_micros(), until.as_micros());
    // A paused or lapsed connection makes its calendars due when it is resumed. Until then nothing looks at them again,
    // unless something on them changes.
    sqlx::query!(
        "update calendars set publication_due_at = 9223372036854775807
         where publication_due_at <= ?1 and not exists (
            select 1 from publication_destinations d
                cross join calendar_connections n on n.org_id = d.org_id and n.id = d.connection_id
            where d.org_id = calendars.org_id and d.calendar_id = calendars.id and not n.paused and not n.lapsed)",
        at
    )
    .execute(&mut *connection)
    .await
    .map_err(store_error)?;
    let due = sqlx::query!(
        r#"with taken as materialized (
            select org_id, count(*) as number from publication_destinations indexed by publication_destinations_claimed
            where attempting and claimed_until > ?1 group by org_id
         ), turns as (
            select place, due_at, id, number + row_number() over (partition by org_id order by due_at, id) as turn
            from (
                select d.rowid as place, c.publication_due_at as due_at, c.id, c.org_id,
                    coalesce(taken.number, 0) as number
                from calendars c
                    cross join publication_destinations d on d.org_id = c.org_id and d.calendar_id = c.id
                    left join taken on taken.org_id = c.org_id
                where c.publication_due_at <= ?1 and (d.claimed_until is null or d.claimed_until <= ?1)
                    and coalesce(taken.number, 0) < ?3
                order by c.publication_due_at, c.id limit ?4
            )
         )
         select d.org_id as "org_id!: Vec<u8>", d.calendar_id as "calendar_id!: Vec<u8>",
            d.human_id as "human_id!: Vec<u8>", d.connection_id as "connection_id!: Vec<u8>",
            d.target_id as "target_id!: Vec<u8>", d.policy as "policy!: String", d.ending as "ending!: bool",
            d.published_at as "published_at?: i64", d.last_error as "last_error?: String",
            d.failures as "failures!: i64", d.version as "version!: i64", d.created_at as "created_at!: i64",
            d.updated_at as "updated_at!: i64", d.fence as "fence!: i64", d.attempting as "attempting!: bool"
         from turns cross join publication_destinations d on d.rowid = turns.place
         where turns.turn <= ?3 order by turns.due_at, turns.id limit ?2"#,
        at,
        limit,
        PUBLICATIONS_PER_ORG,
        LOOKED_AT
    )
    .fetch_all(&mut *connection)
    .await
    .map_err(store_error)?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let claimed: Vec<_> = due.iter().map(|row| (hex(&row.org_id), hex(&row.calendar_id))).collect();
    let claimed = json::rows(&claimed).map_err(store_error)?;
    sqlx::query!(
        "update publication_destinations set claimed_until = ?2, fence = fence + 1, attempting = true
         where (org_id, calendar_id) in (select unhex(value ->> 0), unhex(value ->> 1) from jsonb_each(?1))",
        claimed,
        until
    )
    .execute(&mut *connection)
    .await
    .map_err(store_error)?;
    sqlx::query!(
        "update calendars set publication_due_at = ?2
         where (org_id, id) in (select unhex(value ->> 0), unhex(value ->> 1) from jsonb_each(?1))",
        claimed,
        until
    )
    .execute(connection)
    .await
    .map_err(store_error)?;
    Ok(due.into_iter().map(|row| ((Fence(row.fence + 1), row.attempting), destination_row!(row))).collect())
}
