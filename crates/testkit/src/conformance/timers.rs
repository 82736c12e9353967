//! Timers follow their events, and due timers are handled once.

use std::collections::BTreeSet;

use kalends_app::{ChangeSet, ports::CommitError};
use kalends_calendars::{
    Advance, Calendar, Change, EmittedUntil, Event, EventStatus, Reminders,
    ports::{ClaimedTimer, TimerQueue},
};
use kalends_kernel::{EventId, Version};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours, race},
};
use crate::fixtures::{Compose, Fixtures};

const MINUTE: SignedDuration = SignedDuration::minutes(1);

/// That many hours after the beginning of the fixtures.
fn hour(hour: i64) -> Timestamp {
    Fixtures::BEGINNING + SignedDuration::hours(hour)
}

fn minutes(minutes: &[i64]) -> Option<Reminders> {
    Some(Reminders::parse("reminders", minutes).unwrap())
}

/// The timers of the queue that are due at `now`, claimed for no time, so that they stay free.
async fn due(scene: &Scene, queue: TimerQueue, now: Timestamp) -> Vec<ClaimedTimer> {
    scene.store.claim_timers(queue, now, Timestamp::EPOCH, 1_000).await.unwrap()
}

/// When the event's timer is due, searched in the far future.
async fn due_at(scene: &Scene, event: &Event) -> Option<Timestamp> {
    timer(scene, event).await.map(|timer| timer.due_at)
}

async fn timer(scene: &Scene, event: &Event) -> Option<ClaimedTimer> {
    let mut all = due(scene, TimerQueue::Events, Timestamp::HORIZON).await;
    all.extend(due(scene, TimerQueue::Holds, Timestamp::HORIZON).await);
    all.into_iter().find(|timer| timer.event == event.id)
}

/// Writes the event after `change`, at `now`.
async fn write(scene: &Scene, event: &Event, now: Timestamp, change: impl FnOnce(Event) -> Event) -> Event {
    let changed = Event { version: event.version.next(), updated_at: now, ..change(event.clone()) };
    scene.commit(scene.changes().update(&changed, event.version)).await;
    changed
}

fn advance(timer: &ClaimedTimer, next: Option<(Timestamp, EmittedUntil)>) -> ChangeSet {
    let ClaimedTimer { org, calendar, event, version, .. } = *timer;
    let mut changes = ChangeSet::new(org);
    changes.calendars.push(Change::AdvanceTimer(Advance { org, calendar, event, seen: version, next }));
    changes
}

/// Every write of an event writes its timer. A timer exists while the event still has something to emit, and is due
/// when the event emits next.
pub async fn a_timer_follows_its_event(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let plain = scene.shared_calendar().await;
    let reminded = Calendar { default_reminders: minutes(&[60, 30]), ..scene.make.shared_calendar(scene.org) };
    scene.commit(scene.changes().create(&reminded)).await;
    let now = hour(0);
    let made = |calendar: &Calendar, reminders: Option<Reminders>| Event {
        reminders,
        updated_at: now,
        ..scene.make.event(calendar, hours(10, 12))
    };
    let own = scene.stored(made(&reminded, minutes(&[5]))).await;
    let inherits = scene.stored(made(&reminded, None)).await;
    let usual = scene.stored(made(&plain, None)).await;
    assert_eq!(due_at(&scene, &own).await, Some(hour(10) - SignedDuration::minutes(5)));
    assert_eq!(due_at(&scene, &inherits).await, Some(hour(9)));
    assert_eq!(due_at(&scene, &usual).await, Some(hour(10) - SignedDuration::minutes(10)));
    let found = timer(&scene, &inherits).await.unwrap();
    assert_eq!((found.seen.as_ref(), &found.defaults), (Some(&inherits), &reminded.default_reminders));
    assert_eq!((found.org, found.calendar, found.emitted_until), (scene.org, reminded.id, EmittedUntil::both(now)));

    // An event that is written late has only a part to emit, or nothing.
    let late = Event { updated_at: hour(11), ..scene.make.event(&plain, hours(10, 12)) };
    let past = Event { updated_at: hour(12), ..scene.make.event(&plain, hours(10, 12)) };
    assert_eq!(due_at(&scene, &scene.stored(late).await).await, Some(hour(12)));
    assert_eq!(due_at(&scene, &scene.stored(past).await).await, None);

    let moved = write(&scene, &usual, hour(1), |event| Event {
        times: kalends_calendars::Times { span: hours(20, 21), all_day: false },
        ..event
    });
    let moved = moved.await;
    assert_eq!(due_at(&scene, &moved).await, Some(hour(20) - SignedDuration::minutes(10)));
    let maybe = write(&scene, &moved, hour(2), |event| Event { status: EventStatus::Tentative, ..event }).await;
    assert_eq!(due_at(&scene, &maybe).await, Some(hour(20) - SignedDuration::minutes(10)));
    let off = write(&scene, &maybe, hour(3), |event| Event { status: EventStatus::Cancelled, ..event }).await;
    assert_eq!(due_at(&scene, &off).await, None);
    let on = write(&scene, &off, hour(4), |event| Event { status: EventStatus::Confirmed, ..event }).await;
    let found = timer(&scene, &on).await.unwrap();
    assert_eq!(
        (found.due_at, found.emitted_until),
        (hour(20) - SignedDuration::minutes(10), EmittedUntil::both(hour(4)))
    );
    let gone = write(&scene, &on, hour(5), |event| Event { deleted_at: Some(hour(5)), ..event }).await;
    assert_eq!(due_at(&scene, &gone).await, None);

    // A hold's timer is due at its expiry. A confirmed hold is an event like any other.
    let hold = scene.stored(scene.make.hold(&plain, hours(10, 12), MINUTE)).await;
    assert_eq!(due_at(&scene, &hold).await, hold.hold.map(|hold| hold.expires_at));
    let confirmed = hold.confirmed(hour(0)).unwrap();
    scene.commit(scene.changes().update(&confirmed, hold.version)).await;
    assert_eq!(due(&scene, TimerQueue::Holds, Timestamp::HORIZON).await, []);
    assert_eq!(due_at(&scene, &confirmed).await, Some(hour(10) - SignedDuration::minutes(10)));

    let series = Event { updated_at: hour(30), ..scene.make.series(&plain, hours(10, 11), "FREQ=DAILY") };
    let series = scene.stored(series).await;
    assert_eq!(due_at(&scene, &series).await, Some(hour(34) - SignedDuration::minutes(10)));
    let without = series.without_occurrence(hour(34), hour(30)).unwrap();
    scene.commit(scene.changes().update(&without, series.version)).await;
    assert_eq!(due_at(&scene, &without).await, Some(hour(58) - SignedDuration::minutes(10)));
}

/// A new title neither cancels what is still to be emitted nor emits anything twice.
pub async fn a_write_that_changes_no_timing_leaves_the_timer_alone(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let event = Event { updated_at: hour(0), ..scene.make.event(&calendar, hours(10, 12)) };
    let event = scene.stored(event).await;
    let before = timer(&scene, &event).await.unwrap();
    // The reminder, start and end are due by then, and are still emitted.
    let retitled = write(&scene, &event, hour(13), |event| Event { title: "Other".into(), ..event }).await;
    let after = timer(&scene, &retitled).await.unwrap();
    assert_eq!(
        (after.due_at, after.emitted_until, after.version),
        (before.due_at, before.emitted_until, before.version)
    );
    assert_eq!(after.seen, Some(retitled.clone()));

    // What was emitted stays emitted, even if a clock is behind.
    let emitted_until = EmittedUntil::both(hour(11));
    scene.commit(advance(&after, Some((hour(12), emitted_until)))).await;
    let behind = hour(9);
    let reminders = minutes(&[30]);
    let changed = write(&scene, &retitled, behind, |event| Event { reminders, ..event }).await;
    let found = timer(&scene, &changed).await.unwrap();
    assert_eq!(found.emitted_until, emitted_until);
}

/// Each queue returns its due timers, of every organization, the longest due first, with the event if it is visible.
pub async fn timers_are_claimed_when_due(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let elsewhere = scene.other_organization().await;
    let (calendar, other) = (scene.shared_calendar().await, elsewhere.shared_calendar().await);
    let hidden = scene.shared_calendar().await;
    let event = |calendar: &Calendar, start| Event {
        reminders: minutes(&[]),
        updated_at: hour(-100),
        ..scene.make.event(calendar, hours(start, start + 1))
    };
    let second = scene.stored(event(&calendar, 5)).await;
    let first = elsewhere.stored(event(&other, 3)).await;
    let unseen = scene.stored(event(&hidden, 4)).await;
    scene.delete(&hidden).await;
    scene.stored(event(&calendar, 6)).await;
    let hold = scene.stored(scene.make.hold(&calendar, hours(1, 2), MINUTE)).await;

    let ids = |timers: &[ClaimedTimer]| timers.iter().map(|timer| timer.event).collect::<Vec<_>>();
    let found = due(&scene, TimerQueue::Events, hour(5)).await;
    assert_eq!(ids(&found), [first.id, unseen.id, second.id]);
    let seen: Vec<_> = found.iter().map(|timer| timer.seen.as_ref()).collect();
    assert_eq!(seen, [Some(&first), None, Some(&second)]);
    assert_eq!(ids(&due(&scene, TimerQueue::Events, hour(5) - SignedDuration::micros(1)).await), [first.id, unseen.id]);
    let one = scene.store.claim_timers(TimerQueue::Events, hour(5), Timestamp::EPOCH, 1).await.unwrap();
    assert_eq!(ids(&one), [first.id]);

    let expires_at = hold.hold.unwrap().expires_at;
    assert_eq!(ids(&due(&scene, TimerQueue::Holds, expires_at).await), [hold.id]);
    assert_eq!(due(&scene, TimerQueue::Holds, expires_at - SignedDuration::micros(1)).await, []);
    assert_eq!(due(&scene, TimerQueue::Again, hour(5)).await, []);
}

/// A claimed timer belongs to its worker until the claim expires or the timer is written.
pub async fn a_claimed_timer_is_not_claimed_again(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let event = Event { updated_at: hour(0), ..scene.make.event(&calendar, hours(10, 12)) };
    let event = scene.stored(event).await;
    let claim = async |now: Timestamp| {
        let claimed = scene.store.claim_timers(TimerQueue::Events, now, now + MINUTE, 9).await.unwrap();
        claimed.first().cloned()
    };
    let now = hour(10);
    let first = claim(now).await.unwrap();
    assert_eq!(claim(now).await, None);
    assert_eq!(claim(now + MINUTE - SignedDuration::micros(1)).await, None);
    // The first worker may have crashed. Both see the same timer, so that one of them is stale.
    let again = claim(now + MINUTE).await.unwrap();
    assert_eq!((again.version, again.emitted_until), (first.version, first.emitted_until));
    let reminders = minutes(&[1]);
    write(&scene, &event, hour(5), |event| Event { reminders, ..event }).await;
    let written = claim(now + MINUTE).await.unwrap();
    assert_ne!(written.version, first.version);
    scene.commit(advance(&written, Some((now, EmittedUntil::both(now))))).await;
    assert!(claim(now + MINUTE).await.is_some());
}

/// A timer is advanced or removed only if it is as it was read; otherwise nothing is written.
pub async fn timers_are_advanced_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let event = Event { updated_at: hour(0), ..scene.make.event(&calendar, hours(10, 12)) };
    let event = scene.stored(event).await;
    let seen = timer(&scene, &event).await.unwrap();
    let emitted_until = EmittedUntil { all: hour(10), reminders: hour(11) };
    scene.commit(advance(&seen, Some((hour(12), emitted_until)))).await;
    let next = timer(&scene, &event).await.unwrap();
    assert_eq!((next.due_at, next.emitted_until), (hour(12), emitted_until));

    let before = scene.observe().await;
    for stale in [advance(&seen, Some((hour(13), emitted_until))), advance(&seen, None)] {
        let stale = stale.message(scene.make.message(scene.org));
        assert_refused!(scene.try_commit(stale).await, CommitError::Stale);
    }
    assert_eq!(scene.observe().await, before);
    assert_eq!(timer(&scene, &event).await, Some(next.clone()));
    scene.commit(advance(&next, None)).await;
    assert_eq!(timer(&scene, &event).await, None);
    assert_refused!(scene.try_commit(advance(&next, None)).await, CommitError::Stale);
    assert_refused!(scene.try_commit(advance(&next, Some((hour(12), emitted_until)))).await, CommitError::Stale);
}

/// Neither the event nor its calendar changes when its timer does.
pub async fn advancing_a_timer_raises_no_version(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let event = Event { updated_at: hour(0), ..scene.make.event(&calendar, hours(10, 12)) };
    let event = scene.stored(event).await;
    let before = scene.observe().await;
    let seen = timer(&scene, &event).await.unwrap();
    scene.commit(advance(&seen, Some((hour(12), EmittedUntil::both(hour(10)))))).await;
    assert_eq!(scene.observe().await, before);
}

/// When the default reminders of a calendar change, the timers of events that inherit them are looked at again.
pub async fn timers_that_inherit_new_reminders_are_marked(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let made = |calendar: &Calendar, reminders| Event {
        reminders,
        updated_at: hour(0),
        ..scene.make.event(calendar, hours(10, 12))
    };
    let inherits = scene.stored(made(&calendar, None)).await;
    scene.stored(made(&calendar, minutes(&[5]))).await;
    scene.stored(made(&other, None)).await;
    scene.stored(scene.make.hold(&calendar, hours(1, 2), MINUTE)).await;
    let again = async || due(&scene, TimerQueue::Again, hour(0)).await;
    let seen = scene.store.find_calendar(scene.org, calendar.id).await.unwrap().unwrap();
    let renamed = Calendar { name: "Other".into(), version: seen.version.next(), ..seen.clone() };
    scene.commit(scene.changes().update(&renamed, seen.version)).await;
    assert_eq!(again().await, []);

    let stale = timer(&scene, &inherits).await.unwrap();
    let reminded = Calendar {
        default_reminders: minutes(&[120]),
        version: renamed.version.next(),
        updated_at: hour(9),
        ..renamed.clone()
    };
    scene.commit(scene.changes().update(&reminded, renamed.version)).await;
    let found = again().await;
    assert_eq!(found.iter().map(|timer| timer.event).collect::<Vec<_>>(), [inherits.id]);
    let found = &found[0];
    // The start was due before and is still emitted; reminders that it would have had are not.
    assert_eq!(found.emitted_until, EmittedUntil { all: hour(0), reminders: hour(9) });
    assert_eq!((found.defaults.as_ref(), found.due_at), (reminded.default_reminders.as_ref(), stale.due_at));
    assert_refused!(scene.try_commit(advance(&stale, None)).await, CommitError::Stale);
    scene.commit(advance(found, Some((hour(10), found.emitted_until)))).await;
    assert_eq!(again().await, []);
    assert_eq!(due_at(&scene, &inherits).await, Some(hour(10)));
}

/// Timers of a deleted calendar, or of a decommissioned agent, are removed in batches.
pub async fn timers_of_hidden_calendars_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (kept, deleted, of_agent) =
        (scene.shared_calendar().await, scene.shared_calendar().await, scene.calendar(&agent).await);
    for calendar in [&kept, &deleted, &of_agent] {
        for _ in 0..2 {
            scene.stored(Event { updated_at: hour(0), ..scene.make.event(calendar, hours(10, 12)) }).await;
        }
    }
    assert_eq!(scene.store.forget_timers(9).await.unwrap(), 0);
    scene.delete(&deleted).await;
    scene.decommission(&agent).await;
    assert_eq!(scene.store.forget_timers(3).await.unwrap(), 3);
    assert_eq!(scene.store.forget_timers(3).await.unwrap(), 1);
    let left = due(&scene, TimerQueue::Events, Timestamp::HORIZON).await;
    assert!(left.len() == 2 && left.iter().all(|timer| timer.calendar == kept.id), "{left:?}");
    assert!(scene.store.seed_timers(hour(0), 9).await.unwrap(), "every event has its timer already");
}

/// Several workers that claim at once claim different timers, and together all that are due.
pub async fn workers_share_due_timers(store: &StoreUnderTest) {
    const EVENTS: usize = 60;
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let mut made = BTreeSet::new();
    for _ in 0..EVENTS {
        let event = Event { updated_at: hour(0), ..scene.make.event(&calendar, hours(10, 12)) };
        made.insert(scene.stored(event).await.id);
    }
    let claims = race(6, |_| {
        let scene = scene.clone();
        async move {
            let mut claimed = Vec::new();
            loop {
                let now = hour(11);
                let batch = scene.store.claim_timers(TimerQueue::Events, now, now + MINUTE, 7).await.unwrap();
                if batch.is_empty() {
                    return claimed;
                }
                claimed.extend(batch.into_iter().map(|timer| timer.event));
            }
        }
    })
    .await;
    let all: Vec<EventId> = claims.into_iter().flatten().collect();
    assert_eq!(all.len(), EVENTS, "none is claimed twice");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), made);
}

/// If several workers emit the same thing, each with its message, one succeeds: there is one message, however many
/// workers crash or come too late.
pub async fn a_due_timer_emits_one_message(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let event = Event { updated_at: hour(0), ..scene.make.event(&calendar, hours(10, 12)) };
    scene.stored(event).await;
    for round in 1..=6_usize {
        let now = hour(11);
        let seen = due(&scene, TimerQueue::Events, now).await.pop().unwrap();
        let outcomes = race(6, |_| {
            let (scene, seen) = (scene.clone(), seen.clone());
            async move {
                let next = Some((now, EmittedUntil::both(now)));
                let changes = advance(&seen, next).message(scene.make.message(scene.org));
                scene.try_commit(changes).await
            }
        })
        .await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
        assert_eq!(scene.inspect.messages(scene.org).await.len(), round);
        assert_ne!(seen.version, Version(0));
    }
}
