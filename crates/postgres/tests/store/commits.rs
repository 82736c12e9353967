//! Concurrent transactions.

use std::sync::Arc;
use std::time::Duration;

use kalends_app::ports::{Commit as _, CommitError};
use kalends_app::{ChangeSet, Guard};
use kalends_calendars::ports::{Calendars as _, Events as _};
use kalends_calendars::{Calendar, Event};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::Metric;
use kalends_postgres::PostgresStore;
use kalends_testkit::Inspect as _;
use kalends_testkit::fixtures::{Compose as _, Fixtures, span};
use kalends_time::{SignedDuration, Span};
use sqlx::Connection as _;
use tokio::task::JoinSet;

use crate::server::Bench;

/// A test that takes longer is stuck.
const DEADLINE: Duration = Duration::from_secs(60);

fn nine_to_ten() -> Span {
    span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")
}

/// The creation of an event with its message, audit entry, answer and charge.
fn creation(make: &Fixtures, event: &Event, limit: Option<u64>) -> ChangeSet {
    ChangeSet::new(event.org)
        .create(event)
        .message(make.message(event.org))
        .audit(make.audit_entry(event.org))
        .answer(make.answer())
        .charge(make.charge(limit))
}

/// Commits all change-sets at once, so that they share batches, and returns the outcomes in order.
async fn together(store: &Arc<PostgresStore>, all: Vec<ChangeSet>) -> Vec<Result<(), CommitError>> {
    let outcomes = all.into_iter().map(|changes| {
        let store = Arc::clone(store);
        tokio::spawn(async move { store.commit(changes).await })
    });
    let mut collected = Vec::new();
    for outcome in outcomes.collect::<Vec<_>>() {
        collected.push(tokio::time::timeout(DEADLINE, outcome).await.expect("nothing waits forever").unwrap());
    }
    collected
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_failed_change_set_does_not_affect_its_batch() {
    let bench = Bench::set().await;
    let (org, poor) = (bench.organization().await, bench.organization().await);
    let (calendar, gone, theirs) = (bench.calendar(org).await, bench.calendar(org).await, bench.calendar(poor).await);
    bench.commit(ChangeSet::new(org).update(&gone.deleted(bench.make.tick()), gone.version)).await;
    let taken = bench.make.answer();
    bench.commit(ChangeSet::new(org).answer(taken.clone())).await;

    let mut all = Vec::new();
    for index in 0..64 {
        let on = |calendar| bench.make.event(calendar, nine_to_ten());
        let mut changes = match index % 8 {
            0 => creation(&bench.make, &on(&gone), None),
            1 => creation(&bench.make, &on(&theirs), Some(3)),
            2 => creation(&bench.make, &on(&calendar), None).answer(taken.clone()),
            _ => creation(&bench.make, &on(&calendar), None),
        };
        if index == 63 {
            // The same identifier twice, which no named constraint covers.
            let twice = changes.calendars[0].clone();
            changes.calendars.push(twice);
        }
        all.push(changes);
    }
    // Starts with something slow, so that the rest gathers behind it.
    let mut holder = bench.behind.pool.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM calendars FOR UPDATE").execute(&mut *holder).await.unwrap();
    let store = Arc::clone(&bench.store);
    let committing = tokio::spawn(async move { together(&store, all).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    holder.rollback().await.unwrap();
    let outcomes = committing.await.unwrap();

    let mut within = 0;
    for (index, outcome) in outcomes.iter().enumerate() {
        match (index % 8, outcome) {
            (0, Err(CommitError::Stale)) | (2, Err(CommitError::AlreadyAnswered)) => {}
            (1, Err(CommitError::LimitReached { metric: Metric::Events, limit: 3 })) => {}
            (1, Ok(())) => within += 1,
            (7, Err(CommitError::Store(StoreError::Failed(_)))) if index == 63 => {}
            (3..=7, Ok(())) if index != 63 => {}
            (_, outcome) => panic!("{index}: {outcome:?}"),
        }
    }
    assert_eq!(within, 3, "the limit is used up exactly");
    let used = async |org| bench.behind.used(org, Metric::Events, bench.make.period()).await;
    assert_eq!((used(org).await, used(poor).await), (39, 3));
    assert_eq!((bench.messages(org).await, bench.messages(poor).await), (39, 3));
    assert_eq!(bench.behind.audit_entries(org).await.len(), 39);
    assert_eq!(bench.behind.answers().await, 39 + 3 + 1);
    assert_eq!(bench.behind.count("SELECT count(*) FROM events").await, 42);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_two_calendars_never_deadlock() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let (first, second) = (bench.calendar(org).await, bench.calendar(org).await);
    let nodes = [Arc::clone(&bench.store), bench.other_node().await];
    bench.behind.run("SELECT pg_stat_reset()").await;

    let mut racing = JoinSet::new();
    for index in 0..120_usize {
        let mut pair = [&first, &second];
        pair.rotate_left(index % 2);
        let events = pair.map(|calendar| bench.make.event(calendar, nine_to_ten()));
        let mut changes = creation(&bench.make, &events[0], None).create(&events[1]);
        if index % 3 == 0 {
            // This makes the change-set more than an addition of events, so it gets a transaction of its own.
            let agent = bench.make.agent(org);
            changes = changes.create(&agent).guard(Guard::AtMost { metric: Metric::Agents, limit: 1_000 });
        }
        let node = Arc::clone(&nodes[index / 2 % 2]);
        racing.spawn(async move { node.commit(changes).await });
    }
    let finish = async {
        while let Some(outcome) = racing.join_next().await {
            outcome.unwrap().unwrap();
        }
    };
    tokio::time::timeout(DEADLINE, finish).await.expect("nothing waits forever");

    assert_eq!(bench.behind.count("SELECT count(*) FROM events").await, 240);
    assert_eq!(bench.behind.used(org, Metric::Events, bench.make.period()).await, 120);
    // The server counts a deadlock when the losing transaction ends, and shows it a moment later.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(bench.behind.count(deadlocks).await, 0, "they are avoided, not only survived");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn updates_concurrent_with_additions_lose_nothing() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let event = bench.make.event(&calendar, nine_to_ten());
    bench.commit(ChangeSet::new(org).create(&event)).await;

    let mut racing = JoinSet::new();
    for _ in 0..8 {
        let (store, event, org) = (Arc::clone(&bench.store), event.id, org);
        racing.spawn(async move {
            let mut done = 0;
            while done < 10 {
                let now = store.find_event(org, event).await.unwrap().unwrap().event;
                let next = Event { version: now.version.next(), ..now.clone() };
                match store.commit(ChangeSet::new(org).update(&next, now.version)).await {
                    Ok(()) => done += 1,
                    Err(CommitError::Stale) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
        });
        let additions: Vec<_> =
            (0..10).map(|_| ChangeSet::new(org).create(&bench.make.event(&calendar, nine_to_ten()))).collect();
        let store = Arc::clone(&bench.store);
        racing.spawn(async move {
            for outcome in together(&store, additions).await {
                outcome.unwrap();
            }
        });
    }
    let finish = async {
        while let Some(outcome) = racing.join_next().await {
            outcome.unwrap();
        }
    };
    tokio::time::timeout(DEADLINE, finish).await.expect("nothing waits forever");
    let now = bench.store.find_event(org, event.id).await.unwrap().unwrap().event;
    assert_eq!(now.version.0, 81, "every update saw the one before it");
    assert_eq!(bench.behind.count("SELECT count(*) FROM events").await, 81);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_calendar_is_added_to_a_decommissioned_agent() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    for _ in 0..20 {
        let agent = bench.make.agent(org);
        bench.commit(ChangeSet::new(org).create(&agent)).await;
        let calendar = bench.make.calendar(&agent);
        let gone = agent.decommissioned(bench.make.tick()).unwrap();
        let outcomes = together(
            &bench.store,
            vec![ChangeSet::new(org).create(&calendar), ChangeSet::new(org).update(&gone, agent.version)],
        )
        .await;
        assert!(outcomes[1].is_ok(), "{:?}", outcomes[1]);
        assert!(matches!(outcomes[0], Ok(()) | Err(CommitError::Stale)), "{:?}", outcomes[0]);
        assert_eq!(bench.store.find_calendar(org, calendar.id).await.unwrap(), None);
    }
}

/// Commits until `count` change-sets have succeeded, and returns the outcome of each attempt.
async fn commit_through(bench: &Bench, calendar: &Calendar, count: usize) -> Vec<(Event, Result<(), CommitError>)> {
    let mut all = Vec::new();
    for _ in 0..count {
        let event = bench.make.event(calendar, nine_to_ten());
        let mut changes = creation(&bench.make, &event, None);
        if all.len() % 2 == 0 {
            changes = changes.guard(Guard::AtMost { metric: Metric::Agents, limit: 10 });
        }
        all.push((event, changes));
    }
    let (events, changes): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    events.into_iter().zip(together(&bench.store, changes).await).collect()
}

/// Asserts that each change-set was applied as a whole or not at all, and that all acknowledged ones were applied.
async fn nothing_is_half(bench: &Bench, org: OrgId, outcomes: &[(Event, Result<(), CommitError>)]) {
    let mut there = 0;
    for (event, outcome) in outcomes {
        let found = bench.store.find_event(org, event.id).await.unwrap().is_some();
        there += usize::from(found);
        match outcome {
            Ok(()) => assert!(found, "an acknowledged event is missing"),
            Err(CommitError::Store(StoreError::Unavailable(_))) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(bench.messages(org).await, there);
    assert_eq!(bench.behind.audit_entries(org).await.len(), there);
    assert_eq!(bench.behind.answers().await, there);
    let used = bench.behind.used(org, Metric::Events, bench.make.period()).await;
    assert_eq!(usize::try_from(used).unwrap(), there);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_backend_leaves_change_sets_whole() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let options = crate::server::server();
    let database = bench.scratch.options.get_database().unwrap().to_owned();
    let killer = tokio::spawn(async move {
        let mut connection = sqlx::PgConnection::connect_with(&options).await.unwrap();
        loop {
            tokio::time::sleep(Duration::from_millis(7)).await;
            sqlx::query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = $1 AND application_name = 'kalends'",
            )
            .bind(&database)
            .execute(&mut connection)
            .await
            .unwrap();
        }
    });
    let mut outcomes = Vec::new();
    for _ in 0..12 {
        outcomes.extend(commit_through(&bench, &calendar, 40).await);
    }
    killer.abort();
    let _ = killer.await;
    assert!(outcomes.iter().any(|(_, outcome)| outcome.is_err()), "no commit was interrupted");
    // A connection that was killed last may be noticed only by the next call or two.
    for _ in 0..10 {
        if kalends_app::ports::Readiness::ready(&*bench.store).await.is_ok() {
            break;
        }
    }
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    nothing_is_half(&bench, org, &outcomes).await;
    for (_, outcome) in commit_through(&bench, &calendar, 10).await {
        outcome.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_caller_leaves_nothing_unfinished() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let guard = Guard::AtMost { metric: Metric::Calendars, limit: 10 };
    for pause in 0..20 {
        let event = bench.make.event(&calendar, nine_to_ten());
        let commit = bench.store.commit(creation(&bench.make, &event, None).guard(guard));
        let _ = tokio::time::timeout(Duration::from_micros(100 * pause), commit).await;
    }
    // A change-set that has begun is completed, message included.
    let arrived = async {
        while bench.behind.count("SELECT count(*) FROM events").await < 20 {
            let apart = "SELECT (SELECT count(*) FROM events) - (SELECT count(*) FROM outbox)";
            assert_eq!(bench.behind.count(apart).await, 0);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, arrived).await.expect("all of them are applied");
    assert_eq!(bench.messages(org).await, 20);
    let open = "SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    assert_eq!(bench.behind.count(open).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_guard_on_an_uncounted_metric_is_an_error() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    // Monthly use is charged, not counted.
    let guard = Guard::AtMost { metric: Metric::ApiCalls, limit: 10 };
    let Err(CommitError::Store(StoreError::Failed(error))) = bench.store.commit(ChangeSet::new(org).guard(guard)).await
    else {
        panic!("the guard was accepted");
    };
    assert!(error.to_string().contains("api_calls"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_batch_of_long_texts_is_split() {
    let bench = Bench::set().await;
    let org = bench.organization().await;
    let calendar = bench.calendar(org).await;
    let all = (0..30).map(|index| {
        let times = Span::new(
            Fixtures::BEGINNING + SignedDuration::hours(index),
            Fixtures::BEGINNING + SignedDuration::hours(index + 1),
        );
        let mut changes = ChangeSet::new(org);
        for _ in 0..20 {
            let event = bench.make.event(&calendar, times.unwrap());
            changes = changes.create(&Event { description: Some("x".repeat(10_000)), ..event });
        }
        changes
    });
    for outcome in together(&bench.store, all.collect()).await {
        outcome.unwrap();
    }
    assert_eq!(bench.behind.count("SELECT count(*) FROM events").await, 600);
}
