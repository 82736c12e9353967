//! The usage counters that all nodes share.

use async_trait::async_trait;
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::Metric;
use kalends_quotas::{Debit, Period, Refund};
use kalends_time::Timestamp;

/// The outcome of a debit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Debited {
    /// The debit is charged.
    Granted {
        /// The counter after the debit.
        used: u64,
    },
    /// The debit would have exceeded its ceiling; nothing is charged.
    Refused {
        /// The counter.
        used: u64,
    },
}

/// The usage counters that all nodes share. Nodes debit blocks of units before they spend them.
#[async_trait]
pub trait Metering: Send + Sync {
    /// Adds the debit's amount to the counter, if the counter is then at most the debit's ceiling. This is atomic:
    /// however many nodes debit at once, no ceiling is exceeded. A granted debit survives a crash.
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError>;

    /// Subtracts units that were debited but not spent. A counter never falls below 0.
    async fn refund(&self, org: OrgId, metric: Metric, refund: Refund) -> Result<(), StoreError>;

    /// The organization's usage in one snapshot: the counters of the month, and what exists at `now`. Each metric
    /// appears at most once; a missing metric is unused.
    async fn usage(&self, org: OrgId, period: Period, now: Timestamp) -> Result<Vec<(Metric, u64)>, StoreError>;
}
