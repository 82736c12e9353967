//! The shared usage counters.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use kalends_app::ports::{Debited, Metering};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::{Counted, Metric};
use kalends_quotas::{Debit, Period, Refund};
use kalends_time::Timestamp;

use super::MemoryStore;

#[async_trait]
impl Metering for MemoryStore {
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (org, metric, debit.period());
        let used = state.used.get(&key).copied().unwrap_or(0);
        if !debit.fits(used) {
            return Ok(Debited::Refused { used });
        }
        let after = used.saturating_add(debit.amount());
        Arc::make_mut(&mut state).used.insert(key, after);
        Ok(Debited::Granted { used: after })
    }

    async fn refund(&self, org: OrgId, metric: Metric, refund: Refund) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = Arc::make_mut(&mut state).used.get_mut(&(org, metric, refund.period())) {
            *used = used.saturating_sub(refund.amount());
        }
        Ok(())
    }

    async fn usage(&self, org: OrgId, period: Period, now: Timestamp) -> Result<Vec<(Metric, u64)>, StoreError> {
        let state = self.state();
        let used = Metric::ALL.into_iter().map(|metric| {
            let used = match metric.counted() {
                Counted::Monthly => state.used.get(&(org, metric, period)).copied().unwrap_or(0),
                Counted::Existing => state.existing_at(org, metric, now),
            };
            (metric, used)
        });
        Ok(used.filter(|(_, used)| *used > 0).collect())
    }
}
