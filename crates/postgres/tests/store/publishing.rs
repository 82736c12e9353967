//! Publishing: corrupt rows, sealed references, and claims.

use std::sync::Arc;

use kalends_app::ChangeSet;
use kalends_app::ports::{Commit as _, CommitError, Reseal as _};
use kalends_bridge::ports::{ClaimedDestination, Destinations as _};
use kalends_bridge::{
    Access, CalendarProvider, Change, Connection, Copy, CopyKey, CopyState, Destination, ExternalCalendar,
    PublicationPolicy, PublishState, TheirCalendar, Tokens, listing,
};
use kalends_calendars::Calendar;
use kalends_calendars::ports::Calendars as _;
use kalends_kernel::{EventId, OrgId, Revision, UserId, Version};
use kalends_postgres::PostgresStore;
use kalends_testkit::fixtures::{Compose as _, Fixtures, span};
use kalends_time::{SignedDuration, Timestamp};
use tokio::task::JoinSet;

use crate::rows::located;
use crate::server::Bench;

const LASTS: SignedDuration = SignedDuration::minutes(5);

fn changes(org: OrgId, bridge: Vec<Change>) -> ChangeSet {
    ChangeSet { bridge, ..ChangeSet::new(org) }
}

/// A connection with one calendar. Nothing is stored.
fn connected(make: &Fixtures, org: OrgId) -> (Connection, ExternalCalendar) {
    let now = make.tick();
    let tokens = Tokens { access: "open".into(), access_until: now, refresh: "sesame".into(), publishing: true };
    let human = UserId::new(now, &make.entropy);
    let connection =
        Connection::create((org, human, CalendarProvider::Microsoft), Access::Consent(tokens), now, &make.entropy);
    let theirs = TheirCalendar { reference: "work".into(), name: "Work".into(), primary: true };
    let mut listed = listing((org, connection.id), &[], vec![theirs], now, &make.entropy).present;
    (connection, listed.remove(0))
}

/// Stores a destination for the calendar, at a connection of its own.
async fn published(bench: &Bench, calendar: &Calendar) -> (Destination, ExternalCalendar) {
    let (connection, target) = connected(&bench.make, calendar.org);
    let now = bench.make.tick();
    let destination = Destination {
        org: calendar.org,
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
    };
    let create = Change::CreateConnection { connection: Box::new(connection), calendars: vec![target.clone()] };
    let put = Change::PutDestination { destination: Box::new(destination.clone()), seen: None };
    bench.commit(changes(calendar.org, vec![create, put])).await;
    (destination, target)
}

async fn claim(bench: &Bench, now: Timestamp) -> Vec<ClaimedDestination> {
    bench.store.claim_publications(now, now + LASTS, 9).await.unwrap()
}

fn copy(make: &Fixtures, target: &ExternalCalendar, original_start: Option<Timestamp>) -> Copy {
    let now = make.tick();
    Copy {
        key: CopyKey { event: EventId::new(now, &make.entropy), original_start },
        target: target.id,
        reference: format!("planted-{now}"),
        digest: [1; 32],
        visible: [2; 32],
        ends_at: now,
        state: CopyState::Published,
    }
}

#[tokio::test]
async fn a_corrupt_row_of_publishing_is_located() {
    let bench = Bench::set().await;
    let (store, behind) = (&bench.store, &bench.behind);
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let (destination, target) = published(&bench, &calendar).await;
    let now = bench.make.tick();
    let claimed = claim(&bench, now).await.remove(0).claim;
    let written = vec![copy(&bench.make, &target, None)];
    let record = Change::RecordCopies { claim: claimed, written, forgotten: vec![], until: now + LASTS };
    bench.commit(changes(org, vec![record])).await;

    behind.run("UPDATE calendars SET publication_policy = 'some'").await;
    located(store.find_calendar(org, calendar.id).await, "calendars", "publication_policy", &calendar.id);
    for (column, corrupt) in [
        ("policy", "UPDATE publication_destinations SET policy = 'some'"),
        ("failures", "UPDATE publication_destinations SET policy = 'none', failures = -1"),
    ] {
        behind.run(corrupt).await;
        let id = &calendar.id;
        located(store.find_destination(org, calendar.id).await, "publication_destinations", column, id);
        let listed = store.destinations_of(org, destination.connection).await;
        located(listed, "publication_destinations", column, id);
    }
    // The corrupt row does not keep others from being published.
    let other = bench.calendar(org).await;
    let (sound, _) = published(&bench, &other).await;
    let found: Vec<_> = claim(&bench, now + LASTS).await.into_iter().map(|claimed| claimed.destination).collect();
    assert_eq!(found, std::slice::from_ref(&sound));

    let id = sqlx::query_scalar("SELECT id::text FROM publication_copies").fetch_one(&behind.pool);
    let id: String = id.await.unwrap();
    for (column, corrupt) in [
        ("digest", "UPDATE publication_copies SET digest = '\\x00'"),
        ("visible", "UPDATE publication_copies SET digest = visible, visible = '\\x00'"),
        ("state", "UPDATE publication_copies SET visible = digest, state = 'lost'"),
        ("content", "UPDATE publication_copies SET state = 'diverged', content = 'plain'"),
    ] {
        behind.run(corrupt).await;
        located(store.copies_of(org, calendar.id).await, "publication_copies", column, &id);
    }

    // A connection and a target that cannot be read are absent from the claim.
    behind.run("UPDATE calendar_connections SET tokens = 'plain'").await;
    behind.run("UPDATE external_calendars SET content = 'plain'").await;
    let claimed = claim(&bench, now + LASTS + LASTS).await.remove(0);
    assert_eq!((claimed.destination, claimed.connection, claimed.target), (sound, None, None));
}

#[tokio::test]
async fn references_of_copies_are_sealed_and_resealed() {
    let bench = Bench::set().await;
    let (store, make) = (&bench.store, &bench.make);
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let (_, target) = published(&bench, &calendar).await;
    let now = make.tick();
    let claimed = claim(&bench, now).await.remove(0).claim;
    let mut copies: Vec<Copy> = (0..5).map(|index| copy(make, &target, (index > 2).then_some(now))).collect();
    let record = Change::RecordCopies { claim: claimed, written: copies.clone(), forgotten: vec![], until: now };
    bench.commit(changes(org, vec![record])).await;
    copies.sort_by_key(|copy| copy.key);
    let of_first = "SELECT count(*) FROM publication_copies WHERE content LIKE 'v1.first.%'";
    assert_eq!(bench.behind.count(of_first).await, 5);
    bench.cipher.write_with("second");
    while store.reseal(3).await.unwrap() > 0 {}
    let of_second = "SELECT count(*) FROM publication_copies WHERE content LIKE 'v1.second.%'";
    assert_eq!(bench.behind.count(of_second).await, 5);
    bench.cipher.forget("first");
    assert_eq!(store.copies_of(org, calendar.id).await.unwrap(), copies);
}

/// Counts what no destination or connection owns.
async fn lost(bench: &Bench) -> i64 {
    let lost = "SELECT (SELECT count(*) FROM publication_destinations d WHERE NOT EXISTS (
                        SELECT 1 FROM calendar_connections k WHERE k.org_id = d.org_id AND k.id = d.connection_id))
                    + (SELECT count(*) FROM publication_copies p WHERE NOT EXISTS (
                        SELECT 1 FROM publication_destinations d
                        WHERE d.org_id = p.org_id AND d.calendar_id = p.calendar_id))
                    + (SELECT count(*) FROM calendars c
                       WHERE (c.publication_due_at IS NOT NULL) <> EXISTS (
                           SELECT 1 FROM publication_destinations d
                           WHERE d.org_id = c.org_id AND d.calendar_id = c.id))";
    bench.behind.count(lost).await
}

/// Many destinations of one connection are put, changed, ended, claimed and recorded while the connection is paused,
/// resumed and deleted, and while events are written. Nothing waits forever, and nothing is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_destination_or_copy_is_left_behind() {
    let bench = Bench::set().await;
    let (store, make) = (&bench.store, &bench.make);
    let org = bench.organization().await;
    let commit = |store: &Arc<PostgresStore>, changes: ChangeSet| {
        let store = Arc::clone(store);
        async move { store.commit(changes).await }
    };
    for round in 0..10 {
        let (connection, target) = connected(make, org);
        let create =
            Change::CreateConnection { connection: Box::new(connection.clone()), calendars: vec![target.clone()] };
        bench.commit(changes(org, vec![create])).await;
        let mut racing = JoinSet::new();
        for index in 0..6 {
            let calendar = bench.calendar(org).await;
            let now = make.tick();
            let destination = Destination {
                org,
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
            };
            let put = Change::PutDestination { destination: Box::new(destination.clone()), seen: None };
            if index % 2 == 0 {
                bench.commit(changes(org, vec![put])).await;
            } else {
                racing.spawn(commit(store, changes(org, vec![put])));
            }
            let event = make.event(&calendar, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"));
            racing.spawn(commit(store, ChangeSet::new(org).create(&event)));
            let end = Change::EndDestination {
                org,
                calendar: calendar.id,
                seen: destination.version,
                keep: round % 2 == 0,
                at: now,
            };
            if index == 2 {
                racing.spawn(commit(store, changes(org, vec![end])));
            }
            if index == 3 {
                let gone = calendar.deleted(make.tick());
                racing.spawn(commit(store, ChangeSet::new(org).update(&gone, calendar.version)));
            }
            let (store, written) = (Arc::clone(store), vec![copy(make, &target, None)]);
            racing.spawn(async move {
                let now = destination.created_at;
                for claimed in store.claim_publications(now, now + LASTS, 3).await.unwrap() {
                    let claim = claimed.claim;
                    let record =
                        Change::RecordCopies { claim, written: written.clone(), forgotten: vec![], until: now + LASTS };
                    let recorded = store.commit(changes(org, vec![record])).await;
                    let (state, next) = (PublishState::default(), Some(now + LASTS));
                    let (revision, not_before) = (Some(Revision(0)), None);
                    let end = Change::EndPublishing { claim, state, revision, next, not_before };
                    let ended = store.commit(changes(org, vec![end])).await;
                    for outcome in [recorded, ended] {
                        assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
                    }
                }
                Ok(())
            });
        }
        let delete = Change::DeleteConnection { org, connection: connection.id, seen: connection.version };
        racing.spawn(commit(store, changes(org, vec![delete])));
        for outcome in racing.join_all().await {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
        }
        assert_eq!(lost(&bench).await, 0);
        assert_eq!(store.destinations_of(org, connection.id).await.unwrap(), []);
    }
}
