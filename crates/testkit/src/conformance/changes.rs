//! The changes of a calendar, in order. Spans are in hours from the beginning of the fixtures.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use kalends_app::ports::CommitError;
use kalends_calendars::{
    Calendar, Changed, ChangedSince, ChangesRead, ChangesSince, ChangesToken, Event, EventPatch, EventStatus,
    Occurrence, Patch, Position,
};
use kalends_kernel::{CalendarId, EventId, Revision};
use kalends_time::{Clock as _, SignedDuration, Span, Zone};

use super::{
    StoreUnderTest,
    scene::{Scene, hours, race, successes},
};
use crate::fixtures::{Compose, Fixtures};

const EVERYTHING: ChangesSince = ChangesSince { after: Position::START, deleted_after: Revision(0) };

async fn read(scene: &Scene, calendar: CalendarId, since: ChangesSince, limit: u32) -> ChangesRead {
    scene.store.changes(scene.org, calendar, since, limit).await.unwrap().unwrap()
}

async fn all(scene: &Scene, calendar: &Calendar, since: ChangesSince) -> Vec<(Revision, Changed)> {
    read(scene, calendar.id, since, 1_000).await.changes
}

async fn changed_since(scene: &Scene, calendar: &Calendar, since: i64, window: Span) -> ChangedSince {
    scene.store.changed_since(scene.org, calendar.id, Revision(since), window).await.unwrap().unwrap()
}

fn written(event: &Event) -> Changed {
    Changed::Written(Box::new(event.clone()))
}

fn renamed(event: &Event, title: &str) -> Event {
    Event { title: title.into(), version: event.version.next(), ..event.clone() }
}

async fn rename(scene: &Scene, event: &Event, title: &str) -> Event {
    let after = renamed(event, title);
    scene.commit(scene.changes().update(&after, event.version)).await;
    after
}

async fn delete(scene: &Scene, event: &Event) {
    let gone = event.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, event.version)).await;
}

/// Each event appears once, in its latest state, at its last change.
pub async fn changes_are_ordered_by_the_last_change(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    assert_eq!(read(&scene, calendar.id, EVERYTHING, 9).await.changes, []);
    let first = scene.event(&calendar, hours(1, 2)).await;
    let second = scene.event(&calendar, hours(2, 3)).await;
    let third = scene.event(&calendar, hours(3, 4)).await;
    scene.event(&scene.shared_calendar().await, hours(1, 2)).await;
    let expected = [(Revision(1), written(&first)), (Revision(2), written(&second)), (Revision(3), written(&third))];
    assert_eq!(all(&scene, &calendar, EVERYTHING).await, expected);

    let first = rename(&scene, &first, "Retro").await;
    delete(&scene, &second).await;
    let gone = Changed::Deleted { id: second.id, occurrence: None };
    let [.., third] = expected;
    let expected = [third, (Revision(4), written(&first)), (Revision(5), gone)];
    assert_eq!(all(&scene, &calendar, EVERYTHING).await, expected);
    let since_deletion = |deleted_after: i64| ChangesSince { deleted_after: Revision(deleted_after), ..EVERYTHING };
    assert_eq!(all(&scene, &calendar, since_deletion(4)).await, expected);
    assert_eq!(all(&scene, &calendar, since_deletion(5)).await, expected[..2]);
    assert_eq!(all(&scene, &calendar, since_deletion(i64::MAX)).await, expected[..2]);
    assert_eq!(read(&scene, calendar.id, EVERYTHING, 1_000).await.revision, Revision(5));
}

/// Pages continue after a position, even within changes that were committed together.
pub async fn changes_are_read_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for round in 0..3 {
        let mut together = scene.changes();
        for hour in 0..5 {
            together = together.create(&scene.make.event(&calendar, hours(10 * round + hour, 10 * round + hour + 1)));
        }
        scene.commit(together).await;
    }
    let all_changes = all(&scene, &calendar, EVERYTHING).await;
    assert_eq!(all_changes.len(), 15);
    for limit in 1..=6_u32 {
        let (mut since, mut paged) = (EVERYTHING, Vec::new());
        loop {
            let page = read(&scene, calendar.id, since, limit).await.changes;
            assert!(page.len() <= limit as usize);
            let Some((revision, last)) = page.last() else { break };
            since.after = Position { revision: *revision, id: last.id() };
            paged.extend(page);
        }
        assert_eq!(paged, all_changes, "pages of {limit}");
    }
    let behind = ChangesSince { after: Position::after(Revision(1)), ..EVERYTHING };
    assert_eq!(all(&scene, &calendar, behind).await, all_changes[5..]);
    let behind = ChangesSince { after: Position::after(Revision(3)), ..EVERYTHING };
    assert_eq!(all(&scene, &calendar, behind).await, []);
}

/// Every event has the revision to which its own change-set, or one committed with it, raised the calendar.
pub async fn events_carry_the_revision_of_their_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (one, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    // On a calendar that is created with the event, on an existing one, and on several at once.
    let new = scene.make.shared_calendar(scene.org);
    let on_new = scene.make.event(&new, hours(1, 2));
    let (on_one, on_other) = (scene.make.event(&one, hours(1, 2)), scene.make.event(&other, hours(1, 2)));
    scene.commit(scene.changes().create(&new).create(&on_new)).await;
    scene.commit(scene.changes().create(&on_one).create(&on_other)).await;
    let rules = scene.make.rules(&one);
    scene.commit(scene.changes().create(&rules)).await;
    let on_one = rename(&scene, &on_one, "Retro").await;
    assert_eq!(all(&scene, &new, EVERYTHING).await, [(Revision(1), written(&on_new))]);
    assert_eq!(all(&scene, &one, EVERYTHING).await, [(Revision(3), written(&on_one))]);
    assert_eq!(all(&scene, &other, EVERYTHING).await, [(Revision(1), written(&on_other))]);
}

/// An override is listed next to its series, and so is its deletion.
pub async fn overrides_are_changes_too(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let series = scene.stored(scene.make.series(&calendar, hours(1, 2), "FREQ=DAILY;COUNT=9")).await;
    let start = Fixtures::BEGINNING + SignedDuration::hours(25);
    let now = scene.make.tick();
    let instance = series.instance(start).unwrap();
    let patch = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
    let id = EventId::new(now, &scene.make.entropy);
    let (after, changed) = series.with_occurrence_patched(&instance, id, patch, Zone::UTC, now).unwrap();
    scene.commit(scene.changes().update(&after, series.version).create(&changed)).await;
    let expected = [(Revision(2), written(&after)), (Revision(2), written(&changed))];
    assert_eq!(all(&scene, &calendar, EVERYTHING).await, expected);

    let without = after.without_occurrence(start, scene.make.tick()).unwrap();
    let gone = changed.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&without, after.version).update(&gone, changed.version)).await;
    let occurrence = Some(Occurrence { series: series.id, start });
    let expected = [(Revision(3), written(&without)), (Revision(3), Changed::Deleted { id, occurrence })];
    assert_eq!(all(&scene, &calendar, EVERYTHING).await, expected);
}

/// A calendar that is hidden, or belongs to another organization, is absent.
pub async fn changes_are_hidden_with_their_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (calendar, deleted) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    let database = read(&scene, calendar.id, EVERYTHING, 9).await.database;
    assert_eq!(read(&scene, deleted.id, EVERYTHING, 9).await.database, database);
    let other = scene.other_organization().await;
    let absent = async |scene: &Scene, calendar: &Calendar| {
        let changes = scene.store.changes(scene.org, calendar.id, EVERYTHING, 9).await.unwrap();
        let since = scene.store.changed_since(scene.org, calendar.id, Revision(0), hours(0, 9)).await.unwrap();
        assert_eq!((changes, since), (None, None));
    };
    absent(&other, &calendar).await;
    absent(&scene, &other.make.shared_calendar(other.org)).await;
    scene.delete(&deleted).await;
    absent(&scene, &deleted).await;
    scene.decommission(&agent).await;
    absent(&scene, &calendar).await;
}

/// Only events that may take place in the window count as changed since.
pub async fn changed_since_counts_events_in_the_window(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let old = scene.event(&calendar, hours(10, 11)).await;
    let inside = scene.event(&calendar, hours(10, 11)).await;
    scene.event(&calendar, hours(9, 10)).await;
    scene.event(&calendar, hours(12, 13)).await;
    let around = scene.event(&calendar, hours(-100, 100)).await;
    let status = |status| Event { status, ..scene.make.event(&calendar, hours(10, 11)) };
    let tentative = scene.stored(status(EventStatus::Tentative)).await;
    scene.stored(status(EventStatus::Cancelled)).await;
    delete(&scene, &scene.event(&calendar, hours(10, 11)).await).await;
    let series = scene.stored(scene.make.series(&calendar, hours(1, 2), "FREQ=DAILY")).await;
    let ends = scene.stored(scene.make.series(&calendar, hours(-30, -29), "FREQ=DAILY;COUNT=3")).await;
    scene.stored(scene.make.series(&calendar, hours(-53, -52), "FREQ=DAILY;COUNT=3")).await;
    scene.stored(scene.make.series(&calendar, hours(12, 13), "FREQ=DAILY")).await;

    let found = changed_since(&scene, &calendar, 1, hours(10, 12)).await;
    let events = [inside.clone(), around.clone(), tentative.clone(), series.clone(), ends.clone()];
    assert_eq!(found, ChangedSince { revision: Revision(13), rules_changed: false, events: events.to_vec() });
    assert_eq!(changed_since(&scene, &calendar, 0, hours(10, 12)).await.events[0], old);
    assert_eq!(changed_since(&scene, &calendar, 6, hours(10, 12)).await.events, events[3..]);
    let none = changed_since(&scene, &calendar, 13, hours(10, 12)).await;
    assert_eq!(none, ChangedSince { revision: Revision(13), rules_changed: false, events: Vec::new() });

    // A moved event counts at its new time.
    let moved = Event { times: scene.make.event(&calendar, hours(30, 31)).times, ..renamed(&inside, "Later") };
    scene.commit(scene.changes().update(&moved, inside.version)).await;
    assert_eq!(changed_since(&scene, &calendar, 13, hours(10, 12)).await.events, []);
    assert_eq!(changed_since(&scene, &calendar, 13, hours(30, 31)).await.events, [moved]);
}

/// Rules that were added, replaced or removed since are reported, whatever the window.
pub async fn changed_since_includes_rules(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    scene.event(&calendar, hours(1, 2)).await;
    let count_since = async |since: i64| {
        let found = changed_since(&scene, &calendar, since, hours(0, 9)).await;
        (found.revision.0, found.rules_changed)
    };
    assert_eq!(count_since(0).await, (1, false));
    let put = scene.make.rules(&calendar);
    scene.commit(scene.changes().create(&put)).await;
    assert_eq!((count_since(1).await, count_since(2).await), ((2, true), (2, false)));
    scene.event(&calendar, hours(1, 2)).await;
    assert_eq!((count_since(1).await, count_since(2).await), ((3, true), (3, false)));
    let mut replaced = put.clone();
    replaced.version = put.version.next();
    scene.commit(scene.changes().update(&replaced, put.version)).await;
    assert_eq!((count_since(3).await, count_since(4).await), ((4, true), (4, false)));
    scene.commit(scene.changes().delete(&replaced)).await;
    assert_eq!((count_since(4).await, count_since(5).await), ((5, true), (5, false)));
}

/// A copy of a calendar that is maintained only from its changes.
struct Mirror {
    token: Option<ChangesToken>,
    events: BTreeMap<EventId, Event>,
}

impl Mirror {
    /// Applies one page and returns whether there are more.
    async fn follow(&mut self, scene: &Scene, calendar: CalendarId, limit: u32) -> bool {
        // Goes through the token's text, which is what clients send.
        let since = self.token.map(|token| ChangesToken::parse(&token.to_text(), calendar).unwrap());
        let read = read(scene, calendar, ChangesToken::asks(since.as_ref()), limit + 1).await;
        let page = ChangesToken::page(since.as_ref(), calendar, read, limit, scene.make.clock.now()).unwrap();
        let mut seen = BTreeSet::new();
        for changed in page.changes {
            assert!(seen.insert(changed.id()), "a page tells an event once");
            match changed {
                Changed::Written(event) => drop(self.events.insert(event.id, *event)),
                Changed::Deleted { id, .. } => drop(self.events.remove(&id)),
            }
        }
        self.token = Some(page.next);
        page.has_more
    }
}

/// Mirrors follow while writers write. In the end, each mirror equals the calendar.
pub async fn a_mirror_converges_to_the_calendar(store: &StoreUnderTest) {
    const WRITERS: usize = 6;
    const ROUNDS: i64 = 12;
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let shared = scene.event(&calendar, hours(0, 1)).await;
    let done = Arc::new(AtomicBool::new(false));
    let mirrors: Vec<_> = [1, 3, 50]
        .into_iter()
        .map(|limit| {
            let (scene, calendar, done) = (scene.clone(), calendar.id, Arc::clone(&done));
            tokio::spawn(async move {
                let mut mirror = Mirror { token: None, events: BTreeMap::new() };
                loop {
                    // Read before the page, so that whatever is written after it is on this page or a later one.
                    let last = done.load(Ordering::SeqCst);
                    let has_more = mirror.follow(&scene, calendar, limit).await;
                    if last && !has_more {
                        return mirror.events;
                    }
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    race(WRITERS, |writer| {
        let (scene, calendar, shared) = (scene.clone(), calendar.clone(), shared.clone());
        async move {
            for round in 0..ROUNDS {
                let mut event = scene.event(&calendar, hours(round, round + 1)).await;
                event = rename(&scene, &event, &format!("{writer}.{round}")).await;
                if round % 3 == 0 {
                    delete(&scene, &event).await;
                }
                // All writers also write one shared event.
                loop {
                    let seen = scene.now(&shared).await.unwrap();
                    let after = renamed(&seen, &format!("{writer}.{round}"));
                    match scene.try_commit(scene.changes().update(&after, seen.version)).await {
                        Ok(()) => break,
                        Err(CommitError::Stale) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        }
    })
    .await;
    done.store(true, Ordering::SeqCst);
    let expected: BTreeMap<EventId, Event> =
        scene.events(calendar.id).await.into_iter().map(|event| (event.id, event)).collect();
    assert_eq!(expected.len(), WRITERS * 8 + 1);
    for mirror in mirrors {
        assert_eq!(mirror.await.unwrap(), expected);
    }
}

/// The changes and the revision that they reach come from one snapshot.
pub async fn changed_since_is_one_snapshot(store: &StoreUnderTest) {
    const TASKS: usize = 24;
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let reading = {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        tokio::spawn(async move {
            loop {
                let found = changed_since(&scene, &calendar, 0, hours(0, 9)).await;
                assert_eq!(i64::try_from(found.events.len()), Ok(found.revision.0));
                if found.events.len() == TASKS {
                    break;
                }
                tokio::task::yield_now().await;
            }
        })
    };
    let outcomes = race(TASKS, |_| {
        let (scene, event) = (scene.clone(), scene.make.event(&calendar, hours(1, 2)));
        async move { scene.try_commit(scene.changes().create(&event)).await }
    })
    .await;
    assert_eq!(successes(&outcomes), TASKS, "{outcomes:?}");
    reading.await.unwrap();
}
