//! The database file: how it is created, migrated, shared and closed.

use std::{sync::Arc, time::Duration};

use kalends_app::ports::{Commit as _, Readiness as _};
use kalends_calendars::ports::Events as _;
use kalends_kernel::StoreError;
use kalends_sqlite::{Database, OpenOptions, SqliteStore};
use sqlx::Connection as _;

use crate::scratch::Scratch;

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::created().await;
    let mut files = 0;
    for entry in std::fs::read_dir(scratch.directory.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.file_name());
        files += 1;
    }
    assert!(files >= 2, "the log has the same mode");
}

#[tokio::test]
async fn a_file_that_cannot_be_created_is_a_clear_error() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing").join("kalends.db");
    let Err(StoreError::Failed(error)) = Database::open(&missing, OpenOptions::default()).await else {
        panic!("there is no such directory");
    };
    assert!(error.to_string().starts_with("cannot open the database "), "{error}");
}

#[tokio::test]
async fn migrations_are_pending_until_they_are_applied() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(&directory.path().join("kalends.db"), OpenOptions::default()).await.unwrap();
    assert!(database.migrations_pending().await.unwrap());
    database.migrate().await.unwrap();
    assert!(!database.migrations_pending().await.unwrap());
    database.migrate().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_processes_may_migrate_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kalends.db");
    let starting = (0..4).map(|_| {
        let path = path.clone();
        tokio::spawn(async move {
            let database = Database::open(&path, OpenOptions::default()).await.unwrap();
            database.migrate().await.unwrap();
        })
    });
    for start in starting.collect::<Vec<_>>() {
        start.await.unwrap();
    }
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_not_migrated() {
    let scratch = Scratch::new().await;
    let mut plain = scratch.plain().await;
    sqlx::query(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (99999, 'of the future', true, x'00', 0)",
    )
    .execute(&mut plain)
    .await
    .unwrap();
    assert!(matches!(scratch.database.migrate().await, Err(StoreError::Failed(_))));
    scratch.store().ready().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn acknowledged_changes_survive_a_crash() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let events: Vec<_> = (0..50).map(|_| scratch.event(&calendar)).collect();
    futures::future::try_join_all(events.iter().map(|event| store.commit(scratch.addition(event)))).await.unwrap();

    // As after a crash: a copy of what is on disk now, with nothing closed.
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(scratch.directory.path()).unwrap() {
        let entry = entry.unwrap();
        // The index of the log is shared memory, which a crash loses.
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    let database = Database::open(&copy.path().join("kalends.db"), OpenOptions::default()).await.unwrap();
    let store = SqliteStore::new(database, Arc::new(scratch.cipher.clone()));
    for event in &events {
        let found = store.find_event(event.org, event.id).await.unwrap().unwrap();
        assert_eq!(&found.event, event);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_writer_waits_for_another_process() {
    let scratch = Scratch::new().await;
    let store = Arc::new(scratch.store());
    let calendar = scratch.calendar(&store).await;
    let event = scratch.event(&calendar);
    let mut other = scratch.plain().await;
    sqlx::query("begin immediate").execute(&mut other).await.unwrap();
    let commit = tokio::spawn({
        let (store, changes) = (Arc::clone(&store), scratch.addition(&event));
        async move { store.commit(changes).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!commit.is_finished());
    // Readers do not wait.
    assert!(store.find_event(event.org, event.id).await.unwrap().is_none());
    sqlx::query("rollback").execute(&mut other).await.unwrap();
    commit.await.unwrap().unwrap();
    other.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_on_one_file_take_turns() {
    let scratch = Scratch::new().await;
    let second = Database::open(&scratch.path(), OpenOptions::default()).await.unwrap();
    let stores = [scratch.store(), SqliteStore::new(second, Arc::new(scratch.cipher.clone()))].map(Arc::new);
    let calendar = scratch.calendar(&stores[0]).await;
    let events: Vec<_> = (0..100).map(|_| scratch.event(&calendar)).collect();
    let commits = events.iter().zip(stores.iter().cycle()).map(|(event, store)| store.commit(scratch.addition(event)));
    futures::future::try_join_all(commits).await.unwrap();
    for event in &events {
        assert!(stores[0].find_event(event.org, event.id).await.unwrap().is_some());
    }
}
