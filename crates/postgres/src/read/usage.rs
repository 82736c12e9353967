//! The counters of use that nodes share, and what exists beside them.
//!
//! Each is one statement, and so a transaction of its own.

use async_trait::async_trait;
use kalends_app::ports::{Debited, Metering};
use kalends_kernel::{Instant, OrgId, StoreError};
use kalends_quotas::{Debit, Metric, Period, Refund};

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::Located;

#[async_trait]
impl Metering for PostgresStore {
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError> {
        // Whoever comes second waits for the row, and compares with what the first left behind. A counter that
        // does not exist yet is compared before.
        let granted = sqlx::query_scalar!(
            r#"INSERT INTO usage_counters AS counter (org_id, metric, period, used)
             SELECT $1::uuid, $2::text, $3::bigint, $4::bigint WHERE $4::bigint <= $5::bigint
             ON CONFLICT (org_id, metric, period) DO UPDATE SET used = counter.used + excluded.used
             WHERE counter.used + excluded.used <= $5::bigint
             RETURNING used"#,
            org.uuid(),
            metric.as_str(),
            debit.period.number(),
            signed(debit.amount),
            debit.ceiling.map_or(i64::MAX, signed),
        );
        if let Some(used) = granted.fetch_optional(&self.connections).await.map_err(store_error)? {
            return Ok(Debited::Granted { used: count(used) });
        }
        let used = sqlx::query_scalar!(
            "SELECT used FROM usage_counters WHERE org_id = $1 AND metric = $2 AND period = $3",
            org.uuid(),
            metric.as_str(),
            debit.period.number(),
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
            refund.period.number(),
            signed(refund.amount),
        );
        given_back.execute(&self.connections).await.map_err(store_error)?;
        Ok(())
    }

    async fn usage(&self, org: OrgId, period: Period, now: Instant) -> Result<Vec<(Metric, u64)>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT metric AS "metric!", used AS "used!" FROM usage_counters WHERE org_id = $1 AND period = $2
             UNION ALL
             SELECT 'agents', count(*) FROM agents WHERE org_id = $1 AND status <> 'decommissioned'
             UNION ALL
             SELECT 'calendars', count(*)
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             UNION ALL
             SELECT 'scoped_keys', count(*)
             FROM api_keys k
             JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.org_id = $1 AND k.agent_id IS NOT NULL AND k.revoked_at IS NULL AND a.status <> 'decommissioned'
             UNION ALL
             SELECT 'recurring_events', count(*)
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             JOIN events e ON e.org_id = c.org_id AND e.calendar_id = c.id
             WHERE c.org_id = $1 AND c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
                 AND e.recurrence IS NOT NULL AND e.deleted_at IS NULL AND e.reaches > $3"#,
            org.uuid(),
            period.number(),
            now.as_micros(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let counters = Located { table: "usage_counters", id: org };
        rows.into_iter()
            .map(|row| Ok((counters.named("metric", &row.metric, Metric::from_name)?, count(row.used))))
            .collect()
    }
}

/// The number as the database counts; what is beyond that stands for its largest.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn count(counted: i64) -> u64 {
    u64::try_from(counted).unwrap_or(0)
}
