//! The bridge to human calendars: corrupt rows, sealed fields, and locks.

use std::sync::Arc;

use kalends_accounts::oauth::{Attempt, Client, Provider};
use kalends_app::ChangeSet;
use kalends_app::ports::{Commit as _, CommitError, HumanCalendars as _, Reseal as _};
use kalends_availability::BusySet;
use kalends_bridge::ports::{ConnectAttempts as _, ConnectionLinks as _, Connections as _, Grants as _};
use kalends_bridge::{
    Access, Audience, CalendarProvider, Change, ConnectAttempt, Connection, ConnectionLink, ConnectionPatch,
    ExternalCalendar, Grant, NewGrant, NewLink, Purpose, Reading, TheirCalendar, Tokens, listing,
};
use kalends_calendars::Calendar;
use kalends_kernel::{CalendarId, ExternalCalendarId, OrgId, Page, UserId};
use kalends_postgres::PostgresStore;
use kalends_testkit::fixtures::{Fixtures, span};
use kalends_time::Timestamp;
use tokio::task::JoinSet;

use crate::rows::located;
use crate::server::Bench;

fn human(make: &Fixtures) -> UserId {
    UserId::new(make.tick(), &make.entropy)
}

/// A connection with a label and two calendars that have been read. Nothing is stored.
fn connected(make: &Fixtures, org: OrgId) -> (Connection, Vec<ExternalCalendar>) {
    let now = make.tick();
    let tokens = Tokens { access: "open".into(), access_until: now, refresh: "sesame".into(), publishing: false };
    let connection =
        Connection::create((org, human(make), CalendarProvider::Google), Access::Consent(tokens), now, &make.entropy);
    let connection = Connection { label: Some("Work".into()), ..connection };
    let theirs = |reference: &str| TheirCalendar { reference: reference.into(), name: "Ada".into(), primary: true };
    let mut calendars = listing((org, connection.id), &[], vec![theirs("a"), theirs("b")], now, &make.entropy).present;
    calendars.sort_by_key(|calendar| calendar.id);
    let reading = Reading {
        read_at: now,
        covers: span("2026-03-01T00:00:00Z", "2026-09-01T00:00:00Z"),
        spans: BusySet::from_unsorted(vec![
            span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"),
            span("2026-03-03T09:00:00Z", "2026-03-03T10:00:00Z"),
        ]),
        copies: vec![(CalendarId::new(now, &make.entropy), span("2026-03-04T09:00:00Z", "2026-03-04T10:00:00Z"))],
        tag: Some([7; 32]),
    };
    let mut calendars: Vec<_> = calendars.iter().map(|calendar| calendar.read(reading.clone())).collect();
    calendars.sort_by_key(|calendar| calendar.id);
    (connection, calendars)
}

fn grant(make: &Fixtures, org: OrgId, sources: Vec<ExternalCalendarId>) -> Grant {
    let new = NewGrant { sources, audience: Audience::All, agents: Vec::new() };
    Grant::create((org, human(make)), new, make.tick(), &make.entropy)
}

fn link(make: &Fixtures, calendar: &Calendar) -> ConnectionLink {
    let of = (calendar.org, calendar.agent, calendar.id);
    ConnectionLink::create(of, NewLink::default(), make.tick(), &make.entropy).0
}

fn changes(org: OrgId, bridge: Vec<Change>) -> ChangeSet {
    ChangeSet { bridge, ..ChangeSet::new(org) }
}

fn creation((connection, calendars): &(Connection, Vec<ExternalCalendar>)) -> Change {
    Change::CreateConnection { connection: Box::new(connection.clone()), calendars: calendars.clone() }
}

#[tokio::test]
async fn a_corrupt_row_of_the_bridge_is_located() {
    let bench = Bench::set().await;
    let (store, behind, make) = (&bench.store, &bench.behind, &bench.make);
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let (made, link) = (connected(make, org), link(make, &calendar));
    let grant = grant(make, org, vec![made.1[0].id]);
    let all =
        vec![Change::CreateLink(Box::new(link.clone())), creation(&made), Change::CreateGrant(Box::new(grant.clone()))];
    bench.commit(changes(org, all)).await;

    for (column, corrupt) in [
        ("policy", "UPDATE connection_links SET policy = 'some'"),
        ("state", "UPDATE connection_links SET policy = 'none', state = 'lost'"),
        ("secret_hash", "UPDATE connection_links SET state = 'awaiting_human', secret_hash = '\\x00'"),
    ] {
        behind.run(corrupt).await;
        located(store.find_link(org, link.id).await, "connection_links", column, &link.id);
        if column != "state" {
            located(store.waiting_link(org, calendar.id).await, "connection_links", column, &link.id);
        }
    }

    let (connection, calendars) = &made;
    for (column, corrupt) in [
        ("provider", "UPDATE calendar_connections SET provider = 'abacus'"),
        ("failures", "UPDATE calendar_connections SET provider = 'google', failures = -1"),
        ("label", "UPDATE calendar_connections SET failures = 0, label = tokens"),
        ("tokens", "UPDATE calendar_connections SET label = NULL, tokens = 'plain'"),
    ] {
        behind.run(corrupt).await;
        located(store.find_connection(org, connection.id).await, "calendar_connections", column, &connection.id);
        let versions = store.connection_versions(org, None).await.unwrap();
        assert!(versions.contains(&(connection.id, connection.version)), "it can still be deleted");
        let listed = store.list_connections(org, None, Page::default()).await;
        if column == "provider" {
            located(listed, "calendar_connections", column, &connection.id);
            continue;
        }
        let unreadable = listed.unwrap().data.remove(0).unwrap_err();
        let cause = (unreadable.cause.table, unreadable.cause.column, unreadable.cause.id.as_str());
        assert_eq!(cause, ("calendar_connections", column, &*connection.id.to_string()));
        let known = (unreadable.id, unreadable.provider, unreadable.created_at);
        assert_eq!(known, (connection.id, connection.provider, connection.created_at));
    }
    // The corrupt row does not keep others from being refreshed.
    let (sound, _) = connected(make, org);
    let creation = Change::CreateConnection { connection: Box::new(sound.clone()), calendars: Vec::new() };
    bench.commit(changes(org, vec![creation])).await;
    let claims = store.claim_refreshes(sound.created_at, sound.created_at, 9).await.unwrap();
    assert_eq!(claims.into_iter().map(|(_, claimed)| claimed).collect::<Vec<_>>(), [sound]);

    let other = "DELETE FROM external_calendars WHERE id NOT IN (
                     SELECT external_calendar_id FROM availability_grant_sources)";
    assert_eq!(behind.run(other).await, 1);
    let (first, window) = (&calendars[0], span("2026-03-01T00:00:00Z", "2026-03-09T00:00:00Z"));
    assert_eq!(store.human_busy(org, &[first.source()], window).await.unwrap(), [first.busy(window)]);
    for (column, corrupt) in [
        ("spans", "UPDATE external_calendars SET spans = '\\x0001'"),
        ("spans", "UPDATE external_calendars SET spans = int8send(9) || int8send(3)"),
        ("spans", "UPDATE external_calendars SET spans = int8send(5) || int8send(6) || int8send(1) || int8send(2)"),
        ("spans", "UPDATE external_calendars SET spans = int8send(1) || int8send(2) || int8send(2) || int8send(3)"),
        ("copies", "UPDATE external_calendars SET spans = '', copies = '\\x0001'"),
        ("tag", "UPDATE external_calendars SET copies = NULL, tag = '\\x0001'"),
        ("covers_until", "UPDATE external_calendars SET tag = NULL, covers_until = covers_from - 1"),
        ("read_at", "UPDATE external_calendars SET covers_until = covers_from + 1, read_at = NULL"),
        ("read_at", "UPDATE external_calendars SET read_at = 1, spans = NULL"),
    ] {
        behind.run(corrupt).await;
        located(store.human_busy(org, &[first.source()], window).await, "external_calendars", column, &first.id);
        located(store.external_calendars(org, connection.id).await, "external_calendars", column, &first.id);
    }
    behind.run("UPDATE external_calendars SET spans = '', content = 'plain'").await;
    located(store.external_calendars(org, connection.id).await, "external_calendars", "content", &first.id);

    behind.run("UPDATE availability_grants SET audience = 'some'").await;
    located(store.find_grant(org, grant.id).await, "availability_grants", "audience", &grant.id);
    located(store.list_grants(org, None, Page::default()).await, "availability_grants", "audience", &grant.id);
}

#[tokio::test]
async fn a_corrupt_attempt_is_located() {
    let bench = Bench::set().await;
    let (store, make) = (&bench.store, &bench.make);
    let org = bench.organization().await;
    let client = Client {
        provider: Provider::Google,
        authorization_endpoint: "https://provider.example/authorize".parse().unwrap(),
        issuer: "https://provider.example".into(),
        client_id: "kalends".into(),
        redirect_uri: "https://calendar.example.com/callback".into(),
    };
    let (connection, _) = connected(make, org);
    let purpose = Purpose::Reauthorize { connection: connection.id };
    for (column, corrupt) in [
        ("provider", "UPDATE connection_attempts SET provider = 'abacus'"),
        ("connection_id", "UPDATE connection_attempts SET link_id = org_id"),
    ] {
        let (attempt, _) =
            ConnectAttempt::begin((org, human(make)), purpose, false, &client, make.tick(), &make.entropy);
        let Attempt { key, .. } = attempt.oauth;
        store.keep_connect_attempt(&attempt).await.unwrap();
        assert_eq!(bench.behind.run(corrupt).await, 1);
        located(store.use_connect_attempt(key).await, "connection_attempts", column, &"an attempt");
        assert_eq!(store.use_connect_attempt(key).await.unwrap(), None, "the attempt is used up");
    }
}

/// Counts the values that are sealed under a key.
macro_rules! sealed_under {
    ($key:literal) => {
        concat!(
            "SELECT (SELECT count(*) FROM calendar_connections WHERE tokens LIKE 'v1.",
            $key,
            ".%')
                  + (SELECT count(*) FROM calendar_connections WHERE label LIKE 'v1.",
            $key,
            ".%')
                  + (SELECT count(*) FROM external_calendars WHERE content LIKE 'v1.",
            $key,
            ".%')"
        )
    };
}

#[tokio::test]
async fn tokens_and_labels_of_connections_are_sealed_and_resealed() {
    let bench = Bench::set().await;
    let (store, make) = (&bench.store, &bench.make);
    let org = bench.organization().await;
    let made: Vec<_> = (0..5).map(|_| connected(make, org)).collect();
    bench.commit(changes(org, made.iter().map(creation).collect())).await;
    let nameless = made[0].0.patched(ConnectionPatch::Label(None), make.tick());
    let update = Change::UpdateConnection { seen: made[0].0.version, connection: Box::new(nameless), due: None };
    bench.commit(changes(org, vec![update])).await;
    assert_eq!(bench.behind.count(sealed_under!("first")).await, 5 + 4 + 10);

    bench.cipher.write_with("second");
    while store.reseal(3).await.unwrap() > 0 {}
    assert_eq!(bench.behind.count(sealed_under!("second")).await, 5 + 4 + 10);
    bench.cipher.forget("first");
    for (connection, calendars) in &made[1..] {
        assert_eq!(store.find_connection(org, connection.id).await.unwrap().as_ref(), Some(connection));
        let known = store.external_calendars(org, connection.id).await.unwrap();
        assert_eq!(known.into_iter().map(|known| known.calendar).collect::<Vec<_>>(), *calendars);
    }
}

/// Counts grants without a calendar, and sources whose calendar or grant is gone.
async fn lost(bench: &Bench) -> i64 {
    let lost = "SELECT (SELECT count(*) FROM availability_grants g WHERE NOT EXISTS (
                        SELECT 1 FROM availability_grant_sources s WHERE s.org_id = g.org_id AND s.grant_id = g.id))
                    + (SELECT count(*) FROM availability_grant_sources s WHERE NOT EXISTS (
                        SELECT 1 FROM external_calendars x WHERE x.org_id = s.org_id AND x.id = s.external_calendar_id))
                    + (SELECT count(*) FROM availability_grant_sources s WHERE NOT EXISTS (
                        SELECT 1 FROM availability_grants g WHERE g.org_id = s.org_id AND g.id = s.grant_id))";
    bench.behind.count(lost).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_grant_never_names_a_deleted_calendar_or_stays_empty() {
    let bench = Bench::set().await;
    let (store, make) = (&bench.store, &bench.make);
    let org = bench.organization().await;
    let commit = |store: &Arc<PostgresStore>, change: Change| {
        let store = Arc::clone(store);
        async move { store.commit(changes(org, vec![change])).await }
    };
    for _ in 0..15 {
        let made = [connected(make, org), connected(make, org), connected(make, org)];
        // The same calendars in another order of connections, so that the transactions lock in different orders.
        let sources: Vec<_> = made.iter().flat_map(|(_, calendars)| calendars).map(|calendar| calendar.id).collect();
        let before = grant(make, org, sources.clone());
        let mut all: Vec<Change> = made.iter().map(creation).collect();
        all.push(Change::CreateGrant(Box::new(before.clone())));
        bench.commit(changes(org, all)).await;
        let now = made[2].0.created_at;
        let claims = store.claim_refreshes(now, Timestamp::from_micros(now.as_micros() + 1), 9).await.unwrap();
        let (claim, refreshed) = claims.into_iter().find(|(claim, _)| claim.connection == made[2].0.id).unwrap();

        let mut racing = JoinSet::new();
        for (connection, _) in &made[..2] {
            let (connection, seen) = (connection.id, connection.version);
            racing.spawn(commit(store, Change::DeleteConnection { org, connection, seen }));
        }
        let ends = Change::EndRefresh {
            claim,
            access: None,
            state: refreshed.refresh,
            calendars: Vec::new(),
            gone: made[2].1.iter().map(|calendar| calendar.id).collect(),
            next: None,
            at: now,
        };
        racing.spawn(commit(store, ends));
        for _ in 0..3 {
            racing.spawn(commit(store, Change::CreateGrant(Box::new(grant(make, org, sources.clone())))));
        }
        for outcome in racing.join_all().await {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
        }
        assert_eq!(store.find_grant(org, before.id).await.unwrap(), None, "nothing is left of it");
        assert_eq!(lost(&bench).await, 0);
    }
    assert_eq!(store.list_grants(org, None, Page::default()).await.unwrap().total, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_concurrent_links_waits_and_other_changes_apply() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let mut racing = JoinSet::new();
    for _ in 0..12 {
        let (store, link) = (Arc::clone(&bench.store), link(&bench.make, &calendar));
        racing.spawn(async move { store.commit(changes(org, vec![Change::CreateLink(Box::new(link))])).await });
    }
    let outcomes = racing.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
}
