//! When calendars with a destination are due.

use std::collections::BTreeSet;

use kalends_app::ChangeSet;
use kalends_bridge::{Change, Connection, ConnectionPatch, Ended, RefreshState};
use kalends_calendars::{Calendar, Change as CalendarChange, Event};
use kalends_kernel::CalendarId;
use kalends_time::SignedDuration;

use super::publishing::{LASTS, LATER};
use crate::conformance::{
    StoreUnderTest,
    scene::{Scene, hours, race},
};
use crate::fixtures::Compose as _;

impl Scene {
    /// The calendars that are due. All of them are visible. Ends the attempts, so that they are not due any more.
    async fn due_destinations(&self) -> BTreeSet<CalendarId> {
        let now = self.make.tick();
        let mut due = BTreeSet::new();
        for claimed in self.claim_destinations(now, 20).await {
            let calendar = claimed.claim.calendar;
            let revision = self.store.find_calendar(self.org, calendar).await.unwrap().unwrap().revision;
            self.end_publishing(claimed.claim, revision, Some(now + LATER)).await.unwrap();
            assert!(due.insert(calendar));
        }
        due
    }
}

/// Whatever is written to a calendar makes it due at once, and other writes do not.
pub async fn writes_to_a_calendar_make_it_due(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let [one, other, plain] =
        [scene.shared_calendar().await, scene.shared_calendar().await, scene.shared_calendar().await];
    let (destination, connection, _) = scene.published(&one).await;
    assert_eq!(scene.due_destinations().await, BTreeSet::from([one.id]));
    scene.published(&other).await;
    assert_eq!(scene.due_destinations().await, BTreeSet::from([other.id]));
    assert_eq!(scene.due_destinations().await, BTreeSet::new());
    let only_one = BTreeSet::from([one.id]);

    // Events.
    let event = scene.event(&one, hours(1, 2)).await;
    assert_eq!(scene.due_destinations().await, only_one);
    let changed = Event { title: "Other".into(), version: event.version.next(), ..event.clone() };
    scene.commit(scene.changes().update(&changed, event.version)).await;
    assert_eq!(scene.due_destinations().await, only_one);
    let to = |calendar: &Calendar, event: &Event| Event {
        calendar: calendar.id,
        version: event.version.next(),
        ..event.clone()
    };
    let relocate = async |event: &Event, calendar: &Calendar| {
        let after = to(calendar, event);
        let calendars = vec![CalendarChange::update(event, after.clone())];
        scene.commit(ChangeSet { calendars, ..scene.changes() }).await;
        after
    };
    let event = relocate(&changed, &plain).await;
    assert_eq!(scene.due_destinations().await, only_one, "it moved out");
    let event = relocate(&event, &one).await;
    assert_eq!(scene.due_destinations().await, only_one, "it moved in");
    let event = relocate(&event, &other).await;
    assert_eq!(scene.due_destinations().await, BTreeSet::from([one.id, other.id]));
    let event = relocate(&event, &one).await;
    assert_eq!(scene.due_destinations().await, BTreeSet::from([one.id, other.id]));
    let deleted = event.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&deleted, event.version)).await;
    assert_eq!(scene.due_destinations().await, only_one);

    // Holds and series.
    let hold = scene.stored(scene.make.hold(&one, hours(3, 4), SignedDuration::minutes(9))).await;
    assert_eq!(scene.due_destinations().await, only_one);
    let confirmed = hold.confirmed(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&confirmed, hold.version)).await;
    assert_eq!(scene.due_destinations().await, only_one);
    scene.stored(scene.make.series(&one, hours(5, 6), "FREQ=DAILY")).await;
    assert_eq!(scene.due_destinations().await, only_one);

    // Many that are added together.
    race(8, |index| {
        let (scene, calendar) = (scene.clone(), if index % 2 == 0 { one.clone() } else { other.clone() });
        async move { scene.event(&calendar, hours(7, 8)).await }
    })
    .await;
    assert_eq!(scene.due_destinations().await, BTreeSet::from([one.id, other.id]));

    // The zone of the calendar, which days follow, but not its name.
    let renamed = Calendar { name: "Other".into(), version: one.version.next(), ..one.clone() };
    scene.commit(scene.changes().update(&renamed, one.version)).await;
    assert_eq!(scene.due_destinations().await, BTreeSet::new());
    let elsewhere = Calendar { zone: "Europe/Berlin".parse().unwrap(), version: renamed.version.next(), ..renamed };
    scene.commit(scene.changes().update(&elsewhere, one.version.next())).await;
    assert_eq!(scene.due_destinations().await, only_one);

    // Other calendars, and the connection.
    scene.event(&plain, hours(1, 2)).await;
    let labelled = connection.patched(ConnectionPatch::Label(Some("name".into())), scene.make.tick());
    scene.reconnect(&connection, &labelled, None).await.unwrap();
    let at = scene.make.tick();
    scene.bridge(vec![Change::AskRefresh { org: scene.org, connection: connection.id, at }]).await.unwrap();
    assert_eq!(scene.due_destinations().await, BTreeSet::new());

    // A changed destination.
    let version = destination.version.next();
    let changed = kalends_bridge::Destination { version, ..destination.clone() };
    scene.put_destination(&changed, Some(destination.version)).await.unwrap();
    assert_eq!(scene.due_destinations().await, only_one);
    assert!(scene.no_destination_is_due(at + SignedDuration::hours(8_000)).await);
    assert_eq!(scene.claim_destinations(at + LATER + LATER, 9).await.len(), 2, "the next attempt is due in time");
}

/// A calendar that is deleted, and those of an agent that is decommissioned, are due at once, also if an attempt is in
/// progress. The claim comes with the destination, so that a worker can delete the copies.
pub async fn hidden_calendars_are_due_to_lose_their_copies(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for during in [false, true] {
        for decommissioned in [false, true] {
            let agent = scene.agent().await;
            let calendar = scene.calendar(&agent).await;
            let (destination, connection, _) = scene.published(&calendar).await;
            let begun = scene.make.tick();
            let claim = scene.claim_destination(begun).await;
            let end = async || {
                let next = Some(begun + LATER);
                scene.end_publishing(claim, calendar.revision, next).await.unwrap();
            };
            if !during {
                end().await;
            }
            match decommissioned {
                true => drop(scene.decommission(&agent).await),
                false => scene.delete(&calendar).await,
            }
            if during {
                assert!(scene.no_destination_is_due(begun).await, "one worker at a time");
                end().await;
            }
            let now = scene.make.tick();
            let claimed = scene.claim_destinations(now, 9).await;
            assert_eq!(claimed.len(), 1, "during an attempt: {during}, decommissioned: {decommissioned}");
            assert_eq!((&claimed[0].destination, claimed[0].claim.interrupted), (&destination, false));

            // It ends as usual, and stays until its user removes it.
            scene.end_publishing(claimed[0].claim, calendar.revision, Some(now + LATER)).await.unwrap();
            assert!(scene.no_destination_is_due(now + LASTS).await);
            assert_eq!(scene.destination_now(calendar.id).await.as_ref(), Some(&destination));
            scene.end_destination(&destination, false).await.unwrap();
            let claim = scene.claim_destination(now).await;
            scene.end_publishing(claim, calendar.revision, None).await.unwrap();
            assert_eq!(scene.destination_now(calendar.id).await, None);
            scene.disconnect(&connection).await.unwrap();
        }
    }
}

/// Destinations at a paused or lapsed connection are not claimed, whatever is written. When it is resumed, or its user
/// consents again, they are due at once, also if an attempt is in progress.
pub async fn paused_and_lapsed_connections_are_not_published(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (_, made, _) = scene.published(&calendar).await;
    let pause = |seen: &Connection, paused| seen.patched(ConnectionPatch::Paused(paused), scene.make.tick());
    let only = BTreeSet::from([calendar.id]);
    let much_later = scene.make.tick() + LATER + LATER;

    // Paused.
    let paused = pause(&made, true);
    scene.reconnect(&made, &paused, None).await.unwrap();
    assert!(scene.no_destination_is_due(much_later).await);
    scene.event(&calendar, hours(1, 2)).await;
    assert!(scene.no_destination_is_due(much_later).await);
    let resumed = pause(&paused, false);
    scene.reconnect(&paused, &resumed, Some(scene.make.tick())).await.unwrap();
    assert_eq!(scene.due_destinations().await, only);
    assert_eq!(scene.due_destinations().await, BTreeSet::new());

    // Paused and resumed while nothing else was due.
    let paused = pause(&resumed, true);
    scene.reconnect(&resumed, &paused, None).await.unwrap();
    assert!(scene.no_destination_is_due(much_later).await);
    let resumed = pause(&paused, false);
    scene.reconnect(&paused, &resumed, Some(scene.make.tick())).await.unwrap();

    // The same during an attempt.
    let now = scene.make.tick();
    let claim = scene.claim_destination(now).await;
    let paused = pause(&resumed, true);
    scene.reconnect(&resumed, &paused, None).await.unwrap();
    let resumed = pause(&paused, false);
    scene.reconnect(&paused, &resumed, Some(scene.make.tick())).await.unwrap();
    assert!(scene.no_destination_is_due(now).await, "one worker at a time");
    let revision = scene.revision(&calendar).await;
    scene.end_publishing(claim, revision, Some(now + LATER)).await.unwrap();
    assert_eq!(scene.due_destinations().await, only);
    assert_eq!(scene.due_destinations().await, BTreeSet::new());

    // Lapsed.
    let at = scene.make.tick() + SignedDuration::hours(1);
    let claims = scene.store.claim_refreshes(at, at + LASTS, 9).await.unwrap();
    assert_eq!(claims.len(), 1);
    let state = RefreshState::default().after(Ended::Lapsed("no".into()), at);
    let end =
        Change::EndRefresh { claim: claims[0].0, access: None, state, calendars: vec![], gone: vec![], next: None, at };
    scene.bridge(vec![end]).await.unwrap();
    scene.event(&calendar, hours(1, 2)).await;
    assert!(scene.no_destination_is_due(much_later).await);
    let lapsed = scene.connection_now(&made).await.unwrap();
    let again = lapsed.reauthorized(super::consent("again", at), at);
    scene.reauthorize(&lapsed, &again, at).await.unwrap();
    assert_eq!(scene.due_destinations().await, only);

    // A consent does not end a pause.
    let paused = pause(&again, true);
    scene.reconnect(&again, &paused, None).await.unwrap();
    let at = scene.make.tick();
    scene.reauthorize(&paused, &paused.reauthorized(super::consent("more", at), at), at).await.unwrap();
    assert!(scene.no_destination_is_due(much_later).await);
}
