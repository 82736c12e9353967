//! Reads connections with their calendars, and claims those that are due.

use async_trait::async_trait;
use kalends_bridge::{
    Connection, Fence, ListedConnection, REFRESHES_PER_ORG, RefreshClaim,
    ports::{Connections, KnownCalendar},
};
use kalends_kernel::{ConnectionId, ExternalCalendarId, Listed, OrgId, Page, StoreError, UserId, Version};
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{ConnectionRow, ExternalCalendarRow, Located, connection_row, reading_row, row_id, total_of},
};

/// How many due connections one claim looks at: more than it claims, since some wait for others of their organization.
const LOOKED_AT: i64 = 5_000;

#[async_trait]
impl Connections for SqliteStore {
    async fn find_connection(&self, org: OrgId, connection: ConnectionId) -> Result<Option<Connection>, StoreError> {
        let (org_id, id) = (org.uuid(), connection.uuid());
        sqlx::query_as!(
            ConnectionRow,
            "select org_id, id, human_id, provider, label, tokens, paused, lapsed, refreshed_at, last_error,
                failures, due_at, version, created_at, updated_at
             from calendar_connections where org_id = ?1 and id = ?2",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.open(self.cipher.as_ref()))
        .transpose()
    }

    async fn list_connections(
        &self,
        org: OrgId,
        human: Option<UserId>,
        page: Page,
    ) -> Result<Listed<ListedConnection>, StoreError> {
        let (org_id, human) = (org.uuid(), human.map(UserId::uuid));
        let rows = sqlx::query!(
            r#"select org_id as "org_id!: Vec<u8>", id as "id!: Vec<u8>", human_id as "human_id!: Vec<u8>",
                provider as "provider!: String", label as "label?: String", tokens as "tokens!: String",
                paused as "paused!: bool", lapsed as "lapsed!: bool", refreshed_at as "refreshed_at?: i64",
                last_error as "last_error?: String", failures as "failures!: i64", due_at as "due_at?: i64", version as "version!: i64",
                created_at as "created_at!: i64", updated_at as "updated_at!: i64",
                (select count(*) from calendar_connections
                 where org_id = ?1 and (?2 is null or human_id = ?2)) as "total!: i64"
             from calendar_connections where org_id = ?1 and (?2 is null or human_id = ?2)
             order by created_at, id limit ?3 offset ?4"#,
            org_id,
            human,
            page.limit,
            page.offset
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let counted = rows.first().map(|row| row.total);
        let count = async {
            let count = sqlx::query_scalar!(
                "select count(*) from calendar_connections where org_id = ?1 and (?2 is null or human_id = ?2)",
                org_id,
                human
            );
            count.fetch_one(self.readers()).await.map_err(store_error)
        };
        let total = total_of(rows.len(), page, counted, count).await?;
        let listed = rows.into_iter().map(|row| connection_row!(row).listed(self.cipher.as_ref()));
        Ok(Listed { data: listed.collect::<Result<_, _>>()?, total })
    }

    async fn connection_versions(
        &self,
        org: OrgId,
        human: Option<UserId>,
    ) -> Result<Vec<(ConnectionId, Version)>, StoreError> {
        let (org_id, human) = (org.uuid(), human.map(UserId::uuid));
        let rows = sqlx::query!(
            "select id, version from calendar_connections
             where org_id = ?1 and (?2 is null or human_id = ?2) order by id",
            org_id,
            human
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let versions = rows.into_iter().map(|row| {
            let id = ConnectionId::from_uuid(row_id("calendar_connections", "id", &row.id)?);
            Ok((id, Version(row.version)))
        });
        versions.collect()
    }

    async fn external_calendars(&self, org: OrgId, connection: ConnectionId) -> Result<Vec<KnownCalendar>, StoreError> {
        let (org_id, connection_id) = (org.uuid(), connection.uuid());
        let rows = sqlx::query!(
            r#"select e.id, e.connection_id, e.content, e.is_primary, e.revision, e.read_at, e.covers_from,
                e.covers_until, e.spans, e.copies, e.tag,
                exists (select 1 from availability_grant_sources s
                    where s.org_id = ?1 and s.external_calendar_id = e.id) as "counts!: bool"
             from external_calendars e where e.org_id = ?1 and e.connection_id = ?2 order by e.id"#,
            org_id,
            connection_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let known = rows.into_iter().map(|row| {
            let calendar = ExternalCalendarRow {
                connection_id: row.connection_id,
                content: row.content,
                is_primary: row.is_primary,
                reading: reading_row!(row),
            };
            Ok(KnownCalendar { calendar: calendar.open(org, self.cipher.as_ref())?, counts: row.counts })
        });
        known.collect()
    }

    async fn connections_of(
        &self,
        org: OrgId,
        calendars: &[ExternalCalendarId],
    ) -> Result<Vec<(ExternalCalendarId, ConnectionId)>, StoreError> {
        let org_id = org.uuid();
        let wanted: Vec<_> = calendars.iter().map(|calendar| Hex(calendar.uuid())).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let rows = sqlx::query!(
            "select id, connection_id from external_calendars
             where org_id = ?1 and id in (select unhex(value) from json_each(?2))",
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let read = rows.into_iter().map(|row| {
            let id = ExternalCalendarId::from_uuid(row_id("external_calendars", "id", &row.id)?);
            let located = Located { table: "external_calendars", id: &id };
            Ok((id, ConnectionId::from_uuid(located.uuid("connection_id", &row.connection_id)?)))
        });
        read.collect()
    }

    async fn claim_refreshes(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(RefreshClaim, Connection)>, StoreError> {
        let at = now.as_micros();
        // If there is nothing to do, do not wait for the writer.
        let any = sqlx::query_scalar!(
            r#"select exists (
                select 1 from calendar_connections n where n.due_at <= ?1 and n.org_id not in (
                    select org_id from calendar_connections indexed by calendar_connections_claimed
                    where claimed_until > ?1 group by org_id having count(*) >= ?2)) as "any!: bool""#,
            at,
            REFRESHES_PER_ORG
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        if !any {
            return Ok(Vec::new());
        }
        let rows = self.written(async |connection| claim(connection, now, until, limit).await).await?;
        let claimed = rows.into_iter().filter_map(|(fence, row)| {
            // An unreadable connection must not keep the others from being refreshed.
            let report = |error: &StoreError| {
                tracing::error!(error = error as &dyn std::error::Error, "a due connection cannot be read");
            };
            let connection = row.open(self.cipher.as_ref()).inspect_err(report).ok()?;
            Some((RefreshClaim { org: connection.org, connection: connection.id, fence }, connection))
        });
        Ok(claimed.collect())
    }
}

/// Claims the connections that are due, and returns them with their new claim numbers.
async fn claim(
    connection: &mut SqliteConnection,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(Fence, ConnectionRow)>, StoreError> {
    let (at, until) = (now.as_micros(), until.as_micros());
    let due = sqlx::query!(
        r#"with taken as materialized (
            select org_id, count(*) as number from calendar_connections indexed by calendar_connections_claimed
            where claimed_until > ?1 group by org_id
         ), turns as (
            select place, due_at, id, number + row_number() over (partition by org_id order by due_at, id) as turn
            from (
                select n.rowid as place, n.due_at, n.id, n.org_id, coalesce(taken.number, 0) as number
                from calendar_connections n left join taken on taken.org_id = n.org_id
                where n.due_at <= ?1 and coalesce(taken.number, 0) < ?3
                order by n.due_at, n.id limit ?4
            )
         )
         select n.org_id as "org_id!: Vec<u8>", n.id as "id!: Vec<u8>", n.human_id as "human_id!: Vec<u8>",
            n.provider as "provider!: String", n.label as "label?: String", n.tokens as "tokens!: String",
            n.paused as "paused!: bool", n.lapsed as "lapsed!: bool", n.fence as "fence!: i64",
            n.refreshed_at as "refreshed_at?: i64", n.last_error as "last_error?: String",
            n.failures as "failures!: i64", n.due_at as "due_at?: i64", n.version as "version!: i64",
            n.created_at as "created_at!: i64", n.updated_at as "updated_at!: i64"
         from turns cross join calendar_connections n on n.rowid = turns.place
         where turns.turn <= ?3 order by turns.due_at, turns.id limit ?2"#,
        at,
        limit,
        REFRESHES_PER_ORG,
        LOOKED_AT
    )
    .fetch_all(&mut *connection)
    .await
    .map_err(store_error)?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let claimed: Vec<_> = due.iter().map(|row| (hex(&row.org_id), hex(&row.id))).collect();
    let claimed = json::rows(&claimed).map_err(store_error)?;
    sqlx::query!(
        "update calendar_connections set due_at = ?2, claimed_until = ?2, fence = fence + 1, asked_at = null
         where (org_id, id) in (select unhex(value ->> 0), unhex(value ->> 1) from jsonb_each(?1))",
        claimed,
        until
    )
    .execute(connection)
    .await
    .map_err(store_error)?;
    Ok(due.into_iter().map(|row| (Fence(row.fence + 1), connection_row!(row))).collect())
}
