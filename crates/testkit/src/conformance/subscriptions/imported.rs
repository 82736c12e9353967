//! How imported events count, and the room for them that syncs reserve.

use kalends_app::{ChangeSet, Guard, ports::CommitError};
use kalends_calendars::{Calendar, Event, EventSource};
use kalends_feeds::{Change, SyncClaim, sync::CLAIM_LASTS};
use kalends_plans::Metric;
use kalends_time::SignedDuration;

use super::TASKS;
use crate::conformance::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::Compose as _;

/// Visible subscriptions are counted; imported series are not.
pub async fn imported_series_count_in_no_quota(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let at_most = |limit| Guard::AtMost { metric: Metric::IcalSubscriptions, limit };
    let subscribe = async |calendar: &Calendar, limit| {
        let mut changes = scene.changes();
        changes.guards.push(at_most(limit));
        let made = scene.subscription(calendar, "https://example.com/");
        changes.feeds.push(Change::CreateSubscription(Box::new(made)));
        scene.try_commit(changes).await
    };
    let doomed = scene.own_calendar().await;
    subscribe(&calendar, 2).await.unwrap();
    subscribe(&doomed, 2).await.unwrap();
    assert_refused!(
        subscribe(&calendar, 2).await,
        CommitError::LimitReached { metric: Metric::IcalSubscriptions, limit: 2 }
    );
    scene.delete(&doomed).await;
    subscribe(&calendar, 2).await.unwrap();

    let imported = |event: Event| Event { source: EventSource::ExternalIcal, ..event };
    let series = |rule| scene.make.series(&calendar, hours(1, 2), rule);
    scene.stored(imported(series("FREQ=DAILY"))).await;
    let now = hours(0, 1).start();
    let mut changes = scene.changes().create(&series("FREQ=DAILY"));
    changes.guards.push(Guard::SeriesAtMost { limit: 1, now });
    scene.try_commit(changes).await.unwrap();
}

/// Reserves room for `reserved` imported events, under a limit.
fn room(scene: &Scene, claim: SyncClaim, reserved: u64, limit: u64) -> ChangeSet {
    let mut changes = scene.changes().guard(Guard::AtMost { metric: Metric::ImportedEvents, limit });
    changes.feeds.push(Change::RenewClaim { claim, at: scene.make.tick(), reserved });
    changes
}

async fn imported(scene: &Scene) -> u64 {
    let usage = scene.store.usage(scene.org, scene.make.period(), scene.make.tick()).await.unwrap();
    usage.iter().find(|(metric, _)| *metric == Metric::ImportedEvents).map_or(0, |(_, used)| *used)
}

/// Imported events count as long as their rows exist, together with the reservations of running syncs.
pub async fn imported_events_count_until_they_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, doomed) = (scene.own_calendar().await, scene.own_calendar().await);
    let import = async |calendar: &Calendar| {
        let event = Event { source: EventSource::ExternalIcal, ..scene.make.event(calendar, hours(1, 2)) };
        scene.stored(event).await
    };
    scene.event(&calendar, hours(1, 2)).await;
    assert_eq!(imported(&scene).await, 0, "other events do not count");
    let (kept, gone) = (import(&calendar).await, import(&calendar).await);
    import(&doomed).await;
    assert_eq!(imported(&scene).await, 3);
    scene.commit(scene.changes().update(&gone.gone(scene.make.tick()), gone.version)).await;
    scene.delete(&doomed).await;
    let deleted = scene.make.tick();
    assert_eq!(imported(&scene).await, 3, "deleted ones are still there");

    let subscription = scene.subscribed(&calendar, "https://example.com/").await;
    let claim = scene.claim_one(scene.make.tick()).await;
    assert_refused!(
        scene.try_commit(room(&scene, claim, 3, 5)).await,
        CommitError::LimitReached { metric: Metric::ImportedEvents, limit: 5 }
    );
    scene.try_commit(room(&scene, claim, 2, 5)).await.unwrap();
    assert_eq!(imported(&scene).await, 5);
    // Events that a sync adds use up its reservation.
    let mut chunk = scene.changes();
    chunk = chunk.create(&Event { source: EventSource::ExternalIcal, ..scene.make.event(&calendar, hours(3, 4)) });
    chunk.feeds.push(Change::RenewClaim { claim, at: scene.make.tick(), reserved: 1 });
    scene.commit(chunk).await;
    assert_eq!(imported(&scene).await, 5);
    let now = scene.make.tick();
    scene.end_sync(claim, subscription.state.clone(), now, now + SignedDuration::hours(1)).await.unwrap();
    assert_eq!(imported(&scene).await, 4, "a sync that has ended adds nothing more");

    let purge = async |before, limit| scene.store.purge_imported_events(before, limit).await.unwrap();
    assert_eq!(purge(deleted - SignedDuration::hours(1), 10).await, 0);
    assert_eq!(purge(deleted, 1).await, 1);
    assert_eq!(purge(deleted, 10).await, 1);
    assert_eq!(purge(deleted, 10).await, 0);
    assert_eq!(imported(&scene).await, 2);
    assert_eq!(scene.now(&kept).await, Some(kept));
}

/// An imported event is purged and counted once, even if it was deleted on a deleted calendar of a decommissioned
/// agent.
pub async fn imported_events_are_purged_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let import = async |scene: &Scene, calendar: &Calendar| {
        let event = Event { source: EventSource::ExternalIcal, ..scene.make.event(calendar, hours(1, 2)) };
        scene.stored(event).await
    };
    let remove = async |scene: &Scene, event: &Event| {
        scene.commit(scene.changes().update(&event.gone(scene.make.tick()), event.version)).await;
    };
    let agent = scene.agent().await;
    let (calendar, doomed) = (scene.calendar(&agent).await, scene.calendar(&agent).await);
    let (living, theirs) = (scene.own_calendar().await, other.own_calendar().await);
    let stays = import(&scene, &living).await;
    for calendar in [&calendar, &doomed] {
        import(&scene, calendar).await;
        remove(&scene, &import(&scene, calendar).await).await;
    }
    let also_stays = import(&other, &theirs).await;
    remove(&other, &import(&other, &theirs).await).await;
    scene.delete(&doomed).await;
    let ended = scene.decommission(&agent).await.updated_at;
    assert_eq!((imported(&scene).await, imported(&other).await), (5, 2));

    let purge = async |before, limit| scene.store.purge_imported_events(before, limit).await.unwrap();
    assert_eq!(purge(agent.created_at, 10).await, 0);
    assert_eq!(purge(ended - SignedDuration::micros(1), 10).await, 4, "the agent was not decommissioned then");
    assert_eq!((imported(&scene).await, imported(&other).await), (2, 1));
    assert_eq!(purge(ended, 10).await, 1);
    assert_eq!((imported(&scene).await, imported(&other).await), (1, 1));
    assert_eq!((scene.now(&stays).await, other.now(&also_stays).await), (Some(stays), Some(also_stays)));
}

/// A purge that finds more than its limit removes exactly that many, so that its caller continues.
pub async fn a_purge_stops_at_its_limit(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    for index in 0..5 {
        let event = Event { source: EventSource::ExternalIcal, ..scene.make.event(&calendar, hours(1, 2)) };
        let event = scene.stored(event).await;
        if index < 3 {
            scene.commit(scene.changes().update(&event.gone(scene.make.tick()), event.version)).await;
        }
    }
    scene.delete(&calendar).await;
    let ended = scene.decommission(&agent).await.updated_at;
    let purge = async || scene.store.purge_imported_events(ended, 4).await.unwrap();
    assert_eq!((purge().await, purge().await, purge().await), (4, 1, 0));
}

/// The reservation of a claim is freed when the claim has lapsed and the subscription is claimed again.
pub async fn a_lapsed_claim_frees_its_room(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.subscribed(&scene.own_calendar().await, "https://example.com/").await;
    let now = scene.make.tick();
    let lapsed = scene.claim_one(now).await;
    scene.feed(vec![Change::RenewClaim { claim: lapsed, at: now, reserved: 2 }]).await.unwrap();
    assert_eq!(imported(&scene).await, 2);
    let claim = scene.claim_one(now + CLAIM_LASTS).await;
    assert_eq!(imported(&scene).await, 0);
    scene.try_commit(room(&scene, claim, 1, 1)).await.unwrap();
    assert_eq!(imported(&scene).await, 1);
}

/// If several syncs would fill the same room at once, one gets it.
pub async fn the_last_room_is_taken_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut claims = Vec::new();
    for index in 0..TASKS {
        let calendar = scene.own_calendar().await;
        scene.subscribed(&calendar, &format!("https://{index}.example/")).await;
    }
    claims.extend(scene.claim_due(scene.make.tick(), 100).await);
    assert_eq!(claims.len(), TASKS);
    let claims: Vec<SyncClaim> = claims.into_iter().map(|(claim, _)| claim).collect();
    let outcomes = race(TASKS, |index| {
        let (scene, claim) = (scene.clone(), claims[index]);
        async move { scene.try_commit(room(&scene, claim, 6, 10)).await }
    })
    .await;
    for outcome in &outcomes {
        let full = matches!(outcome, Err(CommitError::LimitReached { metric: Metric::ImportedEvents, limit: 10 }));
        assert!(outcome.is_ok() || full, "{outcome:?}");
    }
    assert_eq!(successes(&outcomes), 1);
    assert_eq!(imported(&scene).await, 6);
}
