//! Grants.

use async_trait::async_trait;
use kalends_bridge::{Grant, ports::Grants};
use kalends_kernel::{GrantId, Listed, OrgId, Page, StoreError};

use super::count;
use crate::{SqliteStore, error::store_error, rows::grant::GrantRow};

#[async_trait]
impl Grants for SqliteStore {
    async fn find_grant(&self, org: OrgId, grant: GrantId) -> Result<Option<Grant>, StoreError> {
        let (org_id, id) = (org.uuid(), grant.uuid());
        sqlx::query_as!(
            GrantRow,
            r#"select g.id, g.human_id, g.audience, g.version, g.created_at,
                (select group_concat(hex(s.external_calendar_id)) from availability_grant_sources s
                    where s.org_id = ?1 and s.grant_id = g.id) as "sources: String",
                (select group_concat(hex(a.agent_id)) from availability_grant_agents a
                    where a.org_id = ?1 and a.grant_id = g.id) as "agents: String"
             from availability_grants g where g.org_id = ?1 and g.id = ?2"#,
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.read(org))
        .transpose()
    }

    async fn list_grants(&self, org: OrgId, page: Page) -> Result<Listed<Grant>, StoreError> {
        let org_id = org.uuid();
        self.snapshot(async |snapshot| {
            let rows = sqlx::query_as!(
                GrantRow,
                r#"select g.id, g.human_id, g.audience, g.version, g.created_at,
                    (select group_concat(hex(s.external_calendar_id)) from availability_grant_sources s
                        where s.org_id = ?1 and s.grant_id = g.id) as "sources: String",
                    (select group_concat(hex(a.agent_id)) from availability_grant_agents a
                        where a.org_id = ?1 and a.grant_id = g.id) as "agents: String"
                 from availability_grants g where g.org_id = ?1 order by g.created_at, g.id limit ?2 offset ?3"#,
                org_id,
                page.limit,
                page.offset
            )
            .fetch_all(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let total = match page.total_if_known(rows.len()) {
                Some(total) => total,
                None => sqlx::query_scalar!("select count(*) from availability_grants where org_id = ?1", org_id)
                    .fetch_one(&mut *snapshot)
                    .await
                    .map(count)
                    .map_err(store_error)?,
            };
            let data = rows.into_iter().map(|row| row.read(org)).collect::<Result<_, _>>()?;
            Ok(Listed { data, total })
        })
        .await
    }
}
