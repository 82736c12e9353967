//! Refreshing connections: claims, due times and results.

use std::collections::BTreeSet;

use kalends_app::ports::CommitError;
use kalends_bridge::{
    Access, Audience, CLAIM_LASTS, Change, Connection, ConnectionPatch, Ended, ExternalCalendar, Grant,
    REFRESHES_PER_ORG, RefreshClaim, RefreshState, ports::KnownCalendar,
};
use kalends_kernel::{ConnectionId, ExternalCalendarId};
use kalends_time::{SignedDuration, Timestamp};

use super::{TASKS, consent, covered, reading, timeless};
use crate::conformance::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{Scene, assert_refused, hours, race, successes},
};

/// The results of a refresh, except when the next one is due.
#[derive(Clone, Default)]
struct Outcome {
    access: Option<Access>,
    state: RefreshState,
    calendars: Vec<ExternalCalendar>,
    gone: Vec<ExternalCalendarId>,
}

impl Scene {
    async fn claim_connections(&self, now: Timestamp, limit: u32) -> Vec<(RefreshClaim, Connection)> {
        let claims = self.store.claim_refreshes(now, now + CLAIM_LASTS, limit).await.unwrap();
        claims.into_iter().map(|(claim, connection)| (claim, timeless(connection))).collect()
    }

    async fn claim_connection(&self, now: Timestamp) -> RefreshClaim {
        let claims = self.claim_connections(now, 10).await;
        assert_eq!(claims.len(), 1, "{claims:?}");
        claims[0].0
    }

    async fn no_connection_is_due(&self, now: Timestamp) -> bool {
        self.claim_connections(now, 10).await.is_empty()
    }

    async fn end_refresh(
        &self,
        claim: RefreshClaim,
        outcome: Outcome,
        at: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<(), CommitError> {
        let Outcome { access, state, calendars, gone } = outcome;
        self.bridge(vec![Change::EndRefresh { claim, access, state, calendars, gone, next, at }]).await
    }

    async fn ask_refresh(&self, connection: &Connection, at: Timestamp) -> Result<(), CommitError> {
        self.bridge(vec![Change::AskRefresh { org: self.org, connection: connection.id, at }]).await
    }
}

fn ids(claims: &[(RefreshClaim, Connection)]) -> BTreeSet<ConnectionId> {
    claims.iter().map(|(_, of)| of.id).collect()
}

/// The connections that have waited longest are claimed first, each by one worker until its claim expires. A worker
/// that lost its claim writes nothing.
pub async fn due_connections_are_claimed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let mut made = vec![scene.connected(&["work"]).await];
    made.push(other.connected(&["work"]).await);
    made.push(scene.connected(&["work"]).await);
    let connection = |place: usize| made[place].0.clone();
    assert!(scene.no_connection_is_due(connection(0).created_at - SignedDuration::micros(1)).await);
    let now = scene.make.tick();
    let first = scene.claim_connections(now, 2).await;
    assert_eq!(ids(&first), BTreeSet::from([connection(0).id, connection(1).id]));
    for (claim, claimed) in &first {
        assert_eq!((claim.org, claim.connection), (claimed.org, claimed.id));
        assert!(*claimed == connection(0) || *claimed == connection(1));
    }
    assert_eq!(ids(&scene.claim_connections(now, 10).await), BTreeSet::from([connection(2).id]));
    assert!(scene.no_connection_is_due(now).await);

    // One claim is given up in time; the others are taken over.
    let of = |claims: &[(RefreshClaim, Connection)], place: usize| {
        claims.iter().find(|(_, of)| of.id == connection(place).id).unwrap().0
    };
    let later = now + CLAIM_LASTS;
    let given_up = of(&first, 1);
    scene_of(&scene, given_up).end_refresh(given_up, Outcome::default(), now, Some(later + CLAIM_LASTS)).await.unwrap();
    assert!(scene.no_connection_is_due(later - SignedDuration::micros(1)).await);
    let again = scene.claim_connections(later, 10).await;
    assert_eq!(ids(&again), BTreeSet::from([connection(0).id, connection(2).id]));
    let (lost, held) = (of(&first, 0), of(&again, 0));
    assert_ne!(lost.fence, held.fence);

    let (made, calendars) = &made[0];
    let outcome = Outcome {
        access: Some(consent("late", later)),
        state: RefreshState::default().after(Ended::Good, later),
        calendars: vec![calendars[0].read(reading(later, covered(), &[hours(1, 2)]))],
        gone: vec![],
    };
    assert_refused!(scene.end_refresh(lost, outcome.clone(), later, Some(later)).await, CommitError::Stale);
    assert_eq!(scene.connection_now(made).await.as_ref(), Some(made));
    assert_eq!(scene.known_calendars(made).await[0].calendar, calendars[0]);
    scene.end_refresh(held, outcome.clone(), later, Some(later + CLAIM_LASTS)).await.unwrap();
    assert_eq!(scene.known_calendars(made).await[0].calendar, outcome.calendars[0]);
    assert_refused!(scene.end_refresh(held, outcome, later, None).await, CommitError::Stale);
}

/// The scene of the organization whose connection is claimed.
fn scene_of(scene: &Scene, claim: RefreshClaim) -> Scene {
    Scene { org: claim.org, ..scene.clone() }
}

/// A refresh sets when the next one is due. If another was requested in between, it is due at once.
pub async fn a_refresh_sets_when_the_next_is_due(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (made, _) = scene.connected(&["work"]).await;
    let end = async |claim, at, next| scene.end_refresh(claim, Outcome::default(), at, next).await.unwrap();
    let now = scene.make.tick();
    let next = now + SignedDuration::minutes(5);
    end(scene.claim_connection(now).await, now, Some(next)).await;
    assert!(scene.no_connection_is_due(next - SignedDuration::micros(1)).await);
    let claim = scene.claim_connection(next).await;

    // Requested during a refresh: due once more, then as usual.
    scene.ask_refresh(&made, next).await.unwrap();
    assert!(scene.no_connection_is_due(next).await, "one worker at a time");
    let later = next + SignedDuration::minutes(5);
    end(claim, next, Some(later)).await;
    end(scene.claim_connection(next).await, next, Some(later)).await;
    assert!(scene.no_connection_is_due(later - SignedDuration::micros(1)).await);

    // Requested before it is due, and after the claim has expired.
    scene.ask_refresh(&made, next).await.unwrap();
    scene.claim_connection(next).await;
    let over = next + CLAIM_LASTS;
    scene.ask_refresh(&made, over + SignedDuration::micros(1)).await.unwrap();
    assert!(scene.no_connection_is_due(over).await);
    let claim = scene.claim_connection(over + SignedDuration::micros(1)).await;

    // A lapsed connection is not due any more, even if a refresh was requested.
    scene.ask_refresh(&made, over).await.unwrap();
    let state = RefreshState::default().after(Ended::Lapsed("no".into()), over);
    scene.end_refresh(claim, Outcome { state, ..Outcome::default() }, over, None).await.unwrap();
    let much_later = over + SignedDuration::hours(9_000);
    assert!(scene.no_connection_is_due(much_later).await);
    assert_refused!(scene.ask_refresh(&made, much_later).await, CommitError::Stale);

    // The user consents again.
    let lapsed = scene.connection_now(&made).await.unwrap();
    let reauthorized = lapsed.reauthorized(consent("next", much_later), much_later);
    scene.reauthorize(&lapsed, &reauthorized, much_later).await.unwrap();
    assert!(scene.no_connection_is_due(much_later - SignedDuration::micros(1)).await);
    let claims = scene.claim_connections(much_later, 10).await;
    assert_eq!(claims.into_iter().map(|(_, claimed)| claimed).collect::<Vec<_>>(), [reauthorized]);
}

/// A user renames, pauses and consents again during a refresh. Neither the user nor the worker overwrites the other,
/// and a refresh with an outdated consent writes nothing.
pub async fn users_and_workers_do_not_overwrite_each_other(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (made, _) = scene.connected(&["work"]).await;
    let now = scene.make.tick();
    let claim = scene.claim_connection(now).await;
    let state = RefreshState::default().after(Ended::Good, now);
    let renewed = consent("renewed", now);
    let outcome = Outcome { access: Some(renewed.clone()), state: state.clone(), ..Outcome::default() };
    scene.end_refresh(claim, outcome, now, Some(now)).await.unwrap();

    // Renamed by a caller that had read the connection before the refresh ended.
    let named = made.patched(ConnectionPatch::Label(Some("name".into())), now);
    scene.reconnect(&made, &named, None).await.unwrap();
    let expected = Connection { access: renewed, refresh: state, ..named };
    assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&expected));

    // A new consent during a refresh ends that refresh, and another one is due at once.
    let claim = scene.claim_connection(now).await;
    let reauthorized = expected.reauthorized(consent("next", now), now);
    scene.reauthorize(&expected, &reauthorized, now).await.unwrap();
    let lapsed =
        Outcome { state: RefreshState::default().after(Ended::Lapsed("gone".into()), now), ..Outcome::default() };
    assert_refused!(scene.end_refresh(claim, lapsed, now, None).await, CommitError::Stale);
    assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&reauthorized));
    assert!(scene.no_connection_is_due(now - SignedDuration::micros(1)).await);
    scene.claim_connection(now).await;

    // A pause outlasts a consent.
    let paused = reauthorized.patched(ConnectionPatch::Paused(true), now);
    scene.reconnect(&reauthorized, &paused, None).await.unwrap();
    let again = paused.reauthorized(consent("once more", now), now);
    scene.reauthorize(&paused, &again, now).await.unwrap();
    assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&again));
    assert!(scene.no_connection_is_due(now + SignedDuration::hours(9_000)).await);
}

/// A paused connection is not refreshed, even if it is paused during a refresh. A resumed connection is due at the
/// given time.
pub async fn paused_connections_are_not_refreshed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (made, _) = scene.connected(&["work"]).await;
    let pause = |seen: &Connection, paused| seen.patched(ConnectionPatch::Paused(paused), scene.make.tick());
    let now = scene.make.tick();
    let much_later = now + SignedDuration::hours(9_000);

    // Paused before it was claimed. A new label changes nothing about that.
    let paused = pause(&made, true);
    scene.reconnect(&made, &paused, None).await.unwrap();
    assert!(scene.no_connection_is_due(much_later).await);
    assert_refused!(scene.ask_refresh(&made, now).await, CommitError::Stale);
    let named = paused.patched(ConnectionPatch::Label(Some("name".into())), scene.make.tick());
    scene.reconnect(&paused, &named, None).await.unwrap();
    assert!(scene.no_connection_is_due(much_later).await);
    let resumed = pause(&named, false);
    scene.reconnect(&named, &resumed, Some(now)).await.unwrap();
    assert!(scene.no_connection_is_due(now - SignedDuration::micros(1)).await);
    let claim = scene.claim_connection(now).await;

    // Paused during a refresh: its results are written, but nothing is due, even if a refresh was requested.
    scene.ask_refresh(&made, now).await.unwrap();
    let paused = pause(&resumed, true);
    scene.reconnect(&resumed, &paused, None).await.unwrap();
    assert!(scene.no_connection_is_due(much_later).await, "it is not due after the claim expires either");
    let state = RefreshState::default().after(Ended::Good, now);
    let outcome = Outcome { state: state.clone(), ..Outcome::default() };
    scene.end_refresh(claim, outcome, now, Some(now)).await.unwrap();
    assert!(scene.no_connection_is_due(much_later).await);
    let paused = Connection { refresh: state, ..paused };
    assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&paused));

    // Paused and resumed during a refresh: due once more, at once.
    let resumed = pause(&paused, false);
    scene.reconnect(&paused, &resumed, Some(now)).await.unwrap();
    let claim = scene.claim_connection(now).await;
    let paused = pause(&resumed, true);
    scene.reconnect(&resumed, &paused, None).await.unwrap();
    let resumed = pause(&paused, false);
    scene.reconnect(&paused, &resumed, Some(now)).await.unwrap();
    assert!(scene.no_connection_is_due(now).await, "one worker at a time");
    scene.end_refresh(claim, Outcome::default(), now, Some(much_later)).await.unwrap();
    scene.claim_connection(now).await;
}

/// The results of a refresh are written together: tokens, state and calendars. Calendars that are gone are removed
/// from grants too.
pub async fn a_refresh_writes_its_results(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (made, calendars) = scene.connected(&["work", "home", "club"]).await;
    let [work, home, club] = calendars.as_slice() else { panic!("{calendars:?}") };
    let mixed = scene.granted(Audience::All, &[work, home], &[]).await;
    let only = scene.granted(Audience::Selected, &[home, club], &[&agent]).await;
    let now = scene.make.tick();
    let first = reading(now, covered(), &[hours(1, 2), hours(5, 9)]);
    let fresh = scene.listed_of(&made, &["new"]).remove(0);
    let mut renamed = work.read(first.clone());
    renamed.theirs.name = TRICKY.into();
    renamed.theirs.primary = !renamed.theirs.primary;
    let outcome = Outcome {
        access: Some(consent("renewed", now)),
        state: made.refresh.after(Ended::Failed(TRICKY.into()), now),
        calendars: vec![renamed.clone(), fresh.clone()],
        gone: vec![home.id, club.id],
    };
    let next = now + SignedDuration::minutes(5);
    scene.end_refresh(scene.claim_connection(now).await, outcome.clone(), now, Some(next)).await.unwrap();
    let refreshed = Connection { access: consent("renewed", now), refresh: outcome.state.clone(), ..made.clone() };
    assert_eq!(scene.connection_now(&made).await, Some(refreshed.clone()));
    let mut expected = vec![
        KnownCalendar { calendar: renamed.clone(), counts: true },
        KnownCalendar { calendar: fresh.clone(), counts: false },
    ];
    expected.sort_by_key(|known| known.calendar.id);
    assert_eq!(scene.known_calendars(&made).await, expected);
    assert_eq!(scene.grant_now(&mixed).await, Some(Grant { sources: vec![work.id], ..mixed.clone() }));
    assert_eq!(scene.grant_now(&only).await, None);

    // Read again, this time without new tokens; one calendar is not read any more.
    let again = reading(next, covered(), &[hours(5, 9)]);
    let read = [renamed.read(again), ExternalCalendar { reading: None, ..fresh }];
    let state = refreshed.refresh.after(Ended::Good, next);
    let outcome = Outcome { access: None, state: state.clone(), calendars: read.to_vec(), gone: vec![] };
    scene.end_refresh(scene.claim_connection(next).await, outcome, next, Some(next)).await.unwrap();
    assert_eq!(scene.connection_now(&made).await, Some(Connection { refresh: state, ..refreshed }));
    let mut read = read.to_vec();
    read.sort_by_key(|calendar| calendar.id);
    let known = scene.known_calendars(&made).await.into_iter().map(|known| known.calendar);
    assert_eq!(known.collect::<Vec<_>>(), read);
    let seen = scene.human_sources(&[&scene.shared_calendar().await]).await;
    let read: Vec<_> = seen.into_iter().map(|seen| (seen.source, seen.revision.0, seen.read_at)).collect();
    assert_eq!(read, [(work.source(), 2, Some(next))]);
}

/// An organization with many connections that are due does not hold up another one. A refresh that ends and a claim
/// that expires free their places.
pub async fn refreshes_per_organization_are_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    for _ in 0..PER_ORG + 3 {
        scene.connected(&[]).await;
    }
    let (calm, _) = other.connected(&[]).await;
    let now = scene.make.tick();
    let first = scene.claim_connections(now, 16).await;
    assert_eq!(first.len(), PER_ORG + 1);
    assert!(ids(&first).contains(&calm.id) && scene.no_connection_is_due(now).await);
    let (ended, _) = first.iter().find(|(claim, _)| claim.org == scene.org).unwrap();
    scene.end_refresh(*ended, Outcome::default(), now, None).await.unwrap();
    assert_eq!(scene.claim_connections(now, 16).await.len(), 1);
    assert!(scene.no_connection_is_due(now).await);
    assert_eq!(scene.claim_connections(now + CLAIM_LASTS, 16).await.len(), PER_ORG + 1);
}

/// The connections of one organization that are claimed at once.
const PER_ORG: usize = REFRESHES_PER_ORG as usize;

/// If many workers claim at once, each connection is claimed once, and no organization gets too many places. A claim
/// ends once.
pub async fn workers_share_connections(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    for scene in [&scene, &other] {
        for _ in 0..10 {
            scene.connected(&[]).await;
        }
    }
    let now = scene.make.tick();
    let claims: Vec<_> = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.claim_connections(now, 3).await }
    })
    .await
    .into_iter()
    .flatten()
    .collect();
    assert_eq!(ids(&claims).len(), claims.len(), "none is claimed twice");
    let rest = scene.claim_connections(now, 20).await;
    assert!(ids(&claims).is_disjoint(&ids(&rest)));
    let all: Vec<_> = rest.into_iter().chain(claims).collect();
    let (ours, theirs): (Vec<_>, Vec<_>) = all.into_iter().partition(|(claim, _)| claim.org == scene.org);
    assert_eq!((ours.len(), theirs.len()), (PER_ORG, PER_ORG));

    let (claim, made) = ours[0].clone();
    let outcomes = race(TASKS, |index| {
        let scene = scene.clone();
        let state = RefreshState::default().after(Ended::Failed(index.to_string()), now);
        async move { scene.end_refresh(claim, Outcome { state, ..Outcome::default() }, now, Some(now)).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
    let won = outcomes.iter().position(Result::is_ok).unwrap().to_string();
    assert_eq!(scene.connection_now(&made).await.unwrap().refresh.last_error, Some(won));
}
