//! A database in a directory of its own.

use std::{path::PathBuf, sync::Arc};

use kalends_app::{ChangeSet, ports::Commit as _};
use kalends_calendars::{Calendar, Event};
use kalends_sqlite::{Database, OpenOptions, SqliteStore};
use kalends_testkit::{
    TestCipher,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::{SignedDuration, Span};
use sqlx::{ConnectOptions as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

pub(crate) struct Scratch {
    pub(crate) directory: TempDir,
    pub(crate) database: Database,
    pub(crate) cipher: TestCipher,
    pub(crate) make: Fixtures,
}

impl Scratch {
    /// A migrated database.
    pub(crate) async fn new() -> Self {
        Self::with(OpenOptions::default()).await
    }

    /// A migrated database that was opened with these options.
    pub(crate) async fn with(options: OpenOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::open(&directory.path().join("kalends.db"), options).await.unwrap();
        database.migrate().await.unwrap();
        Self { directory, database, cipher: TestCipher::default(), make: Fixtures::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("kalends.db")
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::new(self.database.clone(), Arc::new(self.cipher.clone()))
    }

    /// A connection like that of another process, without a busy timeout.
    pub(crate) async fn plain(&self) -> SqliteConnection {
        SqliteConnectOptions::new()
            .filename(self.path())
            .busy_timeout(std::time::Duration::ZERO)
            .connect()
            .await
            .unwrap()
    }

    /// Stores a shared calendar of a new organization.
    pub(crate) async fn calendar(&self, store: &SqliteStore) -> Calendar {
        let organization = self.make.organization();
        let calendar = self.make.shared_calendar(organization.id);
        // Messages are stored only if an endpoint listens for them.
        let listener = self.make.webhook(organization.id);
        let changes = ChangeSet::new(organization.id).create(&organization).create(&calendar).create(&listener);
        store.commit(changes).await.unwrap();
        calendar
    }

    /// An event of half an hour that is not stored.
    pub(crate) fn event(&self, calendar: &Calendar) -> Event {
        let start = self.make.tick();
        self.make.event(calendar, Span::new(start, start + SignedDuration::minutes(30)).unwrap())
    }

    /// All changes of one request that creates `event`.
    pub(crate) fn addition(&self, event: &Event) -> ChangeSet {
        ChangeSet::new(event.org)
            .create(event)
            .charge(self.make.charge(None))
            .message(self.make.message(event.org))
            .audit(self.make.audit_entry(event.org))
            .answer(self.make.answer())
    }
}
