//! The events that a search reads.

use std::collections::BTreeSet;

use kalends_calendars::{Candidate, Event, SearchPosition, ports::SearchFilter};
use kalends_kernel::EventId;
use kalends_time::{Span, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, hours},
    series::moved,
};
use crate::fixtures::Compose as _;

/// All events to search, read in parts of at most this size.
async fn searched(scene: &Scene, filter: SearchFilter, limit: usize) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    let mut after: Option<SearchPosition> = None;
    loop {
        let read = scene.store.events_to_search(scene.org, filter, after, limit).await.unwrap();
        assert!(read.data.len() <= limit);
        assert!(!read.data.is_empty() || !read.more, "a part that others may follow has events");
        all.extend(read.data);
        after = all.last().map(Candidate::position);
        if !read.more {
            return all;
        }
    }
}

fn start(hour: i64) -> Timestamp {
    hours(hour, hour + 1).start()
}

/// One-off events, overrides and series that start in the window are read by calendar and start, in parts of any size.
pub async fn events_are_searched_by_calendar_and_start(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.agent().await, scene.agent().await);
    let (work, home, other, shared) = (
        scene.calendar(&ada).await,
        scene.calendar(&ada).await,
        scene.calendar(&bob).await,
        scene.shared_calendar().await,
    );
    let window = hours(10, 100);
    let mut expected: Vec<Candidate> = Vec::new();
    let single = |event: &Event| Candidate::single(event.clone());
    for calendar in [&shared, &work, &home, &other] {
        for (from, to) in [(10, 11), (99, 200), (10, 12), (50, 51)] {
            expected.push(single(&scene.event(calendar, hours(from, to)).await));
        }
        // Before, overlapping the beginning, and after the window.
        for (from, to) in [(8, 9), (9, 50), (100, 101)] {
            scene.event(calendar, hours(from, to)).await;
        }
        let gone = scene.event(calendar, hours(20, 21)).await;
        scene.commit(scene.changes().update(&gone.deleted(scene.make.tick()).unwrap(), gone.version)).await;
    }
    for (calendar, first, rule, span) in [
        (&work, hours(2, 3), "FREQ=DAILY", Some(hours(26, 27))),
        (&work, hours(10, 11), "FREQ=DAILY;COUNT=2", Some(hours(10, 11))),
        (&home, hours(2, 3), "FREQ=DAILY;COUNT=1", None),
        (&home, hours(-40, -39), "FREQ=WEEKLY;COUNT=3", None),
        (&shared, hours(110, 111), "FREQ=DAILY", None),
        // The occurrence that overlaps the beginning of the window does not start in it.
        (&shared, hours(9, 12), "FREQ=WEEKLY;COUNT=1", None),
    ] {
        let series = scene.stored(scene.make.series(calendar, first, rule)).await;
        expected.extend(span.map(|first| Candidate { event: series, first: Some(first) }));
    }
    // A changed occurrence is read where it is now, and the series at its next one.
    let series = scene.stored(scene.make.series(&other, hours(20, 21), "FREQ=DAILY;COUNT=3")).await;
    let (series, within) = moved(&scene, &series, start(20), hours(60, 61)).await;
    let (series, _) = moved(&scene, &series, start(68), hours(300, 301)).await;
    expected.push(single(&within));
    expected.push(Candidate { event: series, first: Some(hours(44, 45)) });

    let gone = scene.shared_calendar().await;
    scene.event(&gone, hours(30, 31)).await;
    scene.delete(&gone).await;
    let eve = scene.agent().await;
    scene.event(&scene.calendar(&eve).await, hours(30, 31)).await;
    scene.decommission(&eve).await;
    let elsewhere = scene.other_organization().await;
    elsewhere.event(&elsewhere.shared_calendar().await, hours(30, 31)).await;

    expected.sort_by_key(Candidate::position);
    let all = SearchFilter { calendar: None, agent: None, window };
    for (filter, inside) in [
        (all, vec![&work, &home, &other, &shared]),
        (SearchFilter { calendar: Some(home.id), ..all }, vec![&home]),
        (SearchFilter { agent: Some(ada.id), ..all }, vec![&work, &home]),
        (SearchFilter { calendar: Some(work.id), agent: Some(ada.id), ..all }, vec![&work]),
        (SearchFilter { calendar: Some(work.id), agent: Some(bob.id), ..all }, vec![]),
        (SearchFilter { calendar: Some(gone.id), ..all }, vec![]),
    ] {
        let of_them = |candidate: &&Candidate| inside.iter().any(|on| on.id == candidate.event.calendar);
        let expected: Vec<Candidate> = expected.iter().filter(of_them).cloned().collect();
        for limit in [1, 2, 3, 7, 100] {
            assert_eq!(searched(&scene, filter, limit).await, expected, "in parts of {limit}");
        }
    }
}

/// Events with long texts are read in smaller parts, and none is left out.
pub async fn a_search_sees_large_events_in_parts(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let long = "x".repeat(400_000);
    let mut made = BTreeSet::new();
    for hour in 0..30 {
        let plain = match hour % 3 {
            0 => scene.make.series(&calendar, hours(hour, hour + 1), "FREQ=DAILY"),
            _ => scene.make.event(&calendar, hours(hour, hour + 1)),
        };
        made.insert(scene.stored(Event { description: Some(long.clone()), ..plain }).await.id);
    }
    let filter = SearchFilter { calendar: None, agent: None, window: hours(0, 50) };
    let found = searched(&scene, filter, 1_000).await;
    let ids: BTreeSet<EventId> = found.iter().map(|candidate| candidate.event.id).collect();
    assert_eq!((found.len(), ids), (made.len(), made));
    let ordered = found.windows(2).all(|pair| pair[0].position() < pair[1].position());
    assert!(ordered);
    assert!(found.iter().all(|candidate| candidate.first.is_none_or(|first: Span| first.start() >= start(0))));
}
