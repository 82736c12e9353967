//! Lists of events by their metadata.

use kalends_app::ports::CommitError;
use kalends_calendars::{
    Calendar, Event, EventStatus, Times,
    ports::{EventFilter, EventScope, InstanceFilter, InstanceScope, StatusAt},
};
use kalends_kernel::{EventId, Metadata, MetadataFilter, Page};
use kalends_time::{SignedDuration, Span};
use serde_json::json;

use super::{
    StoreUnderTest,
    samples::{TRICKY, rich_metadata},
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, minutes},
};
use crate::fixtures::Compose;

fn metadata(value: serde_json::Value) -> Metadata {
    Metadata::parse("metadata", value).unwrap()
}

fn filter(pairs: &[(&str, &str)]) -> MetadataFilter {
    MetadataFilter::parse("metadata", pairs.iter().copied()).unwrap()
}

/// The events of the calendar with the metadata, and their total.
async fn listed(scene: &Scene, calendar: &Calendar, pairs: &[(&str, &str)]) -> Vec<EventId> {
    let filter = EventFilter { metadata: filter(pairs), ..EventFilter::default() };
    let scope = EventScope::Calendar(calendar.id);
    let found = scene.store.list_events(scene.org, scope, filter, LARGEST_PAGE).await.unwrap();
    assert_eq!(found.total, found.data.len() as u64);
    found.data.iter().map(|event| event.id).collect()
}

/// Small metadata of which many are alike.
fn sample(number: usize) -> Metadata {
    let value = match number % 7 {
        0 => json!({}),
        1 => json!({ "n": 1, "text": "a" }),
        2 => json!({ "n": 1.0, "text": "A", "flag": true }),
        3 => json!({ "n": "1", "text": "a", "flag": "true" }),
        4 => json!({ "n": 2, "text": ["a"], "flag": false }),
        5 => json!({ "n": null, "text": { "n": 1 }, "a.b": 0.5 }),
        _ => return rich_metadata(),
    };
    metadata(value)
}

fn filters() -> Vec<MetadataFilter> {
    let pairs: &[&[(&str, &str)]] = &[
        &[],
        &[("n", "1")],
        &[("n", "1.0")],
        &[("n", "2")],
        &[("n", "null")],
        &[("text", "a")],
        &[("text", "a"), ("n", "1")],
        &[("n", "1"), ("flag", "true"), ("text", "A")],
        &[("n", "1"), ("flag", "false")],
        &[("flag", "true")],
        &[("a.b", "5e-1")],
        &[("a", "b")],
        &[("text", TRICKY)],
        &[("control", "\u{1}\n\t")],
        &[("none", "1")],
    ];
    pairs.iter().map(|pairs| filter(pairs)).collect()
}

/// A list has exactly the events whose metadata matches, together with every other filter, in every scope and page.
pub async fn events_are_listed_by_metadata(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendars = [scene.calendar(&agent).await, scene.calendar(&agent).await, scene.shared_calendar().await];
    let gone = scene.calendar(&agent).await;
    let other = scene.other_organization().await;
    let of_others = other.shared_calendar().await;
    let mut made = Vec::new();
    for number in 0..42 {
        let status = if number % 5 == 0 { EventStatus::Tentative } else { EventStatus::Confirmed };
        let start = i64::try_from(number % 11).unwrap() * 60;
        let event = |calendar| Event {
            metadata: sample(number),
            status,
            ..scene.make.event(calendar, minutes(start, start + 30))
        };
        made.push(event(&calendars[number % 3]));
        scene.commit(scene.changes().create(&made[number]).create(&event(&gone))).await;
        other.stored(event(&of_others)).await;
    }
    scene.delete(&gone).await;
    made.sort_by_key(|event| (event.times.span.start(), event.id));

    for scope in
        [EventScope::Agent(agent.id), EventScope::Calendar(calendars[0].id), EventScope::Calendar(calendars[2].id)]
    {
        for (index, metadata) in filters().into_iter().enumerate() {
            let at = StatusAt { status: EventStatus::Confirmed, now: scene.make.tick() };
            let filter = EventFilter {
                start_after: (index % 2 == 0).then(|| hours(2, 3).start()),
                start_before: (index % 3 == 0).then(|| hours(9, 10).start()),
                status: (index % 4 == 0).then_some(at),
                source: None,
                metadata,
            };
            for filter in [EventFilter { metadata: filter.metadata.clone(), ..EventFilter::default() }, filter] {
                let expected: Vec<&Event> = made
                    .iter()
                    .filter(|event| match scope {
                        EventScope::Calendar(calendar) => event.calendar == calendar,
                        EventScope::Agent(_) => event.calendar != calendars[2].id,
                    })
                    .filter(|event| filter.start_after.is_none_or(|after| event.times.span.start() >= after))
                    .filter(|event| filter.start_before.is_none_or(|before| event.times.span.start() < before))
                    .filter(|event| filter.status.is_none_or(|at| event.status == at.status))
                    .filter(|event| filter.metadata.matches(&event.metadata))
                    .collect();
                for page in [LARGEST_PAGE, Page { limit: 2, offset: 1 }, Page { limit: 1, offset: 40 }] {
                    let listed = scene.store.list_events(scene.org, scope, filter.clone(), page).await.unwrap();
                    assert_eq!(listed.total, expected.len() as u64, "{scope:?} {filter:?} {page:?}");
                    let on_page = expected.iter().skip(page.offset as usize).take(page.limit as usize).copied();
                    let on_page: Vec<&Event> = on_page.collect();
                    assert_eq!(listed.data.iter().collect::<Vec<_>>(), on_page, "{scope:?} {filter:?} {page:?}");
                }
            }
        }
    }
}

/// An expanded list has exactly the instances whose metadata matches: that of their series, or their own.
pub async fn instances_are_listed_by_metadata(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let second = scene.calendar(&agent).await;
    for number in 0..14 {
        let start = i64::try_from(number).unwrap();
        let rule = "FREQ=DAILY;COUNT=4";
        let series = Event { metadata: sample(number), ..scene.make.series(&calendar, hours(start, start + 1), rule) };
        let single = Event { metadata: sample(number + 1), ..scene.make.event(&calendar, hours(start, start + 1)) };
        let other = Event { metadata: sample(number + 3), ..scene.make.event(&second, hours(start, start + 1)) };
        scene.commit(scene.changes().create(&series).create(&single).create(&other)).await;
        let second = series.times.span.start() + SignedDuration::days(1);
        let (after, changed) = super::series::changed(&scene, &series, second);
        let changed = Event { metadata: sample(number + 2), ..changed };
        scene.commit(scene.changes().update(&after, series.version).create(&changed)).await;
    }
    let window = hours(3, 60);
    let both = [calendar.id, second.id];
    for scope in [InstanceScope::Agent(agent.id), InstanceScope::Calendars(&both[..1]), InstanceScope::Calendars(&both)]
    {
        let with = |metadata| InstanceFilter { window, status: None, source: None, metadata };
        let list = async |metadata, page| {
            scene.store.list_instances(scene.org, scope, with(metadata), page).await.unwrap().unwrap()
        };
        let all = list(MetadataFilter::default(), LARGEST_PAGE).await;
        assert!(all.total > 40 && all.total <= 200, "{}", all.total);
        for filter in filters() {
            let expected: Vec<&Event> = all.data.iter().filter(|event| filter.matches(&event.metadata)).collect();
            for page in [LARGEST_PAGE, Page { limit: 3, offset: 2 }] {
                let listed = list(filter.clone(), page).await;
                assert_eq!(listed.total, expected.len() as u64, "{filter:?}");
                let on_page = expected.iter().skip(page.offset as usize).take(page.limit as usize).copied();
                assert_eq!(listed.data.iter().collect::<Vec<_>>(), on_page.collect::<Vec<_>>(), "{filter:?}");
            }
        }
    }
}

/// The index follows each change of an event, and a refused change leaves it as it was.
pub async fn the_metadata_index_follows_changes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let entries = async || scene.inspect.indexed_entries(scene.org).await;
    let made = |value, span| Event { metadata: metadata(value), ..scene.make.event(&calendar, span) };
    let first = scene.stored(made(json!({ "a": 1, "b": "x", "c": [] }), hours(1, 2))).await;
    let second = scene.stored(made(json!({ "a": 1 }), hours(2, 3))).await;
    assert_eq!(listed(&scene, &calendar, &[("a", "1")]).await, [first.id, second.id]);
    assert_eq!(entries().await, 3);

    let changed =
        Event { metadata: metadata(json!({ "a": 2, "b": "x" })), version: first.version.next(), ..first.clone() };
    scene.commit(scene.changes().update(&changed, first.version)).await;
    assert_eq!(listed(&scene, &calendar, &[("a", "1")]).await, [second.id]);
    assert_eq!(listed(&scene, &calendar, &[("a", "2"), ("b", "x")]).await, [first.id]);
    assert_eq!(entries().await, 3);

    let renamed = Event { title: "Renamed".into(), version: changed.version.next(), ..changed.clone() };
    scene.commit(scene.changes().update(&renamed, changed.version)).await;
    assert_eq!(listed(&scene, &calendar, &[("a", "2")]).await, [first.id]);

    let stale = Event { metadata: metadata(json!({ "a": 3 })), ..changed.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&stale, first.version)).await, CommitError::Stale);
    assert_eq!(listed(&scene, &calendar, &[("a", "3")]).await, []);
    assert_eq!(listed(&scene, &calendar, &[("a", "2")]).await, [first.id]);

    let moved = Event { calendar: other.id, version: renamed.version.next(), ..renamed.clone() };
    let changes = vec![kalends_calendars::Change::update(&renamed, moved.clone())];
    scene.commit(kalends_app::ChangeSet { calendars: changes, ..scene.changes() }).await;
    assert_eq!(listed(&scene, &calendar, &[("a", "2")]).await, []);
    assert_eq!(listed(&scene, &other, &[("a", "2"), ("b", "x")]).await, [first.id]);
    assert_eq!(entries().await, 3);

    let deleted = moved.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&deleted, moved.version)).await;
    assert_eq!(listed(&scene, &other, &[("a", "2")]).await, []);
    assert_eq!(entries().await, 1, "only the other event is left");
}

/// An event with too many entries is found by the first of them, and needs no more room than these.
pub async fn the_first_entries_are_indexed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let entries = (0..1_400).map(|number| (format!("{number:04}"), json!(number)));
    let many = Event { metadata: metadata(entries.collect()), ..scene.make.event(&calendar, hours(1, 2)) };
    scene.stored(many.clone()).await;
    assert_eq!(listed(&scene, &calendar, &[("0000", "0"), ("0049", "49")]).await, [many.id]);
    assert_eq!(listed(&scene, &calendar, &[("0050", "50")]).await, []);
    assert_eq!(scene.inspect.indexed_entries(scene.org).await, Metadata::TERMS_MAX);
}

/// Events that an earlier release wrote are indexed later, a batch at a time, and other organizations do not wait.
pub async fn events_of_an_earlier_release_are_indexed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let mut made = Vec::new();
    for number in 0..7 {
        let span = Span::new(hours(number, number + 1).start(), hours(number, number + 1).end()).unwrap();
        let value = json!({ "a": 1, "n": number });
        made.push(scene.stored(Event { metadata: metadata(value), ..scene.make.event(&calendar, span) }).await);
    }
    let gone = made[6].deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, made[6].version)).await;
    made.pop();
    let ids: Vec<EventId> = made.iter().map(|event| event.id).collect();
    assert_eq!(scene.inspect.indexed_entries(scene.org).await, 12);
    assert!(scene.store.is_metadata_indexed(scene.org).await.unwrap());
    assert!(scene.store.index_metadata(100).await.unwrap(), "there is nothing to do");
    assert_eq!(listed(&scene, &calendar, &[("a", "1")]).await, ids);

    // An older node writes: the index has other entries then.
    scene.inspect.unindex(scene.org).await;
    let other = scene.other_organization().await;
    assert!(other.store.is_metadata_indexed(other.org).await.unwrap());
    // A change in between indexes its event alone.
    let changed = Event {
        times: Times { span: hours(0, 2), all_day: false },
        metadata: metadata(json!({ "a": 1, "n": "new" })),
        version: made[0].version.next(),
        ..made[0].clone()
    };
    scene.commit(scene.changes().update(&changed, made[0].version)).await;
    let mut calls = 0;
    while !scene.store.index_metadata(3).await.unwrap() {
        calls += 1;
        assert!(calls < 10, "it does not end");
    }
    assert!(scene.store.is_metadata_indexed(scene.org).await.unwrap());
    assert_eq!(listed(&scene, &calendar, &[("a", "1")]).await, ids);
    assert_eq!(listed(&scene, &calendar, &[("n", "new")]).await, [ids[0]]);
    assert_eq!(listed(&scene, &calendar, &[("n", "3")]).await, [ids[3]]);
    assert_eq!(scene.inspect.indexed_entries(scene.org).await, 12, "nothing else is left");
}
