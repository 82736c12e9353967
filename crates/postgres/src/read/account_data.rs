//! Reads the parts of an account that an export contains.

use async_trait::async_trait;
use kalends_accounts::ports::AccountData;
use kalends_accounts::{Acceptance, KeyLabel, KeyView};
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_rows::{read_approval, read_connector, read_scopes};
use kalends_time::{CivilDate, Timestamp};

use crate::PostgresStore;
use crate::counts::{count, counts};
use crate::error::store_error;
use crate::rows::Located;

#[async_trait]
impl AccountData for PostgresStore {
    async fn keys_in_force(&self, org: OrgId) -> Result<Vec<KeyView>, StoreError> {
        let rows = sqlx::query!(
            "SELECT k.id, k.prefix, k.agent_id, k.label, k.created_at, k.created_by, k.last_used_on, k.scopes,
                 k.requires_approval, k.approval_minutes, k.client_id, k.access_expires_at
             FROM api_keys k
             LEFT JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.org_id = $1 AND k.revoked_at IS NULL AND (k.agent_id IS NULL OR a.status <> 'decommissioned')
             ORDER BY k.created_at, k.id",
            org.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let keys = rows.into_iter().map(|row| {
            let id = KeyId::from_uuid(row.id);
            let key = Located { table: "api_keys", id: &id };
            Ok(KeyView {
                id,
                prefix: row.prefix,
                agent: row.agent_id.map(AgentId::from_uuid),
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
        let rows = sqlx::query!(
            r#"SELECT metric, period, used FROM usage_counters WHERE org_id = $1 ORDER BY period, metric COLLATE "C""#,
            org.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let located = Located { table: "usage_counters", id: org };
        let used = rows.into_iter().map(|row| {
            let period = located.month("period", row.period)?;
            let metric = located.named("metric", &row.metric, Metric::from_name)?;
            let used = u64::try_from(row.used).map_err(|error| located.corrupt("used", error))?;
            Ok((period, metric, used))
        });
        used.collect()
    }

    async fn use_since(
        &self,
        org: OrgId,
        since: Period,
        now: Timestamp,
    ) -> Result<Vec<(Option<Period>, Metric, u64)>, StoreError> {
        let months = Some((since, Period::of(now)));
        let rows = counts(&self.connections, org, months, None, now).await.map_err(store_error)?;
        let located = Located { table: "usage_counters", id: org };
        let used = rows.into_iter().map(|row| {
            let metric = located.named("metric", &row.metric, Metric::from_name)?;
            Ok((row.period.map(|number| located.month("period", number)).transpose()?, metric, count(row.used)))
        });
        used.collect()
    }

    async fn acceptances(&self, org: OrgId) -> Result<Vec<Acceptance>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT version, accepted_at FROM terms_acceptances WHERE org_id = $1
             ORDER BY accepted_at, version COLLATE "C""#,
            org.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = |version, at| Acceptance { version, at: Timestamp::from_micros(at) };
        Ok(rows.into_iter().map(|row| read(row.version, row.accepted_at)).collect())
    }
}
