//! Destinations of calendars, and the copies that were written there.

use std::collections::BTreeMap;

use kalends_accounts::Change as AccountChange;
use kalends_app::ports::CommitError;
use kalends_bridge::{
    Audience, Change, Connection, Copy, CopyKey, CopyState, Destination, ExternalCalendar, PublicationPolicy,
    PublishClaim, PublishState, Reading,
    ports::{ClaimedDestination, CopyCounts},
};
use kalends_calendars::{
    Calendar, Event, HoldSet, Publication,
    ports::{CalendarFilter, HoldSetFilter, OwnedEvent},
};
use kalends_kernel::{CalendarId, EventId, ExternalCalendarId, HoldSetId, Revision, Version};
use kalends_time::{SignedDuration, Timestamp};

use super::{covered, reading};
use crate::conformance::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours},
};
use crate::fixtures::Compose as _;

/// How long claims last in these cases.
pub(super) const LASTS: SignedDuration = SignedDuration::minutes(5);
/// The time from an attempt to the next one, if nothing happens in between.
pub(super) const LATER: SignedDuration = SignedDuration::hours(9_000);

impl Scene {
    /// A destination for the calendar. Nothing is stored.
    pub(super) fn destination_of(
        &self,
        calendar: &Calendar,
        connection: &Connection,
        target: &ExternalCalendar,
    ) -> Destination {
        let now = self.make.tick();
        Destination {
            org: self.org,
            calendar: calendar.id,
            human: connection.human,
            connection: connection.id,
            target: target.id,
            policy: PublicationPolicy::Confirmed,
            ending: false,
            state: PublishState::default(),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    pub(super) async fn put_destination(
        &self,
        destination: &Destination,
        seen: Option<Version>,
    ) -> Result<(), CommitError> {
        self.bridge(vec![Change::PutDestination { destination: Box::new(destination.clone()), seen }]).await
    }

    /// Stores a destination for the calendar, at a new connection with two calendars.
    pub(super) async fn published(&self, calendar: &Calendar) -> (Destination, Connection, Vec<ExternalCalendar>) {
        let (connection, targets) = self.connected(&["work", "home"]).await;
        let destination = self.destination_of(calendar, &connection, &targets[0]);
        self.put_destination(&destination, None).await.unwrap();
        (destination, connection, targets)
    }

    pub(super) async fn destination_now(&self, calendar: CalendarId) -> Option<Destination> {
        self.store.find_destination(self.org, calendar).await.unwrap()
    }

    pub(super) async fn end_destination(&self, seen: &Destination, keep: bool) -> Result<(), CommitError> {
        let (org, calendar, at) = (self.org, seen.calendar, self.make.tick());
        self.bridge(vec![Change::EndDestination { org, calendar, seen: seen.version, keep, at }]).await
    }

    pub(super) async fn claim_destinations(&self, now: Timestamp, limit: u32) -> Vec<ClaimedDestination> {
        self.store.claim_publications(now, now + LASTS, limit).await.unwrap()
    }

    /// Claims the only destination that is due.
    pub(super) async fn claim_destination(&self, now: Timestamp) -> PublishClaim {
        let claimed = self.claim_destinations(now, 10).await;
        assert_eq!(claimed.len(), 1, "{claimed:?}");
        claimed[0].claim
    }

    pub(super) async fn no_destination_is_due(&self, now: Timestamp) -> bool {
        self.claim_destinations(now, 10).await.is_empty()
    }

    pub(super) async fn record_copies(
        &self,
        claim: PublishClaim,
        written: &[Copy],
        forgotten: &[CopyKey],
        until: Timestamp,
    ) -> Result<(), CommitError> {
        let (written, forgotten) = (written.to_vec(), forgotten.to_vec());
        self.bridge(vec![Change::RecordCopies { claim, written, forgotten, until }]).await
    }

    pub(super) async fn end_publishing(
        &self,
        claim: PublishClaim,
        revision: Revision,
        next: Option<Timestamp>,
    ) -> Result<(), CommitError> {
        let (state, revision, not_before) = (PublishState::default(), Some(revision), None);
        self.bridge(vec![Change::EndPublishing { claim, state, revision, next, not_before }]).await
    }

    pub(super) async fn copies_now(&self, calendar: CalendarId) -> Vec<Copy> {
        self.store.copies_of(self.org, calendar).await.unwrap()
    }

    pub(super) async fn policy_now(&self, calendar: &Calendar) -> Option<PublicationPolicy> {
        self.store.find_calendar(self.org, calendar.id).await.unwrap().unwrap().publication
    }

    /// A copy of an event that nobody stores, or of an occurrence of it.
    pub(super) fn copy_at(&self, target: &ExternalCalendar, original_start: Option<Timestamp>) -> Copy {
        let event = EventId::new(self.make.tick(), &self.make.entropy);
        Copy {
            key: CopyKey { event, original_start },
            target: target.id,
            reference: format!("{TRICKY} {event}"),
            digest: [0xab; 32],
            visible: [7; 32],
            ends_at: hours(1, 2).end() + SignedDuration::micros(1),
            state: CopyState::Published,
        }
    }
}

/// Every field of a destination survives. Other organizations see nothing.
pub async fn destinations_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let mut calendars = [scene.shared_calendar().await, scene.shared_calendar().await, scene.shared_calendar().await];
    calendars.sort_by_key(|calendar| calendar.id);
    let (connection, targets) = scene.connected(&["work", "home"]).await;
    assert_eq!(scene.destination_now(calendars[0].id).await, None);
    let mut made = Vec::new();
    for (calendar, policy) in calendars.iter().zip(PublicationPolicy::ALL) {
        let destination =
            Destination { policy: *policy, ..scene.destination_of(calendar, &connection, &targets[made.len() % 2]) };
        scene.put_destination(&destination, None).await.unwrap();
        assert_eq!(scene.destination_now(calendar.id).await.as_ref(), Some(&destination));
        assert_eq!(scene.policy_now(calendar).await, Some(*policy));
        assert_eq!(other.destination_now(calendar.id).await, None);
        made.push(destination);
    }
    assert_eq!(made.len(), 3);

    // The end of an attempt writes the state, and nothing else.
    let now = scene.make.tick();
    let claimed = scene.claim_destinations(now, 9).await;
    assert_eq!(claimed.len(), 3);
    for (index, claimed) in claimed.iter().enumerate() {
        let place = made.iter().position(|made| made.calendar == claimed.claim.calendar).unwrap();
        let state = PublishState {
            published_at: (index > 0).then_some(now),
            last_error: (index < 2).then(|| TRICKY.into()),
            failures: u32::try_from(index).unwrap() * 7,
        };
        let (claim, next) = (claimed.claim, Some(now + LATER));
        let (ended, revision, not_before) = (state.clone(), Some(calendars[place].revision), None);
        let end = Change::EndPublishing { claim, state: ended, revision, next, not_before };
        scene.bridge(vec![end]).await.unwrap();
        made[place].state = state;
        assert_eq!(scene.destination_now(made[place].calendar).await.as_ref(), Some(&made[place]));
    }

    // They are listed by calendar, with the names of visible ones, and without those that end.
    let list = async |scene: &Scene| scene.store.destinations_of(scene.org, connection.id).await.unwrap();
    scene.delete(&calendars[1]).await;
    let names = [Some(&calendars[0]), None, Some(&calendars[2])].map(|of| of.map(|calendar| calendar.name.clone()));
    let expected: Vec<_> = made.iter().cloned().zip(names).collect();
    assert_eq!(list(&scene).await, expected);
    scene.end_destination(&made[0], false).await.unwrap();
    assert_eq!(list(&scene).await, expected[1..]);
    assert_eq!(list(&other).await, []);
}

/// A calendar has the policy of its destination in every read. No write of the calendar changes it.
pub async fn every_read_of_a_calendar_has_its_policy(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let made = scene.calendar(&agent).await;
    assert_eq!(scene.policy_now(&made).await, None);
    let (destination, ..) = scene.published(&made).await;
    let renamed = Calendar { name: "Renamed".into(), version: made.version.next(), ..made.clone() };
    scene.commit(scene.changes().update(&renamed, made.version)).await;
    let changed = Destination {
        policy: PublicationPolicy::ConfirmedTentative,
        version: destination.version.next(),
        ..destination.clone()
    };
    scene.put_destination(&changed, Some(destination.version)).await.unwrap();
    let expected = Calendar { publication: Some(changed.policy), ..renamed };

    assert_eq!(scene.store.find_calendar(scene.org, made.id).await.unwrap().as_ref(), Some(&expected));
    for filter in [
        CalendarFilter::All,
        CalendarFilter::OfAgents,
        CalendarFilter::OfAgent(agent.id),
        CalendarFilter::OfAgentAndShared(agent.id),
    ] {
        let listed = scene.store.list_calendars(scene.org, filter, LARGEST_PAGE).await.unwrap().data;
        assert_eq!(listed, std::slice::from_ref(&expected));
    }
    let all = scene.store.calendars_after(scene.org, None, 9).await.unwrap();
    assert_eq!(all, std::slice::from_ref(&expected));
    let of_feed = scene.store.calendar_of_feed(made.feed_token.reveal()).await.unwrap();
    assert_eq!(of_feed.as_ref(), Some(&expected));

    // Events are read with it too.
    let (set, publication) = (HoldSetId::new(scene.make.tick(), &scene.make.entropy), Publication::from(&expected));
    let hold = scene.make.hold(&made, hours(1, 2), SignedDuration::minutes(9));
    let hold = scene.stored(Event { hold_set: Some(set), ..hold }).await;
    let owned = OwnedEvent { event: hold.clone(), agent: Some(agent.id), publication };
    assert_eq!(scene.store.find_event(scene.org, hold.id).await.unwrap().as_ref(), Some(&owned));
    assert_eq!(scene.store.events_of_hold_set(scene.org, set).await.unwrap(), [owned]);
    let sets = scene.store.list_hold_sets(scene.org, HoldSetFilter::default(), LARGEST_PAGE).await.unwrap().data;
    assert_eq!(sets, [HoldSet::of(set, [(hold, publication)])]);
    assert_eq!(sets[0].published, BTreeMap::from([(made.id, publication)]));
}

/// A destination is written only at the version that was seen, and made only if there is none.
pub async fn destinations_are_changed_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (made, connection, targets) = scene.published(&calendar).await;
    assert_refused!(scene.put_destination(&made, None).await, CommitError::Stale);
    let changed = Destination {
        target: targets[1].id,
        policy: PublicationPolicy::ConfirmedTentative,
        version: made.version.next(),
        updated_at: scene.make.tick(),
        ..made.clone()
    };
    assert_refused!(scene.put_destination(&changed, Some(changed.version)).await, CommitError::Stale);
    scene.put_destination(&changed, Some(made.version)).await.unwrap();
    assert_eq!(scene.destination_now(calendar.id).await.as_ref(), Some(&changed));
    assert_eq!(scene.policy_now(&calendar).await, Some(changed.policy));
    assert_refused!(scene.put_destination(&changed, Some(made.version)).await, CommitError::Stale);
    for keep in [true, false] {
        assert_refused!(scene.end_destination(&made, keep).await, CommitError::Stale);
    }
    assert_eq!(scene.destination_now(calendar.id).await.as_ref(), Some(&changed));

    // One that ends may be kept after all.
    scene.end_destination(&changed, false).await.unwrap();
    let ending = scene.destination_now(calendar.id).await.unwrap();
    let expected =
        Destination { ending: true, version: changed.version.next(), updated_at: ending.updated_at, ..changed.clone() };
    assert_eq!(ending, expected);
    assert_eq!(scene.policy_now(&calendar).await, None);
    assert_refused!(scene.put_destination(&made, None).await, CommitError::Stale);
    let kept =
        Destination { version: ending.version.next(), ..scene.destination_of(&calendar, &connection, &targets[0]) };
    scene.put_destination(&kept, Some(ending.version)).await.unwrap();
    assert_eq!(scene.destination_now(calendar.id).await.as_ref(), Some(&kept));
    assert_eq!(scene.policy_now(&calendar).await, Some(kept.policy));
}

/// A destination is made only for a visible calendar, and at a calendar that its connection has. A refused one leaves
/// the calendar as it was.
pub async fn destinations_need_a_visible_calendar_and_a_present_target(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let (visible, deleted) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let of_agent = scene.calendar(&agent).await;
    let (connection, targets) = scene.connected(&["work"]).await;
    let (_, elsewhere) = scene.connected(&["work"]).await;
    let (foreign, theirs) = other.connected(&["work"]).await;
    scene.delete(&deleted).await;
    scene.decommission(&agent).await;
    for hidden in [&deleted, &of_agent, &scene.make.shared_calendar(scene.org), &other.shared_calendar().await] {
        let late = scene.destination_of(hidden, &connection, &targets[0]);
        assert_refused!(scene.put_destination(&late, None).await, CommitError::Stale);
        assert_eq!(scene.destination_now(hidden.id).await, None);
    }
    let fine = scene.destination_of(&visible, &connection, &targets[0]);
    let never = ExternalCalendarId::new(scene.make.tick(), &scene.make.entropy);
    for broken in [
        Destination { target: never, ..fine.clone() },
        Destination { target: elsewhere[0].id, ..fine.clone() },
        Destination { connection: foreign.id, target: theirs[0].id, ..fine.clone() },
    ] {
        assert_refused!(scene.put_destination(&broken, None).await, CommitError::Stale);
        assert_eq!((scene.destination_now(visible.id).await, scene.policy_now(&visible).await), (None, None));
    }
    assert!(scene.no_destination_is_due(scene.make.tick() + LATER).await);
    scene.put_destination(&fine, None).await.unwrap();
    let broken = Destination { target: never, version: fine.version.next(), ..fine.clone() };
    assert_refused!(scene.put_destination(&broken, Some(fine.version)).await, CommitError::Stale);
    assert_eq!(scene.destination_now(visible.id).await, Some(fine));
}

/// Every field of a copy survives. Copies are replaced and forgotten by event and original start, and counted by state.
pub async fn copies_are_replaced_by_their_key(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (calendar, neighbour) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let (_, _, targets) = scene.published(&calendar).await;
    let now = scene.make.tick();
    let claim = scene.claim_destination(now).await;
    let record = async |written: &[Copy], forgotten: &[CopyKey]| {
        scene.record_copies(claim, written, forgotten, now + LASTS).await.unwrap();
    };
    let once = scene.copy_at(&targets[0], None);
    let first = scene.copy_at(&targets[0], Some(hours(0, 1).start()));
    let of_series = |start| Copy {
        key: CopyKey { original_start: Some(start), ..first.key },
        reference: start.to_string(),
        ..first.clone()
    };
    let mut copies = vec![
        once.clone(),
        first.clone(),
        of_series(Timestamp::EPOCH),
        of_series(Timestamp::EPOCH + SignedDuration::micros(-1)),
        Copy { key: CopyKey { original_start: None, ..first.key }, ..first.clone() },
    ];
    record(&copies, &[]).await;
    copies.sort_by_key(|copy| copy.key);
    assert_eq!(scene.copies_now(calendar.id).await, copies);
    assert_eq!(scene.copies_now(neighbour.id).await, []);
    assert_eq!(other.copies_now(calendar.id).await, []);
    let of = async |event| scene.store.copies_of_event(scene.org, calendar.id, event).await.unwrap();
    let count = async || scene.store.count_copies(scene.org, calendar.id).await.unwrap();
    let expected: Vec<_> = copies.iter().filter(|copy| copy.key.event == first.key.event).cloned().collect();
    assert_eq!((of(first.key.event).await, of(once.key.event).await), (expected, vec![once.clone()]));
    assert_eq!(of(EventId::new(now, &scene.make.entropy)).await, []);
    assert_eq!(count().await, CopyCounts { published: 5, diverged: 0 });

    // Some are replaced and one is forgotten, in one commit.
    for copy in &mut copies[..2] {
        *copy = Copy {
            target: targets[1].id,
            reference: "r".repeat(1024),
            digest: [0; 32],
            visible: [0xff; 32],
            ends_at: hours(-5, -4).end(),
            state: CopyState::Diverged,
            ..copy.clone()
        };
    }
    let gone = copies.remove(3);
    record(&copies[..2], &[gone.key]).await;
    assert_eq!(scene.copies_now(calendar.id).await, copies);
    assert_eq!(count().await, CopyCounts { published: 2, diverged: 2 });
    record(&[], &copies.iter().map(|copy| copy.key).collect::<Vec<_>>()).await;
    assert_eq!((scene.copies_now(calendar.id).await, count().await), (vec![], CopyCounts::default()));
}

/// The busy times of copies are kept with the reading of a human calendar, next to those of everything else. They are
/// gone when the reading is.
pub async fn copies_in_a_human_calendar_are_read_apart(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let connection = scene.connection_of(scene.a_human());
    let [one, two] = [calendar.id, CalendarId::new(scene.make.tick(), &scene.make.entropy)];
    let copies = vec![(two, hours(1, 3)), (one, hours(2, 4)), (one, hours(90, 100))];
    let read = Reading { copies, ..reading(scene.make.tick(), covered(), &[hours(5, 6)]) };
    let calendars: Vec<_> =
        scene.listed_of(&connection, &["work"]).iter().map(|calendar| calendar.read(read.clone())).collect();
    scene.connect(&connection, &calendars).await;
    assert_eq!(scene.known_calendars(&connection).await[0].calendar, calendars[0]);

    let source = calendars[0].source();
    let busy = async |window| scene.store.human_busy(scene.org, &[source], window).await.unwrap().remove(0);
    let found = busy(hours(0, 50)).await;
    assert_eq!(found.copies, [(two, hours(1, 3)), (one, hours(2, 4))]);
    assert_eq!(found.spans.spans(), [hours(5, 6)]);
    assert_eq!(busy(hours(3, 95)).await.copies, [(one, hours(3, 4)), (one, hours(90, 95))]);

    let grant = scene.granted(Audience::All, &[&calendars[0]], &[]).await;
    scene.bridge(vec![Change::DeleteGrant { org: scene.org, grant: grant.id }]).await.unwrap();
    assert_eq!(scene.known_calendars(&connection).await[0].calendar.reading, None);
    assert_eq!(busy(hours(0, 50)).await.copies, []);
}

/// A destination whose copies stay is removed at once. Otherwise it stays, and is due, until its copies are gone.
pub async fn an_ended_destination_goes_with_its_copies(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for keep in [true, false] {
        let (made, _, targets) = scene.published(&calendar).await;
        let now = scene.make.tick();
        let claim = scene.claim_destination(now).await;
        let copies = [scene.copy_at(&targets[0], None), scene.copy_at(&targets[0], Some(now))];
        scene.record_copies(claim, &copies, &[], now + LASTS).await.unwrap();
        let revision = scene.revision(&calendar).await;
        scene.end_publishing(claim, revision, Some(now + LATER)).await.unwrap();
        scene.end_destination(&made, keep).await.unwrap();
        assert_eq!(scene.policy_now(&calendar).await, None);
        if !keep {
            assert_eq!(scene.copies_now(calendar.id).await.len(), 2);
            let claimed = scene.claim_destinations(now, 9).await.remove(0);
            assert!(claimed.destination.ending);
            let gone = [copies[0].key];
            scene.record_copies(claimed.claim, &[], &gone, now + LASTS).await.unwrap();
            scene.end_publishing(claimed.claim, revision, None).await.unwrap();
        }
        assert_eq!((scene.destination_now(calendar.id).await, scene.copies_now(calendar.id).await), (None, vec![]));
        scene.event(&calendar, hours(1, 2)).await;
        assert!(scene.no_destination_is_due(now + LATER).await);
        assert_refused!(scene.end_destination(&made, keep).await, CommitError::Stale);
    }
}

/// When a connection is deleted, its destinations and the records of their copies are too, and nothing more is
/// recorded. Those at another connection stay.
pub async fn a_deleted_connection_takes_its_destinations_along(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendars = [scene.shared_calendar().await, scene.shared_calendar().await, scene.shared_calendar().await];
    let (connection, targets) = scene.connected(&["work"]).await;
    let (kept, ..) = scene.published(&calendars[2]).await;
    let doomed =
        [&calendars[0], &calendars[1]].map(|calendar| scene.destination_of(calendar, &connection, &targets[0]));
    for destination in &doomed {
        scene.put_destination(destination, None).await.unwrap();
    }
    let now = scene.make.tick();
    let claims = scene.claim_destinations(now, 9).await;
    assert_eq!(claims.len(), 3);
    let copy = scene.copy_at(&targets[0], None);
    for claimed in &claims {
        scene.record_copies(claimed.claim, std::slice::from_ref(&copy), &[], now + LASTS).await.unwrap();
    }
    scene.disconnect(&connection).await.unwrap();
    for calendar in &calendars[..2] {
        assert_eq!((scene.destination_now(calendar.id).await, scene.copies_now(calendar.id).await), (None, vec![]));
        assert_eq!(scene.policy_now(calendar).await, None);
    }
    assert_eq!(scene.store.destinations_of(scene.org, connection.id).await.unwrap(), []);
    for claimed in claims {
        let (claim, at_kept) = (claimed.claim, claimed.claim.calendar == kept.calendar);
        let recorded = scene.record_copies(claim, std::slice::from_ref(&copy), &[], now + LASTS).await;
        let ended = scene.end_publishing(claim, Revision(0), Some(now + LATER)).await;
        if at_kept {
            assert!(recorded.is_ok() && ended.is_ok());
        } else {
            assert_refused!(recorded, CommitError::Stale);
            assert_refused!(ended, CommitError::Stale);
        }
    }
    assert_eq!((scene.copies_now(kept.calendar).await.len(), scene.copies_now(calendars[0].id).await.len()), (1, 0));
    assert_eq!(scene.destination_now(kept.calendar).await, Some(kept));
    scene.event(&calendars[0], hours(1, 2)).await;
    assert!(scene.no_destination_is_due(now + SignedDuration::minutes(9)).await);
    // A calendar without a destination can get another one.
    scene.published(&calendars[0]).await;
    assert_eq!(scene.copies_now(calendars[0].id).await, []);
}

/// When an account is deleted, nothing of it is published any more, and soon nothing is left. Another organization is
/// not affected.
pub async fn destinations_are_deleted_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let mut made = Vec::new();
    for scene in [&scene, &other] {
        let calendar = scene.shared_calendar().await;
        let (destination, connection, targets) = scene.published(&calendar).await;
        let now = scene.make.tick();
        let claim = scene.claim_destination(now).await;
        let mut copies = vec![scene.copy_at(&targets[0], None), scene.copy_at(&targets[0], Some(now))];
        copies.sort_by_key(|copy| copy.key);
        scene.record_copies(claim, &copies, &[], now + LASTS).await.unwrap();
        made.push((destination, connection, claim, copies));
    }
    let (org, seen, at) = (scene.org, scene.organization().await.version, scene.make.tick());
    scene.commit(scene.changes().account(AccountChange::DeleteOrganization { org, seen, at })).await;
    let (gone, connection, late, copies) = &made[0];
    let claimed = scene.claim_destinations(at + LATER, 9).await;
    let claimed: Vec<_> = claimed.iter().map(|claimed| claimed.claim.org).collect();
    assert_eq!(claimed, [other.org]);
    assert_refused!(scene.record_copies(*late, copies, &[], at + LASTS).await, CommitError::NoOrganization);
    assert_refused!(scene.end_publishing(*late, Revision(0), None).await, CommitError::NoOrganization);
    while scene.store.remove_rows(org, 2).await.unwrap() > 0 {}
    assert_eq!((scene.destination_now(gone.calendar).await, scene.copies_now(gone.calendar).await), (None, vec![]));
    assert_eq!(scene.store.destinations_of(org, connection.id).await.unwrap(), []);
    assert_eq!(scene.store.count_copies(org, gone.calendar).await.unwrap(), CopyCounts::default());

    let (kept, _, _, copies) = &made[1];
    assert_eq!(other.destination_now(kept.calendar).await.as_ref(), Some(kept));
    assert_eq!(&other.copies_now(kept.calendar).await, copies);
}
