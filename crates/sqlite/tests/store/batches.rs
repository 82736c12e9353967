//! Change-sets that are committed together.

use std::sync::Arc;

use futures::future::join_all;
use kalends_app::{
    ChangeSet, Guard,
    ports::{Commit as _, CommitError},
};
use kalends_calendars::ports::{Calendars as _, Events as _};
use kalends_kernel::StoreError;
use kalends_plans::Metric;
use kalends_sqlite::{OpenOptions, SqliteStore};
use kalends_testkit::{Inspect as _, fixtures::Compose as _};
use sqlx::{Connection as _, SqliteConnection};

use crate::{inspect::SqliteInspect, scratch::Scratch};

/// Holds the lock of the file while `queued` fills the queue, so that all of it forms one batch after the change-set
/// that the writer has already taken.
async fn in_one_batch(
    scratch: &Scratch,
    store: &Arc<SqliteStore>,
    queued: Vec<ChangeSet>,
) -> Vec<Result<(), CommitError>> {
    let mut other = scratch.plain().await;
    sqlx::query("begin immediate").execute(&mut other).await.unwrap();
    let first = {
        let (store, organization) = (Arc::clone(store), scratch.make.organization());
        tokio::spawn(async move { store.commit(ChangeSet::new(organization.id).create(&organization)).await })
    };
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let outcomes = tokio::spawn({
        let store = Arc::clone(store);
        async move { join_all(queued.into_iter().map(|changes| store.commit(changes))).await }
    });
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    sqlx::query("commit").execute(&mut other).await.unwrap();
    first.await.unwrap().unwrap();
    outcomes.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_failed_addition_does_not_affect_its_batch() {
    let scratch = Scratch::new().await;
    let store = Arc::new(scratch.store());
    let calendar = scratch.calendar(&store).await;
    let gone = scratch.make.shared_calendar(calendar.org);
    let taken = scratch.event(&calendar);
    let answered = scratch.addition(&taken);
    let answer = answered.answer.clone().unwrap();
    store.commit(answered).await.unwrap();

    let good: Vec<_> = (0..20).map(|_| scratch.event(&calendar)).collect();
    let mut queued: Vec<_> = good.iter().map(|event| scratch.addition(event)).collect();
    // Each of these fails for a different reason, in the middle of the batch.
    queued.insert(3, scratch.addition(&scratch.event(&gone)));
    queued.insert(7, scratch.addition(&taken));
    queued.insert(11, ChangeSet { answer: Some(answer), ..scratch.addition(&scratch.event(&calendar)) });
    queued.insert(13, scratch.addition(&scratch.event(&calendar)).charge(scratch.make.charge(Some(1))));
    let outcomes = in_one_batch(&scratch, &store, queued).await;

    for (index, outcome) in outcomes.into_iter().enumerate() {
        match (index, outcome) {
            (3, Err(CommitError::Stale))
            | (7, Err(CommitError::Store(StoreError::Failed(_))))
            | (11, Err(CommitError::AlreadyAnswered))
            | (13, Err(CommitError::LimitReached { metric: Metric::Events, limit: 1 })) => {}
            (3 | 7 | 11 | 13, outcome) => panic!("{index}: {outcome:?}"),
            (_, outcome) => outcome.unwrap(),
        }
    }
    for event in &good {
        assert!(store.find_event(calendar.org, event.id).await.unwrap().is_some());
    }
    let found = store.find_calendar(calendar.org, calendar.id).await.unwrap().unwrap();
    assert_eq!(found.revision.0, calendar.revision.0 + 21, "once for each change-set that was applied");
    let inspect = SqliteInspect::new(scratch.plain().await, scratch.cipher.clone());
    assert_eq!(inspect.used(calendar.org, Metric::Events, scratch.make.period()).await, 21);
    assert_eq!(inspect.messages(calendar.org).await.len(), 21);
    assert_eq!(inspect.audit_entries(calendar.org).await.len(), 21);
    assert_eq!(inspect.answers().await, 21);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_of_all_kinds_share_a_batch() {
    let scratch = Scratch::new().await;
    let store = Arc::new(scratch.store());
    let calendar = scratch.calendar(&store).await;
    let event = scratch.event(&calendar);
    let guarded = |limit| {
        ChangeSet::new(calendar.org)
            .create(&scratch.make.shared_calendar(calendar.org))
            .guard(Guard::AtMost { metric: Metric::Calendars, limit })
    };
    let seen = Guard::CalendarRevision { calendar: calendar.id, seen: calendar.revision };
    let queued = vec![
        guarded(1),
        scratch.addition(&event),
        guarded(2),
        // The addition is applied first, so the revision has changed by then.
        scratch.addition(&scratch.event(&calendar)).guard(seen),
        guarded(2),
    ];
    let outcomes = in_one_batch(&scratch, &store, queued).await;
    assert!(matches!(
        outcomes.as_slice(),
        [
            Err(CommitError::LimitReached { metric: Metric::Calendars, limit: 1 }),
            Ok(()),
            Ok(()),
            Err(CommitError::Stale),
            Err(CommitError::LimitReached { metric: Metric::Calendars, limit: 2 }),
        ]
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_metric_without_a_table_is_an_error() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    // Monthly use is charged, not counted.
    let guard = Guard::AtMost { metric: Metric::ApiCalls, limit: 5 };
    let outcome = store.commit(scratch.addition(&scratch.event(&calendar)).guard(guard)).await;
    assert!(matches!(outcome, Err(CommitError::Store(StoreError::Failed(_)))), "{outcome:?}");
}

/// Fills the file from another connection, or empties it again.
async fn fill(other: &mut SqliteConnection, pages: u32) {
    sqlx::query("create table filling (bytes blob)").execute(&mut *other).await.unwrap();
    for _ in 0..pages {
        sqlx::query("insert into filling values (zeroblob(4000))").execute(&mut *other).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_full_disk_fails_only_the_waiting_callers() {
    let scratch = Scratch::with(OpenOptions { max_pages: Some(300), ..OpenOptions::default() }).await;
    let store = Arc::new(scratch.store());
    let calendar = scratch.calendar(&store).await;
    let kept = scratch.event(&calendar);
    store.commit(scratch.addition(&kept)).await.unwrap();

    let mut other = scratch.plain().await;
    fill(&mut other, 295).await;
    let mut acknowledged = vec![kept];
    let mut failures = 0;
    for _ in 0..4 {
        let events: Vec<_> = (0..40).map(|_| scratch.event(&calendar)).collect();
        let outcomes = join_all(events.iter().map(|event| store.commit(scratch.addition(event)))).await;
        for (event, outcome) in events.into_iter().zip(outcomes) {
            match outcome {
                Ok(()) => acknowledged.push(event),
                Err(CommitError::Store(StoreError::Unavailable(_))) => failures += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    assert!(failures >= 40, "the file has no room for the last batch");

    sqlx::query("drop table filling").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let after = scratch.event(&calendar);
    store.commit(scratch.addition(&after)).await.unwrap();
    acknowledged.push(after);
    for event in &acknowledged {
        assert!(store.find_event(calendar.org, event.id).await.unwrap().is_some());
    }
    let inspect = SqliteInspect::new(scratch.plain().await, scratch.cipher.clone());
    assert_eq!(
        inspect.messages(calendar.org).await.len(),
        acknowledged.len(),
        "failed change-sets left nothing behind"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_panic_fails_its_batch_and_the_queue_continues() {
    use kalends_app::ports::{FieldCipher, OpenError, Place};
    struct Panics(kalends_testkit::TestCipher);
    impl FieldCipher for Panics {
        fn seal(&self, place: Place, plain: &[u8]) -> String {
            assert!(!plain.windows(4).any(|word| word == b"Boom"), "the test panics on purpose");
            self.0.seal(place, plain)
        }
        fn open(&self, place: Place, sealed: &str) -> Result<Vec<u8>, OpenError> {
            self.0.open(place, sealed)
        }
        fn writing_prefix(&self) -> String {
            self.0.writing_prefix()
        }
        fn digest(&self, plain: &[u8]) -> i64 {
            self.0.digest(plain)
        }
        fn digests(&self, plain: &[u8]) -> Vec<i64> {
            self.0.digests(plain)
        }
    }
    let scratch = Scratch::new().await;
    let store = SqliteStore::new(scratch.database.clone(), Arc::new(Panics(scratch.cipher.clone())));
    let calendar = scratch.calendar(&store).await;
    let mut event = scratch.event(&calendar);
    event.title = "Boom".into();
    let outcome = store.commit(scratch.addition(&event)).await;
    assert!(matches!(outcome, Err(CommitError::Store(StoreError::Failed(_)))), "{outcome:?}");
    event.title = "Calm".into();
    store.commit(scratch.addition(&event)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_caller_does_not_undo_its_change() {
    let scratch = Scratch::new().await;
    let store = Arc::new(scratch.store());
    let calendar = scratch.calendar(&store).await;
    let event = scratch.event(&calendar);
    let mut other = scratch.plain().await;
    sqlx::query("begin immediate").execute(&mut other).await.unwrap();
    let commit = store.commit(scratch.addition(&event));
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), commit).await.is_err());
    sqlx::query("commit").execute(&mut other).await.unwrap();
    // The next change-set is queued behind it.
    store.commit(scratch.addition(&scratch.event(&calendar))).await.unwrap();
    assert!(store.find_event(calendar.org, event.id).await.unwrap().is_some());
}
