//! Events move between calendars. Spans are in hours from the beginning of the fixtures.

use kalends_app::{ChangeSet, ports::CommitError};
use kalends_calendars::{
    Calendar, Change, Changed, ChangesSince, EmittedUntil, Event, Occurrence, Position, Reminders, Repeats,
    ports::TimerQueue,
};
use kalends_kernel::Revision;
use kalends_time::{SignedDuration, Span, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::Fixtures;

const EVERYTHING: ChangesSince = ChangesSince { after: Position::START, deleted_after: Revision(0) };

/// The event on another calendar.
fn on(calendar: &Calendar, event: &Event) -> Event {
    Event { calendar: calendar.id, version: event.version.next(), ..event.clone() }
}

async fn moved(scene: &Scene, event: &Event, to: &Calendar) -> Event {
    let after = on(to, event);
    scene.commit(ChangeSet { calendars: vec![Change::update(event, after.clone())], ..scene.changes() }).await;
    after
}

async fn try_move(scene: &Scene, event: &Event, to: &Calendar) -> Result<(), CommitError> {
    let calendars = vec![Change::update(event, on(to, event))];
    scene.try_commit(ChangeSet { calendars, ..scene.changes() }).await
}

async fn spans(scene: &Scene, calendar: &Calendar) -> Vec<Span> {
    let window = Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap();
    scene.store.blocking_spans(scene.org, calendar.id, window).await.unwrap().unwrap().spans
}

/// What blocks in a window of a few hours, which is read from the days.
async fn spans_of_days(scene: &Scene, calendar: &Calendar) -> Vec<Span> {
    scene.store.blocking_spans(scene.org, calendar.id, hours(0, 48)).await.unwrap().unwrap().spans
}

async fn changes(scene: &Scene, calendar: &Calendar, since: ChangesSince, limit: u32) -> Vec<(Revision, Changed)> {
    scene.store.changes(scene.org, calendar.id, since, limit).await.unwrap().unwrap().changes
}

fn gone(event: &Event) -> Changed {
    Changed::Deleted { id: event.id, occurrence: event.occurrence() }
}

fn written(event: &Event) -> Changed {
    Changed::Written(Box::new(event.clone()))
}

/// An event that moves is on its new calendar alone, and both revisions rise.
pub async fn a_moved_event_is_on_its_new_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (one, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let event = scene.event(&one, hours(1, 2)).await;
    let stays = scene.event(&one, hours(3, 4)).await;
    let after = moved(&scene, &event, &other).await;
    assert_eq!(scene.now(&event).await.as_ref(), Some(&after));
    assert_eq!((scene.events(one.id).await, scene.events(other.id).await), (vec![stays.clone()], vec![after.clone()]));
    assert_eq!((scene.revision(&one).await, scene.revision(&other).await), (Revision(3), Revision(1)));
    for read in [spans(&scene, &one).await, spans_of_days(&scene, &one).await] {
        assert_eq!(read, [hours(3, 4)]);
    }
    for read in [spans(&scene, &other).await, spans_of_days(&scene, &other).await] {
        assert_eq!(read, [hours(1, 2)]);
    }
    let since = scene.store.changed_since(scene.org, other.id, Revision(0), hours(0, 9)).await.unwrap().unwrap();
    assert_eq!(since.events, [after]);
    let since = scene.store.changed_since(scene.org, one.id, Revision(0), hours(0, 9)).await.unwrap().unwrap();
    assert_eq!(since.events, [stays]);
}

/// A move is refused as stale if the event changed, or if one of the calendars is not visible. Then nothing changes.
pub async fn a_stale_move_writes_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let [one, other, deleted] =
        [scene.shared_calendar().await, scene.shared_calendar().await, scene.shared_calendar().await];
    let left = scene.shared_calendar().await;
    let event = scene.event(&one, hours(1, 2)).await;
    let hidden = scene.event(&left, hours(1, 2)).await;
    let elsewhere = scene.other_organization().await.shared_calendar().await;
    scene.delete(&deleted).await;
    scene.delete(&left).await;
    let seen = scene.observe().await;
    let outdated = Event { version: event.version.next(), ..event.clone() };
    assert_refused!(try_move(&scene, &outdated, &other).await, CommitError::Stale);
    assert_refused!(try_move(&scene, &event, &deleted).await, CommitError::Stale);
    assert_refused!(try_move(&scene, &event, &elsewhere).await, CommitError::Stale);
    assert_refused!(try_move(&scene, &hidden, &other).await, CommitError::Stale);
    // It is not on the calendar that it would leave.
    let wrong = Event { calendar: other.id, ..event.clone() };
    let third = scene.shared_calendar().await;
    assert_refused!(try_move(&scene, &wrong, &third).await, CommitError::Stale);
    scene.delete(&third).await;
    assert_eq!(scene.observe().await, seen);
    assert_eq!(changes(&scene, &one, EVERYTHING, 9).await, [(Revision(1), written(&event))]);
}

/// Mirrors of the calendar that an event left see it deleted, in order with everything else, until it comes back.
pub async fn mirrors_see_a_moved_event_leave(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (one, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let series = scene.event(&one, hours(1, 2)).await;
    let instance = Repeats::Instance(Occurrence { series: series.id, start: hours(1, 2).start() });
    let row = scene.stored(Event { repeats: instance, ..scene.make.event(&one, hours(5, 6)) }).await;
    let stays = scene.event(&one, hours(3, 4)).await;
    let together = vec![Change::update(&series, on(&other, &series)), Change::update(&row, on(&other, &row))];
    scene.commit(ChangeSet { calendars: together, ..scene.changes() }).await;
    let later = scene.event(&one, hours(7, 8)).await;

    let mut left = [&series, &row];
    left.sort_by_key(|event| event.id);
    let [first, second] = left;
    let expected = [
        (Revision(3), written(&stays)),
        (Revision(4), gone(first)),
        (Revision(4), gone(second)),
        (Revision(5), written(&later)),
    ];
    assert_eq!(changes(&scene, &one, EVERYTHING, 9).await, expected);
    for limit in 1..=5_u32 {
        let (mut since, mut paged) = (EVERYTHING, Vec::new());
        loop {
            let page = changes(&scene, &one, since, limit).await;
            assert!(page.len() <= limit as usize);
            let Some((revision, last)) = page.last() else { break };
            since.after = Position { revision: *revision, id: last.id() };
            paged.extend(page);
        }
        assert_eq!(paged, expected, "pages of {limit}");
    }
    // A mirror that began later never saw them.
    let begun = ChangesSince { deleted_after: Revision(4), ..EVERYTHING };
    assert_eq!(changes(&scene, &one, begun, 9).await, [expected[0].clone(), expected[3].clone()]);
    let mut arrived = changes(&scene, &other, EVERYTHING, 9).await;
    arrived.sort_by_key(|(_, changed)| changed.id());
    let came = |event| (Revision(1), written(&on(&other, event)));
    assert_eq!(arrived, [came(first), came(second)]);

    let back = moved(&scene, &on(&other, &series), &one).await;
    let expected = [
        (Revision(3), written(&stays)),
        (Revision(4), gone(&row)),
        (Revision(5), written(&later)),
        (Revision(6), written(&back)),
    ];
    assert_eq!(changes(&scene, &one, EVERYTHING, 9).await, expected);
    let expected = [(Revision(1), written(&on(&other, &row))), (Revision(2), gone(&series))];
    assert_eq!(changes(&scene, &other, EVERYTHING, 9).await, expected);
}

/// Moves that mirrors no longer need are purged in batches.
pub async fn old_moves_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (one, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let at = |hour| Fixtures::BEGINNING + SignedDuration::hours(hour);
    for hour in 1..=4 {
        let event = Event { updated_at: at(hour), ..scene.make.event(&one, hours(hour, hour + 1)) };
        let event = scene.stored(event).await;
        moved(&scene, &event, &other).await;
    }
    let purge = async |before, limit| scene.store.purge_moved(at(before), limit).await.unwrap();
    let left = async || changes(&scene, &one, EVERYTHING, 9).await.len();
    assert_eq!((purge(0, 9).await, left().await), (0, 4));
    assert_eq!((purge(3, 2).await, left().await), (2, 2));
    assert_eq!((purge(3, 2).await, left().await), (1, 1));
    assert_eq!((purge(4, 2).await, left().await), (1, 0));
    assert_eq!(scene.events(other.id).await.len(), 4, "the events stay");
}

/// The timer of an event moves with it. What it has emitted is not emitted again.
pub async fn timers_move_with_their_events(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (one, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let hour = |hour| Fixtures::BEGINNING + SignedDuration::hours(hour);
    let made = |reminders| Event { reminders, updated_at: hour(0), ..scene.make.event(&one, hours(10, 12)) };
    let own = scene.stored(made(Some(Reminders::parse("reminders", &[5]).unwrap()))).await;
    let inherits = scene.stored(made(None)).await;
    let hold =
        scene.stored(Event { updated_at: hour(0), ..scene.make.hold(&one, hours(1, 2), SignedDuration::hours(1)) });
    let hold = hold.await;
    for event in [&own, &inherits, &hold] {
        moved(&scene, &Event { updated_at: hour(2), ..event.clone() }, &other).await;
    }
    let all = async |queue| scene.store.claim_timers(queue, Timestamp::HORIZON, Timestamp::EPOCH, 9).await.unwrap();
    let mut found = all(TimerQueue::Events).await;
    found.extend(all(TimerQueue::Holds).await);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|timer| timer.calendar == other.id));
    let emitted = |event: &Event| found.iter().find(|timer| timer.event == event.id).unwrap().emitted_until;
    assert_eq!(emitted(&own), EmittedUntil::both(hour(0)));
    assert_eq!(emitted(&inherits), EmittedUntil { all: hour(0), reminders: hour(2) });
    let again: Vec<_> = all(TimerQueue::Again).await.into_iter().map(|timer| timer.event).collect();
    assert_eq!(again, [inherits.id], "its reminders are those of the other calendar");
}

/// One of many concurrent moves of an event succeeds, and it is on one calendar.
pub async fn an_event_moves_to_one_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let home = scene.shared_calendar().await;
    let mut calendars = Vec::new();
    for _ in 0..8 {
        calendars.push(scene.shared_calendar().await);
    }
    let event = scene.event(&home, hours(1, 2)).await;
    let outcomes = race(calendars.len(), |index| {
        let (scene, event, to) = (scene.clone(), event.clone(), calendars[index].clone());
        async move { try_move(&scene, &event, &to).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    let mut holders = Vec::new();
    for (calendar, outcome) in calendars.iter().zip(&outcomes) {
        let busy = spans(&scene, calendar).await;
        assert_eq!(busy.len(), usize::from(outcome.is_ok()));
        holders.extend(busy);
    }
    assert_eq!((holders, spans(&scene, &home).await), (vec![hours(1, 2)], vec![]));
    assert_eq!(changes(&scene, &home, EVERYTHING, 9).await, [(Revision(2), gone(&event))]);
}
