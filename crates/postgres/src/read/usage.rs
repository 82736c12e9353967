//! The usage counters that nodes share, and the counts of what exists.
//!
//! Each call is one statement, and so a transaction of its own.

use async_trait::async_trait;
use kalends_app::ports::{Debited, Metering};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::Metric;
use kalends_quotas::{Debit, Period, Refund};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::counts::{count, counts, signed};
use crate::error::store_error;
use crate::rows::Located;

#[async_trait]
impl Metering for PostgresStore {
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError> {
        // A concurrent debit waits for the row, and compares with what the first one left. A first debit has no row,
        // so it is compared before.
        let granted = sqlx::query_scalar!(
            r#"INSERT INTO usage_counters AS counter (org_id, metric, period, used)
             SELECT $1::uuid, $2::text, $3::bigint, $4::bigint WHERE $4::bigint <= $5::bigint
             ON CONFLICT (org_id, metric, period) DO UPDATE SET used = counter.used + excluded.used
             WHERE counter.used + excluded.used <= $5::bigint
             RETURNING used"#,
            org.uuid(),
            metric.as_str(),
            debit.period().number(),
            signed(debit.amount()),
            debit.ceiling().map_or(i64::MAX, signed),
        );
        if let Some(used) = granted.fetch_optional(&self.connections).await.map_err(store_error)? {
            return Ok(Debited::Granted { used: count(used) });
        }
        let used = sqlx::query_scalar!(
            "SELECT used FROM usage_counters WHERE org_id = $1 AND metric = $2 AND period = $3",
            org.uuid(),
            metric.as_str(),
            debit.period().number(),
        );
        let used = used.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(Debited::Refused { used: used.map_or(0, count) })
    }

    async fn refund(&self, org: OrgId, metric: Metric, refund: Refund) -> Result<(), StoreError> {
        let given_back = sqlx::query!(
            "UPDATE usage_counters SET used = GREATEST(used - $4, 0)
             WHERE org_id = $1 AND metric = $2 AND period = $3",
            org.uuid(),
            metric.as_str(),
            refund.period().number(),
            signed(refund.amount()),
        );
        given_back.execute(&self.connections).await.map_err(store_error)?;
        Ok(())
    }

    async fn usage(&self, org: OrgId, period: Period, now: Timestamp) -> Result<Vec<(Metric, u64)>, StoreError> {
        let rows = counts(&self.connections, org, Some((period, period)), None, now).await.map_err(store_error)?;
        let counters = Located { table: "usage_counters", id: org };
        rows.into_iter()
            .map(|row| Ok((counters.named("metric", &row.metric, Metric::from_name)?, count(row.used))))
            .collect()
    }
}
