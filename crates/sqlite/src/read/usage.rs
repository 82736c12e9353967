//! The usage counters from which nodes debit blocks, and the counts of what exists.
//!
//! A debit is a statement of its own on the writing connection, so it is on disk when it is granted.

use async_trait::async_trait;
use kalends_app::ports::{Debited, Metering};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::Metric;
use kalends_quotas::{Debit, Period, Refund};
use kalends_time::Timestamp;

use super::count;
use crate::{SqliteStore, counts::counts, error::store_error, rows::Located};

#[async_trait]
impl Metering for SqliteStore {
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError> {
        let (org_id, metric, period) = (org.uuid(), metric.as_str(), debit.period().number());
        let (amount, ceiling) = (signed(debit.amount()), debit.ceiling().map_or(i64::MAX, signed));
        let mut writing = self.database.writer.take().await?;
        // The first debit has no row to compare with the limit, so the insert compares it.
        let granted = sqlx::query_scalar!(
            "insert into usage_counters (org_id, metric, period, used)
             select ?1, ?2, ?3, ?4 where ?4 <= ?5
             on conflict (org_id, metric, period) do update set used = used + excluded.used
                where used + excluded.used <= ?5
             returning used",
            org_id,
            metric,
            period,
            amount,
            ceiling
        )
        .fetch_all(&mut writing.connection)
        .await;
        match granted {
            Ok(granted) => {
                writing.hand_back();
                if let Some(used) = granted.first() {
                    return Ok(Debited::Granted { used: count(*used) });
                }
            }
            Err(error) => {
                writing.close().await;
                return Err(store_error(error));
            }
        }
        let used = sqlx::query_scalar!(
            "select used from usage_counters where org_id = ?1 and metric = ?2 and period = ?3",
            org_id,
            metric,
            period
        );
        let used = used.fetch_optional(self.readers()).await.map_err(store_error)?;
        Ok(Debited::Refused { used: used.map_or(0, count) })
    }

    async fn refund(&self, org: OrgId, metric: Metric, refund: Refund) -> Result<(), StoreError> {
        let (org_id, metric, period) = (org.uuid(), metric.as_str(), refund.period().number());
        let amount = signed(refund.amount());
        let mut writing = self.database.writer.take().await?;
        let given_back = sqlx::query!(
            "update usage_counters set used = max(used - ?4, 0) where org_id = ?1 and metric = ?2 and period = ?3",
            org_id,
            metric,
            period,
            amount
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(given_back).await?;
        Ok(())
    }

    async fn usage(&self, org: OrgId, period: Period, now: Timestamp) -> Result<Vec<(Metric, u64)>, StoreError> {
        let rows = counts(self.readers(), org, Some((period, period)), None, now).await.map_err(store_error)?;
        let counters = Located { table: "usage_counters", id: &org };
        rows.into_iter()
            .map(|row| Ok((counters.named("metric", &row.metric, Metric::from_name)?, count(row.used))))
            .collect()
    }
}

/// The number as the database stores it; larger numbers become the largest one.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
