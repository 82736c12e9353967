//! Reads destinations and their copies, and claims destinations to be published.

use async_trait::async_trait;
use kalends_bridge::ports::{ClaimedDestination, Connections as _, CopyCounts, Destinations};
use kalends_bridge::{Copy, Destination, ExternalCalendar, Fence, PUBLICATIONS_PER_ORG, PublishClaim};
use kalends_kernel::{CalendarId, ConnectionId, EventId, OrgId, StoreError};
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::{ApplyError, store_error};
use crate::retry::retried;
use crate::rows::{CopyRow, DestinationRow, ExternalCalendarRow, destination_row, reading_row};
use crate::sending::unexpected;
use crate::transaction::in_transaction;

/// How many calendars are set aside at once.
const ASIDE: i64 = 500;
/// How many due calendars one claim looks at: more than it claims, since some wait for others of their organization.
const LOOKED_AT: i64 = 5_000;

#[async_trait]
impl Destinations for PostgresStore {
    async fn find_destination(&self, org: OrgId, calendar: CalendarId) -> Result<Option<Destination>, StoreError> {
        let row = sqlx::query_as!(
            DestinationRow,
            "SELECT org_id, calendar_id, human_id, connection_id, target_id, policy, ending, published_at, last_error,
                 failures, version, created_at, updated_at
             FROM publication_destinations WHERE org_id = $1 AND calendar_id = $2",
            org.uuid(),
            calendar.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(DestinationRow::into_domain).transpose()
    }

    async fn destinations_of(
        &self,
        org: OrgId,
        connection: ConnectionId,
    ) -> Result<Vec<(Destination, Option<String>)>, StoreError> {
        let records = sqlx::query!(
            r#"SELECT d.org_id, d.calendar_id, d.human_id, d.connection_id, d.target_id, d.policy, d.ending,
                 d.published_at, d.last_error, d.failures, d.version, d.created_at, d.updated_at,
                 c.name AS "calendar_name?"
             FROM publication_destinations d
             LEFT JOIN calendars c ON c.org_id = d.org_id AND c.id = d.calendar_id AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR EXISTS (
                     SELECT 1 FROM agents a
                     WHERE a.org_id = c.org_id AND a.id = c.agent_id AND a.status <> 'decommissioned'
                 ))
             WHERE d.org_id = $1 AND d.connection_id = $2 AND NOT d.ending
             ORDER BY d.calendar_id"#,
            org.uuid(),
            connection.uuid(),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = records.into_iter().map(|record| {
            let row = destination_row!(record);
            Ok((row.into_domain()?, record.calendar_name))
        });
        read.collect()
    }

    async fn count_copies(&self, org: OrgId, calendar: CalendarId) -> Result<CopyCounts, StoreError> {
        let row = sqlx::query!(
            r#"SELECT count(CASE WHEN state <> 'diverged' THEN 1 END) AS "published!",
                 count(CASE WHEN state = 'diverged' THEN 1 END) AS "diverged!"
             FROM publication_copies WHERE org_id = $1 AND calendar_id = $2"#,
            org.uuid(),
            calendar.uuid(),
        );
        let row = row.fetch_one(&self.connections).await.map_err(store_error)?;
        Ok(CopyCounts { published: row.published.cast_unsigned(), diverged: row.diverged.cast_unsigned() })
    }

    async fn copies_of(&self, org: OrgId, calendar: CalendarId) -> Result<Vec<Copy>, StoreError> {
        let rows = sqlx::query_as!(
            CopyRow,
            "SELECT event_id, original_start, target_id, content, digest, visible, ends_at, state
             FROM publication_copies WHERE org_id = $1 AND calendar_id = $2
             ORDER BY event_id, original_start",
            org.uuid(),
            calendar.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(calendar, &*self.cipher)).collect()
    }

    async fn copies_of_event(&self, org: OrgId, calendar: CalendarId, event: EventId) -> Result<Vec<Copy>, StoreError> {
        let rows = sqlx::query_as!(
            CopyRow,
            "SELECT event_id, original_start, target_id, content, digest, visible, ends_at, state
             FROM publication_copies WHERE org_id = $1 AND calendar_id = $2 AND event_id = $3
             ORDER BY original_start",
            org.uuid(),
            calendar.uuid(),
            event.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(calendar, &*self.cipher)).collect()
    }

    async fn claim_publications(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedDestination>, StoreError> {
        self.set_aside(now).await?;
        // If there is nothing to do, do not wait for other nodes.
        let any = sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT 1 FROM calendars WHERE publication_due_at <= $1) AS "any!""#,
            now.as_micros(),
        );
        if !any.fetch_one(&self.connections).await.map_err(store_error)? {
            return Ok(Vec::new());
        }
        let claimed = retried(|| {
            in_transaction(&self.connections, async |connection| claim(connection, now, until, limit).await)
        });
        let mut due = claimed.await.map_err(unexpected)?;
        // The update returns the rows in any order.
        due.sort_by_key(|due| (due.was_due, due.row.calendar_id));
        let mut claims = Vec::with_capacity(due.len());
        for Due { row, fence, interrupted, .. } in due {
            match row.into_domain() {
                Ok(destination) => claims.push(self.claimed(destination, fence, interrupted).await?),
                // An unreadable destination must not keep the others from being published.
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "a due destination cannot be read");
                }
            }
        }
        Ok(claims)
    }
}

/// A destination that was due and is claimed now.
struct Due {
    row: DestinationRow,
    fence: Fence,
    interrupted: bool,
    was_due: i64,
}

async fn claim(
    connection: &mut PgConnection,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<Due>, ApplyError> {
    // Nodes take turns: the statement below sees what the previous node has claimed.
    sqlx::query!("SELECT kind FROM bridge_claims WHERE kind = 'publications' FOR UPDATE")
        .fetch_all(&mut *connection)
        .await?;
    // What is written to a calendar makes it due also during an attempt. It is not claimed before the attempt ends.
    let records = sqlx::query!(
        r#"WITH taken AS MATERIALIZED (
             SELECT org_id, count(*) AS number FROM publication_destinations
             WHERE attempting AND claimed_until > $1 GROUP BY org_id
         ), looked_at AS MATERIALIZED (
             SELECT c.org_id, c.id, c.publication_due_at, coalesce(t.number, 0) AS number
             FROM calendars c
             JOIN publication_destinations d ON d.org_id = c.org_id AND d.calendar_id = c.id
             JOIN calendar_connections k ON k.org_id = d.org_id AND k.id = d.connection_id
             LEFT JOIN taken t ON t.org_id = c.org_id
             WHERE c.publication_due_at <= $1 AND (d.claimed_until IS NULL OR d.claimed_until <= $1)
                 AND NOT k.paused AND NOT k.lapsed AND coalesce(t.number, 0) < $4
             ORDER BY c.publication_due_at, c.id LIMIT $5
         ), turns AS MATERIALIZED (
             SELECT org_id, id,
                 number + row_number() OVER (PARTITION BY org_id ORDER BY publication_due_at, id) AS turn
             FROM looked_at
         ), due AS MATERIALIZED (
             SELECT c.org_id, c.id, c.publication_due_at, d.attempting
             FROM turns
             JOIN calendars c ON c.org_id = turns.org_id AND c.id = turns.id
             JOIN publication_destinations d ON d.org_id = c.org_id AND d.calendar_id = c.id
             WHERE turns.turn <= $4 AND c.publication_due_at <= $1
                 AND (d.claimed_until IS NULL OR d.claimed_until <= $1)
             ORDER BY c.publication_due_at, c.id LIMIT $3 FOR UPDATE OF c, d SKIP LOCKED
         ), moved AS (
             UPDATE calendars c SET publication_due_at = $2
             FROM due
             WHERE c.org_id = due.org_id AND c.id = due.id
         )
         UPDATE publication_destinations d
         SET claimed_until = $2, fence = d.fence + 1, attempting = true
         FROM due
         WHERE d.org_id = due.org_id AND d.calendar_id = due.id
         RETURNING d.org_id, d.calendar_id, d.human_id, d.connection_id, d.target_id, d.policy, d.ending,
             d.published_at, d.last_error, d.failures, d.version, d.created_at, d.updated_at, d.fence,
             due.attempting AS "interrupted!", due.publication_due_at AS "was_due!""#,
        now.as_micros(),
        until.as_micros(),
        i64::from(limit),
        i64::from(PUBLICATIONS_PER_ORG),
        LOOKED_AT,
    )
    .fetch_all(connection)
    .await?;
    let due = records.into_iter().map(|record| {
        let (fence, interrupted, was_due) = (Fence(record.fence), record.interrupted, record.was_due);
        Due { row: destination_row!(record), fence, interrupted, was_due }
    });
    Ok(due.collect())
}

impl PostgresStore {
    /// Calendars whose connection is paused or lapsed are not due until something happens, so that not every search for
    /// due ones finds them again.
    async fn set_aside(&self, now: Timestamp) -> Result<(), StoreError> {
        let rows = sqlx::query!(
            "SELECT c.org_id, c.id
             FROM calendars c
             JOIN publication_destinations d ON d.org_id = c.org_id AND d.calendar_id = c.id
             JOIN calendar_connections k ON k.org_id = d.org_id AND k.id = d.connection_id
             WHERE c.publication_due_at <= $1 AND (k.paused OR k.lapsed)
             ORDER BY c.publication_due_at, c.id LIMIT $2",
            now.as_micros(),
            ASIDE,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        if rows.is_empty() {
            return Ok(());
        }
        let (orgs, ids): (Vec<Uuid>, Vec<Uuid>) = rows.into_iter().map(|row| (row.org_id, row.id)).unzip();
        let keys = (orgs.as_slice(), ids.as_slice());
        let aside =
            retried(|| in_transaction(&self.connections, async |connection| keep_aside(connection, keys).await));
        aside.await.map_err(unexpected)
    }

    /// A claimed destination with its connection and its target.
    async fn claimed(
        &self,
        destination: Destination,
        fence: Fence,
        interrupted: bool,
    ) -> Result<ClaimedDestination, StoreError> {
        let Destination { org, calendar, .. } = destination;
        let connection = readable(self.find_connection(org, destination.connection).await)?;
        let target = readable(self.target(&destination).await)?;
        Ok(ClaimedDestination {
            claim: PublishClaim { org, calendar, fence, interrupted },
            destination,
            connection,
            target,
        })
    }

    async fn target(&self, destination: &Destination) -> Result<Option<ExternalCalendar>, StoreError> {
        let record = sqlx::query!(
            "SELECT id, connection_id, content, is_primary, revision, read_at, covers_from, covers_until, spans, copies,
                 tag
             FROM external_calendars WHERE org_id = $1 AND id = $2 AND connection_id = $3",
            destination.org.uuid(),
            destination.target.uuid(),
            destination.connection.uuid(),
        );
        let Some(record) = record.fetch_optional(&self.connections).await.map_err(store_error)? else {
            return Ok(None);
        };
        let row = ExternalCalendarRow {
            connection_id: record.connection_id,
            content: record.content,
            is_primary: record.is_primary,
            reading: reading_row!(record),
        };
        row.open(destination.org, &*self.cipher).map(Some)
    }
}

/// Sets calendars aside, except those that are locked. The transaction that resumes a connection locks its calendars
/// first: the second statement sees a connection that was resumed before these locks, and a later one makes them due.
async fn keep_aside(connection: &mut PgConnection, (orgs, ids): (&[Uuid], &[Uuid])) -> Result<(), ApplyError> {
    let locked = sqlx::query!(
        "SELECT c.org_id, c.id
         FROM unnest($1::uuid[], $2::uuid[]) AS row (org_id, id)
         JOIN calendars c ON c.org_id = row.org_id AND c.id = row.id
         FOR UPDATE OF c SKIP LOCKED",
        orgs,
        ids,
    )
    .fetch_all(&mut *connection)
    .await?;
    let (orgs, ids): (Vec<Uuid>, Vec<Uuid>) = locked.into_iter().map(|row| (row.org_id, row.id)).unzip();
    sqlx::query!(
        "UPDATE calendars c SET publication_due_at = 9223372036854775807
         FROM unnest($1::uuid[], $2::uuid[]) AS row (org_id, id), publication_destinations d, calendar_connections k
         WHERE c.org_id = row.org_id AND c.id = row.id AND c.publication_due_at IS NOT NULL
             AND d.org_id = c.org_id AND d.calendar_id = c.id
             AND k.org_id = d.org_id AND k.id = d.connection_id AND (k.paused OR k.lapsed)",
        &orgs,
        &ids,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What was read; `None` for a corrupt row, which is logged.
fn readable<T>(read: Result<Option<T>, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(error @ StoreError::Corrupt(_)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a row of a due destination cannot be read");
            Ok(None)
        }
        read => read,
    }
}
