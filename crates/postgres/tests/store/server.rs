//! Databases for single tests, copied from one that has all migrations applied.

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
/// The number of connections of a store under test.
const POOL: u32 = 8;
/// The lock under which the first process creates the template.
const TEMPLATE_LOCK: i64 = 0x6b61_6c65_6e64_7300;

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations/postgres");

/// The server that the test run was given.
#[expect(clippy::disallowed_methods, reason = "the person who runs the tests starts the server and names it here")]
pub(crate) fn server() -> PgConnectOptions {
    let url = std::env::var(VARIABLE).unwrap_or_else(|_| {
        panic!("{VARIABLE} is not set: it names a Postgres server on which tests may create databases")
    });
    url.parse().unwrap_or_else(|error| panic!("{VARIABLE} is not a Postgres URL: {error}"))
}

/// A new database with all migrations applied; it is dropped with this value.
pub(crate) struct Scratch {
    name: String,
    pub(crate) options: PgConnectOptions,
}

impl Scratch {
    /// Creates a copy of the template.
    pub(crate) async fn migrated() -> Self {
        let mut connection = server().connect().await.unwrap();
        let template = template(&mut connection).await;
        Self::create(&mut connection, &format!("TEMPLATE {template}")).await
    }

    /// Creates a database without a schema.
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

    /// The URL of the database.
    pub(crate) fn url(&self) -> String {
        self.options.to_url_lossy().to_string()
    }

    /// A separate pool for looking behind the store.
    pub(crate) async fn pool(&self) -> PgPool {
        PgPoolOptions::new().max_connections(2).connect_with(self.options.clone()).await.unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // The test's runtime must not be blocked, and may be about to end.
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

/// Returns the name of the template database. The first test that needs it creates it. The name depends on the
/// migrations, so that a server that outlives a change of them does not reuse an old template.
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

/// A store on an empty database, for the suite that every store must pass.
pub(crate) async fn empty_store() -> StoreUnderTest {
    let Bench { scratch, store, behind, .. } = Bench::set().await;
    StoreUnderTest { store, inspect: Arc::new(behind), guard: Box::new(scratch) }
}

/// A store with an organization in it, and a connection that bypasses it.
pub(crate) struct Bench {
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) cipher: TestCipher,
    pub(crate) behind: Behind,
    pub(crate) make: Fixtures,
    // Dropped last, since dropping it drops the database.
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

    /// Stores a new organization.
    pub(crate) async fn organization(&self) -> OrgId {
        let organization = self.make.organization();
        // Messages are stored only if an endpoint listens for them.
        let listener = self.make.webhook(organization.id);
        self.commit(ChangeSet::new(organization.id).create(&organization).create(&listener)).await;
        organization.id
    }

    /// Stores a calendar that is shared in an organization.
    pub(crate) async fn calendar(&self, org: OrgId) -> Calendar {
        let calendar = self.make.shared_calendar(org);
        self.commit(ChangeSet::new(org).create(&calendar)).await;
        calendar
    }

    /// Commits a change-set that must succeed.
    pub(crate) async fn commit(&self, changes: ChangeSet) {
        self.store().commit(changes).await.unwrap();
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// How many messages of the organization are in the outbox.
    pub(crate) async fn messages(&self, org: OrgId) -> usize {
        self.behind.messages(org).await.len()
    }
}
