//! A database in a directory of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

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

/// The name of the database's file.
const FILE: &str = "kalends.db";

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

    /// A migrated database that was opened with these options. It is a copy of one that the first test made.
    pub(crate) async fn with(options: OpenOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::copy(template().await, directory.path().join(FILE)).unwrap();
        Self::within(directory, options).await
    }

    /// A database that this test creates and migrates.
    pub(crate) async fn created() -> Self {
        Self::within(tempfile::tempdir().unwrap(), OpenOptions::default()).await
    }

    async fn within(directory: TempDir, options: OpenOptions) -> Self {
        let database = Database::open(&directory.path().join(FILE), options).await.unwrap();
        database.migrate().await.unwrap();
        Self { directory, database, cipher: TestCipher::default(), make: Fixtures::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join(FILE)
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

/// A migrated database, which is not open. The first test of this program makes it, and keeps it next to the program
/// for the others, which have processes of their own.
async fn template() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let kept = program.with_extension("migrated.db");
    let changed = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    let is_of_this_program = match (changed(&program), changed(&kept)) {
        (Some(program), Some(kept)) => program < kept,
        _ => false,
    };
    if !is_of_this_program {
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let made = folder.path().join(FILE);
        let database = Database::open(&made, OpenOptions::default()).await.unwrap();
        database.migrate().await.unwrap();
        database.close().await;
        // Several tests may make it at once. Each of them puts a complete one in its place.
        fs::rename(&made, &kept).unwrap();
    }
    kept
}
