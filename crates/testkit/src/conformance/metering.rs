//! The counters from which nodes debit blocks.

use std::{num::NonZeroU64, sync::Arc};

use async_trait::async_trait;
use kalends_app::ports::{CommitError, Debited, Metering};
use kalends_kernel::OrgId;
use kalends_plans::{Counted, Metric};
use kalends_quotas::{Debit, Lease, Period, Refund, Take};
use kalends_time::Timestamp;

use super::{
    StoreUnderTest,
    scene::{Scene, hours, race},
};
use crate::fixtures::{Compose, Fixtures};

/// How many nodes race.
const NODES: usize = 8;

fn debit(period: Period, amount: u64, ceiling: Option<u64>) -> Debit {
    Debit::new(period, amount, ceiling).unwrap()
}

/// A store with the port [`Metering`], and what the cases of the port need from outside of it.
#[async_trait]
pub trait MeteringUnderTest: Send + Sync {
    /// The port of the store. All values that this returns share the store's counters.
    fn metering(&self) -> Arc<dyn Metering>;

    /// Two different organizations that exist in the store and for which nothing is counted. A case asks once.
    async fn organizations(&self) -> [OrgId; 2];

    /// The units that are counted in a month. A store can look behind its port here. By default, this is what
    /// [`Metering::usage`] returns.
    async fn used(&self, org: OrgId, metric: Metric, period: Period) -> u64 {
        let usage = self.metering().usage(org, period, period.start()).await.unwrap();
        usage.into_iter().find(|(used, _)| *used == metric).map_or(0, |(_, used)| used)
    }
}

#[async_trait]
impl MeteringUnderTest for StoreUnderTest {
    fn metering(&self) -> Arc<dyn Metering> {
        Arc::<dyn kalends_app::ports::Store>::clone(&self.store)
    }

    async fn organizations(&self) -> [OrgId; 2] {
        let scene = Scene::set(self).await;
        [scene.org, scene.other_organization().await.org]
    }

    async fn used(&self, org: OrgId, metric: Metric, period: Period) -> u64 {
        self.inspect.used(org, metric, period).await
    }
}

/// The counters of one organization.
#[derive(Clone)]
struct Counters {
    metering: Arc<dyn Metering>,
    org: OrgId,
}

impl Counters {
    /// Those of both organizations.
    async fn of(store: &impl MeteringUnderTest) -> [Self; 2] {
        store.organizations().await.map(|org| Self { metering: store.metering(), org })
    }

    async fn debit(&self, metric: Metric, debit: &Debit) -> Debited {
        self.metering.debit(self.org, metric, debit).await.unwrap()
    }

    /// The units of calls that are counted in the month of the cases.
    async fn calls(&self, store: &impl MeteringUnderTest) -> u64 {
        store.used(self.org, Metric::ApiCalls, month()).await
    }
}

/// The month of the cases.
fn month() -> Period {
    Period::of(Fixtures::BEGINNING)
}

impl Scene {
    async fn debit(&self, metric: Metric, debit: &Debit) -> Debited {
        self.store.debit(self.org, metric, debit).await.unwrap()
    }
}

/// A debit, including the first one, is granted up to its ceiling, and returns the value of the counter.
pub async fn debits_reach_but_never_exceed_their_ceiling(store: &impl MeteringUnderTest) {
    let [counters, _] = Counters::of(store).await;
    let ask = async |amount, ceiling| counters.debit(Metric::ApiCalls, &debit(month(), amount, Some(ceiling))).await;
    assert_eq!(ask(1, 0).await, Debited::Refused { used: 0 });
    assert_eq!(ask(6, 5).await, Debited::Refused { used: 0 });
    assert_eq!(counters.calls(store).await, 0);
    assert_eq!(ask(3, 5).await, Debited::Granted { used: 3 });
    assert_eq!(ask(3, 5).await, Debited::Refused { used: 3 });
    assert_eq!(ask(2, 5).await, Debited::Granted { used: 5 });
    assert_eq!(ask(1, 5).await, Debited::Refused { used: 5 });
    // A lowered plan grants nothing more; a higher one does.
    assert_eq!(ask(1, 2).await, Debited::Refused { used: 5 });
    assert_eq!(ask(1, 6).await, Debited::Granted { used: 6 });
    assert_eq!(counters.calls(store).await, 6);
}

/// Without a ceiling, every debit is granted and counted.
pub async fn unlimited_debits_are_counted(store: &impl MeteringUnderTest) {
    let [counters, _] = Counters::of(store).await;
    for round in 1..=3 {
        let debited = counters.debit(Metric::ApiCalls, &debit(month(), 1_000, None)).await;
        assert_eq!(debited, Debited::Granted { used: round * 1_000 });
    }
}

/// Organizations, metrics and months are counted separately.
pub async fn debits_are_counted_separately(store: &impl MeteringUnderTest) {
    let [counters, others] = Counters::of(store).await;
    let next = Period::of(month().end());
    let full = |period| debit(period, 4, Some(4));
    for metric in [Metric::ApiCalls, Metric::AvailabilityQueries] {
        for period in [month(), next] {
            assert_eq!(counters.debit(metric, &full(period)).await, Debited::Granted { used: 4 });
            assert_eq!(others.debit(metric, &full(period)).await, Debited::Granted { used: 4 });
            assert_eq!(counters.debit(metric, &full(period)).await, Debited::Refused { used: 4 });
        }
    }
}

/// A refund can be debited again. A counter never falls below 0, and a refund does not create one.
pub async fn refunds_stop_at_zero(store: &impl MeteringUnderTest) {
    let [counters, _] = Counters::of(store).await;
    let refund = async |amount| {
        let refund = Refund::new(month(), NonZeroU64::new(amount).unwrap());
        counters.metering.refund(counters.org, Metric::ApiCalls, refund).await.unwrap();
        counters.calls(store).await
    };
    assert_eq!(refund(3).await, 0);
    counters.debit(Metric::ApiCalls, &debit(month(), 10, Some(10))).await;
    assert_eq!(refund(4).await, 6);
    let debited = counters.debit(Metric::ApiCalls, &debit(month(), 4, Some(10))).await;
    assert_eq!(debited, Debited::Granted { used: 10 });
    assert_eq!(refund(11).await, 0);
}

/// Usage returns the counters of the month and what exists, of this organization only.
pub async fn usage_combines_counters_and_existing_things(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let period = scene.make.period();
    let now = scene.make.tick();
    let usage = async |scene: &Scene, period: Period, now: Timestamp| {
        let mut used = scene.store.usage(scene.org, period, now).await.unwrap();
        used.retain(|(_, used)| *used > 0);
        used.sort_unstable();
        used
    };
    // A scene starts with one endpoint.
    let nothing = [(Metric::WebhookEndpoints, 1)];
    assert_eq!(usage(&scene, period, now).await, nothing);

    let (agent, gone) = (scene.agent().await, scene.agent().await);
    let calendar = scene.calendar(&agent).await;
    scene.calendar(&gone).await;
    scene.shared_calendar().await;
    for agent in [&agent, &agent, &gone] {
        scene.commit(scene.changes().create(&scene.make.scoped_key(agent).key)).await;
    }
    let weekly = scene.make.series(&calendar, hours(1, 2), "FREQ=WEEKLY;COUNT=3");
    let ended = scene.make.series(&calendar, hours(1, 2), "FREQ=DAILY;COUNT=2");
    scene.stored(weekly).await;
    scene.stored(ended).await;
    scene.decommission(&gone).await;
    scene.debit(Metric::ApiCalls, &debit(period, 7, None)).await;
    scene.debit(Metric::AvailabilityQueries, &debit(Period::of(period.end()), 9, None)).await;
    let mut charge = scene.make.charge(None);
    charge.amount = 2;
    scene.commit(scene.changes().charge(charge)).await;

    let mut exists = vec![
        (Metric::Agents, 1),
        (Metric::Calendars, 2),
        (Metric::ScopedKeys, 2),
        (Metric::RecurringEvents, 1),
        (Metric::WebhookEndpoints, 1),
        (charge.metric, 2),
        (Metric::ApiCalls, 7),
    ];
    exists.sort_unstable();
    let later = scene.make.tick() + kalends_time::SignedDuration::hours(24 * 5);
    assert_eq!(usage(&scene, period, later).await, exists);
    assert_eq!(usage(&other, period, later).await, nothing);
    let next = usage(&scene, Period::of(period.end()), later).await;
    let monthly: Vec<_> = next.into_iter().filter(|(metric, _)| metric.counted() == Counted::Monthly).collect();
    assert_eq!(monthly, [(Metric::AvailabilityQueries, 9)]);
}

/// Nodes that debit blocks at the limit admit exactly as much as the limit grants.
pub async fn racing_nodes_never_exceed_the_limit(store: &impl MeteringUnderTest) {
    const LIMIT: u64 = 150;
    let [counters, _] = Counters::of(store).await;
    let now = Fixtures::BEGINNING;
    let admitted = race(NODES, |_| {
        let counters = counters.clone();
        async move {
            let (mut lease, mut admitted) = (Lease::new(), 0);
            loop {
                match lease.take(now, Some(LIMIT)) {
                    Take::Spent(_) => admitted += 1,
                    Take::Exhausted => break,
                    Take::Need { debit, refund } => {
                        assert_eq!(refund, None);
                        match counters.debit(Metric::ApiCalls, &debit).await {
                            Debited::Granted { used } => {
                                assert!(used <= LIMIT);
                                assert_eq!(lease.granted(debit, used), None);
                            }
                            Debited::Refused { used } => lease.refused(debit, used, now),
                        }
                    }
                }
            }
            assert_eq!(lease.give_back(), None, "a node that found the limit reached holds nothing");
            admitted
        }
    })
    .await;
    assert_eq!(admitted.iter().sum::<u64>(), LIMIT, "{admitted:?}");
    assert_eq!(counters.calls(store).await, LIMIT);
}

/// A debit and the charge of a change-set use one counter, and neither exceeds its limit.
pub async fn debits_and_charges_share_a_counter(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let charge = scene.make.charge(Some(5));
    let granted = race(10, |index| {
        let scene = scene.clone();
        async move {
            if index % 2 == 0 {
                match scene.try_commit(scene.changes().charge(charge)).await {
                    Ok(()) => true,
                    Err(CommitError::LimitReached { .. }) => false,
                    Err(error) => panic!("{error:?}"),
                }
            } else {
                let debited = scene.debit(charge.metric, &debit(charge.period, charge.amount, Some(5))).await;
                matches!(debited, Debited::Granted { .. })
            }
        }
    })
    .await;
    assert_eq!(granted.iter().filter(|granted| **granted).count(), 5, "{granted:?}");
    assert_eq!(scene.used(charge.metric).await, 5);
}
