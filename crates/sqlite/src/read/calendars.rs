//! Visible calendars: neither deleted nor owned by a decommissioned agent.

use async_trait::async_trait;
use kalends_calendars::{
    Calendar,
    ports::{CalendarEntry, CalendarFilter, Calendars},
};
use kalends_kernel::{AgentId, CalendarId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;
use uuid::Uuid;

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json,
    rows::{CalendarRow, PackedCalendarEntryRow, PackedCalendarRow},
};

#[async_trait]
impl Calendars for SqliteStore {
    async fn find_calendar(&self, org: OrgId, id: CalendarId) -> Result<Option<Calendar>, StoreError> {
        let (org_id, id) = (org.uuid(), id.uuid());
        sqlx::query_as!(
            CalendarRow,
            "select c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider, c.agent_status,
                c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy, c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.open(org, self.cipher.as_ref()))
        .transpose()
    }

    async fn list_calendars(
        &self,
        org: OrgId,
        filter: CalendarFilter,
        page: Page,
    ) -> Result<Listed<Calendar>, StoreError> {
        let Listed { data, total } = match filter {
            CalendarFilter::OfAgent(agent) => self.calendars_of_agent(org, agent, page).await?,
            CalendarFilter::OfAgentAndShared(agent) => self.calendars_of_agent_and_shared(org, agent, page).await?,
            CalendarFilter::OfAgents => return self.calendars_of_all(org, false, page).await,
            CalendarFilter::All => return self.calendars_of_all(org, true, page).await,
        };
        let data = data.into_iter().map(|row| row.open(org, self.cipher.as_ref())).collect::<Result<_, _>>()?;
        Ok(Listed { data, total })
    }

    async fn calendar_entries(&self, org: OrgId, page: Page) -> Result<Listed<CalendarEntry>, StoreError> {
        let org_id = org.uuid();
        let found = sqlx::query!(
            r#"select json_group_array(json_array(created_at, json_array(hex(id),
                iif(agent_id is null, null, hex(agent_id)), agent_name, name, timezone, conflicts))) as "pack!: String",
                (select count(*)
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where c.org_id = ?1 and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')) as "total!: i64"
             from (
                select c.id as id, c.agent_id as agent_id, a.name as agent_name, c.name as name,
                    c.timezone as timezone, c.conflicts as conflicts, c.created_at as created_at
                from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                where c.org_id = ?1 and c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
                order by c.created_at, c.id limit ?2 offset ?3
             ) page"#,
            org_id,
            page.limit,
            page.offset
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        let rows: Vec<(i64, PackedCalendarEntryRow)> = json::packed(&found.pack).map_err(store_error)?;
        let entries = rows.into_iter().map(|(created_at, row)| Ok((created_at, row.into_domain()?)));
        let mut entries = entries.collect::<Result<Vec<_>, StoreError>>()?;
        // An aggregate does not guarantee an order.
        entries.sort_unstable_by_key(|(created_at, entry)| (*created_at, entry.id));
        Ok(Listed { data: entries.into_iter().map(|(_, entry)| entry).collect(), total: count(found.total) })
    }

    async fn calendars_after(
        &self,
        org: OrgId,
        after: Option<(Timestamp, CalendarId)>,
        limit: u32,
    ) -> Result<Vec<Calendar>, StoreError> {
        let org_id = org.uuid();
        let (at, id) = after.map_or((i64::MIN, Uuid::nil()), |(at, id)| (at.as_micros(), id.uuid()));
        let rows = sqlx::query_as!(
            CalendarRow,
            "select c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider, c.agent_status,
                c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy, c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and (c.created_at, c.id) > (?2, ?3) and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')
             order by c.created_at, c.id limit ?4",
            org_id,
            at,
            id,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.open(org, self.cipher.as_ref())).collect()
    }
}

impl SqliteStore {
    async fn calendars_of_agent(
        &self,
        org: OrgId,
        agent: AgentId,
        page: Page,
    ) -> Result<Listed<CalendarRow>, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.uuid());
        self.snapshot(async |snapshot| {
            let data = sqlx::query_as!(
                CalendarRow,
                "select c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider, c.agent_status,
                c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy, c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             from calendars c
             where c.org_id = ?1 and c.agent_id = ?2 and c.deleted_at is null
                and exists (select 1 from agents a
                    where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned')
             order by c.created_at, c.id limit ?3 offset ?4",
                org_id,
                agent_id,
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(data.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*) from calendars c
                 where c.org_id = ?1 and c.agent_id = ?2 and c.deleted_at is null
                    and exists (select 1 from agents a
                        where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned')",
                    org_id,
                    agent_id
                )
                .fetch_one(&mut *snapshot)
                .await
                .map(count)
                .map_err(store_error)?,
            };
            Ok(Listed { data, total })
        })
        .await
    }

    async fn calendars_of_agent_and_shared(
        &self,
        org: OrgId,
        agent: AgentId,
        page: Page,
    ) -> Result<Listed<CalendarRow>, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.uuid());
        self.snapshot(async |snapshot| {
            let data = sqlx::query_as!(
                CalendarRow,
                "select c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider, c.agent_status,
                c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy, c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.deleted_at is null
                and (c.agent_id is null or (c.agent_id = ?2 and a.status <> 'decommissioned'))
             order by c.created_at, c.id limit ?3 offset ?4",
                org_id,
                agent_id,
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(data.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*)
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where c.org_id = ?1 and c.deleted_at is null
                    and (c.agent_id is null or (c.agent_id = ?2 and a.status <> 'decommissioned'))",
                    org_id,
                    agent_id
                )
                .fetch_one(&mut *snapshot)
                .await
                .map(count)
                .map_err(store_error)?,
            };
            Ok(Listed { data, total })
        })
        .await
    }

    /// The calendars of agents, and with `shared_too` also those of the organization.
    async fn calendars_of_all(&self, org: OrgId, shared_too: bool, page: Page) -> Result<Listed<Calendar>, StoreError> {
        let org_id = org.uuid();
        let found = sqlx::query!(
            r#"select json_group_array(json_array(hex(id), iif(agent_id is null, null, hex(agent_id)), name, timezone,
                metadata, external_id, provider, agent_status, default_reminders, conflicts, recurrence_default,
                publication_policy, feed_token, revision, version, created_at, updated_at)) as "pack!: String",
                (select count(*)
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where c.org_id = ?1 and c.deleted_at is null
                    and (case when c.agent_id is null then ?2 else a.status <> 'decommissioned' end)) as "total!: i64"
             from (
                select c.*
                from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                where c.org_id = ?1 and c.deleted_at is null
                    and (case when c.agent_id is null then ?2 else a.status <> 'decommissioned' end)
                order by c.created_at, c.id limit ?3 offset ?4
             ) page"#,
            org_id,
            shared_too,
            page.limit,
            page.offset
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        let rows: Vec<PackedCalendarRow> = json::packed(&found.pack).map_err(store_error)?;
        let calendars = rows.into_iter().map(|row| row.open(org, self.cipher.as_ref()));
        let mut calendars = calendars.collect::<Result<Vec<_>, _>>()?;
        // An aggregate does not guarantee an order.
        calendars.sort_unstable_by_key(|calendar| (calendar.created_at, calendar.id));
        Ok(Listed { data: calendars, total: count(found.total) })
    }
}
