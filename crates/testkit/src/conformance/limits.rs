//! Limits of a plan: monthly use, and what exists.

use kalends_app::{Charge, Guard, ports::CommitError};
use kalends_calendars::{Agent, AgentStatus};
use kalends_plans::{Counted, Metric};
use kalends_quotas::Period;
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused},
};
use crate::fixtures::Compose;

/// Use reaches the limit exactly and never exceeds it.
pub async fn charges_reach_but_never_exceed_the_limit(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let charge = |amount, limit| Charge { amount, ..scene.make.charge(Some(limit)) };
    let refused = |limit_is| {
        move |outcome: Result<(), CommitError>| match outcome {
            Err(CommitError::LimitReached { metric, limit }) => assert_eq!((metric, limit), (Metric::Events, limit_is)),
            other => panic!("expected the limit to be reached, got {other:?}"),
        }
    };
    assert_eq!(scene.used(Metric::Events).await, 0);
    refused(0)(scene.try_commit(scene.changes().charge(charge(1, 0))).await);
    refused(5)(scene.try_commit(scene.changes().charge(charge(6, 5))).await);
    assert_eq!(scene.used(Metric::Events).await, 0);

    scene.commit(scene.changes().charge(charge(3, 5))).await;
    refused(5)(scene.try_commit(scene.changes().charge(charge(3, 5))).await);
    scene.commit(scene.changes().charge(charge(1, 5))).await;
    scene.commit(scene.changes().charge(charge(1, 5))).await;
    refused(5)(scene.try_commit(scene.changes().charge(charge(1, 5))).await);
    assert_eq!(scene.used(Metric::Events).await, 5);

    // A lowered plan grants nothing more; a higher one does.
    refused(2)(scene.try_commit(scene.changes().charge(charge(1, 2))).await);
    scene.commit(scene.changes().charge(charge(1, 6))).await;
    assert_eq!(scene.used(Metric::Events).await, 6);
}

/// Use is counted even without a limit, for every monthly metric.
pub async fn unlimited_use_is_counted(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for amount in [1, 1_000_000_000_000, 1] {
        scene.commit(scene.changes().charge(Charge { amount, ..scene.make.charge(None) })).await;
    }
    assert_eq!(scene.used(Metric::Events).await, 1_000_000_000_002);
    for metric in Metric::ALL.into_iter().filter(|metric| metric.counted() == Counted::Monthly) {
        let before = scene.used(metric).await;
        scene.commit(scene.changes().charge(Charge { metric, ..scene.make.charge(None) })).await;
        assert_eq!(scene.used(metric).await, before + 1, "{metric:?}");
    }
    let late = Charge { amount: 1, ..scene.make.charge(Some(10)) };
    let outcome = scene.try_commit(scene.changes().charge(late)).await;
    assert_refused!(outcome, CommitError::LimitReached { metric: Metric::Events, limit: 10 });
}

/// Metrics, months and organizations are counted separately.
pub async fn use_is_counted_separately(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let this_month = scene.make.period();
    let next_month = Period::of(this_month.end());
    let next_year = Period::of(this_month.start() + SignedDuration::days(365));
    let once = |metric, period| Charge { metric, period, amount: 1, limit: Some(1) };
    let all = [
        once(Metric::Events, this_month),
        once(Metric::Proposals, this_month),
        once(Metric::Events, next_month),
        once(Metric::Events, next_year),
    ];
    for scene in [&scene, &other] {
        for charge in all {
            scene.commit(scene.changes().charge(charge)).await;
        }
        for charge in all {
            let outcome = scene.try_commit(scene.changes().charge(charge)).await;
            assert_refused!(outcome, CommitError::LimitReached { .. });
            assert_eq!(scene.inspect.used(scene.org, charge.metric, charge.period).await, 1);
        }
    }
}

/// Two metrics in one change-set are both charged, or neither.
pub async fn several_metrics_are_charged_together(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let charge = |metric, limit| Charge { metric, ..scene.make.charge(Some(limit)) };
    let used = async || (scene.used(Metric::Events).await, scene.used(Metric::Proposals).await);
    let both = |events, proposals| {
        scene.changes().charge(charge(Metric::Events, events)).charge(charge(Metric::Proposals, proposals))
    };
    scene.commit(both(9, 1)).await;
    assert_eq!(used().await, (1, 1));
    let outcome = scene.try_commit(both(9, 1)).await;
    assert_refused!(outcome, CommitError::LimitReached { metric: Metric::Proposals, limit: 1 });
    let outcome = scene.try_commit(both(1, 9)).await;
    assert_refused!(outcome, CommitError::LimitReached { metric: Metric::Events, limit: 1 });
    assert_eq!(used().await, (1, 1));
}

/// Charges of one metric in one change-set add up.
pub async fn charges_of_one_metric_add_up(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let charge = Charge { amount: 2, ..scene.make.charge(Some(5)) };
    let outcome = scene.try_commit(scene.changes().charge(charge).charge(charge).charge(charge)).await;
    assert_refused!(outcome, CommitError::LimitReached { metric: Metric::Events, limit: 5 });
    assert_eq!(scene.used(Metric::Events).await, 0);
    scene.commit(scene.changes().charge(charge).charge(charge)).await;
    assert_eq!(scene.used(Metric::Events).await, 4);
}

/// The number of agents is limited, the new one included. Decommissioned agents do not count.
pub async fn the_number_of_agents_is_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    other.agent().await;
    let guard = Guard::AtMost { metric: Metric::Agents, limit: 2 };
    let one_more = || {
        let agent = scene.make.agent(scene.org);
        (scene.changes().create(&agent).guard(guard), agent)
    };
    let (changes, first) = one_more();
    scene.commit(changes).await;
    let (changes, _) = one_more();
    scene.commit(changes).await;
    let (changes, refused) = one_more();
    assert_refused!(scene.try_commit(changes).await, CommitError::LimitReached { metric: Metric::Agents, limit: 2 });
    assert_eq!(scene.store.find_agent(scene.org, refused.id).await.unwrap(), None);
    // Paused agents count; decommissioned ones do not.
    let paused = Agent { status: AgentStatus::Paused, version: first.version.next(), ..first.clone() };
    scene.commit(scene.changes().update(&paused, first.version).guard(guard)).await;
    assert_refused!(scene.try_commit(one_more().0).await, CommitError::LimitReached { .. });
    scene.decommission(&paused).await;
    scene.commit(one_more().0).await;
    assert_refused!(scene.try_commit(one_more().0).await, CommitError::LimitReached { .. });
}

/// The number of visible calendars is limited, the new one included. Deleted calendars and those of decommissioned
/// agents do not count.
pub async fn the_number_of_visible_calendars_is_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    other.shared_calendar().await;
    let agent = scene.agent().await;
    let (_own, shared) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    let guard = Guard::AtMost { metric: Metric::Calendars, limit: 2 };
    let one_more = || scene.changes().create(&scene.make.shared_calendar(scene.org)).guard(guard);
    let full = CommitError::LimitReached { metric: Metric::Calendars, limit: 2 }.to_string();
    let refused = async || scene.try_commit(one_more()).await.unwrap_err().to_string();
    assert_eq!(refused().await, full);
    scene.delete(&shared).await;
    scene.commit(one_more()).await;
    assert_eq!(refused().await, full);
    scene.decommission(&agent).await;
    scene.commit(one_more()).await;
    assert_eq!(refused().await, full);
    assert_eq!(scene.calendars().await.len(), 2);
}

/// Limits are checked after the writes: a place that the change-set frees can be taken at once.
pub async fn limits_are_checked_after_the_change(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let successor = scene.make.shared_calendar(scene.org);
    let guard = Guard::AtMost { metric: Metric::Calendars, limit: 1 };
    let gone = calendar.deleted(scene.make.tick());
    scene.commit(scene.changes().guard(guard).create(&successor).update(&gone, calendar.version)).await;
    let visible: Vec<_> = scene.calendars().await.iter().map(|calendar| calendar.id).collect();
    assert_eq!(visible, [successor.id]);
}
