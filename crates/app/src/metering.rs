//! Counting use from leased blocks of units.
//!
//! The leases stay in this process: a request costs a map lookup, and a write only when a block is used up. [`Lease`]
//! makes the decisions. This module connects them to the store, one debit at a time for each organization and metric.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use futures::future::join_all;
use kalends_kernel::{OrgId, SignedDuration, StoreError, Timestamp};
use kalends_quotas::{Lease, Metric, Period, Refund, Take, UsageReport};

use crate::{
    Actor, App, Caller, Refusal,
    app::ATTEMPTS,
    ports::{Debited, Store},
};

/// The number of locks that the organizations are distributed over.
const SHARDS: usize = 32;
/// How long an organization must be idle before its leases are given back.
const IDLE: SignedDuration = SignedDuration::minutes(5);
/// How many leases are given back at once. Each is a write.
const REFUNDS_AT_ONCE: usize = 16;
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
    const ALL: [Self; 2] = [Self::ApiCalls, Self::AvailabilityQueries];

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

impl Caller {
    const fn slot(&self, metric: Leased) -> &Arc<Slot> {
        match metric {
            Leased::ApiCalls => &self.calls,
            Leased::AvailabilityQueries => &self.queries,
        }
    }

    /// How much of the limit is left for the caller's organization in the month of `at`, as far as this process
    /// knows; `None` means unlimited.
    pub fn left(&self, metric: Leased, at: Timestamp) -> Option<u64> {
        let limit = self.principal.limits.get(metric.metric());
        self.slot(metric).lease().remaining(at, limit)
    }
}

type Of = (OrgId, Metric);

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
    /// Held during an exchange with the store, so that one debit serves all requests that wait for it.
    exchange: tokio::sync::Mutex<()>,
    /// When a unit was last requested, in microseconds.
    asked_at: AtomicI64,
    /// Whether a task is debiting the next block in advance.
    refilling: AtomicBool,
}

/// One unit that was counted; see [`App::count_back`].
pub struct Counted {
    slot: Arc<Slot>,
    of: Of,
    period: Period,
    left: Option<u64>,
}

impl Counted {
    /// How much was left for the organization after this unit, as far as this process knows; `None` means unlimited.
    pub const fn left(&self) -> Option<u64> {
        self.left
    }
}

/// The units that this process has leased for an organization and not spent. The counters include them, but they are
/// not used. Units that other processes hold count as used until they are given back.
pub(crate) struct Unspent {
    period: Period,
    /// In the order of [`Leased::ALL`].
    units: [u64; Leased::ALL.len()],
}

impl Unspent {
    /// The use of a metric in a month whose counter shows `counted`.
    pub(crate) fn off(&self, metric: Metric, period: Period, counted: u64) -> u64 {
        let leased =
            Leased::ALL.iter().zip(self.units).find(|(leased, _)| leased.metric() == metric && period == self.period);
        counted.saturating_sub(leased.map_or(0, |(_, units)| units))
    }
}

/// The task of an exchange with the store ended without an outcome.
#[derive(Debug, thiserror::Error)]
#[error("the exchange with the counter ended early")]
struct EndedEarly(#[source] tokio::task::JoinError);

impl Slot {
    fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a unit from the lease. Returns the result, what is then left, and whether to debit in advance.
    fn take(&self, at: Timestamp, limit: Option<u64>) -> (Take, Option<u64>, bool) {
        let mut lease = self.lease();
        let taken = lease.take(at, limit);
        (taken, lease.remaining(at, limit), lease.ahead(at, limit).is_some())
    }

    /// Whether the caller is the one that has to debit in advance.
    fn begins_to_refill(&self) -> bool {
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

    fn slots(&self) -> Vec<Arc<Slot>> {
        let shards = self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner));
        shards.flat_map(|slots| slots.values().cloned().collect::<Vec<_>>()).collect()
    }

    /// Takes out the leases that were last used before `since`, or all of them.
    fn take_out(&self, since: Option<Timestamp>) -> Vec<(Of, Refund)> {
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

impl App {
    /// Counts one unit of a metric, in the month of `at`.
    ///
    /// # Errors
    /// [`Refusal::LimitReached`], or [`Refusal::Store`] if the counter is needed and the store does not answer.
    pub async fn count(&self, caller: &Caller, metric: Leased, at: Timestamp) -> Result<Counted, Refusal> {
        let of = (caller.principal.org, metric.metric());
        let limit = caller.principal.limits.get(of.1);
        let slot = Arc::clone(caller.slot(metric));
        slot.asked_at.store(at.as_micros(), Ordering::Relaxed);
        let (taken, mut left, low) = slot.take(at, limit);
        if low && slot.begins_to_refill() {
            tokio::spawn(refill(Arc::clone(&self.store), Arc::clone(&slot), of, limit, at));
        }
        let spent = match taken {
            Take::Spent => true,
            Take::Exhausted => false,
            Take::Need { refund, .. } => {
                // In its own task, so that a dropped caller does not lose the debited block.
                let exchange = exchange(Arc::clone(&self.store), Arc::clone(&slot), of, limit, at, refund);
                let ended = tokio::spawn(exchange).await;
                let spent = ended.map_err(|error| StoreError::Failed(Box::new(EndedEarly(error))))??;
                left = slot.lease().remaining(at, limit);
                spent
            }
        };
        match (spent, limit) {
            (true, _) => Ok(Counted { slot, of, period: Period::of(at), left }),
            (false, limit) => Err(Refusal::LimitReached {
                metric: of.1,
                limit: limit.unwrap_or(u64::MAX),
                retry_after: Period::of(at).seconds_left(at),
            }),
        }
    }

    /// Takes back a unit that should not have counted.
    pub async fn count_back(&self, counted: Counted) {
        let refund = counted.slot.lease().unspend(counted.period);
        if let Some(refund) = refund {
            give_back(&*self.store, counted.of, refund).await;
        }
    }

    /// Gives back the leases of idle organizations. Called regularly while the service runs.
    pub async fn return_idle_leases(&self) {
        self.give_all_back(self.meter.take_out(Some(self.now() - IDLE))).await;
    }

    /// Gives back all leases. This is the last step of a shutdown.
    pub async fn return_leases(&self) {
        // Wait for debits in progress, so that they are given back too.
        for slot in self.meter.slots() {
            drop(slot.exchange.lock().await);
        }
        self.give_all_back(self.meter.take_out(None)).await;
    }

    async fn give_all_back(&self, refunds: Vec<(Of, Refund)>) {
        for batch in refunds.chunks(REFUNDS_AT_ONCE) {
            join_all(batch.iter().map(|(of, refund)| give_back(&*self.store, *of, *refund))).await;
        }
    }

    /// The usage of the caller's organization, and the limits of its plan. Unspent leases of this process do not
    /// count as used. Those of other processes do, until they are given back.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn usage(&self, actor: &Actor) -> Result<UsageReport, Refusal> {
        let (plan, limits, org) = (actor.principal.plan, actor.principal.limits, actor.org());
        let read = async |now| Ok((now, self.store.usage(org, Period::of(now), now).await?));
        let ((now, used), unspent) = self.beside_leases(org, read).await?;
        let mut report = UsageReport::new(plan, limits, now);
        for (metric, used) in used {
            report.note(metric, unspent.off(metric, report.period, used));
        }
        Ok(report)
    }

    /// Runs `read` on the organization's counters, and returns its result with the units that this process holds at
    /// that moment. `read` gets the current time.
    pub(crate) async fn beside_leases<T>(
        &self,
        org: OrgId,
        read: impl AsyncFnOnce(Timestamp) -> Result<T, StoreError>,
    ) -> Result<(T, Unspent), StoreError> {
        let slots = Leased::ALL.map(|leased| self.meter.slot((org, leased.metric())));
        // No debit of this process may come between reading the counters and the leases.
        let mut exchanges = Vec::with_capacity(slots.len());
        for slot in &slots {
            exchanges.push(slot.exchange.lock().await);
        }
        let now = self.now();
        let read = read(now).await?;
        let units = slots.each_ref().map(|slot| slot.lease().unspent(now));
        Ok((read, Unspent { period: Period::of(now), units }))
    }
}

/// Fills the lease and spends one unit of it; `false` if the limit is reached.
async fn exchange(
    store: Arc<dyn Store>,
    slot: Arc<Slot>,
    of: Of,
    limit: Option<u64>,
    at: Timestamp,
    refund: Option<Refund>,
) -> Result<bool, Refusal> {
    if let Some(refund) = refund {
        give_back(&*store, of, refund).await;
    }
    let _exchange = slot.exchange.lock().await;
    for _ in 0..ATTEMPTS {
        let taken = slot.lease().take(at, limit);
        let (debit, refund) = match taken {
            Take::Spent => return Ok(true),
            Take::Exhausted => return Ok(false),
            Take::Need { debit, refund } => (debit, refund),
        };
        if let Some(refund) = refund {
            give_back(&*store, of, refund).await;
        }
        let outdated = match store.debit(of.0, of.1, &debit).await? {
            Debited::Granted { used } => slot.lease().granted(&debit, used),
            Debited::Refused { used } => {
                slot.lease().refused(&debit, used, at);
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
async fn refill(store: Arc<dyn Store>, slot: Arc<Slot>, of: Of, limit: Option<u64>, at: Timestamp) {
    let _exchange = slot.exchange.lock().await;
    let debit = slot.lease().ahead(at, limit);
    if let Some(debit) = debit {
        match store.debit(of.0, of.1, &debit).await {
            Ok(Debited::Granted { used }) => {
                let outdated = slot.lease().granted(&debit, used);
                if let Some(refund) = outdated {
                    give_back(&*store, of, refund).await;
                }
            }
            Ok(Debited::Refused { used }) => slot.lease().refused(&debit, used, at),
            Err(error) => tracing::debug!(%error, "the next block could not be debited in advance"),
        }
    }
    slot.refilling.store(false, Ordering::Release);
}

/// A refund that cannot be written stays charged: the counter may show too much, but never too little.
async fn give_back(store: &dyn Store, (org, metric): Of, refund: Refund) {
    if let Err(error) = store.refund(org, metric, refund).await {
        let (metric, amount) = (metric.as_str(), refund.amount);
        tracing::warn!(%org, metric, amount, %error, "leased units could not be given back and stay charged");
    }
}
