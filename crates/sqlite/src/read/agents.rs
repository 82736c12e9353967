//! Agents.

use async_trait::async_trait;
use kalends_calendars::{
    Agent, AgentStatus, AgentType,
    ports::{AgentFilter, Agents},
};
use kalends_kernel::{AgentId, Listed, OrgId, Page, StoreError};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{AgentRow, agent_row, total_of},
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
        let rows = sqlx::query!(
            r#"select id as "id!: Vec<u8>", name as "name!: String", type as "type!: String",
                description as "description?: String", status as "status!: String", metadata as "metadata!: String",
                version as "version!: i64", created_at as "created_at!: i64", updated_at as "updated_at!: i64",
                (select count(*) from agents
                 where org_id = ?1 and (?2 is null or type = ?2) and (?3 is null or status = ?3)) as "total!: i64"
             from agents
             where org_id = ?1 and (?2 is null or type = ?2) and (?3 is null or status = ?3)
             order by created_at, id limit ?4 offset ?5"#,
            org_id,
            kind,
            status,
            page.limit,
            page.offset
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let counted = rows.first().map(|row| row.total);
        let count = async {
            let count = sqlx::query_scalar!(
                "select count(*) from agents
                 where org_id = ?1 and (?2 is null or type = ?2) and (?3 is null or status = ?3)",
                org_id,
                kind,
                status
            );
            count.fetch_one(self.readers()).await.map_err(store_error)
        };
        let total = total_of(rows.len(), page, counted, count).await?;
        let agents = rows.into_iter().map(|row| {
            let row = agent_row!(row);
            row.open(org, self.cipher.as_ref())
        });
        Ok(Listed { data: agents.collect::<Result<_, _>>()?, total })
    }
}
