//! Claims on the publication of calendars.

use std::collections::BTreeSet;

use kalends_app::ports::CommitError;
use kalends_bridge::{
    Change, Destination, PUBLICATIONS_PER_ORG, PublicationPolicy, PublishClaim, PublishState, ports::ClaimedDestination,
};
use kalends_kernel::{CalendarId, Revision};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    TASKS,
    publishing::{LASTS, LATER},
    timeless,
};
use crate::{
    conformance::{
        StoreUnderTest,
        scene::{Scene, assert_refused, hours, race, successes},
    },
    fixtures::Compose as _,
};

const INSTANT: SignedDuration = SignedDuration::micros(1);

fn ids(claimed: &[ClaimedDestination]) -> Vec<CalendarId> {
    claimed.iter().map(|claimed| claimed.claim.calendar).collect()
}

/// A claim comes with the destination, its connection and its target. Those that have waited longest are claimed first,
/// of all organizations, each by one worker until its claim expires.
pub async fn due_destinations_are_claimed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let mut made = Vec::new();
    for scene in [&scene, &other, &scene] {
        let calendar = scene.shared_calendar().await;
        made.push((scene.clone(), scene.published(&calendar).await));
    }
    // They are due at different times from here on.
    let now = scene.make.tick();
    let first = scene.claim_destinations(now, 9).await;
    assert_eq!(first.len(), 3);
    for claimed in &first {
        let (_, (destination, connection, targets)) =
            made.iter().find(|(_, (made, ..))| made.calendar == claimed.claim.calendar).unwrap();
        let claim = claimed.claim;
        assert_eq!((claim.org, claim.calendar, claim.interrupted), (destination.org, destination.calendar, false));
        assert_eq!((&claimed.destination, claimed.connection.as_ref()), (destination, Some(connection)));
        assert_eq!(claimed.target.as_ref(), Some(&targets[0]));
    }
    assert!(scene.no_destination_is_due(now + LASTS - INSTANT).await);
    for (place, minutes) in [(0, 40), (1, 20), (2, 30)] {
        let (scene, (destination, ..)) = &made[place];
        let claim = first.iter().find(|claimed| claimed.claim.calendar == destination.calendar).unwrap().claim;
        let revision = scene.store.find_calendar(scene.org, claim.calendar).await.unwrap().unwrap().revision;
        scene.end_publishing(claim, revision, Some(now + SignedDuration::minutes(minutes))).await.unwrap();
    }
    let calendar = |place: usize| made[place].1.0.calendar;
    assert!(scene.no_destination_is_due(now + SignedDuration::minutes(20) - INSTANT).await);
    let at = now + SignedDuration::minutes(40);
    assert_eq!(ids(&scene.claim_destinations(at, 2).await), [calendar(1), calendar(2)]);
    assert_eq!(ids(&scene.claim_destinations(at, 2).await), [calendar(0)]);
    assert!(scene.no_destination_is_due(at).await);
}

/// If many workers claim at once, each destination is claimed once, and no organization gets too many places. An
/// attempt ends once.
pub async fn workers_share_destinations(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    for scene in [&scene, &other] {
        for _ in 0..10 {
            let calendar = scene.shared_calendar().await;
            scene.published(&calendar).await;
        }
    }
    let now = scene.make.tick();
    let mut claims: Vec<_> = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.claim_destinations(now, 3).await }
    })
    .await
    .into_iter()
    .flatten()
    .collect();
    claims.extend(scene.claim_destinations(now, 20).await);
    assert_eq!(ids(&claims).into_iter().collect::<BTreeSet<_>>().len(), claims.len(), "none is claimed twice");
    for scene in [&scene, &other] {
        assert_eq!(of_org(&claims, scene).len(), PER_ORG);
    }

    let (claim, revision) = (of_org(&claims, &scene)[0], Revision(0));
    let outcomes = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.end_publishing(claim, revision, Some(now + LATER)).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
}

/// The calendars of one organization that are claimed at once.
const PER_ORG: usize = PUBLICATIONS_PER_ORG as usize;

/// The claims on calendars of the organization of `scene`.
fn of_org(claimed: &[ClaimedDestination], scene: &Scene) -> Vec<PublishClaim> {
    claimed.iter().map(|claimed| claimed.claim).filter(|claim| claim.org == scene.org).collect()
}

/// An organization with many calendars that are due does not hold up another one. An attempt that ends, a pause that
/// the provider wants, and a claim that expires free their places.
pub async fn claims_per_organization_are_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    for _ in 0..PER_ORG + 3 {
        let calendar = scene.shared_calendar().await;
        scene.published(&calendar).await;
    }
    let calm = other.shared_calendar().await;
    other.published(&calm).await;
    let now = scene.make.tick();
    let first = scene.claim_destinations(now, 16).await;
    assert_eq!((of_org(&first, &scene).len(), of_org(&first, &other).len()), (PER_ORG, 1));
    assert!(scene.no_destination_is_due(now).await);

    let held = of_org(&first, &scene);
    let (claim, state, next) = (held[0], PublishState::default(), Some(now + LATER));
    let pause = Change::EndPublishing { claim, state, revision: Some(Revision(0)), next, not_before: next };
    scene.bridge(vec![pause]).await.unwrap();
    let second = scene.claim_destinations(now, 16).await;
    assert_eq!(of_org(&second, &scene).len(), 1, "a pause takes no place");
    scene.end_publishing(held[1], Revision(0), Some(now + LATER)).await.unwrap();
    let third = scene.claim_destinations(now, 16).await;
    assert_eq!(of_org(&third, &scene).len(), 1);
    assert!(scene.no_destination_is_due(now).await);
    scene.record_copies(held[2], &[], &[], now + LASTS + LASTS).await.unwrap();

    let fourth = scene.claim_destinations(now + LASTS, 16).await;
    assert_eq!(of_org(&fourth, &scene).len(), PER_ORG - 1, "one attempt still has its claim");
}

/// A pause that the provider wants is kept, even if the calendar changes. A change of the destination ends it.
pub async fn a_pause_outlasts_changes_of_the_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (destination, ..) = scene.published(&calendar).await;
    let now = scene.make.tick();
    let ended = |claim: PublishClaim, revision: Revision, until: Timestamp| {
        let (state, revision) = (PublishState { failures: 1, ..PublishState::default() }, Some(revision));
        vec![Change::EndPublishing { claim, state, revision, next: Some(until), not_before: Some(until) }]
    };
    let (claim, revision) = (scene.claim_destination(now).await, scene.revision(&calendar).await);
    let until = now + SignedDuration::minutes(9);
    scene.bridge(ended(claim, revision, until)).await.unwrap();
    assert_refused!(scene.bridge(ended(claim, revision, until)).await, CommitError::Stale);
    assert_refused!(scene.record_copies(claim, &[], &[], now + LASTS).await, CommitError::Stale);
    scene.event(&calendar, hours(1, 2)).await;
    assert!(scene.no_destination_is_due(until - INSTANT).await);
    let again = scene.claim_destination(until).await;
    assert!(!again.interrupted, "the attempt before ended");

    scene.bridge(ended(again, scene.revision(&calendar).await, until + LASTS)).await.unwrap();
    assert!(scene.no_destination_is_due(until).await);
    let changed = Destination { version: destination.version.next(), ..destination.clone() };
    scene.put_destination(&changed, Some(destination.version)).await.unwrap();
    assert!(!scene.claim_destination(until).await.interrupted);
}

/// An expired claim is taken over, and the new worker learns that the attempt did not end. The old one records nothing.
pub async fn an_interrupted_attempt_is_taken_over(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (_, _, targets) = scene.published(&calendar).await;
    let now = scene.make.tick();
    let lost = scene.claim_destination(now).await;
    assert!(!lost.interrupted);
    assert!(scene.no_destination_is_due(now + LASTS - INSTANT).await);
    let later = now + LASTS;
    let held = scene.claim_destination(later).await;
    assert!(held.interrupted);
    assert_ne!(held.fence, lost.fence);

    let copies = [scene.copy_at(&targets[0], None)];
    let revision = scene.revision(&calendar).await;
    assert_refused!(scene.record_copies(lost, &copies, &[], later + LASTS).await, CommitError::Stale);
    for next in [Some(later), None] {
        assert_refused!(scene.end_publishing(lost, revision, next).await, CommitError::Stale);
    }
    assert_eq!(scene.copies_now(calendar.id).await, []);
    scene.record_copies(held, &copies, &[], later + LASTS).await.unwrap();
    assert_refused!(scene.record_copies(lost, &[], &[copies[0].key], later + LASTS).await, CommitError::Stale);
    assert_eq!(scene.copies_now(calendar.id).await, copies);
    scene.end_publishing(held, revision, Some(later)).await.unwrap();

    // Nothing is recorded after the end, and the next attempt knows that this one ended.
    assert_refused!(scene.record_copies(held, &[], &[copies[0].key], later + LASTS).await, CommitError::Stale);
    assert_refused!(scene.end_publishing(held, revision, None).await, CommitError::Stale);
    assert!(!scene.claim_destination(later).await.interrupted);
    assert_eq!(scene.copies_now(calendar.id).await, copies);
}

/// Recording copies moves the end of the claim, even if something is written to the calendar in between.
pub async fn an_attempt_keeps_its_claim_while_it_records(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (_, _, targets) = scene.published(&calendar).await;
    let now = scene.make.tick();
    let claim = scene.claim_destination(now).await;
    let until = now + LASTS + LASTS;
    let copies = [scene.copy_at(&targets[0], None)];
    scene.record_copies(claim, &copies, &[], until).await.unwrap();
    assert!(scene.no_destination_is_due(until - INSTANT).await);
    scene.event(&calendar, hours(1, 2)).await;
    assert!(scene.no_destination_is_due(until - INSTANT).await);
    scene.record_copies(claim, &[], &[], until + LASTS).await.unwrap();
    assert!(scene.no_destination_is_due(until).await);
    let taken = scene.claim_destination(until + LASTS).await;
    assert!(taken.interrupted);
    assert_refused!(scene.record_copies(claim, &[], &[], until + LASTS + LASTS).await, CommitError::Stale);
}

/// A change of the destination, and its end, take the claim from an attempt in progress. The next worker learns that
/// there may be copies that are not recorded.
pub async fn changed_destinations_end_the_attempt_in_progress(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (made, _, targets) = scene.published(&calendar).await;
    let copies = [scene.copy_at(&targets[0], None)];
    let revision = scene.revision(&calendar).await;
    let now = scene.make.tick();
    let lost = scene.claim_destination(now).await;
    let changed = Destination {
        target: targets[1].id,
        policy: PublicationPolicy::ConfirmedTentative,
        version: made.version.next(),
        ..made.clone()
    };
    scene.put_destination(&changed, Some(made.version)).await.unwrap();
    let refused = async |lost| {
        assert_refused!(scene.record_copies(lost, &copies, &[], now + LASTS).await, CommitError::Stale);
        for next in [Some(now + LATER), None] {
            assert_refused!(scene.end_publishing(lost, revision, next).await, CommitError::Stale);
        }
        assert_eq!(scene.copies_now(calendar.id).await, []);
    };
    refused(lost).await;
    let claimed = scene.claim_destinations(now, 9).await.remove(0);
    assert_eq!((claimed.destination, claimed.target.as_ref()), (changed.clone(), Some(&targets[1])));
    assert!(claimed.claim.interrupted);

    scene.end_destination(&changed, false).await.unwrap();
    refused(claimed.claim).await;
    let claimed = scene.claim_destinations(now, 9).await.remove(0);
    assert!(claimed.destination.ending && claimed.claim.interrupted);
    scene.end_destination(&claimed.destination, true).await.unwrap();
    refused(claimed.claim).await;
    assert_eq!(scene.destination_now(calendar.id).await, None);
    assert!(scene.no_destination_is_due(now + LATER).await);
}

/// What is written after a worker has read the calendar makes it due at the end of the attempt. Otherwise it is due
/// when the worker says.
pub async fn a_change_during_an_attempt_makes_it_due_again(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    scene.published(&calendar).await;
    let now = scene.make.tick();
    let next = now + LATER;

    // Nothing is written.
    let (claim, revision) = (scene.claim_destination(now).await, scene.revision(&calendar).await);
    scene.end_publishing(claim, revision, Some(next)).await.unwrap();
    assert!(scene.no_destination_is_due(next - INSTANT).await);

    // It is written after the calendar was read.
    scene.event(&calendar, hours(1, 2)).await;
    let (claim, revision) = (scene.claim_destination(now).await, scene.revision(&calendar).await);
    scene.event(&calendar, hours(3, 4)).await;
    assert!(scene.no_destination_is_due(now).await, "one worker at a time");
    scene.end_publishing(claim, revision, Some(next)).await.unwrap();

    // It is written before the calendar is read.
    let claim = scene.claim_destination(now).await;
    assert!(!claim.interrupted);
    scene.event(&calendar, hours(5, 6)).await;
    let revision = scene.revision(&calendar).await;
    scene.end_publishing(claim, revision, Some(next)).await.unwrap();
    assert!(scene.no_destination_is_due(next - INSTANT).await);
    scene.claim_destination(next).await;
}

/// An attempt on a calendar that was gone ends without a revision. It is due when the worker says, or at once if it was
/// written to during the attempt.
pub async fn an_attempt_ends_without_a_revision(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    scene.published(&calendar).await;
    let event = scene.event(&calendar, hours(1, 2)).await;
    let now = scene.make.tick();
    let state = PublishState { failures: 2, last_error: Some("away".into()), ..PublishState::default() };
    let end = async |claim, next| {
        let (state, next) = (state.clone(), Some(next));
        let end = Change::EndPublishing { claim, state, revision: None, next, not_before: None };
        scene.bridge(vec![end]).await.unwrap();
    };
    let next = now + SignedDuration::minutes(1);
    end(scene.claim_destination(now).await, next).await;
    assert!(scene.no_destination_is_due(next - INSTANT).await);
    assert_eq!(scene.destination_now(calendar.id).await.unwrap().state, state);

    let claim = scene.claim_destination(next).await;
    assert!(!claim.interrupted);
    let deleted = event.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&deleted, event.version)).await;
    end(claim, next + LATER).await;
    let claim = scene.claim_destination(next).await;
    scene.delete(&calendar).await;
    end(claim, next + LATER).await;
    end(scene.claim_destination(next).await, next + LATER).await;
    assert!(scene.no_destination_is_due(next + LATER - INSTANT).await);
}

/// If the target is gone from the account, the destination is claimed without it, and stays.
pub async fn a_target_that_is_gone_is_claimed_without_it(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (destination, connection, targets) = scene.published(&calendar).await;
    let now = scene.make.tick();
    let (refresh, _) = scene.store.claim_refreshes(now, now + LASTS, 9).await.unwrap().remove(0);
    let end = Change::EndRefresh {
        claim: refresh,
        access: None,
        state: connection.refresh.clone(),
        calendars: vec![],
        gone: vec![targets[0].id],
        next: Some(now + LATER),
        at: now,
    };
    scene.bridge(vec![end]).await.unwrap();
    let claimed = scene.claim_destinations(now, 9).await.remove(0);
    assert_eq!((claimed.target, claimed.connection.map(timeless)), (None, Some(connection)));
    assert_eq!(claimed.destination, destination);
    assert_eq!(scene.destination_now(calendar.id).await.as_ref(), Some(&destination));

    // Its user may choose another one, but not the same again.
    let changed = Destination { version: destination.version.next(), ..destination.clone() };
    assert_refused!(scene.put_destination(&changed, Some(destination.version)).await, CommitError::Stale);
    let changed = Destination { target: targets[1].id, ..changed };
    scene.put_destination(&changed, Some(destination.version)).await.unwrap();
    let claimed = scene.claim_destinations(now, 9).await.remove(0);
    assert_eq!(claimed.target.as_ref(), Some(&targets[1]));
}
