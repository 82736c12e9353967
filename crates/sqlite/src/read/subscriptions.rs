//! Reads and claims subscriptions, and reads imported items.

use async_trait::async_trait;
use futures::TryStreamExt as _;
use kalends_feeds::{
    Fence, HostHash, LEFT_MAX, Neighbours, Origin, Subscription, SubscriptionStatus, SyncClaim,
    ports::{ImportedItems, SubscriptionCounts, Subscriptions},
    sync::KnownItem,
};
use kalends_kernel::{AgentId, CalendarId, Listed, OrgId, Page, StoreError, SubscriptionId};
use kalends_remote::RemoteUrl;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{ItemRow, Located, NeighbourRow, SubscriptionRow, row_id, subscription_row, total_of},
};

/// How many due subscriptions one call looks at. It looks at more than it claims, since some are skipped while their
/// hosts are busy.
const LOOKED_AT: i64 = 500;

#[async_trait]
impl Subscriptions for SqliteStore {
    async fn find_subscription(
        &self,
        org: OrgId,
        subscription: SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError> {
        let (org_id, id) = (org.uuid(), subscription.uuid());
        sqlx::query_as!(
            SubscriptionRow,
            "select s.org_id, s.id, s.agent_id, s.calendar_id, s.content, s.paused, s.busy_only, s.last_synced_at,
                s.last_error, s.failures, s.seen, s.origin_id, s.place, s.remains, s.version, s.created_at, s.updated_at
             from ical_subscriptions s
                join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where s.org_id = ?1 and s.id = ?2 and s.remains is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.open(self.cipher.as_ref()))
        .transpose()
    }

    async fn subscription_neighbours(
        &self,
        org: OrgId,
        calendar: CalendarId,
        url: &RemoteUrl,
    ) -> Result<Neighbours, StoreError> {
        let (org_id, calendar_id, HostHash(host)) = (org.uuid(), calendar.uuid(), HostHash::of(url));
        let host = host.as_slice();
        let mut neighbours = Neighbours::default();
        let mut connection = self.readers().acquire().await.map_err(store_error)?;
        let mut rows = sqlx::query_as!(
            NeighbourRow,
            r#"select null as "id?: Vec<u8>", null as "content?: String", null as "origin_id?: Vec<u8>",
                max(place) as "place?: i64", false as "left!: bool"
             from ical_subscriptions where org_id = ?1 and calendar_id = ?2
             union all
             select id, content, origin_id, place, false from ical_subscriptions
             where org_id = ?1 and calendar_id = ?2 and host = ?3 and remains is null
             union all
             select * from (
                select id, content, origin_id, place, true from ical_subscriptions
                where org_id = ?1 and calendar_id = ?2 and host = ?3 and remains = 'kept'
                order by place desc limit ?4)"#,
            org_id,
            calendar_id,
            host,
            LEFT_MAX
        )
        .fetch(&mut *connection);
        // Each row is dropped before the next is read: there may be many, and their sealed content is long.
        while let Some(row) = rows.try_next().await.map_err(store_error)? {
            neighbours.last = neighbours.last.max(row.place.unwrap_or(0));
            neighbours.same.extend(row.open(self.cipher.as_ref(), url)?);
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
        let (org_id, agent_id, named) =
            (org.uuid(), agent.map(|agent| agent.uuid()), status.map(SubscriptionStatus::as_str));
        // A plan caps the number of subscriptions, so counting them all is cheap. The status is computed as in
        // SubscriptionStatus::of.
        let rows = sqlx::query!(
            r#"select s.org_id as "org_id!: Vec<u8>", s.id as "id!: Vec<u8>", s.agent_id as "agent_id!: Vec<u8>",
                s.calendar_id as "calendar_id!: Vec<u8>", s.content as "content!: String", s.paused as "paused!: bool",
                s.busy_only as "busy_only!: bool", s.last_synced_at as "last_synced_at?: i64",
                s.last_error as "last_error?: String",
                s.failures as "failures!: i64", s.seen as "seen!: String", s.origin_id as "origin_id?: Vec<u8>",
                s.place as "place?: i64", s.remains as "remains?: String", s.version as "version!: i64",
                s.created_at as "created_at!: i64", s.updated_at as "updated_at!: i64",
                (select count(*)
                 from ical_subscriptions s
                    join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
                    left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where s.org_id = ?1 and (?2 is null or s.agent_id = ?2) and s.remains is null and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')
                    and (?3 is null or ?3 = case when s.paused then 'paused'
                        when s.last_error is not null then 'error' else 'active' end)) as "total!: i64"
             from ical_subscriptions s
                join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where s.org_id = ?1 and (?2 is null or s.agent_id = ?2) and s.remains is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')
                and (?3 is null or ?3 = case when s.paused then 'paused'
                    when s.last_error is not null then 'error' else 'active' end)
             order by s.created_at, s.id limit ?4 offset ?5"#,
            org_id,
            agent_id,
            named,
            page.limit,
            page.offset
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let counted = rows.first().map(|row| row.total);
        let count = async {
            let counts = self.count_subscriptions(org, agent).await;
            counts.map(|counts| i64::try_from(counts.of(status)).unwrap_or(i64::MAX))
        };
        let total = total_of(rows.len(), page, counted, count).await?;
        let subscriptions = rows.into_iter().map(|row| {
            let row = subscription_row!(row);
            row.open(self.cipher.as_ref())
        });
        Ok(Listed { data: subscriptions.collect::<Result<_, _>>()?, total })
    }

    async fn count_subscriptions(&self, org: OrgId, agent: Option<AgentId>) -> Result<SubscriptionCounts, StoreError> {
        let mut connection = self.readers().acquire().await.map_err(store_error)?;
        let counts = counts(&mut connection, org, agent).await?;
        connection.keep();
        Ok(counts)
    }

    async fn claim_subscriptions(
        &self,
        now: Timestamp,
        until: Timestamp,
        per_host: u32,
        limit: u32,
    ) -> Result<Vec<(SyncClaim, Subscription)>, StoreError> {
        let at = now.as_micros();
        // If there is nothing to do, do not wait for the writer.
        let any = sqlx::query_scalar!(
            r#"select exists (select 1 from ical_subscriptions where due_at <= ?1) as "any!: bool""#,
            at
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        if !any {
            return Ok(Vec::new());
        }
        let (claims, rows) = self
            .written(async |connection| {
                let claims = claim(connection, now, until, (per_host, limit)).await?;
                let rows = claimed(connection, &claims).await?;
                let is_visible =
                    |claim: &SyncClaim| rows.iter().any(|row| row.id == claim.subscription.uuid().as_bytes());
                let gone: Vec<SyncClaim> = claims.iter().filter(|claim| !is_visible(claim)).copied().collect();
                remove(connection, &gone).await?;
                Ok((claims, rows))
            })
            .await?;
        let read = rows.into_iter().map(|row| row.open(self.cipher.as_ref()));
        let mut subscriptions = read.collect::<Result<Vec<_>, _>>()?;
        let of = |claim: SyncClaim| {
            let place = subscriptions.iter().position(|found| found.id == claim.subscription)?;
            Some((claim, subscriptions.swap_remove(place)))
        };
        Ok(claims.into_iter().filter_map(of).collect())
    }
}

/// The numbers of an agent's subscriptions, or of the organization's. A plan caps the number of subscriptions, so
/// counting them all is cheap.
async fn counts(
    connection: &mut SqliteConnection,
    org: OrgId,
    agent: Option<AgentId>,
) -> Result<SubscriptionCounts, StoreError> {
    let (org_id, agent_id) = (org.uuid(), agent.map(|agent| agent.uuid()));
    let rows = sqlx::query!(
        r#"select s.paused as "paused!: bool", s.last_error is not null as "failed!: bool", count(*) as "counted!: i64"
         from ical_subscriptions s
            join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
            left join agents a on a.org_id = c.org_id and a.id = c.agent_id
         where s.org_id = ?1 and (?2 is null or s.agent_id = ?2) and s.remains is null and c.deleted_at is null
            and (c.agent_id is null or a.status <> 'decommissioned')
         group by 1, 2"#,
        org_id,
        agent_id
    )
    .fetch_all(connection)
    .await
    .map_err(store_error)?;
    let mut counts = SubscriptionCounts::default();
    for row in rows {
        counts.add(SubscriptionStatus::of(row.paused, row.failed), count(row.counted));
    }
    Ok(counts)
}

async fn claim(
    connection: &mut SqliteConnection,
    now: Timestamp,
    until: Timestamp,
    (per_host, limit): (u32, u32),
) -> Result<Vec<SyncClaim>, StoreError> {
    let (at, until) = (now.as_micros(), until.as_micros());
    let rows = sqlx::query!(
        "update ical_subscriptions set due_at = ?2, claimed_until = ?2, fence = fence + 1, asked_at = null, reserved = 0
         where rowid in (
            select place from (
                select place, due_at, id, busy + row_number() over (partition by host order by due_at, id) as turn
                from (
                    select s.rowid as place, s.due_at, s.id, s.host, (
                        select count(*) from ical_subscriptions o where o.host = s.host and o.claimed_until > ?1) as busy
                    from ical_subscriptions s
                    where s.due_at <= ?1 and busy < ?3
                    order by s.due_at, s.id limit ?5
                )
            ) where turn <= ?3 order by due_at, id limit ?4)
         returning org_id, id, fence",
        at,
        until,
        per_host,
        limit,
        LOOKED_AT
    )
    .fetch_all(connection)
    .await
    .map_err(store_error)?;
    let read = rows.into_iter().map(|row| {
        let id = SubscriptionId::from_uuid(row_id("ical_subscriptions", "id", &row.id)?);
        let located = Located { table: "ical_subscriptions", id: &id };
        let org = OrgId::from_uuid(located.uuid("org_id", &row.org_id)?);
        Ok(SyncClaim { org, subscription: id, fence: Fence(row.fence) })
    });
    read.collect()
}

/// The claimed subscriptions whose calendars are visible.
async fn claimed(connection: &mut SqliteConnection, claims: &[SyncClaim]) -> Result<Vec<SubscriptionRow>, StoreError> {
    let wanted: Vec<_> = claims.iter().map(|claim| (Hex(claim.org.uuid()), Hex(claim.subscription.uuid()))).collect();
    let wanted = json::rows(&wanted).map_err(store_error)?;
    sqlx::query_as!(
        SubscriptionRow,
        "select s.org_id, s.id, s.agent_id, s.calendar_id, s.content, s.paused, s.busy_only, s.last_synced_at,
            s.last_error, s.failures, s.seen, s.origin_id, s.place, s.remains, s.version, s.created_at, s.updated_at
         from jsonb_each(?1) asked
            cross join ical_subscriptions s
                on s.org_id = unhex(asked.value ->> 0) and s.id = unhex(asked.value ->> 1)
            join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
            left join agents a on a.org_id = c.org_id and a.id = c.agent_id
         where c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')",
        wanted
    )
    .fetch_all(connection)
    .await
    .map_err(store_error)
}

/// Removes subscriptions of calendars that are gone for good.
async fn remove(connection: &mut SqliteConnection, gone: &[SyncClaim]) -> Result<(), StoreError> {
    for claim in gone {
        let (org_id, id) = (claim.org.uuid(), claim.subscription.uuid());
        sqlx::query!(
            "delete from imported_items where org_id = ?1 and origin_id = (
                select coalesce(origin_id, id) from ical_subscriptions where org_id = ?1 and id = ?2)",
            org_id,
            id
        )
        .execute(&mut *connection)
        .await
        .map_err(store_error)?;
        sqlx::query!("delete from ical_subscriptions where org_id = ?1 and id = ?2", org_id, id)
            .execute(&mut *connection)
            .await
            .map_err(store_error)?;
    }
    Ok(())
}

#[async_trait]
impl ImportedItems for SqliteStore {
    async fn known_items(&self, org: OrgId, origin: Origin) -> Result<Vec<KnownItem>, StoreError> {
        let (org_id, origin_id) = (org.uuid(), origin.uuid());
        let stays_on = origin.stays_on().map(|calendar| calendar.uuid());
        let rows = sqlx::query_as!(
            ItemRow,
            "select i.key, i.event_id, i.fingerprint
             from imported_items i cross join events e on e.org_id = i.org_id and e.id = i.event_id
             where i.org_id = ?1 and i.origin_id = ?2 and e.deleted_at is null
                and (?3 is null or e.calendar_id = ?3)",
            org_id,
            origin_id,
            stays_on
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(ItemRow::into_domain).collect()
    }

    async fn purge_imported_events(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        // The search runs on a reader, so nobody waits for the writer. No event is in two of the three parts, so
        // fewer rows than the limit means that there are no more. Each part ends at the limit, so that no part
        // collects everything there is.
        let rows = sqlx::query_scalar!(
            r#"select place as "place!: i64" from (
                select place from (
                    select rowid as place from events
                    where source = 'external_ical' and deleted_at is not null and deleted_at <= ?1
                    limit ?2)
                union all
                select place from (
                    select e.rowid as place
                    from calendars c indexed by calendars_deleted
                        cross join events e
                            on e.org_id = c.org_id and e.calendar_id = c.id and e.source = 'external_ical'
                    where c.deleted_at is not null and c.deleted_at <= ?1
                        and (e.deleted_at is null or e.deleted_at > ?1)
                    limit ?2)
                union all
                select place from (
                    select e.rowid as place
                    from agents a indexed by agents_decommissioned
                        cross join calendars c on c.org_id = a.org_id and c.agent_id = a.id
                        cross join events e
                            on e.org_id = c.org_id and e.calendar_id = c.id and e.source = 'external_ical'
                    where a.status = 'decommissioned' and a.updated_at <= ?1
                        and (c.deleted_at is null or c.deleted_at > ?1)
                        and (e.deleted_at is null or e.deleted_at > ?1)
                    limit ?2)
             ) limit ?2"#,
            before,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        if rows.is_empty() {
            return Ok(0);
        }
        let rows = json::rows(&rows).map_err(store_error)?;
        let mut writing = self.database.writer.take().await?;
        // If an account was deleted in between, its rowids may belong to other events now, so the conditions are
        // checked again.
        let purged = sqlx::query!(
            "delete from events where rowid in (select value from json_each(?1)) and source = 'external_ical'
                and (deleted_at <= ?2 or exists (
                    select 1 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                    where c.org_id = events.org_id and c.id = events.calendar_id
                        and (c.deleted_at <= ?2 or (a.status = 'decommissioned' and a.updated_at <= ?2))))",
            rows,
            before
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(purged).await
    }
}
