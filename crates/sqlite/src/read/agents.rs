//! Agents.

use async_trait::async_trait;
use kalends_calendars::{
    Agent, AgentStatus, AgentType,
    ports::{AgentFilter, Agents},
};
use kalends_kernel::{AgentId, Listed, OrgId, Page, StoreError};

use super::count;
use crate::{
    SqliteStore,
    error::store_error,
    json,
    rows::{AgentRow, PackedAgentRow},
};

#[async_trait]
impl Agents for SqliteStore {
    async fn find_agent(&self, org: OrgId, id: AgentId) -> Result<Option<Agent>, StoreError> {
        let (org_id, id) = (org.uuid(), id.uuid());
        sqlx::query_as!(
            AgentRow,
            "select id, name, type, description, status, metadata, version, created_at, updated_at
             from agents where org_id = ?1 and id = ?2",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.open(org, self.cipher.as_ref()))
        .transpose()
    }

    async fn list_agents(&self, org: OrgId, filter: AgentFilter, page: Page) -> Result<Listed<Agent>, StoreError> {
        let org_id = org.uuid();
        let (kind, status) = (filter.kind.map(AgentType::as_str), filter.status.map(AgentStatus::as_str));
        let found = sqlx::query!(
            r#"select json_group_array(json_array(hex(id), name, type, description, status, metadata, version,
                created_at, updated_at)) as "pack!: String",
                (select count(*) from agents
                 where org_id = ?1 and (?2 is null or type = ?2) and (?3 is null or status = ?3)) as "total!: i64"
             from (
                select * from agents
                where org_id = ?1 and (?2 is null or type = ?2) and (?3 is null or status = ?3)
                order by created_at, id limit ?4 offset ?5
             ) page"#,
            org_id,
            kind,
            status,
            page.limit,
            page.offset
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        let rows: Vec<PackedAgentRow> = json::packed(&found.pack).map_err(store_error)?;
        let agents = rows.into_iter().map(|row| row.open(org, self.cipher.as_ref()));
        let mut agents = agents.collect::<Result<Vec<_>, _>>()?;
        // An aggregate does not guarantee an order.
        agents.sort_unstable_by_key(|agent| (agent.created_at, agent.id));
        Ok(Listed { data: agents, total: count(found.total) })
    }
}
