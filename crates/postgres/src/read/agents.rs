//! Reads agents.

use async_trait::async_trait;
use kalends_calendars::ports::{AgentFilter, Agents};
use kalends_calendars::{Agent, AgentStatus, AgentType};
use kalends_kernel::{AgentId, Listed, OrgId, Page, StoreError};

use super::listed;
use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{AgentRow, agent_row};

#[async_trait]
impl Agents for PostgresStore {
    async fn find_agent(&self, org: OrgId, id: AgentId) -> Result<Option<Agent>, StoreError> {
        let row = sqlx::query_as!(
            AgentRow,
            "SELECT id, name, type, description, status, metadata, version, created_at, updated_at
             FROM agents
             WHERE org_id = $1 AND id = $2",
            org.uuid(),
            id.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.open(org, &*self.cipher)).transpose()
    }

    async fn list_agents(&self, org: OrgId, filter: AgentFilter, page: Page) -> Result<Listed<Agent>, StoreError> {
        let (kind, status) = (filter.kind.map(AgentType::as_str), filter.status.map(AgentStatus::as_str));
        let records = sqlx::query!(
            r#"WITH page AS MATERIALIZED (
                 SELECT id, name, type, description, status, metadata, version, created_at, updated_at
                 FROM agents
                 WHERE org_id = $1 AND ($2::text IS NULL OR type = $2) AND ($3::text IS NULL OR status = $3)
                 ORDER BY created_at, id
                 LIMIT $4::bigint OFFSET $5::bigint
             )
             SELECT id, name, type, description, status, metadata, version, created_at, updated_at,
                 CASE WHEN (SELECT count(*) FROM page) = $4 THEN (
                     SELECT count(*) FROM agents
                     WHERE org_id = $1 AND ($2::text IS NULL OR type = $2) AND ($3::text IS NULL OR status = $3)
                 ) END AS total
             FROM page
             ORDER BY created_at, id"#,
            org.uuid(),
            kind,
            status,
            i64::from(page.limit),
            i64::from(page.offset),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let counted = records.first().and_then(|record| record.total);
        let agents = records.into_iter().map(|record| agent_row!(record).open(org, &*self.cipher));
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM agents
             WHERE org_id = $1 AND ($2::text IS NULL OR type = $2) AND ($3::text IS NULL OR status = $3)"#,
            org.uuid(),
            kind,
            status,
        );
        listed(agents.collect::<Result<_, _>>()?, page, counted, count.fetch_one(&self.connections)).await
    }
}
