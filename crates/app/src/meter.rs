//! The leases of this process: the units that it has charged in advance and spends from memory.
//!
//! A request costs a map lookup, and a write only when a block of units is used up. [`Lease`] makes the decisions.
//! This module connects the leases to the store, one debit at a time for each organization and metric.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use kalends_kernel::OrgId;
use kalends_plans::Metric;
use kalends_quotas::{Lease, Period, Refund, Take, Unit};
use kalends_time::Timestamp;

use crate::{
    Refusal,
    attempt::ATTEMPTS,
    ports::{Debited, Store},
};

/// The number of locks that the organizations are distributed over.
const SHARDS: usize = 32;
/// The metrics that are counted from leased blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leased {
    /// [`Metric::ApiCalls`].
    ApiCalls,
    /// [`Metric::AvailabilityQueries`].
    AvailabilityQueries,
}

impl Leased {
    /// All leased metrics.
    pub(crate) const ALL: [Self; 2] = [Self::ApiCalls, Self::AvailabilityQueries];

    /// Whether a metric is leased.
    pub(crate) fn counts(metric: Metric) -> bool {
        Self::ALL.iter().any(|leased| leased.metric() == metric)
    }

    /// The metric in limits and counters.
    pub const fn metric(self) -> Metric {
        match self {
            Self::ApiCalls => Metric::ApiCalls,
            Self::AvailabilityQueries => Metric::AvailabilityQueries,
        }
    }
}

/// An organization and a metric.
pub(crate) type Of = (OrgId, Metric);

/// The leases of this process.
///
/// There is one for each organization that called within the last minutes. An entry requires a valid key, so
/// outsiders cannot make the map grow.
pub(crate) struct Meter {
    shards: Vec<Mutex<HashMap<Of, Arc<Slot>>>>,
}

/// The lease of this process for one metric of an organization.
#[derive(Default)]
pub(crate) struct Slot {
    lease: Mutex<Lease>,
    /// Held during an exchange with the store, so that one debit serves all requests that wait for it. Readers of the
    /// counters share it, so that they wait for an exchange and not for each other.
    pub(crate) exchange: tokio::sync::RwLock<()>,
    /// When a unit was last requested, in microseconds.
    pub(crate) asked_at: AtomicI64,
    /// Whether a task is debiting the next block in advance.
    refilling: AtomicBool,
}

/// The units that this process has leased for an organization and not spent. The counters include these units,
/// although they are not used. Units that other processes hold count as used until they are given back.
pub(crate) struct Unspent {
    pub(crate) period: Period,
    /// In the order of [`Leased::ALL`].
    pub(crate) units: [u64; Leased::ALL.len()],
}

impl Unspent {
    /// The use of a metric in a month whose counter shows `counted`.
    pub(crate) fn off(&self, metric: Metric, period: Period, counted: u64) -> u64 {
        let leased =
            Leased::ALL.iter().zip(self.units).find(|(leased, _)| leased.metric() == metric && period == self.period);
        counted.saturating_sub(leased.map_or(0, |(_, units)| units))
    }
}

impl Slot {
    pub(crate) fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a unit from the lease. Returns the result, what is then left, and whether to debit in advance.
    pub(crate) fn take(&self, at: Timestamp, limit: Option<u64>) -> (Take, Option<u64>, bool) {
        let mut lease = self.lease();
        let taken = lease.take(at, limit);
        (taken, lease.remaining(at, limit), lease.ahead(at, limit).is_some())
    }

    /// Marks the slot as being refilled, and returns whether it was not marked before. If so, the next block must be
    /// debited in advance.
    pub(crate) fn begins_to_refill(&self) -> bool {
        !self.refilling.swap(true, Ordering::AcqRel)
    }
}

impl Meter {
    pub(crate) fn new() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards }
    }

    fn shard(&self, of: &Of) -> MutexGuard<'_, HashMap<Of, Arc<Slot>>> {
        // The last byte of an identifier is random.
        let [.., last] = of.0.uuid().into_bytes();
        self.shards[usize::from(last) % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn slot(&self, of: Of) -> Arc<Slot> {
        Arc::clone(self.shard(&of).entry(of).or_default())
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        let shards = self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner));
        shards.flat_map(|slots| slots.values().cloned().collect::<Vec<_>>()).collect()
    }

    /// Takes out the leases that were last used before `since`, or all of them.
    pub(crate) fn take_out(&self, since: Option<Timestamp>) -> Vec<(Of, Refund)> {
        let mut refunds = Vec::new();
        for shard in &self.shards {
            let mut slots = shard.lock().unwrap_or_else(PoisonError::into_inner);
            slots.retain(|of, slot| {
                let asked_at = Timestamp::from_micros(slot.asked_at.load(Ordering::Relaxed));
                if since.is_some_and(|since| asked_at >= since) {
                    return true;
                }
                refunds.extend(slot.lease().give_back().map(|refund| (*of, refund)));
                // Another holder of the slot may fill it again, so the slot stays and nothing is lost.
                Arc::strong_count(slot) > 1
            });
        }
        refunds
    }
}

/// Fills the lease and spends one unit of it; `None` if the limit is reached.
pub(crate) async fn exchange(
    store: Arc<dyn Store>,
    slot: Arc<Slot>,
    of: Of,
    limit: Option<u64>,
    at: Timestamp,
    refund: Option<Refund>,
) -> Result<Option<Unit>, Refusal> {
    if let Some(refund) = refund {
        give_back(&*store, of, refund).await;
    }
    let _exchange = slot.exchange.write().await;
    for _ in 0..ATTEMPTS {
        let taken = slot.lease().take(at, limit);
        let (debit, refund) = match taken {
            Take::Spent(unit) => return Ok(Some(unit)),
            Take::Exhausted => return Ok(None),
            Take::Need { debit, refund } => (debit, refund),
        };
        if let Some(refund) = refund {
            give_back(&*store, of, refund).await;
        }
        let outdated = match store.debit(of.0, of.1, &debit).await? {
            Debited::Granted { used } => slot.lease().granted(debit, used),
            Debited::Refused { used } => {
                slot.lease().refused(debit, used, at);
                None
            }
        };
        if let Some(refund) = outdated {
            give_back(&*store, of, refund).await;
        }
    }
    Err(Refusal::Contended)
}

/// Debits the next block in advance. If this fails, the next request that needs a block debits it.
pub(crate) async fn refill(store: Arc<dyn Store>, slot: Arc<Slot>, of: Of, limit: Option<u64>, at: Timestamp) {
    let _exchange = slot.exchange.write().await;
    let debit = slot.lease().ahead(at, limit);
    if let Some(debit) = debit {
        match store.debit(of.0, of.1, &debit).await {
            Ok(Debited::Granted { used }) => {
                let outdated = slot.lease().granted(debit, used);
                if let Some(refund) = outdated {
                    give_back(&*store, of, refund).await;
                }
            }
            Ok(Debited::Refused { used }) => slot.lease().refused(debit, used, at),
            Err(error) => tracing::debug!(%error, "the next block could not be debited in advance"),
        }
    }
    slot.refilling.store(false, Ordering::Release);
}

/// Returns units to the counter. Units whose refund cannot be written stay charged: the counter may show too much, but
/// never too little.
pub(crate) async fn give_back(store: &dyn Store, (org, metric): Of, refund: Refund) {
    let amount = refund.amount();
    if let Err(error) = store.refund(org, metric, refund).await {
        let metric = metric.as_str();
        tracing::warn!(%org, metric, amount, %error, "leased units could not be given back and stay charged");
    }
}
