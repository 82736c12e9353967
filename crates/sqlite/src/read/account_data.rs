//! Reads the parts of an account that an export contains.

use async_trait::async_trait;
use kalends_accounts::{Acceptance, KeyLabel, KeyView, ports::AccountData};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_rows::{read_approval, read_connector, read_scopes};
use kalends_time::{CivilDate, Timestamp};

use super::count;
use crate::{
    SqliteStore,
    counts::counts,
    error::store_error,
    json,
    rows::{Located, row_id},
};

#[async_trait]
impl AccountData for SqliteStore {
    async fn keys_in_force(&self, org: OrgId) -> Result<Vec<KeyView>, StoreError> {
        let org_id = org.uuid();
        let rows = sqlx::query!(
            "select k.id, k.prefix, k.agent_id, k.label, k.created_at, k.created_by, k.last_used_on, k.scopes,
                k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at
             from api_keys k left join agents a on a.org_id = k.org_id and a.id = k.agent_id
             where k.org_id = ?1 and k.revoked_at is null and (k.agent_id is null or a.status <> 'decommissioned')
             order by k.created_at, k.id",
            org_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let keys = rows.into_iter().map(|row| {
            let id = KeyId::from_uuid(row_id("api_keys", "id", &row.id)?);
            let key = Located { table: "api_keys", id: &id };
            let agent = row.agent_id.as_deref().map(|agent| key.uuid("agent_id", agent).map(AgentId::from_uuid));
            Ok(KeyView {
                id,
                prefix: row.prefix,
                agent: agent.transpose()?,
                label: row.label.map(KeyLabel::from_stored),
                scopes: read_scopes(&key, row.scopes.as_deref())?,
                approval: read_approval(&key, row.requires_approval.as_deref(), row.approval_minutes)?,
                connector: read_connector(&key, row.client_id.as_ref(), row.access_expires_at)?,
                created_at: Timestamp::from_micros(row.created_at),
                created_by: row.created_by,
                last_used_on: row.last_used_on.map(CivilDate::from_days),
            })
        });
        keys.collect()
    }

    async fn use_by_month(&self, org: OrgId) -> Result<Vec<(Period, Metric, u64)>, StoreError> {
        let org_id = org.uuid();
        let pack = sqlx::query_scalar!(
            r#"select json_group_array(json_array(period, metric, used)) as "pack!: String"
             from usage_counters where org_id = ?1"#,
            org_id
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        let rows: Vec<(i64, String, i64)> = json::packed(&pack).map_err(store_error)?;
        let located = Located { table: "usage_counters", id: &org };
        let used = rows.into_iter().map(|(period, metric, used)| {
            let metric = located.named("metric", &metric, Metric::from_name)?;
            Ok((located.month("period", period)?, metric, located.read("used", u64::try_from(used))?))
        });
        let mut used = used.collect::<Result<Vec<_>, StoreError>>()?;
        used.sort_unstable_by_key(|(period, metric, _)| (*period, metric.as_str()));
        Ok(used)
    }

    async fn use_since(
        &self,
        org: OrgId,
        since: Period,
        now: Timestamp,
    ) -> Result<Vec<(Option<Period>, Metric, u64)>, StoreError> {
        let months = Some((since, Period::of(now)));
        let rows = counts(self.readers(), org, months, None, now).await.map_err(store_error)?;
        let located = Located { table: "usage_counters", id: &org };
        let used = rows.into_iter().map(|row| {
            let metric = located.named("metric", &row.metric, Metric::from_name)?;
            Ok((row.period.map(|number| located.month("period", number)).transpose()?, metric, count(row.used)))
        });
        used.collect()
    }

    async fn acceptances(&self, org: OrgId) -> Result<Vec<Acceptance>, StoreError> {
        let org_id = org.uuid();
        let rows = sqlx::query!(
            "select version, accepted_at from terms_acceptances where org_id = ?1 order by accepted_at, version",
            org_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        Ok(rows
            .into_iter()
            .map(|row| Acceptance { version: row.version, at: Timestamp::from_micros(row.accepted_at) })
            .collect())
    }
}
