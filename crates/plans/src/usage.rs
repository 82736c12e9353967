//! The report of `GET /v1/usage`.

use kalends_quotas::Period;
use kalends_time::Timestamp;

use crate::{Counted, Limits, Metric, Plan};

/// The use of one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The number that exist now or were used in the month. It may exceed the limit after a change to a smaller plan.
    pub used: u64,
    /// The limit; `None` is unlimited.
    pub limit: Option<u64>,
}

impl Used {
    /// The number left; `None` is unlimited.
    pub fn remaining(self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.used))
    }
}

/// An organization's use of everything that its plan limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageReport {
    /// The plan's public name: `free`, `pro` or `scale`.
    pub plan: &'static str,
    /// The month of the counters.
    pub period: Period,
    limits: Limits,
    used: [u64; Metric::ALL.len()],
}

impl UsageReport {
    /// A report at `now` in which nothing is used. `limits` are those of the plan with the organization's overrides.
    pub fn new(plan: Plan, limits: Limits, now: Timestamp) -> Self {
        Self { plan: plan.public_name(), period: Period::of(now), limits, used: [0; Metric::ALL.len()] }
    }

    /// Records the use of a metric. For units on lease ([`kalends_quotas::Lease`]), first subtract those that are debited but
    /// known to be unspent.
    pub const fn note(&mut self, metric: Metric, used: u64) {
        self.used[metric.index()] = used;
    }

    /// Records the counters of the month. Counters of other months, and of metrics that are not counted by month, are
    /// skipped.
    pub fn note_counters(&mut self, counters: impl IntoIterator<Item = (Metric, Period, u64)>) {
        for (metric, period, used) in counters {
            if period == self.period && metric.counted() == Counted::Monthly {
                self.note(metric, used);
            }
        }
    }

    /// The use and limit of a metric.
    pub const fn of(&self, metric: Metric) -> Used {
        Used { used: self.used[metric.index()], limit: self.limits.get(metric) }
    }

    /// The use and limit of every metric, in the order of [`Metric::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Metric, Used)> {
        Metric::ALL.into_iter().map(|metric| (metric, self.of(metric)))
    }

    /// The first moment of the month.
    pub fn period_start(&self) -> Timestamp {
        self.period.start()
    }

    /// The first moment of the next month.
    pub fn period_end(&self) -> Timestamp {
        self.period.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-21T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_report_shows_use_and_limits() {
        let limits = Plan::Free.limits().overridden(&json!({ "agents": 2, "events": null })).unwrap();
        let mut report = UsageReport::new(Plan::FreeAgent, limits, now());
        report.note(Metric::Agents, 3);
        report.note(Metric::ApiCalls, 127);
        assert_eq!(report.plan, "free");
        assert_eq!(report.period_start().to_string(), "2026-11-01T00:00:00Z");
        assert_eq!(report.period_end().to_string(), "2026-12-01T00:00:00Z");
        assert_eq!(report.of(Metric::ApiCalls).remaining(), Some(49_873));
        assert_eq!(report.of(Metric::Events), Used { used: 0, limit: None });
        assert_eq!(report.of(Metric::Events).remaining(), None);
        let agents = report.of(Metric::Agents);
        assert_eq!((agents.used, agents.limit, agents.remaining()), (3, Some(2), Some(0)));
    }

    #[test]
    fn every_metric_is_reported_in_its_place() {
        let mut report = UsageReport::new(Plan::Pro, Plan::Pro.limits(), now());
        for (count, metric) in (1..).zip(Metric::ALL) {
            report.note(metric, count);
        }
        let used_by_metric: Vec<_> = report.iter().map(|(metric, used)| (metric, used.used)).collect();
        assert_eq!(used_by_metric, Metric::ALL.into_iter().zip(1..).collect::<Vec<_>>());
    }

    #[test]
    fn counters_of_other_months_are_skipped() {
        let mut report = UsageReport::new(Plan::Pro, Plan::Pro.limits(), now());
        let before = Period::of("2026-10-31T23:59:59Z".parse().unwrap());
        report.note(Metric::Agents, 4);
        report.note_counters([
            (Metric::Events, report.period, 7),
            (Metric::ApiCalls, before, 9),
            (Metric::Agents, report.period, 99),
        ]);
        assert_eq!(report.of(Metric::Events).used, 7);
        assert_eq!(report.of(Metric::ApiCalls).used, 0);
        assert_eq!(report.of(Metric::Agents).used, 4, "existing objects are not counted by month");
    }
}
