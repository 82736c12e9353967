//! Agents.

use async_trait::async_trait;
use kalends_calendars::{
    Agent, AgentStatus, AgentType,
    ports::{AgentFilter, Agents},
};
use kalends_kernel::{AgentId, Listed, OrgId, Page, StoreError};

use super::count;
use crate::{SqliteStore, error::store_error, rows::AgentRow};

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
        self.snapshot(async |snapshot| {
            let rows = sqlx::query_as!(
                AgentRow,
                "select id, name, type, description, status, metadata, version, created_at, updated_at
             from agents
             where org_id = ?1 and (?2 is null or type = ?2) and (?3 is null or status = ?3)
             order by created_at, id limit ?4 offset ?5",
                org_id,
                kind,
                status,
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(rows.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!(
                    "select count(*) from agents
                 where org_id = ?1 and (?2 is null or type = ?2) and (?3 is null or status = ?3)",
                    org_id,
                    kind,
                    status
                )
                .fetch_one(&mut *snapshot)
                .await
                .map(count)
                .map_err(store_error)?,
            };
            let data = rows.into_iter().map(|row| row.open(org, self.cipher.as_ref())).collect::<Result<_, _>>()?;
            Ok(Listed { data, total })
        })
        .await
    }
}
