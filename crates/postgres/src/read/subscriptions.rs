//! Reads and claims subscriptions, and reads imported items.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures::TryStreamExt as _;
use kalends_feeds::ports::{ImportedItems, SubscriptionCounts, Subscriptions};
use kalends_feeds::sync::KnownItem;
use kalends_feeds::{Fence, HostHash, LEFT_MAX, Neighbours, Origin, Subscription, SubscriptionStatus, SyncClaim};
use kalends_kernel::{AgentId, CalendarId, Listed, OrgId, Page, StoreError, SubscriptionId};
use kalends_remote::RemoteUrl;
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use super::listed;
use crate::PostgresStore;
use crate::counts::{count, signed};
use crate::error::{ApplyError, store_error};
use crate::retry::retried;
use crate::rows::{ItemRow, NeighbourRow, SubscriptionRow, subscription_row};
use crate::transaction::in_transaction;

/// How many due subscriptions one call looks at. It looks at more than it claims, since some are skipped while their
/// hosts are busy.
const LOOKED_AT: i64 = 500;

#[async_trait]
impl Subscriptions for PostgresStore {
    async fn find_subscription(
        &self,
        org: OrgId,
        subscription: SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError> {
        let row = sqlx::query_as!(
            SubscriptionRow,
            "SELECT s.org_id, s.id, s.agent_id, s.calendar_id, s.content, s.paused, s.busy_only, s.last_synced_at,
                 s.last_error, s.failures, s.seen, s.origin_id, s.place, s.remains, s.version, s.created_at, s.updated_at
             FROM ical_subscriptions s
             JOIN calendars c ON c.org_id = s.org_id AND c.id = s.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE s.org_id = $1 AND s.id = $2 AND s.remains IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            subscription.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(&*self.cipher)).transpose()
    }

    async fn subscription_neighbours(
        &self,
        org: OrgId,
        calendar: CalendarId,
        url: &RemoteUrl,
    ) -> Result<Neighbours, StoreError> {
        let HostHash(host) = HostHash::of(url);
        let mut neighbours = Neighbours::default();
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        // Ordered by the index, in which subscriptions of earlier versions, which have no place, come first.
        let mut rows = sqlx::query_as!(
            NeighbourRow,
            r#"SELECT NULL::uuid AS "id?", NULL::text AS "content?", NULL::uuid AS "origin_id?", max(place) AS "place?",
                 FALSE AS "left!"
             FROM ical_subscriptions WHERE org_id = $1 AND calendar_id = $2
             UNION ALL
             SELECT id, content, origin_id, place, FALSE FROM ical_subscriptions
             WHERE org_id = $1 AND calendar_id = $2 AND host = $3 AND remains IS NULL
             UNION ALL
             (SELECT id, content, origin_id, place, TRUE FROM ical_subscriptions
              WHERE org_id = $1 AND calendar_id = $2 AND host = $3 AND remains = 'kept'
              ORDER BY place DESC LIMIT $4)"#,
            org.uuid(),
            calendar.uuid(),
            host.as_slice(),
            i64::from(LEFT_MAX),
        )
        .fetch(&mut *connection);
        // Each row is dropped before the next is read: there may be many, and their sealed content is long.
        while let Some(row) = rows.try_next().await.map_err(store_error)? {
            neighbours.last = neighbours.last.max(row.place.unwrap_or(0));
            neighbours.same.extend(row.open(&*self.cipher, url)?);
        }
        drop(rows);
        connection.keep();
        Ok(neighbours)
    }

    async fn list_subscriptions(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        status: Option<SubscriptionStatus>,
        page: Page,
    ) -> Result<Listed<Subscription>, StoreError> {
        // A plan caps the number of subscriptions, so counting them all is cheap. The status is computed as in
        // SubscriptionStatus::of.
        let records = sqlx::query!(
            r#"SELECT s.org_id, s.id, s.agent_id, s.calendar_id, s.content, s.paused, s.busy_only, s.last_synced_at,
                 s.last_error, s.failures, s.seen, s.origin_id, s.place, s.remains, s.version, s.created_at, s.updated_at, count(*) OVER () AS "total!"
             FROM ical_subscriptions s
             JOIN calendars c ON c.org_id = s.org_id AND c.id = s.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE s.org_id = $1 AND ($2::uuid IS NULL OR s.agent_id = $2) AND s.remains IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 AND ($3::text IS NULL OR $3 = CASE WHEN s.paused THEN 'paused'
                     WHEN s.last_error IS NOT NULL THEN 'error' ELSE 'active' END)
             ORDER BY s.created_at, s.id LIMIT $4::bigint OFFSET $5::bigint"#,
            org.uuid(),
            agent.map(|agent| agent.uuid()),
            status.map(SubscriptionStatus::as_str),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().map(|record| record.total);
        let opened = records.into_iter().map(|record| {
            let row = subscription_row!(record);
            row.open(&*self.cipher)
        });
        let data = opened.collect::<Result<_, _>>()?;
        let total = async { self.subscription_counts(org, agent).await.map(|counts| signed(counts.of(status))) };
        listed(data, page, counted, total).await
    }

    async fn count_subscriptions(&self, org: OrgId, agent: Option<AgentId>) -> Result<SubscriptionCounts, StoreError> {
        self.subscription_counts(org, agent).await.map_err(store_error)
    }

    async fn claim_subscriptions(
        &self,
        now: Timestamp,
        until: Timestamp,
        per_host: u32,
        limit: u32,
    ) -> Result<Vec<(SyncClaim, Subscription)>, StoreError> {
        // If there is nothing to do, do not wait for other nodes.
        let any = sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT 1 FROM ical_subscriptions WHERE due_at <= $1) AS "any!""#,
            now.as_micros(),
        );
        if !any.fetch_one(&self.connections).await.map_err(store_error)? {
            return Ok(Vec::new());
        }
        let claimed = retried(|| {
            in_transaction(&self.connections, async |connection| {
                let claims = claim(connection, now, until, (per_host, limit)).await?;
                let rows = claimed(connection, &claims).await?;
                let is_visible = |claim: &SyncClaim| rows.iter().any(|row| row.id == claim.subscription.uuid());
                let gone: Vec<SyncClaim> = claims.iter().filter(|claim| !is_visible(claim)).copied().collect();
                remove(connection, &gone).await?;
                Ok((claims, rows))
            })
        });
        let (claims, rows) = claimed.await.map_err(crate::sending::unexpected)?;
        let mut subscriptions =
            rows.into_iter().map(|row| row.open(&*self.cipher)).collect::<Result<Vec<Subscription>, _>>()?;
        let of = |claim: SyncClaim| {
            let place = subscriptions.iter().position(|found| found.id == claim.subscription)?;
            Some((claim, subscriptions.swap_remove(place)))
        };
        Ok(claims.into_iter().filter_map(of).collect())
    }
}

impl PostgresStore {
    /// The numbers of an agent's subscriptions, or of the organization's.
    async fn subscription_counts(&self, org: OrgId, agent: Option<AgentId>) -> Result<SubscriptionCounts, sqlx::Error> {
        let rows = sqlx::query!(
            r#"SELECT s.paused AS "paused!", s.last_error IS NOT NULL AS "failed!", count(*) AS "counted!"
             FROM ical_subscriptions s
             JOIN calendars c ON c.org_id = s.org_id AND c.id = s.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE s.org_id = $1 AND ($2::uuid IS NULL OR s.agent_id = $2) AND s.remains IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             GROUP BY 1, 2"#,
            org.uuid(),
            agent.map(|agent| agent.uuid()),
        );
        let mut counts = SubscriptionCounts::default();
        for row in rows.fetch_all(&self.connections).await? {
            counts.add(SubscriptionStatus::of(row.paused, row.failed), count(row.counted));
        }
        Ok(counts)
    }
}

async fn claim(
    connection: &mut PgConnection,
    now: Timestamp,
    until: Timestamp,
    (per_host, limit): (u32, u32),
) -> Result<Vec<SyncClaim>, ApplyError> {
    // Nodes take turns: the statement below sees which hosts the previous node has claimed.
    sqlx::query!("SELECT id FROM ical_claims FOR UPDATE").fetch_all(&mut *connection).await?;
    let rows = sqlx::query!(
        "UPDATE ical_subscriptions s
         SET due_at = $2, claimed_until = $2, fence = s.fence + 1, asked_at = NULL, reserved = 0
         FROM (
             SELECT org_id, id FROM (
                 SELECT org_id, id, due_at, busy + row_number() OVER (PARTITION BY host ORDER BY due_at, id) AS turn
                 FROM (
                     SELECT d.org_id, d.id, d.host, d.due_at, b.busy
                     FROM ical_subscriptions d
                     CROSS JOIN LATERAL (
                         SELECT count(*) AS busy FROM ical_subscriptions o
                         WHERE o.host = d.host AND o.claimed_until > $1
                     ) b
                     WHERE d.due_at <= $1 AND b.busy < $3
                     ORDER BY d.due_at, d.id LIMIT $5
                 ) looked_at
             ) placed
             WHERE turn <= $3 ORDER BY due_at, id LIMIT $4
         ) due
         WHERE s.org_id = due.org_id AND s.id = due.id
         RETURNING s.org_id, s.id, s.fence",
        now.as_micros(),
        until.as_micros(),
        i64::from(per_host),
        i64::from(limit),
        LOOKED_AT,
    )
    .fetch_all(connection)
    .await?;
    let read = |row: (Uuid, Uuid, i64)| SyncClaim {
        org: OrgId::from_uuid(row.0),
        subscription: SubscriptionId::from_uuid(row.1),
        fence: Fence(row.2),
    };
    Ok(rows.into_iter().map(|row| read((row.org_id, row.id, row.fence))).collect())
}

/// Organizations and identifiers of subscriptions.
fn keys(claims: &[SyncClaim]) -> (Vec<Uuid>, Vec<Uuid>) {
    claims.iter().map(|claim| (claim.org.uuid(), claim.subscription.uuid())).unzip()
}

/// The claimed subscriptions whose calendars are visible.
async fn claimed(connection: &mut PgConnection, claims: &[SyncClaim]) -> Result<Vec<SubscriptionRow>, ApplyError> {
    let (orgs, ids) = keys(claims);
    let rows = sqlx::query_as!(
        SubscriptionRow,
        "SELECT s.org_id, s.id, s.agent_id, s.calendar_id, s.content, s.paused, s.busy_only, s.last_synced_at,
             s.last_error, s.failures, s.seen, s.origin_id, s.place, s.remains, s.version, s.created_at, s.updated_at
         FROM unnest($1::uuid[], $2::uuid[]) AS asked (org_id, id)
         JOIN ical_subscriptions s ON s.org_id = asked.org_id AND s.id = asked.id
         JOIN calendars c ON c.org_id = s.org_id AND c.id = s.calendar_id
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
        &orgs,
        &ids,
    );
    Ok(rows.fetch_all(connection).await?)
}

/// Removes subscriptions of calendars that are gone for good.
async fn remove(connection: &mut PgConnection, gone: &[SyncClaim]) -> Result<(), ApplyError> {
    if gone.is_empty() {
        return Ok(());
    }
    let (orgs, ids) = keys(gone);
    sqlx::query!(
        "DELETE FROM imported_items i
         USING unnest($1::uuid[], $2::uuid[]) AS row (org_id, id), ical_subscriptions s
         WHERE s.org_id = row.org_id AND s.id = row.id AND i.org_id = s.org_id
             AND i.origin_id = coalesce(s.origin_id, s.id)",
        &orgs,
        &ids,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "DELETE FROM ical_subscriptions s USING unnest($1::uuid[], $2::uuid[]) AS row (org_id, id)
         WHERE s.org_id = row.org_id AND s.id = row.id",
        &orgs,
        &ids,
    )
    .execute(connection)
    .await?;
    Ok(())
}

#[async_trait]
impl ImportedItems for PostgresStore {
    async fn known_items(&self, org: OrgId, origin: Origin) -> Result<Vec<KnownItem>, StoreError> {
        let rows = sqlx::query_as!(
            ItemRow,
            "SELECT i.key, i.event_id, i.fingerprint
             FROM imported_items i
             JOIN events e ON e.org_id = i.org_id AND e.id = i.event_id
             WHERE i.org_id = $1 AND i.origin_id = $2 AND e.deleted_at IS NULL
                 AND ($3::uuid IS NULL OR e.calendar_id = $3)",
            org.uuid(),
            origin.uuid(),
            origin.stays_on().map(|calendar| calendar.uuid()),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(ItemRow::into_domain).collect()
    }

    async fn purge_imported_events(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        // No event is in two of the three parts, so fewer rows than the limit means that there are no more.
        let found = sqlx::query!(
            r#"SELECT org_id AS "org_id!", id AS "id!" FROM (
                 (SELECT org_id, id FROM events
                  WHERE source = 'external_ical' AND deleted_at IS NOT NULL AND deleted_at <= $1
                  LIMIT $2)
                 UNION ALL
                 (SELECT e.org_id, e.id
                  FROM calendars c
                  JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id AND e.source = 'external_ical'
                  WHERE c.deleted_at <= $1 AND (e.deleted_at IS NULL OR e.deleted_at > $1)
                  LIMIT $2)
                 UNION ALL
                 (SELECT e.org_id, e.id
                  FROM agents a
                  JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
                  JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id AND e.source = 'external_ical'
                  WHERE a.status = 'decommissioned' AND a.updated_at <= $1
                      AND (c.deleted_at IS NULL OR c.deleted_at > $1) AND (e.deleted_at IS NULL OR e.deleted_at > $1)
                  LIMIT $2)
             ) found LIMIT $2"#,
            before.as_micros(),
            i64::from(limit),
        );
        let mut of: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
        for row in found.fetch_all(&self.connections).await.map_err(store_error)? {
            of.entry(row.org_id).or_default().push(row.id);
        }
        let mut purged = 0;
        // Each statement locks rows of one organization, and skips those that others hold.
        for (org_id, ids) in of {
            let deleted = retried(|| {
                sqlx::query!(
                    "DELETE FROM events WHERE org_id = $1 AND id IN (
                         SELECT id FROM events WHERE org_id = $1 AND id = ANY($2) AND source = 'external_ical'
                         ORDER BY id FOR UPDATE SKIP LOCKED
                     )",
                    org_id,
                    &ids,
                )
                .execute(&self.connections)
            });
            purged += deleted.await.map_err(store_error)?.rows_affected();
        }
        Ok(purged)
    }
}
