//! Connections and the calendars of their accounts.

use kalends_accounts::Change as AccountChange;
use kalends_app::ports::CommitError;
use kalends_bridge::{
    Access, Audience, CLAIM_LASTS, CaldavAccount, CalendarProvider, Change, Connection, ConnectionPatch, Drawing,
    DrawnCalendar, Ended, Fence, Reading, RefreshClaim, RefreshState, ports::KnownCalendar,
};
use kalends_kernel::{ExternalCalendarId, Page};
use kalends_time::{SignedDuration, Timestamp};

use super::{TASKS, consent, covered, reading, timeless};
use crate::{
    conformance::{
        StoreUnderTest,
        samples::TRICKY,
        scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
    },
    fixtures::Compose as _,
};

/// Every field of connections and their calendars survives. Other organizations see nothing.
pub async fn connections_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (plain, calendars) = scene.connected(&["work", "home", "club"]).await;
    assert_eq!(scene.connection_now(&plain).await.as_ref(), Some(&plain));
    assert_eq!(other.connection_now(&plain).await, None);
    let known = |calendar| KnownCalendar { calendar, counts: false };
    let expected: Vec<_> = calendars.iter().cloned().map(known).collect();
    assert_eq!(scene.known_calendars(&plain).await, expected);
    assert_eq!(other.known_calendars(&plain).await, []);

    let now = scene.make.tick();
    let full = Connection {
        provider: CalendarProvider::Microsoft,
        label: Some(TRICKY.into()),
        paused: true,
        refresh: plain.refresh.after(Ended::Good, now).after(Ended::Lapsed(TRICKY.into()), now),
        ..scene.connection_of(plain.human)
    };
    let mut read = scene.listed_of(&full, &["work", "home"]);
    read[0] = read[0].read(reading(now, covered(), &[hours(-5, 1), hours(2, 3), hours(3, 4), hours(9, 200)]));
    read[1] = read[1].read(Reading { tag: Some([7; 32]), ..reading(now, covered(), &[]) });
    scene.connect(&full, &read).await;
    assert_eq!(scene.connection_now(&full).await.as_ref(), Some(&full));
    scene.granted(Audience::All, &[&read[1]], &[]).await;
    let expected: Vec<_> = [false, true]
        .into_iter()
        .zip(&read)
        .map(|(counts, of)| KnownCalendar { calendar: of.clone(), counts })
        .collect();
    assert_eq!(scene.known_calendars(&full).await, expected);

    let never = ExternalCalendarId::new(now, &scene.make.entropy);
    let queried = [read[1].id, never, calendars[0].id];
    let of = async |scene: &Scene, queried: &[ExternalCalendarId]| {
        let mut found = scene.store.connections_of(scene.org, queried).await.unwrap();
        found.sort_unstable();
        found
    };
    assert_eq!(of(&scene, &queried).await, [(calendars[0].id, plain.id), (read[1].id, full.id)]);
    assert_eq!((of(&scene, &[]).await, of(&other, &queried).await), (vec![], vec![]));
}

/// What opens an account survives, whatever its kind.
pub async fn every_kind_of_access_round_trips(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let account = CaldavAccount {
        server: format!("https://dav.example/{TRICKY}"),
        home: "https://dav.example/calendars/ada/".into(),
        username: TRICKY.into(),
        password: format!("{TRICKY}{TRICKY}"),
        addresses: vec!["mailto:ada@example.com".into()],
    };
    let drawn = DrawnCalendar { name: TRICKY.into(), busy: vec![hours(-5, 1), hours(2, 3)] };
    for (provider, access) in [
        (CalendarProvider::Caldav, Access::Password(account)),
        (CalendarProvider::Example, Access::Drawn(Drawing { calendars: vec![drawn] })),
    ] {
        let made = Connection { provider, access: access.clone(), ..scene.connection_of(scene.a_human()) };
        scene.connect(&made, &[]).await;
        assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&made));
        let (at, changed) = (scene.make.tick(), Access::Drawn(Drawing::default()));
        let other = if provider == CalendarProvider::Example { changed } else { access };
        let again = made.reauthorized(other, at);
        scene.reauthorize(&made, &again, at).await.unwrap();
        assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&again));
    }
}

/// A connection says when its next refresh is due: at once, after a refresh at the time that the refresh named, and
/// never while it is paused or has lapsed.
pub async fn connections_say_when_they_are_refreshed_next(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (made, _) = scene.connected(&["work"]).await;
    let due = async || {
        let found = scene.store.find_connection(scene.org, made.id).await.unwrap().unwrap();
        let listed = scene.store.list_connections(scene.org, None, LARGEST_PAGE).await.unwrap();
        let listed = listed.data.into_iter().next().unwrap().unwrap();
        assert_eq!(found.due_at, listed.due_at);
        found.due_at
    };
    assert_eq!(due().await, Some(made.created_at));

    let end = async |ended: Ended, next: Option<Timestamp>| {
        let at = scene.make.tick();
        let (claim, seen) = scene.store.claim_refreshes(at, at + CLAIM_LASTS, 9).await.unwrap().remove(0);
        let state = seen.refresh.after(ended, at);
        let (access, calendars, gone) = (None, vec![], vec![]);
        scene.bridge(vec![Change::EndRefresh { claim, access, state, calendars, gone, next, at }]).await.unwrap();
    };
    let soon = scene.make.tick();
    end(Ended::Good, Some(soon)).await;
    assert_eq!(due().await, Some(soon));
    let later = soon + SignedDuration::hours(1);
    end(Ended::Failed("away".into()), Some(later)).await;
    assert_eq!(due().await, Some(later));

    let seen = scene.connection_now(&made).await.unwrap();
    let paused = seen.patched(ConnectionPatch::Paused(true), scene.make.tick());
    scene.reconnect(&seen, &paused, None).await.unwrap();
    assert_eq!(due().await, None, "paused");
    let at = scene.make.tick();
    let resumed = paused.patched(ConnectionPatch::Paused(false), at);
    scene.reconnect(&paused, &resumed, Some(at)).await.unwrap();
    assert_eq!(due().await, Some(at));
    end(Ended::Lapsed("no".into()), None).await;
    assert_eq!(due().await, None, "lapsed");
    let lapsed = scene.connection_now(&made).await.unwrap();
    assert_eq!(lapsed.refresh, RefreshState { lapsed: true, ..lapsed.refresh.clone() });
    let at = scene.make.tick();
    scene.reauthorize(&lapsed, &lapsed.reauthorized(consent("other", at), at), at).await.unwrap();
    assert_eq!(due().await, Some(at));
}

/// Oldest first, in pages with their total. Other organizations see nothing.
pub async fn connections_are_listed_by_creation_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(scene.connected(&[]).await.0);
    }
    let foreign = other.connected(&[]).await.0;
    for offset in 0..6 {
        let mut listed = scene.store.list_connections(scene.org, None, Page { limit: 2, offset }).await.unwrap();
        for found in listed.data.iter_mut().flatten() {
            *found = timeless(found.clone());
        }
        let expected: Vec<_> = made.iter().skip(offset as usize).take(2).cloned().map(Ok).collect();
        assert_eq!((listed.data, listed.total), (expected, 5));
    }
    assert_eq!(other.store.list_connections(other.org, None, LARGEST_PAGE).await.unwrap().total, 1);
    let versions = async |scene: &Scene, human| scene.store.connection_versions(scene.org, human).await.unwrap();
    let of = |connections: &[Connection]| {
        let mut versions: Vec<_> = connections.iter().map(|connection| (connection.id, connection.version)).collect();
        versions.sort_unstable();
        versions
    };
    assert_eq!((versions(&scene, None).await, versions(&other, None).await), (of(&made), of(&[foreign])));
    let human = made[1].human;
    let theirs: Vec<_> = made.into_iter().filter(|connection| connection.human == human).collect();
    let listed = scene.store.list_connections(scene.org, Some(human), LARGEST_PAGE).await.unwrap();
    assert_eq!(versions(&scene, Some(human)).await, of(&theirs));
    let theirs: Vec<_> = theirs.into_iter().map(Ok).collect();
    assert_eq!((listed.total, listed.data), (theirs.len() as u64, theirs));
    let nobody = scene.store.list_connections(scene.org, Some(scene.make.user().id), LARGEST_PAGE).await.unwrap();
    assert_eq!((nobody.total, nobody.data), (0, vec![]));
}

/// Label, tokens and pause are written only at the version that was seen. If several callers write at once, one
/// succeeds.
pub async fn connections_are_changed_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (made, calendars) = scene.connected(&["work"]).await;
    let mut seen = made.clone();
    for patch in [
        ConnectionPatch::Label(Some(TRICKY.into())),
        ConnectionPatch::Paused(true),
        ConnectionPatch::Label(None),
        ConnectionPatch::Paused(false),
    ] {
        let changed = seen.patched(patch, scene.make.tick());
        scene.reconnect(&seen, &changed, None).await.unwrap();
        assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&changed));
        assert_refused!(scene.reconnect(&seen, &changed, None).await, CommitError::Stale);
        seen = changed;
    }
    let at = scene.make.tick();
    let changed = seen.reauthorized(consent("other", at), at);
    scene.reauthorize(&seen, &changed, at).await.unwrap();
    assert_eq!(scene.connection_now(&made).await.as_ref(), Some(&changed));
    assert_refused!(scene.reauthorize(&seen, &changed, at).await, CommitError::Stale);
    seen = changed;
    let outcomes = race(TASKS, |index| {
        let (scene, seen) = (scene.clone(), seen.clone());
        async move {
            let patch = ConnectionPatch::Label(Some(index.to_string()));
            scene.reconnect(&seen, &seen.patched(patch, scene.make.tick()), None).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    let won = outcomes.iter().position(Result::is_ok).unwrap().to_string();
    let now = scene.connection_now(&made).await.unwrap();
    assert_eq!((now.label, now.version), (Some(won), seen.version.next()));
    assert_eq!(scene.known_calendars(&made).await[0].calendar, calendars[0]);
}

/// When a connection is deleted, its calendars are deleted and removed from grants. A grant that had no others is
/// deleted too.
pub async fn a_deleted_connection_leaves_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let (doomed, theirs) = scene.connected(&["work", "home"]).await;
    let (kept, others) = scene.connected(&["work"]).await;
    let own = scene.granted(Audience::Selected, &[&theirs[0], &theirs[1]], &[&agent]).await;
    let both = scene.granted(Audience::AllCurrent, &[&theirs[0], &others[0]], &[&agent]).await;
    let other = scene.granted(Audience::All, &[&others[0]], &[]).await;
    let renamed = doomed.patched(ConnectionPatch::Label(Some("mine".into())), scene.make.tick());
    scene.reconnect(&doomed, &renamed, None).await.unwrap();
    let claims = scene.store.claim_refreshes(scene.make.tick(), scene.make.tick() + CLAIM_LASTS, 9).await.unwrap();
    let (claim, _) = claims.into_iter().find(|(claim, _)| claim.connection == doomed.id).unwrap();

    assert_refused!(scene.disconnect(&doomed).await, CommitError::Stale);
    assert_eq!(scene.known_calendars(&doomed).await.len(), 2);
    scene.disconnect(&renamed).await.unwrap();
    assert_eq!((scene.connection_now(&doomed).await, scene.known_calendars(&doomed).await), (None, vec![]));
    assert_eq!(scene.grant_now(&own).await, None);
    let left = kalends_bridge::Grant { sources: vec![others[0].id], ..both.clone() };
    assert_eq!(scene.grant_now(&both).await, Some(left.clone()));
    assert_eq!(scene.grant_now(&other).await.as_ref(), Some(&other));
    let listed = scene.store.list_grants(scene.org, None, LARGEST_PAGE).await.unwrap();
    assert_eq!((listed.data, listed.total), (vec![left, other], 2));
    assert_eq!(scene.counting(&calendar).await, super::sources(&others));
    assert_eq!(scene.known_calendars(&kept).await.len(), 1);

    // Nothing is written to a deleted connection.
    assert_refused!(scene.disconnect(&renamed).await, CommitError::Stale);
    assert_refused!(scene.reconnect(&renamed, &renamed, None).await, CommitError::Stale);
    let at = scene.make.tick();
    let ask = Change::AskRefresh { org: scene.org, connection: doomed.id, at };
    assert_refused!(scene.bridge(vec![ask]).await, CommitError::Stale);
    let end = Change::EndRefresh {
        claim,
        access: None,
        state: doomed.refresh.after(Ended::Good, at),
        calendars: theirs,
        gone: vec![],
        next: Some(at),
        at,
    };
    assert_refused!(scene.bridge(vec![end]).await, CommitError::Stale);
    assert_eq!(scene.known_calendars(&doomed).await, []);
}

/// When an account is deleted, its connections and links are gone at once, and the rest of its bridge soon after. Those
/// of another organization stay.
pub async fn the_bridge_is_deleted_with_its_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let mut made = Vec::new();
    for scene in [&scene, &other] {
        let agent = scene.agent().await;
        let calendar = scene.calendar(&agent).await;
        let link = scene.linked(&calendar).await;
        let (connection, calendars) = scene.connected(&["work", "home"]).await;
        let grants = [
            scene.granted(Audience::All, &[&calendars[0], &calendars[1]], &[]).await,
            scene.granted(Audience::Selected, &[&calendars[0]], &[&agent]).await,
        ];
        made.push((calendar, link, connection, calendars, grants));
    }
    let (org, seen, at) = (scene.org, scene.organization().await.version, scene.make.tick());
    scene.commit(scene.changes().account(AccountChange::DeleteOrganization { org, seen, at })).await;
    let (calendar, link, connection, calendars, grants) = &made[0];
    assert_eq!(scene.link_of(link.secret).await, None);
    assert_eq!(scene.connection_now(connection).await, None);
    let claims = scene.store.claim_refreshes(at, at + CLAIM_LASTS, 9).await.unwrap();
    let claimed: Vec<_> = claims.iter().map(|(claim, _)| claim.connection).collect();
    assert_eq!(claimed, [made[1].2.id]);
    while scene.store.remove_rows(org, 2).await.unwrap() > 0 {}
    assert_eq!((scene.link_now(link).await, scene.known_calendars(connection).await), (None, vec![]));
    assert_eq!(scene.store.list_grants(org, None, LARGEST_PAGE).await.unwrap().total, 0);
    assert_eq!(scene.human_sources(&[calendar]).await.len(), 0);
    assert_eq!(scene.store.connections_of(org, &[calendars[0].id]).await.unwrap(), []);
    assert_eq!(scene.grant_now(&grants[0]).await, None);

    let late = RefreshClaim { org, connection: connection.id, fence: Fence(1) };
    let state = connection.refresh.clone();
    let end = Change::EndRefresh {
        claim: late,
        access: None,
        state,
        calendars: calendars.clone(),
        gone: vec![],
        next: None,
        at,
    };
    assert_refused!(scene.bridge(vec![end]).await, CommitError::NoOrganization);

    let (calendar, link, connection, calendars, grants) = &made[1];
    assert_eq!(other.link_of(link.secret).await.as_ref(), Some(link));
    assert_eq!(other.connection_now(connection).await.as_ref(), Some(connection));
    assert_eq!(other.counting(calendar).await, super::sources(calendars));
    assert_eq!(other.store.list_grants(other.org, None, LARGEST_PAGE).await.unwrap().data, grants.to_vec());
}
