//! The events around a point in time. Noon is four hours after the beginning of the fixtures; spans are in minutes
//! from noon.

use kalends_calendars::{ContextEvents, Event, EventSource, EventStatus};
use kalends_kernel::CalendarId;
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, micros, minutes},
};
use crate::fixtures::{Compose, Fixtures};

const NOON: i64 = 240;

fn noon() -> Timestamp {
    Fixtures::BEGINNING + SignedDuration::minutes(NOON)
}

/// Confirmed events on a new shared calendar, with these starts and ends in minutes after noon. Their identifiers
/// ascend.
async fn events(scene: &Scene, spans: &[(i64, i64)]) -> Vec<Event> {
    let calendar = scene.shared_calendar().await;
    let made: Vec<Event> =
        spans.iter().map(|(start, end)| scene.make.event(&calendar, minutes(NOON + start, NOON + end))).collect();
    // Stored in reverse order, so that insertion does not order them by chance.
    for event in made.iter().rev() {
        scene.commit(scene.changes().create(event)).await;
    }
    made
}

async fn around(scene: &Scene, calendar: CalendarId, now: Timestamp) -> ContextEvents {
    scene.store.context_events(scene.org, calendar, now).await.unwrap()
}

/// Asserts that the context at noon has these events of `made`, by index.
async fn check(
    scene: &Scene,
    made: &[Event],
    current: Option<usize>,
    next: Option<usize>,
    recent: &[usize],
    upcoming: &[usize],
) {
    let pick = |index: usize| made[index].clone();
    let expected = ContextEvents {
        current: current.map(pick),
        next: next.map(pick),
        recent: recent.iter().copied().map(pick).collect(),
        upcoming: upcoming.iter().copied().map(pick).collect(),
    };
    assert_eq!(around(scene, made[0].calendar, noon()).await, expected);
}

/// A calendar without events has no context at any time, nor does an unknown calendar.
pub async fn an_empty_calendar_has_no_context(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let unknown = scene.make.shared_calendar(scene.org);
    for id in [calendar.id, unknown.id] {
        assert_eq!(around(&scene, id, noon()).await, ContextEvents::default());
    }
}

/// An event is upcoming before its start, under way from its start, and over at its end.
pub async fn the_present_is_half_open(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let one = events(&scene, &[(-60, 0)]).await;
    check(&scene, &one, None, None, &[0], &[]).await;
    let one = events(&scene, &[(0, 60)]).await;
    check(&scene, &one, Some(0), None, &[], &[]).await;
    let one = events(&scene, &[(-60, 60)]).await;
    check(&scene, &one, Some(0), None, &[], &[]).await;
    let one = events(&scene, &[(1, 60)]).await;
    check(&scene, &one, None, Some(0), &[], &[0]).await;

    let calendar = scene.shared_calendar().await;
    let at_noon = NOON * 60_000_000;
    let ending = scene.event(&calendar, micros(at_noon - 5, at_noon + 1)).await;
    let starting = scene.event(&calendar, micros(at_noon + 1, at_noon + 5)).await;
    let expected = ContextEvents {
        current: Some(ending.clone()),
        next: Some(starting.clone()),
        recent: vec![],
        upcoming: vec![starting.clone()],
    };
    assert_eq!(around(&scene, calendar.id, noon()).await, expected);
    let a_microsecond_later =
        ContextEvents { current: Some(starting), recent: vec![ending], ..ContextEvents::default() };
    assert_eq!(around(&scene, calendar.id, noon() + SignedDuration::micros(1)).await, a_microsecond_later);
}

/// If several events are under way, the current one is the one that began last. Ties go to the highest identifier.
pub async fn the_current_event_began_last(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let made = events(&scene, &[(-120, 300), (-10, 5), (-90, 30), (-600, 1)]).await;
    check(&scene, &made, Some(1), None, &[], &[]).await;
    let made = events(&scene, &[(-10, 90), (-10, 5), (-10, 30), (-20, 90)]).await;
    check(&scene, &made, Some(2), None, &[], &[]).await;
    // An event that began weeks ago is still under way.
    let made = events(&scene, &[(-100_000, 1), (5, 6)]).await;
    check(&scene, &made, Some(0), Some(1), &[], &[1]).await;
}

/// The next event is the earliest upcoming one, however far ahead. Ties go to the lowest identifier.
pub async fn the_next_event_starts_soonest(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let made = events(&scene, &[(30, 40), (10, 300), (10, 20), (-10, 10)]).await;
    check(&scene, &made, Some(3), Some(1), &[], &[1, 2, 0]).await;
    let years_ahead = 10 * 365 * 1_440;
    let made = events(&scene, &[(years_ahead, years_ahead + 60)]).await;
    check(&scene, &made, None, Some(0), &[], &[]).await;
}

/// At most three events that ended, latest end first, whenever they began. Ties go to the highest identifier.
pub async fn recent_events_ended_last(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let made = events(&scene, &[(-60, -50), (-5_000, -1), (-30, -20), (-10, -9), (-90, 0)]).await;
    check(&scene, &made, None, None, &[4, 1, 3], &[]).await;
    let made = events(&scene, &[(-60, -10), (-20, -10), (-90, -10), (-15, -10), (-50, -40)]).await;
    check(&scene, &made, None, None, &[3, 2, 1], &[]).await;
    let years_ago = -10 * 365 * 1_440;
    let made = events(&scene, &[(years_ago, years_ago + 60), (-60, -50)]).await;
    check(&scene, &made, None, None, &[1, 0], &[]).await;
}

/// At most five events that start within a day, earliest first. Ties go to the lowest identifier.
pub async fn upcoming_events_start_within_a_day(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let made = events(&scene, &[(1_440, 1_500), (1_441, 1_500), (1, 5)]).await;
    check(&scene, &made, None, Some(2), &[], &[2, 0]).await;
    let made = events(&scene, &[(50, 60), (20, 90), (10, 15), (20, 25), (40, 45), (30, 35), (60, 70)]).await;
    check(&scene, &made, None, Some(2), &[], &[2, 1, 3, 5, 4]).await;

    let calendar = scene.shared_calendar().await;
    let a_day_on = (NOON + 1_440) * 60_000_000;
    let last = scene.event(&calendar, micros(a_day_on, a_day_on + 9)).await;
    scene.event(&calendar, micros(a_day_on + 1, a_day_on + 9)).await;
    let context = around(&scene, calendar.id, noon()).await;
    assert_eq!((context.next, context.upcoming), (Some(last.clone()), vec![last]));
}

/// Cancelled and deleted events are left out everywhere; tentative and imported ones are not. Events of other
/// calendars never appear.
pub async fn the_context_leaves_out_cancelled_and_deleted_events(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (calendar, other) = (scene.calendar(&agent).await, scene.calendar(&agent).await);
    let spans = [minutes(NOON - 20, NOON - 10), minutes(NOON - 5, NOON + 5), minutes(NOON + 10, NOON + 20)];
    let mut expected = Vec::new();
    for span in spans {
        let cancelled = Event { status: EventStatus::Cancelled, ..scene.make.event(&calendar, span) };
        scene.stored(cancelled).await;
        scene.event(&other, span).await;
        expected
            .push(scene.stored(Event { status: EventStatus::Tentative, ..scene.make.event(&calendar, span) }).await);
        let gone = scene.event(&calendar, span).await;
        let deleted = gone.deleted(scene.make.tick()).unwrap();
        scene.commit(scene.changes().update(&deleted, gone.version)).await;
    }
    check(&scene, &expected, Some(1), Some(2), &[0], &[2]).await;
    let imported = Event { source: EventSource::ExternalIcal, ..scene.make.event(&calendar, spans[1]) };
    expected.push(scene.stored(imported).await);
    check(&scene, &expected, Some(3), Some(2), &[0], &[2]).await;
}
