//! Grants.

use async_trait::async_trait;
use kalends_bridge::{Grant, ports::Grants};
use kalends_kernel::{GrantId, Listed, OrgId, Page, StoreError, UserId};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{GrantRow, total_of},
};

#[async_trait]
impl Grants for SqliteStore {
    async fn find_grant(&self, org: OrgId, grant: GrantId) -> Result<Option<Grant>, StoreError> {
        let (org_id, id) = (org.uuid(), grant.uuid());
        sqlx::query_as!(
            ListedGrant,
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
        let grants = rows.into_iter().map(|row| {
            let listed = ListedGrant {
                id: row.id,
                human_id: row.human_id,
                audience: row.audience,
                sources: row.sources,
                agents: row.agents,
                version: row.version,
                created_at: row.created_at,
            };
            listed.into_domain(org)
        });
        Ok(Listed { data: grants.collect::<Result<_, _>>()?, total })
    }
}

/// A grant whose calendars and agents are listed as text.
struct ListedGrant {
    id: Vec<u8>,
    human_id: Vec<u8>,
    audience: String,
    /// The external calendars: their keys as hexadecimal digits, separated by commas. `None` if there are none.
    sources: Option<String>,
    /// The agents, in the same form.
    agents: Option<String>,
    version: i64,
    created_at: i64,
}

impl ListedGrant {
    fn into_domain(self, org: OrgId) -> Result<Grant, StoreError> {
        let each =
            |listed: Option<String>| listed.iter().flat_map(|listed| listed.split(',')).map(str::to_owned).collect();
        let row = GrantRow {
            id: self.id,
            human_id: self.human_id,
            audience: self.audience,
            sources: each(self.sources),
            agents: each(self.agents),
            version: self.version,
            created_at: self.created_at,
        };
        row.into_domain(org)
    }
}
