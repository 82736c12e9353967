//! Grants, and the calendars that count by them.

use std::collections::{BTreeMap, BTreeSet};

use kalends_app::ports::{CommitError, HumanSeen};
use kalends_availability::BusySet;
use kalends_bridge::HumanBusy;
use kalends_bridge::{Audience, Change, ConnectionPatch, ExternalCalendar, Grant};
use kalends_calendars::{Agent, HumanFor, ports::LivingAgent};
use kalends_kernel::HumanSource;
use kalends_kernel::{CalendarId, ExternalCalendarId, Page, Revision, UserId};
use kalends_time::Span;

use super::{TASKS, covered, reading, sources};
use crate::conformance::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, minutes, race},
};

fn names_of(calendars: &[ExternalCalendar]) -> BTreeMap<ExternalCalendarId, String> {
    calendars.iter().map(|calendar| (calendar.id, calendar.theirs.name.clone())).collect()
}

/// A user's connected calendars have names for that user alone, in one organization.
pub async fn connected_calendars_are_named_to_their_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (own, calendars) = scene.connected(&["work", "home"]).await;
    let (theirs, more) = scene.connected(&["work"]).await;
    assert_ne!(own.human, theirs.human);
    let asked: BTreeSet<ExternalCalendarId> = calendars.iter().chain(&more).map(|calendar| calendar.id).collect();
    let names = async |scene: &Scene, human: UserId| {
        scene.store.names_of_external_calendars(scene.org, human, &asked).await.unwrap()
    };
    assert_eq!(names(&scene, own.human).await, names_of(&calendars));
    assert_eq!(names(&scene, theirs.human).await, names_of(&more));
    assert_eq!(names(&other, own.human).await, BTreeMap::new());
    let delete = vec![Change::DeleteConnection { org: scene.org, connection: own.id, seen: own.version }];
    scene.bridge(delete).await.unwrap();
    assert_eq!(names(&scene, own.human).await, BTreeMap::new());
}

/// Every field survives, for each audience. Lists are oldest first and paged, and other organizations see nothing.
pub async fn grants_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (first, second) = (scene.agent().await, scene.agent().await);
    let (_, calendars) = scene.connected(&["work", "home"]).await;
    let (_, more) = scene.connected(&["work"]).await;
    let all = [&calendars[1], &more[0], &calendars[0]];
    let made = [
        scene.granted(Audience::Selected, &all, &[&second, &first]).await,
        scene.granted(Audience::AllCurrent, &all[..1], &[&first]).await,
        scene.granted(Audience::All, &all[1..], &[]).await,
        scene.granted(Audience::AllCurrent, &all[..2], &[]).await,
        scene.granted(Audience::Selected, &all, &[&second, &first]).await,
    ];
    for grant in &made {
        assert_eq!(scene.grant_now(grant).await.as_ref(), Some(grant));
        assert_eq!(other.grant_now(grant).await, None);
    }
    for offset in 0..6 {
        let listed = scene.store.list_grants(scene.org, None, Page { limit: 2, offset }).await.unwrap();
        let expected: Vec<_> = made.iter().skip(offset as usize).take(2).cloned().collect();
        assert_eq!((listed.data, listed.total), (expected, 5));
    }
    assert_eq!(other.store.list_grants(other.org, None, LARGEST_PAGE).await.unwrap().total, 0);
    let human = made[1].human;
    let theirs: Vec<_> = made.iter().filter(|grant| grant.human == human).cloned().collect();
    let listed = scene.store.list_grants(scene.org, Some(human), LARGEST_PAGE).await.unwrap();
    assert_eq!((listed.total, listed.data), (theirs.len() as u64, theirs));
    let nobody = scene.store.list_grants(scene.org, Some(scene.make.user().id), LARGEST_PAGE).await.unwrap();
    assert_eq!((nobody.total, nobody.data), (0, vec![]));

    let delete = || vec![Change::DeleteGrant { org: scene.org, grant: made[0].id }];
    let theirs = vec![Change::DeleteGrant { org: other.org, grant: made[0].id }];
    assert_refused!(other.bridge(theirs).await, CommitError::Stale);
    scene.bridge(delete()).await.unwrap();
    assert_eq!(scene.grant_now(&made[0]).await, None);
    assert_refused!(scene.bridge(delete()).await, CommitError::Stale);
    assert_eq!(scene.store.list_grants(scene.org, None, LARGEST_PAGE).await.unwrap().data, made[1..]);
}

/// A grant needs calendars that all exist and belong to the organization.
pub async fn grants_are_made_of_known_calendars(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let (kept, calendars) = scene.connected(&["work"]).await;
    let (doomed, gone) = scene.connected(&["work"]).await;
    let (_, theirs) = other.connected(&["work"]).await;
    let never = scene.listed_of(&kept, &["never"]);
    scene.disconnect(&doomed).await.unwrap();
    for missing in [&gone[0], &theirs[0], &never[0]] {
        let grant = scene.grant_of(Audience::Selected, &[&calendars[0], missing], &[&agent]);
        let create = Change::CreateGrant(Box::new(grant.clone()));
        assert_refused!(scene.bridge(vec![create]).await, CommitError::Stale);
        assert_eq!(scene.grant_now(&grant).await, None);
    }
    assert!(!scene.known_calendars(&kept).await[0].counts, "the refused grant left nothing");
    assert_eq!(scene.counting(&scene.calendar(&agent).await).await, BTreeSet::new());
    // The grant is made together with the connection.
    let connection = scene.connection_of(scene.a_human());
    let fresh = scene.listed_of(&connection, &["work"]);
    let grant = scene.grant_of(Audience::All, &[&fresh[0]], &[]);
    let (connect, create) = (
        Change::CreateConnection { connection: Box::new(connection), calendars: fresh },
        Change::CreateGrant(Box::new(grant.clone())),
    );
    scene.bridge(vec![connect, create]).await.unwrap();
    assert_eq!(scene.grant_now(&grant).await, Some(grant));
}

/// A grant counts for the agents that it names, for the agents that existed when it was made, or for every agent and
/// shared calendar.
pub async fn grants_count_for_the_agents_they_name(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (named, current, late) = (scene.agent().await, scene.agent().await, scene.agent().await);
    let (first, second) = (scene.calendar(&named).await, scene.calendar(&named).await);
    let (theirs, unnamed) = (scene.calendar(&current).await, scene.calendar(&late).await);
    let shared = scene.shared_calendar().await;
    let neighbour = other.shared_calendar().await;
    let (_, calendars) = scene.connected(&["work", "home", "club", "unused"]).await;
    let [work, home, club, _] = calendars.as_slice() else { panic!("{calendars:?}") };
    let (_, of_neighbour) = other.connected(&["work"]).await;
    other.granted(Audience::All, &[&of_neighbour[0]], &[]).await;
    assert!(scene.human_sources(&[&first, &shared]).await.is_empty());
    assert!(scene.is_granted(&[&first, &second, &theirs, &unnamed, &shared], false).await);
    scene.granted(Audience::Selected, &[work, home], &[&named]).await;
    scene.granted(Audience::AllCurrent, &[work, club], &[&named, &current]).await;
    let everybody = scene.granted(Audience::All, &[home], &[]).await;

    let of = |calendar: CalendarId, found: &[HumanSource]| {
        let seen = found.iter().map(move |source| (HumanFor::from(calendar), *source));
        seen.collect::<Vec<_>>()
    };
    let queried = [&first, &second, &theirs, &unnamed, &shared, &neighbour];
    let (work, home, club) = (work.source(), home.source(), club.source());
    let expected: BTreeSet<_> = [
        of(first.id, &[work, home, club]),
        of(second.id, &[work, home, club]),
        of(theirs.id, &[work, home, club]),
        of(unnamed.id, &[home]),
        of(shared.id, &[home]),
    ]
    .concat()
    .into_iter()
    .collect();
    let seen = scene.human_sources(&queried).await;
    let found: BTreeSet<_> = seen.iter().map(|seen| (seen.of, seen.source)).collect();
    assert_eq!(found, expected);
    assert!(seen.iter().all(|seen| (seen.revision, seen.read_at) == (Revision(0), None)));
    assert_eq!(scene.human_sources(&[]).await, BTreeSet::new());
    let of_others = other.human_sources(&queried).await;
    let of_others: Vec<_> = of_others.iter().map(|seen| (seen.of, seen.source)).collect();
    assert_eq!(of_others, [(neighbour.id.into(), of_neighbour[0].source())]);

    // A grant counts for the agents themselves too, so also for an agent without a calendar.
    let bare = scene.agent().await;
    let stranger = other.agent().await;
    let agents = [named.id, current.id, late.id, bare.id, stranger.id];
    let of_agents = async |scene: &Scene| {
        let mut queried = scene.store.living_agents(scene.org, &agents).await.unwrap();
        let gone = agents.iter().filter(|id| !queried.iter().any(|living| living.id == **id));
        // Agents that are gone are queried too, as if something were granted to them.
        let gone: Vec<_> = gone.map(|id| LivingAgent { id: *id, granted: true }).collect();
        queried.extend(gone);
        let seen = scene.store.human_sources_of_agents(scene.org, &queried).await.unwrap();
        assert!(seen.iter().all(|seen| (seen.revision, seen.read_at) == (Revision(0), None)));
        seen.into_iter().map(|seen| (seen.of, seen.source)).collect::<BTreeSet<_>>()
    };
    let own = |agent: &Agent, found: &[HumanSource]| {
        let seen = found.iter().map(|source| (HumanFor::from(agent.id), *source));
        seen.collect::<Vec<_>>()
    };
    let everything = [work, home, club];
    let expected = [own(&named, &everything), own(&current, &everything), own(&late, &[home]), own(&bare, &[home])];
    assert_eq!(of_agents(&scene).await, expected.concat().into_iter().collect());
    let theirs_alone = own(&stranger, &[of_neighbour[0].source()]);
    assert_eq!(of_agents(&other).await, theirs_alone.into_iter().collect());
    assert!(scene.store.human_sources_of_agents(scene.org, &[]).await.unwrap().is_empty());
    // Something is granted to all of them, and the sources of busy times agree.
    let living = scene.store.living_agents(scene.org, &agents).await.unwrap();
    assert_eq!((living.len(), living.iter().all(|living| living.granted)), (4, true));
    assert!(scene.is_granted(&[&first, &second, &theirs, &unnamed, &shared], true).await);

    // Hidden calendars have no sources, and a revoked grant has no effect.
    scene.delete(&second).await;
    scene.decommission(&current).await;
    assert_eq!(scene.human_sources(&[&second, &theirs]).await, BTreeSet::new());
    scene.bridge(vec![Change::DeleteGrant { org: scene.org, grant: everybody.id }]).await.unwrap();
    assert_eq!(scene.human_sources(&[&unnamed, &shared]).await, BTreeSet::new());
    assert!(scene.is_granted(&[&unnamed, &shared], false).await);
    assert!(scene.is_granted(&[&first], true).await);
    let of_late = scene.store.living_agents(scene.org, &[late.id, bare.id, late.id]).await.unwrap();
    assert_eq!((of_late.len(), of_late.iter().any(|living| living.granted)), (2, false));
    assert_eq!(
        of_agents(&scene).await,
        own(&named, &everything).into_iter().collect(),
        "the named agents that are not decommissioned"
    );
    assert_eq!(scene.counting(&first).await, BTreeSet::from([work, home, club]));
}

/// The last reading is returned, clipped to the window. A source that was never read is returned without a reading. A
/// source that is paused or gone is not returned.
pub async fn human_calendars_return_busy_times(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let calendar = scene.shared_calendar().await;
    let connection = scene.connection_of(scene.a_human());
    let mut read = scene.listed_of(&connection, &["work", "home", "unread"]);
    let now = scene.make.tick();
    read[0] = read[0].read(reading(now, covered(), &[hours(-3, 1), hours(2, 4), hours(6, 7), hours(50, 200)]));
    read[1] = read[1].read(reading(now, hours(5, 9), &[]));
    scene.connect(&connection, &read).await;
    let all: Vec<_> = read.iter().collect();
    scene.granted(Audience::All, &all, &[]).await;
    let (_, elsewhere) = scene.connected(&["work"]).await;
    scene.granted(Audience::All, &[&elsewhere[0]], &[]).await;

    let seen = |place: usize| HumanSeen {
        of: calendar.id.into(),
        source: read[place].source(),
        revision: read[place].revision,
        read_at: read[place].reading.as_ref().map(|reading| reading.read_at),
    };
    let own: BTreeSet<_> = [seen(0), seen(1), seen(2)].into_iter().collect();
    let before = scene.human_sources(&[&calendar]).await;
    assert!(before.is_superset(&own) && before.len() == 4, "{before:?}");

    let busy = async |scene: &Scene, sources: &[HumanSource], window: Span| {
        let mut busy = scene.store.human_busy(scene.org, sources, window).await.unwrap();
        busy.sort_by_key(|busy| busy.source);
        busy
    };
    let never = HumanSource(ExternalCalendarId::new(now, &scene.make.entropy).uuid().as_u128());
    let queried: Vec<_> = sources(&read).into_iter().chain([never]).collect();
    for window in [hours(3, 5), hours(3, 60), hours(0, 100), hours(-10, 300), hours(4, 6), minutes(61, 62)] {
        let mut expected: Vec<HumanBusy> = read.iter().map(|calendar| calendar.busy(window)).collect();
        expected.sort_by_key(|busy| busy.source);
        assert_eq!(busy(&scene, &queried, window).await, expected, "{window:?}");
    }
    let found = busy(&scene, &queried[..1], hours(3, 60)).await;
    let spans = BusySet::from_unsorted(vec![hours(3, 4), hours(6, 7), hours(50, 60)]);
    assert_eq!((found.len(), &found[0].spans, found[0].covers), (1, &spans, covered()));
    assert_eq!((busy(&scene, &[], hours(0, 9)).await, busy(&other, &queried, hours(0, 9)).await), (vec![], vec![]));

    // A paused connection returns nothing, a resumed one does again, and a deleted one is gone.
    let paused = connection.patched(ConnectionPatch::Paused(true), scene.make.tick());
    scene.reconnect(&connection, &paused, None).await.unwrap();
    assert_eq!(scene.counting(&calendar).await, sources(&elsewhere));
    assert_eq!(busy(&scene, &queried, hours(0, 9)).await, []);
    let resumed = paused.patched(ConnectionPatch::Paused(false), scene.make.tick());
    scene.reconnect(&paused, &resumed, Some(now)).await.unwrap();
    assert_eq!(scene.human_sources(&[&calendar]).await, before);
    assert_eq!(busy(&scene, &queried, hours(0, 9)).await.len(), 3);
    scene.disconnect(&resumed).await.unwrap();
    assert_eq!(scene.counting(&calendar).await, sources(&elsewhere));
    assert_eq!(busy(&scene, &queried, hours(0, 9)).await, []);
}

/// The reading of a calendar is deleted with the last grant for it, even if nobody reads the calendar again.
pub async fn the_last_revoked_grant_deletes_the_reading(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    for paused in [false, true] {
        let mut connection = scene.connection_of(scene.a_human());
        connection.paused = paused;
        let now = scene.make.tick();
        let listed = scene.listed_of(&connection, &["work", "home", "unread"]);
        let mut read: Vec<_> =
            listed.iter().map(|calendar| calendar.read(reading(now, covered(), &[hours(2, 4)]))).collect();
        read[2] = listed[2].clone();
        scene.connect(&connection, &read).await;
        let all: Vec<_> = read.iter().collect();
        let first = scene.granted(Audience::All, &all, &[]).await;
        let second = scene.granted(Audience::All, &all[..1], &[]).await;
        let (_, theirs) = other.connected(&["work"]).await;
        other.granted(Audience::All, &[&theirs[0]], &[]).await;

        let take_back = async |grant: &Grant| {
            scene.bridge(vec![Change::DeleteGrant { org: scene.org, grant: grant.id }]).await.unwrap();
            scene.known_calendars(&connection).await.into_iter().map(|known| known.calendar).collect::<Vec<_>>()
        };
        let expected = [read[0].clone(), read[1].unread(), read[2].clone()];
        assert_eq!(take_back(&first).await, expected, "paused: {paused}");
        assert_eq!(take_back(&second).await, [read[0].unread(), read[1].unread(), read[2].clone()]);
    }
}

/// If two grants are revoked at once, no reading is left of the calendar that both name.
pub async fn concurrently_revoked_grants_leave_no_reading(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..4 {
        let connection = scene.connection_of(scene.a_human());
        let listed = scene.listed_of(&connection, &["work"]);
        let read = listed[0].read(reading(scene.make.tick(), covered(), &[hours(2, 4)]));
        scene.connect(&connection, std::slice::from_ref(&read)).await;
        let mut grants = Vec::new();
        for _ in 0..TASKS {
            grants.push(scene.granted(Audience::All, &[&read], &[]).await);
        }
        let outcomes = race(TASKS, |index| {
            let (scene, grant) = (scene.clone(), grants[index].id);
            async move { scene.bridge(vec![Change::DeleteGrant { org: scene.org, grant }]).await }
        })
        .await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(scene.known_calendars(&connection).await[0].calendar, read.unread());
    }
}

/// If a calendar is removed while grants are made of it, no grant keeps the removed calendar.
pub async fn no_grant_outlives_its_calendars(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    for _ in 0..4 {
        let (doomed, calendars) = scene.connected(&["work"]).await;
        let outcomes = race(TASKS, |index| {
            let (scene, doomed, source) = (scene.clone(), doomed.clone(), calendars[0].clone());
            let agent = agent.clone();
            async move {
                if index == 0 {
                    return scene.disconnect(&doomed).await;
                }
                let grant = scene.grant_of(Audience::Selected, &[&source], &[&agent]);
                scene.bridge(vec![Change::CreateGrant(Box::new(grant))]).await
            }
        })
        .await;
        assert!(outcomes[0].is_ok(), "{outcomes:?}");
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
        assert_eq!(scene.store.list_grants(scene.org, None, LARGEST_PAGE).await.unwrap().data, []);
    }
}
