//! Grants.

use async_trait::async_trait;
use kalends_bridge::{Grant, ports::Grants};
use kalends_kernel::{GrantId, Listed, OrgId, Page, StoreError, UserId};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{ListedGrantRow, listed_grant_row, total_of},
};

#[async_trait]
impl Grants for SqliteStore {
    async fn find_grant(&self, org: OrgId, grant: GrantId) -> Result<Option<Grant>, StoreError> {
        let (org_id, id) = (org.uuid(), grant.uuid());
        sqlx::query_as!(
            ListedGrantRow,
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
        .map(|row| row.into_domain(org))
        .transpose()
    }

    async fn list_grants(&self, org: OrgId, human: Option<UserId>, page: Page) -> Result<Listed<Grant>, StoreError> {
        let (org_id, human) = (org.uuid(), human.map(UserId::uuid));
        let rows = sqlx::query!(
            r#"select g.id as "id!: Vec<u8>", g.human_id as "human_id!: Vec<u8>", g.audience as "audience!: String",
                g.version as "version!: i64", g.created_at as "created_at!: i64",
                (select group_concat(hex(s.external_calendar_id)) from availability_grant_sources s
                    where s.org_id = ?1 and s.grant_id = g.id) as "sources?: String",
                (select group_concat(hex(a.agent_id)) from availability_grant_agents a
                    where a.org_id = ?1 and a.grant_id = g.id) as "agents?: String",
                (select count(*) from availability_grants
                 where org_id = ?1 and (?2 is null or human_id = ?2)) as "total!: i64"
             from availability_grants g where g.org_id = ?1 and (?2 is null or g.human_id = ?2)
             order by g.created_at, g.id limit ?3 offset ?4"#,
            org_id,
            human,
            page.limit,
            page.offset
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let counted = rows.first().map(|row| row.total);
        let count = async {
            let count = sqlx::query_scalar!(
                "select count(*) from availability_grants where org_id = ?1 and (?2 is null or human_id = ?2)",
                org_id,
                human
            );
            count.fetch_one(self.readers()).await.map_err(store_error)
        };
        let total = total_of(rows.len(), page, counted, count).await?;
        let grants = rows.into_iter().map(|row| listed_grant_row!(row).into_domain(org));
        Ok(Listed { data: grants.collect::<Result<_, _>>()?, total })
    }
}
