//! Reads connection links, connections and grants, and claims connections to be refreshed.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_bridge::ports::{ConnectionLinks, Connections, Grants, KnownCalendar};
use kalends_bridge::{Connection, ConnectionLink, Fence, Grant, ListedConnection, REFRESHES_PER_ORG, RefreshClaim};
use kalends_kernel::{
    CalendarId, ConnectionId, ConnectionLinkId, ExternalCalendarId, GrantId, Listed, OrgId, Page, StoreError, UserId,
    Version,
};
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use super::listed;
use crate::PostgresStore;
use crate::error::{ApplyError, store_error};
use crate::retry::retried;
use crate::rows::{ConnectionRow, ExternalCalendarRow, GrantRow, LinkRow, connection_row, grant_row, reading_row};
use crate::sending::unexpected;
use crate::transaction::in_transaction;

/// How many due connections one claim looks at: more than it claims, since some wait for others of their organization.
const LOOKED_AT: i64 = 5_000;

#[async_trait]
impl ConnectionLinks for PostgresStore {
    async fn find_link(&self, org: OrgId, link: ConnectionLinkId) -> Result<Option<ConnectionLink>, StoreError> {
        let row = sqlx::query_as!(
            LinkRow,
            "SELECT org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state, human_id, connection_id,
                 expires_at, version, created_at, updated_at
             FROM connection_links WHERE org_id = $1 AND id = $2",
            org.uuid(),
            link.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(LinkRow::into_domain).transpose()
    }

    async fn find_link_by_secret(&self, secret: TokenHash) -> Result<Option<ConnectionLink>, StoreError> {
        let row = sqlx::query_as!(
            LinkRow,
            "SELECT org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state, human_id, connection_id,
                 expires_at, version, created_at, updated_at
             FROM connection_links WHERE secret_hash = $1",
            secret.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(LinkRow::into_domain).transpose()
    }

    async fn waiting_link(&self, org: OrgId, calendar: CalendarId) -> Result<Option<ConnectionLink>, StoreError> {
        let row = sqlx::query_as!(
            LinkRow,
            "SELECT org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state, human_id, connection_id,
                 expires_at, version, created_at, updated_at
             FROM connection_links WHERE org_id = $1 AND calendar_id = $2 AND state = 'awaiting_human'",
            org.uuid(),
            calendar.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(LinkRow::into_domain).transpose()
    }

    async fn forget_links(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM connection_links WHERE (org_id, id) IN (
                     SELECT org_id, id FROM connection_links WHERE expires_at < $1 LIMIT $2
                 )",
                before.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}

#[async_trait]
impl Connections for PostgresStore {
    async fn find_connection(&self, org: OrgId, connection: ConnectionId) -> Result<Option<Connection>, StoreError> {
        let row = sqlx::query_as!(
            ConnectionRow,
            "SELECT org_id, id, human_id, provider, label, tokens, paused, lapsed, refreshed_at, last_error, failures,
                 due_at, version, created_at, updated_at
             FROM calendar_connections WHERE org_id = $1 AND id = $2",
            org.uuid(),
            connection.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(&*self.cipher)).transpose()
    }

    async fn list_connections(
        &self,
        org: OrgId,
        human: Option<UserId>,
        page: Page,
    ) -> Result<Listed<ListedConnection>, StoreError> {
        // There are few connections, so counting them all is cheap.
        let records = sqlx::query!(
            r#"SELECT org_id, id, human_id, provider, label, tokens, paused, lapsed, refreshed_at, last_error, failures,
                 due_at, version, created_at, updated_at, count(*) OVER () AS "total!"
             FROM calendar_connections WHERE org_id = $1 AND ($2::uuid IS NULL OR human_id = $2)
             ORDER BY created_at, id LIMIT $3::bigint OFFSET $4::bigint"#,
            org.uuid(),
            human.map(UserId::uuid),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().map(|record| record.total);
        let opened = records.into_iter().map(|record| {
            let row = connection_row!(record);
            row.listed(&*self.cipher)
        });
        let data = opened.collect::<Result<_, _>>()?;
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM calendar_connections
             WHERE org_id = $1 AND ($2::uuid IS NULL OR human_id = $2)"#,
            org.uuid(),
            human.map(UserId::uuid),
        );
        listed(data, page, counted, total.fetch_one(&self.connections)).await
    }

    async fn connection_versions(
        &self,
        org: OrgId,
        human: Option<UserId>,
    ) -> Result<Vec<(ConnectionId, Version)>, StoreError> {
        let records = sqlx::query!(
            "SELECT id, version FROM calendar_connections
             WHERE org_id = $1 AND ($2::uuid IS NULL OR human_id = $2) ORDER BY id",
            org.uuid(),
            human.map(UserId::uuid),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        Ok(records.into_iter().map(|record| (ConnectionId::from_uuid(record.id), Version(record.version))).collect())
    }

    async fn external_calendars(&self, org: OrgId, connection: ConnectionId) -> Result<Vec<KnownCalendar>, StoreError> {
        let records = sqlx::query!(
            r#"SELECT x.id, x.connection_id, x.content, x.is_primary, x.revision, x.read_at, x.covers_from,
                 x.covers_until, x.spans, x.copies, x.tag,
                 EXISTS (SELECT 1 FROM availability_grant_sources s
                         WHERE s.org_id = x.org_id AND s.external_calendar_id = x.id) AS "counts!"
             FROM external_calendars x WHERE x.org_id = $1 AND x.connection_id = $2 ORDER BY x.id"#,
            org.uuid(),
            connection.uuid(),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let opened = records.into_iter().map(|record| {
            let row = ExternalCalendarRow {
                connection_id: record.connection_id,
                content: record.content,
                is_primary: record.is_primary,
                reading: reading_row!(record),
            };
            Ok(KnownCalendar { calendar: row.open(org, &*self.cipher)?, counts: record.counts })
        });
        opened.collect()
    }

    async fn connections_of(
        &self,
        org: OrgId,
        calendars: &[ExternalCalendarId],
    ) -> Result<Vec<(ExternalCalendarId, ConnectionId)>, StoreError> {
        let ids: Vec<Uuid> = calendars.iter().map(|calendar| calendar.uuid()).collect();
        let rows = sqlx::query!(
            "SELECT id, connection_id FROM external_calendars WHERE org_id = $1 AND id = ANY($2::uuid[]) ORDER BY id",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = |calendar, of| (ExternalCalendarId::from_uuid(calendar), ConnectionId::from_uuid(of));
        Ok(rows.into_iter().map(|row| read(row.id, row.connection_id)).collect())
    }

    async fn claim_refreshes(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(RefreshClaim, Connection)>, StoreError> {
        // If there is nothing to do, do not wait for other nodes.
        let any = sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT 1 FROM calendar_connections WHERE due_at <= $1) AS "any!""#,
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
        due.sort_by_key(|due| (due.was_due, due.row.id));
        let claims = due.into_iter().filter_map(|Due { row, fence, .. }| match row.open(&*self.cipher) {
            Ok(connection) => {
                Some((RefreshClaim { org: connection.org, connection: connection.id, fence }, connection))
            }
            // An unreadable connection must not keep the others from being refreshed.
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a due connection cannot be read");
                None
            }
        });
        Ok(claims.collect())
    }
}

/// A connection that was due and is claimed now.
struct Due {
    row: ConnectionRow,
    fence: Fence,
    was_due: i64,
}

async fn claim(
    connection: &mut PgConnection,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<Due>, ApplyError> {
    // Nodes take turns: the statement below sees what the previous node has claimed.
    sqlx::query!("SELECT kind FROM bridge_claims WHERE kind = 'refreshes' FOR UPDATE")
        .fetch_all(&mut *connection)
        .await?;
    let records = sqlx::query!(
        r#"WITH taken AS MATERIALIZED (
             SELECT org_id, count(*) AS number FROM calendar_connections WHERE claimed_until > $1 GROUP BY org_id
         ), looked_at AS MATERIALIZED (
             SELECT n.org_id, n.id, n.due_at, coalesce(t.number, 0) AS number
             FROM calendar_connections n
             LEFT JOIN taken t ON t.org_id = n.org_id
             WHERE n.due_at <= $1 AND coalesce(t.number, 0) < $4
             ORDER BY n.due_at, n.id LIMIT $5
         ), turns AS MATERIALIZED (
             SELECT org_id, id, number + row_number() OVER (PARTITION BY org_id ORDER BY due_at, id) AS turn
             FROM looked_at
         ), due AS MATERIALIZED (
             SELECT n.org_id, n.id, n.due_at
             FROM turns
             JOIN calendar_connections n ON n.org_id = turns.org_id AND n.id = turns.id
             WHERE turns.turn <= $4 AND n.due_at <= $1
             ORDER BY n.due_at, n.id LIMIT $3 FOR UPDATE OF n SKIP LOCKED
         )
         UPDATE calendar_connections k
         SET due_at = $2, claimed_until = $2, fence = k.fence + 1, asked_at = NULL
         FROM due
         WHERE k.org_id = due.org_id AND k.id = due.id
         RETURNING k.org_id, k.id, k.human_id, k.provider, k.label, k.tokens, k.paused, k.lapsed,
             k.refreshed_at, k.last_error, k.failures, k.due_at, k.version, k.created_at, k.updated_at, k.fence,
             due.due_at AS "was_due!""#,
        now.as_micros(),
        until.as_micros(),
        i64::from(limit),
        i64::from(REFRESHES_PER_ORG),
        LOOKED_AT,
    )
    .fetch_all(connection)
    .await?;
    let due = records.into_iter().map(|record| {
        let (fence, was_due) = (Fence(record.fence), record.was_due);
        Due { row: connection_row!(record), fence, was_due }
    });
    Ok(due.collect())
}

#[async_trait]
impl Grants for PostgresStore {
    async fn find_grant(&self, org: OrgId, grant: GrantId) -> Result<Option<Grant>, StoreError> {
        let row = sqlx::query_as!(
            GrantRow,
            r#"SELECT g.id, g.human_id, g.audience, g.version, g.created_at,
                 ARRAY(SELECT s.external_calendar_id FROM availability_grant_sources s
                       WHERE s.org_id = g.org_id AND s.grant_id = g.id ORDER BY 1) AS "sources!",
                 ARRAY(SELECT n.agent_id FROM availability_grant_agents n
                       WHERE n.org_id = g.org_id AND n.grant_id = g.id ORDER BY 1) AS "agents!"
             FROM availability_grants g WHERE g.org_id = $1 AND g.id = $2"#,
            org.uuid(),
            grant.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.into_domain(org)).transpose()
    }

    async fn list_grants(&self, org: OrgId, human: Option<UserId>, page: Page) -> Result<Listed<Grant>, StoreError> {
        let records = sqlx::query!(
            r#"SELECT g.id, g.human_id, g.audience, g.version, g.created_at, g.total AS "total!",
                 ARRAY(SELECT s.external_calendar_id FROM availability_grant_sources s
                       WHERE s.org_id = g.org_id AND s.grant_id = g.id ORDER BY 1) AS "sources!",
                 ARRAY(SELECT n.agent_id FROM availability_grant_agents n
                       WHERE n.org_id = g.org_id AND n.grant_id = g.id ORDER BY 1) AS "agents!"
             FROM (
                 SELECT org_id, id, human_id, audience, version, created_at, count(*) OVER () AS total
                 FROM availability_grants WHERE org_id = $1 AND ($2::uuid IS NULL OR human_id = $2)
                 ORDER BY created_at, id LIMIT $3::bigint OFFSET $4::bigint
             ) g
             ORDER BY g.created_at, g.id"#,
            org.uuid(),
            human.map(UserId::uuid),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().map(|record| record.total);
        let read = records.into_iter().map(|record| grant_row!(record).into_domain(org));
        let data = read.collect::<Result<_, _>>()?;
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM availability_grants
             WHERE org_id = $1 AND ($2::uuid IS NULL OR human_id = $2)"#,
            org.uuid(),
            human.map(UserId::uuid),
        );
        listed(data, page, counted, total.fetch_one(&self.connections)).await
    }
}
