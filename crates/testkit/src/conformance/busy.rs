//! Busy times.

use kalends_calendars::{
    Calendar, Event, EventSource, EventStatus, Times,
    ports::{BUSY_DAY_MAX, BusySource, CalendarBusy},
};
use kalends_kernel::{AgentId, Revision};
use kalends_time::{SignedDuration, Span, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, hours, micros, minutes},
};
use crate::fixtures::Compose;

/// The revision and the spans. Asserts that the spans are ordered by start, and then orders ties too.
async fn blocking(scene: &Scene, calendar: &Calendar, window: Span) -> (Revision, Vec<Span>) {
    let found = scene.store.blocking_spans(scene.org, calendar.id, window).await.unwrap();
    let CalendarBusy { revision, mut spans, .. } = found.expect("the calendar is visible");
    assert!(spans.is_sorted_by_key(|span| span.start()), "ordered by start: {spans:?}");
    spans.sort();
    (revision, spans)
}

/// A span blocks if it shares a point in time with the window, and is returned whole.
pub async fn blocking_spans_overlap_the_window(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let window = hours(10, 12);
    let (from, to) = (10 * 3_600_000_000, 12 * 3_600_000_000);
    let inside = [
        window,
        hours(10, 11),
        hours(11, 12),
        hours(9, 13),
        minutes(630, 631),
        micros(from - 5, from + 1),
        micros(to - 1, to + 5),
        micros(from, from + 1),
    ];
    let outside = [hours(9, 10), hours(12, 13), micros(from - 1, from), micros(to, to + 1), hours(1, 2), hours(30, 31)];

    for (span, blocks) in inside.map(|span| (span, true)).into_iter().chain(outside.map(|span| (span, false))) {
        let calendar = scene.shared_calendar().await;
        scene.event(&calendar, span).await;
        let expected = if blocks { vec![span] } else { vec![] };
        assert_eq!(blocking(&scene, &calendar, window).await, (Revision(1), expected), "{span:?}");
    }

    let together = scene.shared_calendar().await;
    for span in inside.iter().rev().chain(&outside) {
        scene.event(&together, *span).await;
    }
    let mut expected = inside.to_vec();
    expected.sort();
    let raised = Revision((inside.len() + outside.len()).try_into().unwrap());
    assert_eq!(blocking(&scene, &together, window).await, (raised, expected));
}

/// Events that began long before the window, or last for years, block it too.
pub async fn long_events_block(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let years = 24 * 365 * 20;
    let long = [
        Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap(),
        hours(-years, 11),
        hours(-years, years),
        hours(11, years),
        hours(-24 * 400, 24 * 400),
    ];
    for span in long.into_iter().chain([hours(-years, 10), hours(12, years)]) {
        scene.event(&calendar, span).await;
    }
    // Many short events around them, to expose a bound on how far a read looks back.
    for hour in 0..10 {
        scene.event(&calendar, hours(hour, hour + 1)).await;
    }
    let mut expected = long.to_vec();
    expected.sort();
    assert_eq!(blocking(&scene, &calendar, hours(10, 12)).await.1, expected);
}

/// Confirmed and tentative events block, and so do imported ones. Cancelled events do not.
pub async fn the_status_decides_what_blocks(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let statuses = [(EventStatus::Confirmed, true), (EventStatus::Tentative, true), (EventStatus::Cancelled, false)];
    for (status, blocks) in statuses {
        for source in EventSource::ALL {
            let calendar = scene.shared_calendar().await;
            let event = Event { status, source: *source, ..scene.make.event(&calendar, hours(1, 2)) };
            scene.commit(scene.changes().create(&event)).await;
            let expected = if blocks { vec![hours(1, 2)] } else { vec![] };
            assert_eq!(blocking(&scene, &calendar, hours(0, 9)).await, (Revision(1), expected), "{status:?}");
        }
    }
}

/// Blocking times follow every change: moving, cancelling, confirming again, deleting.
pub async fn blocking_spans_follow_changes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    scene.event(&other, hours(1, 2)).await;
    let mut event = scene.event(&calendar, hours(1, 2)).await;
    let moved = Times { span: hours(3, 4), all_day: true };
    let steps: [(Event, Vec<Span>); 4] = [
        (Event { times: moved, ..event.clone() }, vec![hours(3, 4)]),
        (Event { status: EventStatus::Cancelled, times: moved, ..event.clone() }, vec![]),
        (Event { status: EventStatus::Tentative, ..event.clone() }, vec![hours(1, 2)]),
        (Event { deleted_at: Some(scene.make.tick()), ..event.clone() }, vec![]),
    ];
    let mut revision = Revision(1);
    for (next, expected) in steps {
        let next = Event { version: event.version.next(), ..next };
        scene.commit(scene.changes().update(&next, event.version)).await;
        revision.0 += 1;
        assert_eq!(blocking(&scene, &calendar, hours(0, 9)).await, (revision, expected));
        event = next;
    }
    assert_eq!(blocking(&scene, &other, hours(0, 9)).await, (Revision(1), vec![hours(1, 2)]));
}

/// All events that begin on one day are returned, however many there are, whether one change-set or many wrote them,
/// and also after some were moved to other days, extended beyond a day, cancelled or deleted.
pub async fn full_days_are_read_completely(store: &StoreUnderTest) {
    const EACH: i64 = 9;
    let many = i64::from(BUSY_DAY_MAX) + EACH;
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let three_days = hours(0, 72);
    let mut events: Vec<Event> =
        (0..many).map(|n| scene.make.event(&calendar, minutes(24 * 60 + n * 5, 24 * 60 + n * 5 + 4))).collect();
    let check = async |events: &[Event], because: &str| {
        let mut expected: Vec<Span> = events.iter().filter_map(Event::busy).collect();
        expected.sort();
        let (_, found) = blocking(&scene, &calendar, three_days).await;
        assert_eq!(found, expected, "{because}");
    };

    // Filled in groups of nine; the last ones exceed the limit.
    for (index, some) in events.chunks(usize::try_from(EACH).unwrap()).enumerate() {
        let mut changes = scene.changes();
        for event in some {
            changes = changes.create(event);
        }
        scene.commit(changes).await;
        let done = (index + 1) * usize::try_from(EACH).unwrap();
        check(&events[..done.min(events.len())], "filled").await;
    }

    // Every third event is changed, so that the day is no longer full and its neighbours have more.
    for (index, event) in events.iter_mut().enumerate().filter(|(index, _)| index % 3 == 0) {
        let mut next = event.clone();
        match index % 4 {
            0 => next.times.span = minutes(i64::try_from(index).unwrap() * 7, i64::try_from(index).unwrap() * 7 + 5),
            1 => next.times.span = minutes(24 * 60, 49 * 60),
            2 => next.status = EventStatus::Cancelled,
            _ => next.deleted_at = Some(scene.make.tick()),
        }
        next.version = event.version.next();
        scene.commit(scene.changes().update(&next, event.version)).await;
        *event = next;
    }
    check(&events, "changed").await;
    let late = scene.make.event(&calendar, minutes(24 * 60 + 1, 24 * 60 + 2));
    scene.commit(scene.changes().create(&late)).await;
    events.push(late);
    check(&events, "added to a changed day").await;

    let all_at_once: Vec<Event> = (0..many).map(|n| scene.make.event(&calendar, minutes(n * 5, n * 5 + 4))).collect();
    let mut changes = scene.changes();
    for event in &all_at_once {
        changes = changes.create(event);
    }
    scene.commit(changes).await;
    events.extend(all_at_once);
    check(&events, "two full days").await;
}

/// Calendars of another organization, and unknown ones, are not visible.
pub async fn busy_times_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    scene.event(&calendar, hours(1, 2)).await;
    let other = scene.other_organization().await;
    let unknown = scene.make.calendar(&agent);
    for (org, id) in [(other.org, calendar.id), (scene.org, unknown.id)] {
        assert_eq!(scene.store.blocking_spans(org, id, hours(0, 9)).await.unwrap(), None);
        assert_eq!(scene.store.source_of_calendar(org, id).await.unwrap(), None);
    }
    assert_eq!(other.store.sources_of_agents(other.org, &[agent.id]).await.unwrap(), []);
}

/// The sources of several agents are read at once, each calendar once, with its owner and revision.
pub async fn sources_of_several_agents_are_read_at_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob, idle) = (scene.agent().await, scene.agent().await, scene.agent().await);
    let gone = scene.agent().await;
    let (first, second) = (scene.calendar(&ada).await, scene.calendar(&ada).await);
    let (theirs, shared) = (scene.calendar(&bob).await, scene.shared_calendar().await);
    let (deleted, lost) = (scene.calendar(&bob).await, scene.calendar(&gone).await);
    scene.event(&second, hours(1, 2)).await;
    scene.event(&second, hours(1, 2)).await;
    scene.event(&lost, hours(1, 2)).await;
    scene.delete(&deleted).await;
    scene.decommission(&gone).await;
    let unknown = AgentId::new(scene.make.tick(), &scene.make.entropy);

    let source = |calendar: &Calendar, revision| BusySource {
        agent: calendar.agent,
        calendar: calendar.id,
        revision: Revision(revision),
        granted: false,
    };
    let of_ada = [source(&first, 0), source(&second, 2)];
    let of_bob = [source(&theirs, 0)];
    let all = [of_ada[0], of_ada[1], of_bob[0]];
    for (agents, expected) in [
        (vec![], &[] as &[BusySource]),
        (vec![ada.id], &of_ada),
        (vec![bob.id], &of_bob),
        (vec![idle.id, unknown], &[]),
        (vec![gone.id], &[]),
        (vec![ada.id, bob.id], &all),
        (vec![bob.id, unknown, gone.id, ada.id, idle.id, bob.id], &all),
    ] {
        let mut sources = scene.store.sources_of_agents(scene.org, &agents).await.unwrap();
        sources.sort_by_key(|source| source.calendar);
        assert_eq!(sources, expected);
    }
    for expected in [source(&second, 2), source(&shared, 0)] {
        let found = scene.store.source_of_calendar(scene.org, expected.calendar).await.unwrap();
        assert_eq!(found, Some(expected));
    }
}

/// All calendars of an agent are read with their blocking times at once. The result equals the single reads,
/// including days with more spans than one stored value can hold, and events that last for days.
pub async fn all_calendars_of_an_agent_are_read_at_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob, idle, gone) = (scene.agent().await, scene.agent().await, scene.agent().await, scene.agent().await);
    let (first, full, empty) = (scene.calendar(&ada).await, scene.calendar(&ada).await, scene.calendar(&ada).await);
    let (theirs, deleted, lost) = (scene.calendar(&bob).await, scene.calendar(&ada).await, scene.calendar(&gone).await);
    for calendar in [&first, &theirs, &deleted, &lost] {
        scene.event(calendar, hours(1, 2)).await;
        scene.event(calendar, hours(20, 90)).await;
        scene.event(calendar, hours(-30, -20)).await;
    }
    let many = i64::from(BUSY_DAY_MAX) + 1;
    let mut changes = scene.changes();
    for minute in 0..many {
        changes = changes.create(&scene.make.event(&full, minutes(minute, minute + 1)));
    }
    scene.commit(changes).await;
    scene.delete(&deleted).await;
    scene.decommission(&gone).await;

    for window in [hours(0, 48), hours(-40, -25), hours(80, 100), minutes(50, 55)] {
        let mut found = scene.store.busy_of_agent(scene.org, ada.id, window).await.unwrap();
        found.sort_by_key(|(source, _)| source.calendar);
        let mut expected = Vec::new();
        for calendar in [&first, &full, &empty] {
            let (revision, spans) = blocking(&scene, calendar, window).await;
            let source = BusySource { agent: Some(ada.id), calendar: calendar.id, revision, granted: false };
            expected.push((source, CalendarBusy { revision, rules: None, spans, repeats: false, held: false }));
        }
        found.iter_mut().for_each(|(_, busy)| busy.spans.sort());
        assert_eq!(found, expected, "{window:?}");
    }
    let other = scene.other_organization().await;
    for (org, agent) in [(scene.org, idle.id), (scene.org, gone.id), (other.org, ada.id)] {
        assert_eq!(scene.store.busy_of_agent(org, agent, hours(0, 9)).await.unwrap(), []);
    }
}

/// There may be more spans in a window than a list has on a page.
pub async fn blocking_spans_are_not_paged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let spans: Vec<Span> = (0..500).map(|minute| minutes(minute, minute + 1)).collect();
    let changes =
        spans.iter().fold(scene.changes(), |changes, span| changes.create(&scene.make.event(&calendar, *span)));
    scene.commit(changes).await;
    assert_eq!(blocking(&scene, &calendar, hours(0, 24)).await, (Revision(1), spans.clone()));
    let later = Span::new(spans[250].start() + SignedDuration::seconds(30), spans[499].end()).unwrap();
    assert_eq!(blocking(&scene, &calendar, later).await, (Revision(1), spans[250..].to_vec()));
}
