//! Feeds: a calendar by the token of its address, and the events that it shows. Spans are in hours from the beginning
//! of the fixtures.

use kalends_calendars::{Calendar, CalendarPatch, Event, EventSource, EventStatus, FeedToken, Patch};
use kalends_kernel::{OrgId, Revision};
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    scene::{Scene, hours, race},
    series::moved,
};
use crate::fixtures::{Compose, Fixtures};

/// Finds a calendar by the feed token of this one.
async fn found(scene: &Scene, calendar: &Calendar) -> Option<Calendar> {
    scene.store.calendar_of_feed(calendar.feed_token.reveal()).await.unwrap()
}

/// The events that the feed of a calendar shows, and their revision.
async fn read(scene: &Scene, org: OrgId, calendar: &Calendar) -> (Vec<Event>, Option<Revision>) {
    let mut events = Vec::new();
    let revision = scene.store.read_feed(org, calendar.id, &mut |event| events.push(event)).await.unwrap();
    (events, revision)
}

/// A token belongs to one calendar, whichever caller uses it. Anything else finds nothing.
pub async fn feeds_are_found_by_their_token(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let made = [scene.calendar(&agent).await, scene.shared_calendar().await, other.shared_calendar().await];
    for calendar in &made {
        assert_eq!(found(&scene, calendar).await.as_ref(), Some(calendar));
        let token = calendar.feed_token.reveal();
        for near in
            [&token[1..], &token[..token.len() - 1], &format!("{token} "), &format!("{token}A"), &swapped(token)]
        {
            assert_eq!(scene.store.calendar_of_feed(near).await.unwrap(), None, "{near}");
        }
    }
    for strange in ["", "%", "_", "v1.", "null", "' or 1=1 --", "診察", &"A".repeat(9_999)] {
        assert_eq!(scene.store.calendar_of_feed(strange).await.unwrap(), None, "{strange}");
    }

    // The token stays the same while the calendar changes and while events are scheduled.
    let [calendar, ..] = made;
    let patch = CalendarPatch { name: Patch::Set("Renamed".into()), ..CalendarPatch::default() };
    let renamed = calendar.patched(patch, scene.make.tick());
    scene.commit(scene.changes().update(&renamed, calendar.version)).await;
    scene.event(&calendar, hours(1, 2)).await;
    let renamed = Calendar { revision: Revision(1), ..renamed };
    assert_eq!(found(&scene, &calendar).await, Some(renamed));
}

/// The token with upper and lower case swapped.
fn swapped(token: &str) -> String {
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    token.chars().map(swap).collect()
}

/// After a calendar gets another token, the old one finds nothing. Other calendars keep their tokens.
pub async fn a_rotated_token_finds_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, second) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let rotated = calendar.with_feed_token(FeedToken::generate(&scene.make.entropy), scene.make.tick());
    let changes = scene.changes().update(&rotated, calendar.version);
    scene.commit(changes.clone()).await;
    assert_eq!(found(&scene, &calendar).await, None);
    assert_eq!(found(&scene, &rotated).await.as_ref(), Some(&rotated));
    assert_eq!(found(&scene, &second).await.as_ref(), Some(&second));

    // A rotation at an old version changes nothing.
    let late = calendar.with_feed_token(FeedToken::generate(&scene.make.entropy), scene.make.tick());
    scene.try_commit(scene.changes().update(&late, calendar.version)).await.unwrap_err();
    assert_eq!(found(&scene, &late).await, None);
    assert_eq!(found(&scene, &rotated).await, Some(rotated));

    let heir = second.with_feed_token(calendar.feed_token.clone(), scene.make.tick());
    scene.commit(scene.changes().update(&heir, second.version)).await;
    assert_eq!(found(&scene, &calendar).await, Some(heir));
}

/// A calendar that is deleted, or whose agent is decommissioned, has no feed any more. Others keep theirs.
pub async fn feeds_end_with_their_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, colleague) = (scene.agent().await, scene.agent().await);
    let (deleted, decommissioned) = (scene.shared_calendar().await, scene.calendar(&agent).await);
    let kept = [scene.shared_calendar().await, scene.calendar(&colleague).await];
    for calendar in [&deleted, &decommissioned, &kept[0], &kept[1]] {
        scene.event(calendar, hours(1, 2)).await;
    }
    scene.delete(&deleted).await;
    scene.decommission(&agent).await;
    for calendar in [&deleted, &decommissioned] {
        assert_eq!(found(&scene, calendar).await, None);
        assert_eq!(read(&scene, scene.org, calendar).await, (vec![], None));
    }
    for calendar in &kept {
        assert!(found(&scene, calendar).await.is_some());
        assert_eq!(read(&scene, scene.org, calendar).await.0.len(), 1);
    }
    let never = scene.make.shared_calendar(scene.org);
    assert_eq!(read(&scene, scene.org, &never).await, (vec![], None));
}

/// A feed shows native events that are confirmed or tentative, by start, then identifier: one-off events, series and
/// overrides. Holds, and events that are cancelled, deleted, imported or on another calendar, are left out.
pub async fn feeds_show_confirmed_and_tentative_events(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let (calendar, second) = (scene.calendar(&agent).await, scene.calendar(&agent).await);
    assert_eq!(read(&scene, scene.org, &calendar).await, (vec![], Some(Revision(0))));

    let mut expected = vec![
        scene.event(&calendar, hours(5, 6)).await,
        scene.event(&calendar, hours(5, 6)).await,
        scene.event(&calendar, hours(-9_000, -8_999)).await,
    ];
    let mut at_two = async |changed: fn(Event) -> Event| {
        let made = scene.stored(changed(scene.make.event(&calendar, hours(2, 3)))).await;
        if made.source == EventSource::Internal
            && matches!(made.status, EventStatus::Confirmed | EventStatus::Tentative)
            && made.deleted_at.is_none()
        {
            expected.push(made);
        }
    };
    at_two(|event| Event { status: EventStatus::Tentative, ..event }).await;
    at_two(|event| Event { status: EventStatus::Cancelled, ..event }).await;
    at_two(|event| Event { source: EventSource::ExternalIcal, ..event }).await;
    at_two(|event| event).await;
    assert_eq!(expected.len(), 5);
    scene.stored(scene.make.hold(&calendar, hours(2, 3), SignedDuration::minutes(5))).await;
    let gone = scene.event(&calendar, hours(2, 3)).await;
    let deleted = gone.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&deleted, gone.version)).await;
    scene.event(&second, hours(2, 3)).await;
    other.event(&other.shared_calendar().await, hours(2, 3)).await;

    let daily = scene.stored(scene.make.series(&calendar, hours(1, 2), "FREQ=DAILY")).await;
    let (daily, early) = moved(&scene, &daily, Fixtures::BEGINNING + SignedDuration::hours(25), hours(-20, -19)).await;
    let (daily, cancelled) =
        moved(&scene, &daily, Fixtures::BEGINNING + SignedDuration::hours(49), hours(50, 51)).await;
    let none = Event { status: EventStatus::Cancelled, version: cancelled.version.next(), ..cancelled.clone() };
    scene.commit(scene.changes().update(&none, cancelled.version)).await;
    expected.extend([daily, early]);
    expected.sort_by_key(|event| (event.times.span.start(), event.id));

    let revision = scene.revision(&calendar).await;
    assert_eq!(read(&scene, scene.org, &calendar).await, (expected, Some(revision)));
    assert_eq!(
        read(&scene, other.org, &calendar).await,
        (vec![], None),
        "the calendar belongs to another organization"
    );
}

/// Every event is passed once and in order, however many there are, even with the same start.
pub async fn long_feeds_are_complete(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let mut made: Vec<Event> = (0..650)
        .map(|number| {
            let hour = if number < 450 { 1 } else { number % 7 };
            let event = scene.make.event(&calendar, hours(hour, hour + 1));
            Event { title: format!("No {number}"), ..event }
        })
        .collect();
    for several in made.chunks(100) {
        scene.commit(several.iter().fold(scene.changes(), |changes, event| changes.create(event))).await;
    }
    made.sort_by_key(|event| (event.times.span.start(), event.id));
    assert_eq!(read(&scene, scene.org, &calendar).await.0, made);
}

/// The events and the revision come from one snapshot, while others write.
pub async fn a_feed_is_one_snapshot(store: &StoreUnderTest) {
    const WRITES: i64 = 40;
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let outcomes = race(2, |index| {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        async move {
            if index == 0 {
                for hour in 0..WRITES {
                    scene.event(&calendar, hours(hour, hour + 1)).await;
                }
                return true;
            }
            loop {
                let (events, revision) = read(&scene, scene.org, &calendar).await;
                // Each event is a change-set of its own, and so a revision of its own.
                if revision != i64::try_from(events.len()).ok().map(Revision) {
                    return false;
                }
                if revision == Some(Revision(WRITES)) {
                    return true;
                }
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
    assert_eq!(outcomes, [true, true]);
}
