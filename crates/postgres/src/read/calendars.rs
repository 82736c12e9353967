//! Reads visible calendars.

use async_trait::async_trait;
use kalends_calendars::Calendar;
use kalends_calendars::ports::{CalendarEntry, CalendarFilter, Calendars};
use kalends_kernel::{AgentId, CalendarId, Listed, OrgId, Page, StoreError};
use kalends_time::Timestamp;
use uuid::Uuid;

use super::listed;
use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{CalendarRow, calendar_entry_row, calendar_row};

#[async_trait]
impl Calendars for PostgresStore {
    async fn find_calendar(&self, org: OrgId, id: CalendarId) -> Result<Option<Calendar>, StoreError> {
        let row = sqlx::query_as!(
            CalendarRow,
            "SELECT c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider,
                 c.agent_status, c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy,
                 c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            id.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(org, &*self.cipher)).transpose()
    }

    async fn list_calendars(
        &self,
        org: OrgId,
        filter: CalendarFilter,
        page: Page,
    ) -> Result<Listed<Calendar>, StoreError> {
        match filter {
            CalendarFilter::OfAgent(agent) => self.calendars_of_agent(org, agent, page).await,
            CalendarFilter::OfAgentAndShared(agent) => self.calendars_of_agent_and_shared(org, agent, page).await,
            CalendarFilter::OfAgents => self.calendars_of_organization(org, false, page).await,
            CalendarFilter::All => self.calendars_of_organization(org, true, page).await,
        }
    }

    async fn calendar_entries(&self, org: OrgId, page: Page) -> Result<Listed<CalendarEntry>, StoreError> {
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT c.id, c.agent_id, a.name AS agent_name, c.name, c.timezone, c.conflicts, c.created_at
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE c.org_id = $1 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 ORDER BY c.created_at, c.id
                 LIMIT $2::bigint OFFSET $3::bigint
             )
             SELECT id, agent_id, agent_name AS "agent_name?", name, timezone, conflicts,
                 CASE WHEN (SELECT count(*) FROM page) = $2 THEN (
                     SELECT count(*)
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     WHERE c.org_id = $1 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 ) END AS total
             FROM page
             ORDER BY created_at, id"#,
            org.uuid(),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().and_then(|record| record.total);
        let entries = records.into_iter().map(|record| calendar_entry_row!(record).into_domain());
        listed(entries.collect::<Result<_, _>>()?, page, counted, self.count_calendars(org, true)).await
    }

    async fn calendars_after(
        &self,
        org: OrgId,
        after: Option<(Timestamp, CalendarId)>,
        limit: u32,
    ) -> Result<Vec<Calendar>, StoreError> {
        let (at, id) = after.map_or((i64::MIN, Uuid::nil()), |(at, id)| (at.as_micros(), id.uuid()));
        let rows = sqlx::query_as!(
            CalendarRow,
            "SELECT c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider,
                 c.agent_status, c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy,
                 c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND (c.created_at, c.id) > ($2, $3) AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             ORDER BY c.created_at, c.id
             LIMIT $4",
            org.uuid(),
            at,
            id,
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.open(org, &*self.cipher)).collect()
    }
}

impl PostgresStore {
    async fn calendars_of_agent(&self, org: OrgId, agent: AgentId, page: Page) -> Result<Listed<Calendar>, StoreError> {
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT id, agent_id, name, timezone, metadata, external_id, provider, agent_status,
                     default_reminders, conflicts, recurrence_default, publication_policy, feed_token, revision, version,
                     created_at, updated_at
                 FROM calendars
                 WHERE org_id = $1 AND agent_id = $2 AND deleted_at IS NULL AND EXISTS (
                     SELECT 1 FROM agents WHERE org_id = $1 AND id = $2 AND status <> 'decommissioned'
                 )
                 ORDER BY created_at, id
                 LIMIT $3::bigint OFFSET $4::bigint
             )
             SELECT id, agent_id, name, timezone, metadata, external_id, provider, agent_status,
                 default_reminders, conflicts, recurrence_default, publication_policy, feed_token, revision, version,
                 created_at, updated_at,
                 CASE WHEN (SELECT count(*) FROM page) = $3 THEN (
                     SELECT count(*) FROM calendars WHERE org_id = $1 AND agent_id = $2 AND deleted_at IS NULL
                 ) END AS total
             FROM page
             ORDER BY created_at, id"#,
            org.uuid(),
            agent.uuid(),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().and_then(|record| record.total);
        let calendars = records.into_iter().map(|record| calendar_row!(record).open(org, &*self.cipher));
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM calendars
             WHERE org_id = $1 AND agent_id = $2 AND deleted_at IS NULL AND EXISTS (
                 SELECT 1 FROM agents WHERE org_id = $1 AND id = $2 AND status <> 'decommissioned'
             )"#,
            org.uuid(),
            agent.uuid(),
        );
        listed(calendars.collect::<Result<_, _>>()?, page, counted, count.fetch_one(&self.connections)).await
    }

    async fn calendars_of_agent_and_shared(
        &self,
        org: OrgId,
        agent: AgentId,
        page: Page,
    ) -> Result<Listed<Calendar>, StoreError> {
        let rows = sqlx::query_as!(
            CalendarRow,
            "SELECT c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider,
                 c.agent_status, c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy,
                 c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR (c.agent_id = $2 AND a.status <> 'decommissioned'))
             ORDER BY c.created_at, c.id
             LIMIT $3::bigint OFFSET $4::bigint",
            org.uuid(),
            agent.uuid(),
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let calendars = rows.into_iter().map(|row| row.open(org, &*self.cipher));
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR (c.agent_id = $2 AND a.status <> 'decommissioned'))"#,
            org.uuid(),
            agent.uuid(),
        );
        listed(calendars.collect::<Result<_, _>>()?, page, None, count.fetch_one(&self.connections)).await
    }

    async fn calendars_of_organization(
        &self,
        org: OrgId,
        shared_too: bool,
        page: Page,
    ) -> Result<Listed<Calendar>, StoreError> {
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider,
                     c.agent_status, c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy,
                     c.feed_token, c.revision, c.version, c.created_at, c.updated_at
                 FROM calendars c
                 LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE c.org_id = $1 AND c.deleted_at IS NULL
                     AND ((c.agent_id IS NULL AND $2) OR a.status <> 'decommissioned')
                 ORDER BY c.created_at, c.id
                 LIMIT $3::bigint OFFSET $4::bigint
             )
             SELECT id, agent_id, name, timezone, metadata, external_id, provider, agent_status,
                 default_reminders, conflicts, recurrence_default, publication_policy, feed_token, revision, version,
                 created_at, updated_at,
                 CASE WHEN (SELECT count(*) FROM page) = $3 THEN (
                     SELECT count(*)
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     WHERE c.org_id = $1 AND c.deleted_at IS NULL
                         AND ((c.agent_id IS NULL AND $2) OR a.status <> 'decommissioned')
                 ) END AS total
             FROM page
             ORDER BY created_at, id"#,
            org.uuid(),
            shared_too,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().and_then(|record| record.total);
        let calendars = records.into_iter().map(|record| calendar_row!(record).open(org, &*self.cipher));
        listed(calendars.collect::<Result<_, _>>()?, page, counted, self.count_calendars(org, shared_too)).await
    }

    /// The number of the calendars of agents, and with `shared_too` also of those of the organization.
    async fn count_calendars(&self, org: OrgId, shared_too: bool) -> Result<i64, sqlx::Error> {
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.deleted_at IS NULL
                 AND ((c.agent_id IS NULL AND $2) OR a.status <> 'decommissioned')"#,
            org.uuid(),
            shared_too,
        );
        count.fetch_one(&self.connections).await
    }
}
