//! Counts use from leased units, and reports the usage of an organization.

use std::sync::{Arc, atomic::Ordering};

use futures::future::join_all;
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::{Counted as CountedBy, Limits, Metric, Plan, UsageReport, Used};
use kalends_quotas::{Period, Refund, Take, Unit};
use kalends_time::{SignedDuration, Timestamp};
use tracing::Instrument as _;

use crate::{
    Actor, App, Caller, Leased, Refusal,
    meter::{Of, Slot, Unspent, exchange, give_back, refill},
};

/// How long an organization must be idle before its leases are given back.
const IDLE: SignedDuration = SignedDuration::minutes(5);
/// How many leases are given back at once. Each is a write.
const REFUNDS_AT_ONCE: usize = 16;

/// One unit that was counted; see [`App::count_back`].
pub struct Counted {
    slot: Arc<Slot>,
    of: Of,
    unit: Unit,
    left: Option<u64>,
}

impl Counted {
    /// How much was left for the organization after this unit, as far as this process knows; `None` means unlimited.
    pub const fn left(&self) -> Option<u64> {
        self.left
    }
}

/// The number of months that [`App::usage_with_months`] returns.
const MONTHS: usize = 12;

/// The use of a metric in each of the last months.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthlyUse {
    /// The metric, which is counted by month.
    pub metric: Metric,
    /// The UTC months, the oldest first, each with the number used. The last one is the current month.
    pub months: Vec<(Period, u64)>,
}

/// The task of an exchange with the store ended without an outcome.
#[derive(Debug, thiserror::Error)]
#[error("the exchange with the counter ended early")]
struct EndedEarly(#[source] tokio::task::JoinError);

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
            let refill = refill(Arc::clone(&self.parts.store), Arc::clone(&slot), of, limit, at);
            tokio::spawn(refill.instrument(tracing::error_span!("refill")));
        }
        let spent = match taken {
            Take::Spent(unit) => Some(unit),
            Take::Exhausted => None,
            Take::Need { refund, .. } => {
                // In its own task, so that a dropped caller does not lose the debited block.
                let exchange = exchange(Arc::clone(&self.parts.store), Arc::clone(&slot), of, limit, at, refund);
                let ended = tokio::spawn(exchange.in_current_span()).await;
                let spent = ended.map_err(|error| StoreError::Failed(Box::new(EndedEarly(error))))??;
                left = slot.lease().remaining(at, limit);
                spent
            }
        };
        match spent {
            Some(unit) => Ok(Counted { slot, of, unit, left }),
            None => Err(Refusal::LimitReached {
                metric: of.1,
                limit: limit.unwrap_or(u64::MAX),
                retry_after: Period::of(at).seconds_left(at),
            }),
        }
    }

    /// Takes back a unit that should not have counted.
    pub async fn count_back(&self, counted: Counted) {
        let refund = counted.slot.lease().unspend(counted.unit);
        if let Some(refund) = refund {
            give_back(&*self.parts.store, counted.of, refund).await;
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
            drop(slot.exchange.write().await);
        }
        self.give_all_back(self.meter.take_out(None)).await;
    }

    async fn give_all_back(&self, refunds: Vec<(Of, Refund)>) {
        let mut refunds = refunds.into_iter();
        loop {
            let batch: Vec<_> = refunds.by_ref().take(REFUNDS_AT_ONCE).collect();
            if batch.is_empty() {
                break;
            }
            join_all(batch.into_iter().map(|(of, refund)| give_back(&*self.parts.store, of, refund))).await;
        }
    }

    /// The usage of the caller's organization, and the limits of its plan. Unspent leases of this process do not
    /// count as used. Those of other processes do, until they are given back.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn usage(&self, actor: &Actor) -> Result<UsageReport, Refusal> {
        self.usage_of(actor.org(), actor.principal.plan, actor.principal.limits).await
    }

    /// [`Self::usage`] of an organization on that plan, with these limits.
    pub(crate) async fn usage_of(&self, org: OrgId, plan: Plan, limits: Limits) -> Result<UsageReport, Refusal> {
        let read = async |now| Ok((now, self.parts.store.usage(org, Period::of(now), now).await?));
        let ((now, used), unspent) = self.read_with_leases(org, read).await?;
        let mut report = UsageReport::new(plan, limits, now);
        for (metric, used) in used {
            report.note(metric, unspent.off(metric, report.period, used));
        }
        Ok(report)
    }

    /// The use and the limit of each metric that is counted by month, in the current month. Unspent leases count as in
    /// [`Self::usage`].
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn use_this_month(&self, actor: &Actor) -> Result<Vec<(Metric, Used)>, Refusal> {
        let org = actor.org();
        let read = async |now| Ok((now, self.parts.store.use_in_month(&[org], Period::of(now)).await?));
        let ((now, used), unspent) = self.read_with_leases(org, read).await?;
        let mut report = UsageReport::new(actor.principal.plan, actor.principal.limits, now);
        let month = report.period;
        let spent = used.into_iter().map(|(_, metric, used)| (metric, month, unspent.off(metric, month, used)));
        report.note_counters(spent);
        Ok(report.iter().filter(|(metric, _)| metric.counted() == CountedBy::Monthly).collect())
    }

    /// [`Self::usage`], and the use of each metric that is counted by month in the last 12 months, in one statement.
    /// Months in which nothing was used are zero. Unspent leases count as in [`Self::usage`].
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn usage_with_months(&self, actor: &Actor) -> Result<(UsageReport, Vec<MonthlyUse>), Refusal> {
        let org = actor.org();
        let read = async |now| {
            let since = last_months(now).first().copied().unwrap_or_else(|| Period::of(now));
            Ok((now, self.parts.store.use_since(org, since, now).await?))
        };
        let ((now, used), unspent) = self.read_with_leases(org, read).await?;
        let mut report = UsageReport::new(actor.principal.plan, actor.principal.limits, now);
        let mut counters = Vec::with_capacity(used.len());
        for (period, metric, used) in used {
            match period {
                Some(period) => counters.push((period, metric, used)),
                None => report.note(metric, used),
            }
        }
        let spent = |&(month, metric, used): &(Period, Metric, u64)| (metric, month, unspent.off(metric, month, used));
        report.note_counters(counters.iter().map(spent));
        Ok((report, by_month(&counters, &unspent, now)))
    }

    /// Runs `read` on the organization's counters, and returns its result with the units that this process holds at
    /// that moment. `read` gets the current time.
    pub(crate) async fn read_with_leases<T>(
        &self,
        org: OrgId,
        read: impl AsyncFnOnce(Timestamp) -> Result<T, StoreError>,
    ) -> Result<(T, Unspent), StoreError> {
        let slots = Leased::ALL.map(|leased| self.meter.slot((org, leased.metric())));
        // No debit of this process may come between reading the counters and the leases.
        let mut exchanges = Vec::with_capacity(slots.len());
        for slot in &slots {
            exchanges.push(slot.exchange.read().await);
        }
        let now = self.now();
        let read = read(now).await?;
        let units = slots.each_ref().map(|slot| slot.lease().unspent(now));
        Ok((read, Unspent { period: Period::of(now), units }))
    }
}

/// The use of each metric that is counted by month, in the last months.
fn by_month(used: &[(Period, Metric, u64)], unspent: &Unspent, now: Timestamp) -> Vec<MonthlyUse> {
    let periods = last_months(now);
    let of = |metric: Metric, period: Period| {
        let counted = used.iter().find(|(month, of, _)| (*month, *of) == (period, metric));
        unspent.off(metric, period, counted.map_or(0, |(.., used)| *used))
    };
    let counted_by_month = Metric::ALL.into_iter().filter(|metric| metric.counted() == CountedBy::Monthly);
    let months = |metric| periods.iter().map(|period| (*period, of(metric, *period))).collect();
    counted_by_month.map(|metric| MonthlyUse { metric, months: months(metric) }).collect()
}

/// The UTC month of `now` and those before it, the oldest first.
fn last_months(now: Timestamp) -> Vec<Period> {
    let before = |period: &Period| Some(Period::of(period.start() - SignedDuration::micros(1)));
    let mut months: Vec<_> = std::iter::successors(Some(Period::of(now)), before).take(MONTHS).collect();
    months.reverse();
    months
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_months_cross_the_year() {
        let months: Vec<_> =
            last_months("2027-02-01T00:00:00Z".parse().unwrap()).iter().map(Period::to_string).collect();
        assert_eq!(months.len(), MONTHS);
        assert_eq!((&*months[0], &*months[9], &*months[11]), ("2026-03", "2026-12", "2027-02"));
    }
}
