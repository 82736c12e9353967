//! Databases of their own for tests, copied from one that has all migrations applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use kalends_app::ChangeSet;
use kalends_app::ports::Store;
use kalends_calendars::Calendar;
use kalends_kernel::OrgId;
use kalends_postgres::{Database, PostgresStore};
use kalends_testkit::conformance::StoreUnderTest;
use kalends_testkit::fixtures::{Compose as _, Fixtures};
use kalends_testkit::{Inspect as _, TestCipher};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection, PgPool};

use crate::inspect::Behind;

const VARIABLE: &str = "KALENDS_TEST_POSTGRES";
/// Connections of a store under test.
const POOL: u32 = 8;
/// The lock under which the template is made, whichever process comes first.
const TEMPLATE_LOCK: i64 = 0x6b61_6c65_6e64_7300;

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations/postgres");

/// The server that the run was given.
#[expect(clippy::disallowed_methods, reason = "the server is started by whoever runs the tests, and named this way")]
pub(crate) fn server() -> PgConnectOptions {
    let url = std::env::var(VARIABLE)
        .unwrap_or_else(|_| panic!("{VARIABLE} is not set: it names a Postgres in which tests may create databases"));
    url.parse().unwrap_or_else(|error| panic!("{VARIABLE} is no URL of a Postgres: {error}"))
}

/// A new database with all migrations applied; dropped with this.
pub(crate) struct Scratch {
    name: String,
    pub(crate) options: PgConnectOptions,
}

impl Scratch {
    /// A copy of the template.
    pub(crate) async fn migrated() -> Self {
        let mut connection = server().connect().await.unwrap();
        let template = template(&mut connection).await;
        Self::create(&mut connection, &format!("TEMPLATE {template}")).await
    }

    /// A database without a schema.
    pub(crate) async fn empty() -> Self {
        let mut connection = server().connect().await.unwrap();
        Self::create(&mut connection, "").await
    }

    async fn create(connection: &mut PgConnection, clause: &str) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        // The test runner names the thread after the test.
        let test = std::thread::current().name().unwrap_or("test").replace(|char: char| !char.is_alphanumeric(), "_");
        let mut name = format!("kalends_{}_{count}_{}", std::process::id(), test.to_lowercase());
        name.truncate(63);
        run(connection, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        run(connection, format!("CREATE DATABASE {name} {clause}")).await;
        Self { options: server().database(&name), name }
    }

    /// A URL of the database, for whoever wants one.
    pub(crate) fn url(&self) -> String {
        self.options.to_url_lossy().to_string()
    }

    /// A pool of its own, for looking behind the store.
    pub(crate) async fn pool(&self) -> PgPool {
        PgPoolOptions::new().max_connections(2).connect_with(self.options.clone()).await.unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // Tests run on a runtime that must not be blocked, and may be about to end.
        let dropping = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut connection = server().connect().await.unwrap();
                run(&mut connection, statement).await;
            });
        });
        let _ = dropping.join();
    }
}

async fn run(connection: &mut PgConnection, statement: String) {
    connection.execute(AssertSqlSafe(statement)).await.unwrap();
}

/// The name of the database that is copied, made by the first test that needs it. Its name follows the
/// migrations, so that a server which outlives a change of them is not taken at its old word.
async fn template(connection: &mut PgConnection) -> String {
    let digest = MIGRATOR.iter().flat_map(|migration| migration.checksum.iter());
    let digest = digest
        .fold(0xcbf2_9ce4_8422_2325_u64, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let name = format!("kalends_template_{digest:016x}");
    sqlx::query("SELECT pg_advisory_lock($1)").bind(TEMPLATE_LOCK).execute(&mut *connection).await.unwrap();
    let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)")
        .bind(&name)
        .fetch_one(&mut *connection)
        .await
        .unwrap();
    if !exists {
        run(connection, format!("DROP DATABASE IF EXISTS {name}_new WITH (FORCE)")).await;
        run(connection, format!("CREATE DATABASE {name}_new")).await;
        let mut inside = server().database(&format!("{name}_new")).connect().await.unwrap();
        MIGRATOR.run(&mut inside).await.unwrap();
        inside.close().await.unwrap();
        run(connection, format!("ALTER DATABASE {name}_new RENAME TO {name}")).await;
    }
    sqlx::query("SELECT pg_advisory_unlock($1)").bind(TEMPLATE_LOCK).execute(&mut *connection).await.unwrap();
    name
}

/// A store on an empty database, for the suite that every store passes.
pub(crate) async fn empty_store() -> StoreUnderTest {
    let Bench { scratch, store, behind, .. } = Bench::set().await;
    StoreUnderTest { store, inspect: Arc::new(behind), guard: Box::new(scratch) }
}

/// A store with an organization in it, and a look behind it.
pub(crate) struct Bench {
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) cipher: TestCipher,
    pub(crate) behind: Behind,
    pub(crate) make: Fixtures,
    // Dropped last: the database goes when nobody needs it any more.
    pub(crate) scratch: Scratch,
}

impl Bench {
    pub(crate) async fn set() -> Self {
        let scratch = Scratch::migrated().await;
        let (cipher, pool) = (TestCipher::default(), scratch.pool().await);
        let database = Database::open(&scratch.url(), POOL).await.unwrap();
        let store = Arc::new(PostgresStore::new(database, Arc::new(cipher.clone())));
        let behind = Behind { pool, cipher: cipher.clone() };
        Self { store, cipher, behind, make: Fixtures::new(), scratch }
    }

    /// A second node on the same database.
    pub(crate) async fn other_node(&self) -> Arc<PostgresStore> {
        let database = Database::open(&self.scratch.url(), POOL).await.unwrap();
        Arc::new(PostgresStore::new(database, Arc::new(self.cipher.clone())))
    }

    /// A new organization, stored.
    pub(crate) async fn organization(&self) -> OrgId {
        let organization = self.make.organization();
        // Messages are kept where somebody listens.
        let listener = self.make.webhook(organization.id);
        self.commit(ChangeSet::new(organization.id).create(&organization).create(&listener)).await;
        organization.id
    }

    /// A calendar that an organization shares, stored.
    pub(crate) async fn calendar(&self, org: OrgId) -> Calendar {
        let calendar = self.make.shared_calendar(org);
        self.commit(ChangeSet::new(org).create(&calendar)).await;
        calendar
    }

    /// Commits what must succeed.
    pub(crate) async fn commit(&self, changes: ChangeSet) {
        self.store().commit(changes).await.unwrap();
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// How many messages the organization has in the outbox.
    pub(crate) async fn messages(&self, org: OrgId) -> usize {
        self.behind.messages(org).await.len()
    }
}
