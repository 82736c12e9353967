//! Series: what is stored, what is listed, and what blocks. Spans are in hours from the beginning of the fixtures, a
//! Monday at eight.

use kalends_app::{Guard, ports::CommitError};
use kalends_calendars::{
    Calendar, Event, EventPatch, EventStatus, Occurrence, Patch, Times,
    ports::{BlockingSeries, CalendarBusy, EventScope, InstanceFilter, InstanceScope, StatusAt},
};
use kalends_kernel::{CalendarId, EventId, Listed, MetadataFilter, Page, Revision};
use kalends_plans::Metric;
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::{Compose, Fixtures};

fn at(hour: i64) -> Timestamp {
    Fixtures::BEGINNING + SignedDuration::hours(hour)
}

async fn series(scene: &Scene, calendar: &Calendar, first: Span, rule: &str) -> Event {
    scene.stored(scene.make.series(calendar, first, rule)).await
}

/// Cancels an occurrence, and returns the new state of the series.
async fn cancelled(scene: &Scene, series: &Event, start: Timestamp) -> Event {
    let after = series.without_occurrence(start, scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&after, series.version)).await;
    after
}

/// Moves an occurrence, and returns the new states of the series and the override.
pub(super) async fn moved(scene: &Scene, series: &Event, start: Timestamp, to: Span) -> (Event, Event) {
    let (after, mut changed) = changed(scene, series, start);
    changed.times = Times { span: to, all_day: false };
    scene.commit(scene.changes().update(&after, series.version).create(&changed)).await;
    (after, changed)
}

pub(super) fn changed(scene: &Scene, series: &Event, start: Timestamp) -> (Event, Event) {
    let now = scene.make.tick();
    let instance = series.instance(start).unwrap();
    let patch = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
    let id = EventId::new(now, &scene.make.entropy);
    series.with_occurrence_patched(&instance, id, patch, Zone::UTC, now).unwrap()
}

fn inside(window: Span) -> InstanceFilter {
    InstanceFilter { window, status: None, source: None, metadata: MetadataFilter::default() }
}

async fn instances(scene: &Scene, scope: EventScope, filter: InstanceFilter, page: Page) -> Listed<Event> {
    scene.store.list_instances(scene.org, (&scope).into(), filter, page).await.unwrap().unwrap()
}

async fn of_calendars(scene: &Scene, calendars: &[CalendarId], filter: InstanceFilter, page: Page) -> Listed<Event> {
    let scope = InstanceScope::Calendars(calendars);
    scene.store.list_instances(scene.org, scope, filter, page).await.unwrap().unwrap()
}

async fn blocking(scene: &Scene, calendars: &[CalendarId], window: Span) -> Vec<(CalendarId, Revision, Vec<Span>)> {
    let mut found = scene.store.blocking_series(scene.org, calendars, window).await.unwrap();
    found.sort_by_key(|found| found.calendar);
    let spans = |found: BlockingSeries| {
        let mut spans: Vec<Span> =
            found.series.iter().flat_map(|series| series.occurrences(window).collect::<Vec<_>>()).collect();
        spans.sort();
        (found.calendar, found.revision, spans)
    };
    found.into_iter().map(spans).collect()
}

/// A series, its exdates and its overrides are read as written. An override is not listed as an event, and is not
/// found by an identifier of its own.
pub async fn series_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let made = series(&scene, &calendar, hours(1, 2), "FREQ=DAILY;COUNT=9").await;
    assert_eq!(scene.now(&made).await, Some(made.clone()));
    let endless = series(&scene, &calendar, hours(2, 3), "FREQ=MONTHLY;BYDAY=-1FR").await;
    let once = scene.event(&calendar, hours(3, 4)).await;
    let made = cancelled(&scene, &made, at(25)).await;
    let (made, later) = moved(&scene, &made, at(73), hours(10, 11)).await;
    let (made, first) = moved(&scene, &made, at(49), hours(500, 501)).await;
    assert_eq!(scene.events(calendar.id).await, [made.clone(), endless, once]);
    assert_eq!(scene.now(&first).await, None);
    assert_eq!(scene.store.list_overrides(scene.org, made.id).await.unwrap(), [first.clone(), later]);
    let of = |start| Occurrence { series: made.id, start };
    let found = async |start| scene.store.find_override(scene.org, of(start)).await.unwrap();
    assert_eq!((found(at(49)).await, found(at(25)).await), (Some(first.clone()), None));

    // Changed again, and then cancelled.
    let again = Event { title: "Once more".into(), version: first.version.next(), ..first.clone() };
    scene.commit(scene.changes().update(&again, first.version)).await;
    assert_eq!(found(at(49)).await, Some(again.clone()));
    let gone = again.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, again.version)).await;
    assert_eq!(found(at(49)).await, None);
    assert_eq!(scene.store.list_overrides(scene.org, made.id).await.unwrap().len(), 1);

    let other = scene.other_organization().await;
    assert_eq!(other.store.find_override(other.org, of(at(73))).await.unwrap(), None);
    assert_eq!(other.store.list_overrides(other.org, made.id).await.unwrap(), []);
    scene.delete(&calendar).await;
    assert_eq!(found(at(73)).await, None);
    assert_eq!(scene.store.list_overrides(scene.org, made.id).await.unwrap(), []);
}

/// A series becomes a one-off event, and a series again.
pub async fn an_event_gains_and_loses_a_rule(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let made = series(&scene, &calendar, hours(1, 2), "FREQ=DAILY").await;
    let once = Event { repeats: Default::default(), version: made.version.next(), ..made.clone() };
    scene.commit(scene.changes().update(&once, made.version)).await;
    assert_eq!(scene.now(&made).await, Some(once.clone()));
    let listed = instances(&scene, EventScope::Calendar(calendar.id), inside(hours(0, 99)), LARGEST_PAGE).await;
    assert_eq!(listed.data, std::slice::from_ref(&once));
    assert_eq!(blocking(&scene, &[calendar.id], hours(0, 99)).await, [(calendar.id, Revision(2), vec![])]);
    let again = Event { version: once.version.next(), ..made };
    scene.commit(scene.changes().update(&again, once.version)).await;
    assert_eq!(blocking(&scene, &[calendar.id], hours(0, 30)).await[0].2, [hours(1, 2), hours(25, 26)]);
}

/// Instances that overlap the window are listed by start and identifier, in pages with one total.
pub async fn instances_are_listed_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (calendar, second) = (scene.calendar(&agent).await, scene.calendar(&agent).await);
    let elsewhere = scene.shared_calendar().await;
    series(&scene, &elsewhere, hours(0, 1), "FREQ=DAILY").await;
    let daily = series(&scene, &calendar, hours(-48, -47), "FREQ=DAILY").await;
    let long = series(&scene, &calendar, hours(-100, -40), "FREQ=WEEKLY;COUNT=2").await;
    let ended = series(&scene, &calendar, hours(-500, -499), "FREQ=DAILY;COUNT=3").await;
    let once = scene.event(&calendar, hours(24, 25)).await;
    let spanning = scene.event(&calendar, hours(-90, 90)).await;
    scene.event(&calendar, hours(-9, 0)).await;
    scene.event(&calendar, hours(72, 73)).await;
    let other = series(&scene, &second, hours(24, 26), "FREQ=DAILY;COUNT=2").await;
    let daily = cancelled(&scene, &daily, at(48)).await;
    let (daily, into) = moved(&scene, &daily, at(240), hours(30, 31)).await;
    let (daily, _out_of) = moved(&scene, &daily, at(0), hours(-4, -3)).await;
    let of = |event: &Event, hour| event.instance(at(hour)).unwrap();
    let window = hours(0, 72);
    let of_calendar = [spanning.clone(), of(&daily, 24), once.clone(), into.clone(), of(&long, 68)];
    let of_agent = [spanning, of(&daily, 24), once, of(&other, 24), into.clone(), of(&other, 48), of(&long, 68)];
    assert_eq!(ended.repeating().unwrap().occurrences(window).count(), 0);

    let scopes = [(EventScope::Calendar(calendar.id), &of_calendar[..]), (EventScope::Agent(agent.id), &of_agent[..])];
    for (scope, expected) in scopes {
        let total = expected.len() as u64;
        for (limit, offset) in [(200, 0), (2, 0), (2, 1), (3, 2), (1, 3), (5, 9)] {
            let listed = instances(&scene, scope, inside(window), Page { limit, offset }).await;
            let page: Vec<Event> = expected.iter().skip(offset as usize).take(limit as usize).cloned().collect();
            assert_eq!(listed, Listed { data: page, total }, "{limit} from {offset}");
        }
        let wide = instances(&scene, scope, inside(hours(-72, 72)), LARGEST_PAGE).await;
        assert!(wide.data.contains(&of(&long, -100)));
    }
    // A moved override is listed at its new time, and carries its original start.
    let listed = instances(&scene, EventScope::Calendar(calendar.id), inside(hours(30, 31)), LARGEST_PAGE).await;
    assert_eq!(listed.data.last(), Some(&into));
    assert_eq!(into.occurrence(), Some(Occurrence { series: daily.id, start: at(240) }));

    let other = scene.other_organization().await;
    let nothing = instances(&other, EventScope::Calendar(calendar.id), inside(window), LARGEST_PAGE).await;
    assert_eq!(nothing, Listed { data: vec![], total: 0 });
    scene.decommission(&agent).await;
    for scope in [EventScope::Calendar(calendar.id), EventScope::Agent(agent.id)] {
        assert_eq!(instances(&scene, scope, inside(window), LARGEST_PAGE).await.total, 0);
    }
}

/// The list of several calendars has the instances of each, in one order and with one total. Calendars that are not
/// visible, and those of other organizations, have none.
pub async fn instances_of_several_calendars_are_listed_together(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, gone) = (scene.agent().await, scene.agent().await);
    let (own, shared) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    let (empty, elsewhere) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let (deleted, decommissioned) = (scene.shared_calendar().await, scene.calendar(&gone).await);
    let other = scene.other_organization().await;
    let of_other = other.shared_calendar().await;
    for calendar in [&own, &shared, &elsewhere, &deleted, &decommissioned] {
        let daily = series(&scene, calendar, hours(-48, -47), "FREQ=DAILY").await;
        let daily = cancelled(&scene, &daily, at(24)).await;
        moved(&scene, &daily, at(48), hours(5, 6)).await;
        for span in [hours(0, 1), hours(5, 6), hours(-90, 90), hours(99, 100)] {
            scene.event(calendar, span).await;
        }
    }
    other.event(&of_other, hours(0, 1)).await;
    scene.delete(&deleted).await;
    scene.decommission(&gone).await;

    let window = inside(hours(0, 72));
    let mut merged = Vec::new();
    for calendar in [&own, &shared] {
        let listed = instances(&scene, EventScope::Calendar(calendar.id), window.clone(), LARGEST_PAGE).await;
        // The occurrence on the first day, the moved one, and three events.
        assert_eq!(listed.total, 5);
        merged.extend(listed.data);
    }
    let name = |event: &Event| {
        event.occurrence().map_or((event.id, None), |occurrence| (occurrence.series, Some(occurrence.start)))
    };
    merged.sort_by_key(|event| (event.times.span.start(), name(event)));
    // A calendar that is named twice is listed once.
    let all = [shared.id, deleted.id, own.id, decommissioned.id, empty.id, of_other.id, shared.id];
    for (limit, offset) in [(200, 0), (3, 0), (4, 3), (5, 8), (9, 99)] {
        let listed = of_calendars(&scene, &all, window.clone(), Page { limit, offset }).await;
        let page: Vec<Event> = merged.iter().skip(offset as usize).take(limit as usize).cloned().collect();
        assert_eq!(listed, Listed { data: page, total: 10 }, "{limit} from {offset}");
    }
    let none = Listed { data: vec![], total: 0 };
    for nothing in [&all[..0], &[empty.id], &[deleted.id, decommissioned.id], &[of_other.id]] {
        assert_eq!(of_calendars(&scene, nothing, window.clone(), LARGEST_PAGE).await, none, "{nothing:?}");
    }
    assert_eq!(of_calendars(&other, &all, window, LARGEST_PAGE).await.total, 1);
}

/// The filters apply to each instance.
pub async fn instances_are_listed_by_filter(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let maybe =
        Event { status: EventStatus::Tentative, ..scene.make.series(&calendar, hours(0, 1), "FREQ=DAILY;COUNT=3") };
    let maybe = scene.stored(maybe).await;
    let daily = series(&scene, &calendar, hours(2, 3), "FREQ=DAILY;COUNT=2").await;
    let (after, off) = changed(&scene, &maybe, at(24));
    let off = Event { status: EventStatus::Cancelled, ..off };
    scene.commit(scene.changes().update(&after, maybe.version).create(&off)).await;
    let of = async |status| {
        let status = StatusAt { status, now: scene.make.tick() };
        let filter = InstanceFilter { status: Some(status), ..inside(hours(0, 99)) };
        instances(&scene, EventScope::Calendar(calendar.id), filter, LARGEST_PAGE).await.data
    };
    let of_series = |series: &Event, hours: &[i64]| {
        hours.iter().map(|hour| series.instance(at(*hour)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of(EventStatus::Tentative).await, of_series(&after, &[0, 48]));
    assert_eq!(of(EventStatus::Confirmed).await, of_series(&daily, &[2, 26]));
    assert_eq!(of(EventStatus::Cancelled).await, [off]);
    for source in kalends_calendars::EventSource::ALL {
        let filter = InstanceFilter { source: Some(*source), ..inside(hours(0, 99)) };
        let total = instances(&scene, EventScope::Calendar(calendar.id), filter, LARGEST_PAGE).await.total;
        assert_eq!(total, if *source == kalends_calendars::EventSource::Internal { 5 } else { 0 });
    }
}

/// A window with too many instances is not listed at all.
pub async fn too_many_instances_are_not_listed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let years = 24 * 366 * 70;
    let changes = (0..5).fold(scene.changes(), |changes, _| {
        // Daily occurrences since the beginning, each of which lasts until the window.
        changes.create(&scene.make.series(&calendar, hours(0, years), "FREQ=DAILY"))
    });
    scene.commit(changes).await;
    let window = inside(hours(years - 2, years - 1));
    let (few, scope) = (scene.shared_calendar().await, [calendar.id]);
    let found = scene.store.list_instances(scene.org, InstanceScope::Calendars(&scope), window.clone(), LARGEST_PAGE);
    assert_eq!(found.await.unwrap(), None);
    // The limit is that of all calendars of the list.
    let scope = [few.id, calendar.id];
    let found = scene.store.list_instances(scene.org, InstanceScope::Calendars(&scope), window, LARGEST_PAGE);
    assert_eq!(found.await.unwrap(), None);
}

/// A series itself takes no time. Its occurrences do, except those that are cancelled or were moved.
pub async fn occurrences_block(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, second, empty) =
        (scene.shared_calendar().await, scene.shared_calendar().await, scene.shared_calendar().await);
    let daily = series(&scene, &calendar, hours(0, 1), "FREQ=DAILY;COUNT=4").await;
    let daily = cancelled(&scene, &daily, at(24)).await;
    let (_, changed) = moved(&scene, &daily, at(48), hours(50, 51)).await;
    for status in [EventStatus::Cancelled, EventStatus::Hold] {
        scene.stored(Event { status, ..scene.make.series(&calendar, hours(5, 6), "FREQ=DAILY") }).await;
    }
    let gone = series(&scene, &calendar, hours(7, 8), "FREQ=DAILY").await;
    scene.commit(scene.changes().update(&gone.deleted(scene.make.tick()).unwrap(), gone.version)).await;
    series(&scene, &second, hours(-30, 3), "FREQ=WEEKLY").await;

    let window = hours(0, 99);
    let busy = scene.store.blocking_spans(scene.org, calendar.id, window).await.unwrap().unwrap();
    let CalendarBusy { revision: spans_at, spans, repeats, .. } = busy;
    assert!(repeats, "there is a series too");
    assert_eq!((spans_at, spans), (Revision(7), vec![changed.times.span]));
    let of_calendar = (calendar.id, Revision(7), vec![hours(0, 1), hours(72, 73)]);
    let of_second = (second.id, Revision(1), vec![hours(-30, 3)]);
    let of_empty = (empty.id, Revision(0), vec![]);
    let unknown = scene.make.shared_calendar(scene.org).id;
    assert_eq!(blocking(&scene, &[calendar.id], window).await, std::slice::from_ref(&of_calendar));
    let all = [second.id, unknown, calendar.id, empty.id, calendar.id];
    assert_eq!(blocking(&scene, &all, window).await, [of_calendar, of_second, of_empty]);
    // The window is half-open, and past occurrences are left out.
    assert_eq!(blocking(&scene, &[calendar.id], hours(1, 72)).await[0].2, []);
    assert_eq!(blocking(&scene, &[calendar.id], hours(73, 99)).await[0].2, []);
    assert!(scene.store.blocking_series(scene.org, &[calendar.id], hours(73, 99)).await.unwrap()[0].series.is_empty());

    let other = scene.other_organization().await;
    assert_eq!(blocking(&other, &[calendar.id], window).await, []);
    scene.delete(&second).await;
    assert_eq!(blocking(&scene, &[second.id], window).await, []);
    assert_eq!(blocking(&scene, &[], window).await, []);
}

/// The context of a calendar shows the instances of series in the same way as events.
pub async fn the_context_shows_instances(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let daily = series(&scene, &calendar, hours(-240, -239), "FREQ=DAILY").await;
    let daily = cancelled(&scene, &daily, at(-24)).await;
    let (daily, changed) = moved(&scene, &daily, at(-48), hours(-3, -2)).await;
    let once = scene.event(&calendar, hours(10, 11)).await;
    let ended = series(&scene, &calendar, hours(-102, -101), "FREQ=DAILY;COUNT=2").await;
    let off = Event { status: EventStatus::Cancelled, ..scene.make.series(&calendar, hours(0, 1), "FREQ=DAILY") };
    scene.stored(off).await;
    let around = async |now| scene.store.context_events(scene.org, calendar.id, now).await.unwrap();
    let of = |series: &Event, hour| series.instance(at(hour)).unwrap();

    let context = around(at(0)).await;
    assert_eq!(context.current, Some(of(&daily, 0)));
    assert_eq!(context.recent, [changed, of(&daily, -72), of(&ended, -78)]);
    assert_eq!(context.next, Some(once.clone()));
    assert_eq!(context.upcoming, [once, of(&daily, 24)]);
    let context = around(at(1)).await;
    assert_eq!((context.current, &context.recent[0]), (None, &of(&daily, 0)));
    // Long after the series, and long before it.
    let context = around(at(24 * 1_000)).await;
    assert_eq!(context.next, Some(of(&daily, 24 * 1_001)));
    let context = around(at(-24 * 1_000)).await;
    assert_eq!((context.next, context.upcoming, context.recent), (Some(of(&daily, -240)), vec![], vec![]));
}

/// The plan counts visible series that have not ended.
pub async fn the_number_of_series_is_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (calendar, second) = (scene.shared_calendar().await, scene.calendar(&agent).await);
    let guard = |limit, hour| Guard::SeriesAtMost { limit, now: at(hour) };
    let attempt = async |calendar: &Calendar, first, rule: &str, guard| {
        let series = scene.make.series(calendar, first, rule);
        scene.try_commit(scene.changes().create(&series).guard(guard)).await.map(|()| series)
    };
    let first = attempt(&calendar, hours(0, 1), "FREQ=DAILY;COUNT=2", guard(1, 0)).await.unwrap();
    let refused = attempt(&calendar, hours(0, 1), "FREQ=DAILY", guard(1, 0)).await;
    assert_refused!(refused, CommitError::LimitReached { metric: Metric::RecurringEvents, limit: 1 });
    // One-off events and overrides do not count.
    scene.event(&calendar, hours(0, 1)).await;
    moved(&scene, &first, at(24), hours(100, 101)).await;
    attempt(&calendar, hours(0, 1), "FREQ=DAILY", guard(2, 24)).await.unwrap();
    // The first has ended: the occurrence that was moved does not count as part of it.
    attempt(&second, hours(0, 1), "FREQ=DAILY", guard(2, 1)).await.unwrap();
    let refused = attempt(&calendar, hours(0, 1), "FREQ=DAILY", guard(2, 1)).await;
    assert_refused!(refused, CommitError::LimitReached { metric: Metric::RecurringEvents, limit: 2 });
    let other = scene.other_organization().await;
    let theirs = other.shared_calendar().await;
    let series = other.make.series(&theirs, hours(0, 1), "FREQ=DAILY");
    other.commit(other.changes().create(&series).guard(guard(1, 0))).await;
    // A hidden series does not count.
    scene.decommission(&agent).await;
    let third = attempt(&calendar, hours(0, 1), "FREQ=DAILY", guard(2, 1)).await.unwrap();
    let gone = third.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, third.version)).await;
    attempt(&calendar, hours(0, 1), "FREQ=DAILY", guard(2, 1)).await.unwrap();
}

/// If many callers create the last series that the plan allows, one succeeds.
pub async fn the_last_series_is_created_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut calendars = Vec::new();
    for _ in 0..4 {
        calendars.push(scene.shared_calendar().await);
    }
    series(&scene, &calendars[0], hours(0, 1), "FREQ=DAILY").await;
    let outcomes = race(16, |index| {
        let (scene, calendar) = (scene.clone(), calendars[index % calendars.len()].clone());
        async move {
            let series = scene.make.series(&calendar, hours(1, 2), "FREQ=DAILY");
            let guard = Guard::SeriesAtMost { limit: 2, now: at(0) };
            scene.try_commit(scene.changes().create(&series).guard(guard)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_refused!(outcome, CommitError::LimitReached { metric: Metric::RecurringEvents, limit: 2 });
    }
}

/// If many callers change one occurrence at once, one succeeds; the others see that the series has changed.
pub async fn an_occurrence_has_one_override(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let made = series(&scene, &calendar, hours(0, 1), "FREQ=DAILY").await;
    let outcomes = race(12, |_| {
        let (scene, made) = (scene.clone(), made.clone());
        async move {
            let (after, changed) = changed(&scene, &made, at(24));
            scene.try_commit(scene.changes().update(&after, made.version).create(&changed)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_refused!(outcome, CommitError::Stale);
    }
    assert_eq!(scene.store.list_overrides(scene.org, made.id).await.unwrap().len(), 1);
}

/// A caller that lists while occurrences are moved one by one sees each of them once.
pub async fn a_list_sees_each_occurrence_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let mut made = series(&scene, &calendar, hours(0, 1), "FREQ=DAILY;COUNT=30").await;
    let reading = {
        let (scene, scope) = (scene.clone(), EventScope::Calendar(calendar.id));
        tokio::spawn(async move {
            for _ in 0..40 {
                let listed = instances(&scene, scope, inside(hours(0, 24 * 31)), LARGEST_PAGE).await;
                assert_eq!((listed.data.len(), listed.total), (30, 30));
            }
        })
    };
    for day in 0..30 {
        let start = at(24 * day);
        let to = Span::new(start + SignedDuration::hours(2), start + SignedDuration::hours(3)).unwrap();
        (made, _) = moved(&scene, &made, start, to).await;
    }
    reading.await.unwrap();
}
