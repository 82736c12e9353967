//! The database cost of each operation: the number of statements on each store, and the number of round trips to
//! Postgres.
//!
//! The scenario is played on both stores through the whole router. The numbers do not depend on the speed of the
//! machine: requests run one after another, each is counted once everything that it started has ended, and the cost
//! of a new or idle connection is not counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use kalends_app::{
    operations::{self, self as op},
    ports::Store,
};
use kalends_postgres::{PostgresStore, ScratchDatabase};
use kalends_sqlite::{OpenOptions, SqliteStore};
use kalends_testkit::{EveryStatement, RoundTrips, TestCipher};
use tokio::runtime::Handle;

use serde_json::{Value, json};

use super::{
    console::{LAST_PASSWORD, Owned},
    house::House,
    story::{Story, id, text},
};

/// The table in the repository.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/contribute/statements.tsv");
/// The command that updates the table.
const RENEW: &str =
    "KALENDS_RENEW_STATEMENTS=1 cargo xtask test -p kalends-http operations_take_the_statements_of_the_table";
const HEADINGS: &str = "operation\tSQLite statements\tPostgres statements\tPostgres round trips";
/// The first words of statements that open or end a transaction or set up a new connection. The drivers report these
/// differently, and the number of connections is a matter of chance.
const UNCOUNTED: [&str; 6] = ["begin", "commit", "rollback", "savepoint", "release", "pragma"];

/// How long to sleep before checking again whether the started tasks have ended.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// How long a task that a request started may continue after the answer. No task takes a second.
const ENDS_WITHIN: Duration = Duration::from_secs(120);

/// The cost of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cost {
    statements: usize,
    round_trips: u64,
}

/// Counts the cost of requests.
pub(super) struct Counter {
    statements: EveryStatement,
    round_trips: Option<RoundTrips>,
    /// The number of tasks that live as long as the service.
    tasks: usize,
    before: u64,
    costs: BTreeMap<String, Cost>,
}

impl Counter {
    /// Starts to count. The service has started, and nothing is running.
    fn begun(round_trips: Option<RoundTrips>) -> Self {
        let tasks = Handle::current().metrics().num_alive_tasks();
        Self { statements: EveryStatement::watch(), round_trips, tasks, before: 0, costs: BTreeMap::new() }
    }

    /// Starts to count a request, once everything before it has ended.
    pub(super) async fn begin(&mut self) {
        self.all_has_ended().await;
        self.statements.take();
        self.before = self.waits();
    }

    /// Stores the cost since [`Counter::begin`]. If an operation is requested several times, the maximum counts.
    pub(super) async fn end(&mut self, what: &str) {
        self.all_has_ended().await;
        let is_counted = |statement: &&String| {
            let word = statement.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            !UNCOUNTED.contains(&word.trim_end_matches(';'))
        };
        let statements = self.statements.take().iter().filter(is_counted).count();
        let round_trips = self.waits() - self.before;
        let known = self.costs.entry(what.to_owned()).or_default();
        known.statements = known.statements.max(statements);
        known.round_trips = known.round_trips.max(round_trips);
    }

    fn waits(&self) -> u64 {
        self.round_trips.as_ref().map_or(0, RoundTrips::count)
    }

    /// Waits until all tasks that a request started in addition to its answer have ended.
    async fn all_has_ended(&self) {
        let ended = async {
            while Handle::current().metrics().num_alive_tasks() > self.tasks {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(ENDS_WITHIN, ended).await.expect("a task that a request started does not end");
    }
}

/// The operations that the scenario leaves out, with the reason why they need not be counted.
const LEFT_OUT: [(&str, &str); 5] = [
    ("getBookingAsset", "a file from memory"),
    ("startSignInWith", "no provider is configured"),
    ("endSignInWith", "no provider is configured"),
    ("showCancellation", "reads what getBooking reads"),
    ("showMove", "reads what getBooking reads"),
];

/// The operations that the story does not need: the description, and the deletion of everything that was made.
pub(super) async fn everything_is_given_up(story: &mut Story, house: &House, owned: &Owned) {
    story.ask(&op::OPENAPI).done().await;
    story.chapter("2026-03-04T09:00:00Z");
    let House { key, ada, work, .. } = house;
    let first = |listed: &Value| text(listed, "/data/0/id");
    let subscription = first(&story.ask(&op::LIST_SUBSCRIPTIONS).of(ada).by(key).done().await);
    story.ask(&op::DELETE_SUBSCRIPTION).of(&subscription).by(key).done().await;
    let webhook = first(&story.ask(&op::LIST_WEBHOOKS).by(key).done().await);
    story.ask(&op::DELETE_WEBHOOK).of(&webhook).by(key).done().await;
    let page = first(&story.ask(&op::LIST_BOOKING_PAGES).by(key).done().await);
    story.ask(&op::DELETE_BOOKING_PAGE).of(&page).by(key).done().await;
    story.ask(&op::DELETE_RULES).of(work).by(key).done().await;
    let body = json!({ "name": "Later", "timezone": "UTC" });
    let calendar = id(&story.ask(&op::CREATE_CALENDAR).by(key).send(body).done().await);
    story.ask(&op::DELETE_CALENDAR).of(&calendar).by(key).done().await;

    let enter = json!({ "email": "mina@example.com", "password": LAST_PASSWORD });
    let session = text(&story.ask(&op::SIGN_IN).send(enter.clone()).done().await, "/token");
    story.ask(&op::SIGN_OUT).by(&session).done().await;
    let session = text(&story.ask(&op::SIGN_IN).send(enter).done().await, "/token");
    story.ask(&op::SWITCH_ORG).of(&owned.org).by(&session).done().await;
    story.ask(&op::DELETE_ACCOUNT).by(&session).done().await;
}

/// Plays the scenario and returns the cost of each operation.
async fn costs<S: Store + 'static>(store: S, round_trips: Option<RoundTrips>) -> BTreeMap<String, Cost> {
    let store = Arc::new(store);
    let mut story = Story::counted(&store);
    store.ready().await.unwrap();
    story.counter = Some(Counter::begun(round_trips));
    super::play_scenario(&mut story).await;
    story.counter.map(|counter| counter.costs).unwrap_or_default()
}

async fn on_sqlite() -> BTreeMap<String, Cost> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kalends.db");
    let database = kalends_sqlite::Database::open(&file, OpenOptions::default()).await.unwrap();
    database.migrate().await.unwrap();
    costs(SqliteStore::new(database, Arc::new(TestCipher::default())), None).await
}

#[expect(clippy::disallowed_methods, reason = "a test reads the server's address from a variable")]
async fn on_postgres() -> BTreeMap<String, Cost> {
    let url = std::env::var("KALENDS_TEST_POSTGRES")
        .unwrap_or_else(|_| panic!("KALENDS_TEST_POSTGRES is not set: run the tests with `cargo xtask test`"));
    let scratch = ScratchDatabase::create(&url, &format!("kalends_counts_{}", std::process::id())).await.unwrap();
    let round_trips = RoundTrips::before(scratch.server()).unwrap();
    let address = round_trips.address();
    let url = scratch.url_through(&address.ip().to_string(), address.port());
    let database = kalends_postgres::Database::open(&url, 4).await.unwrap();
    database.migrate().await.unwrap();
    costs(PostgresStore::new(database, Arc::new(TestCipher::default())), Some(round_trips)).await
}

/// The table of both stores, with a row for each operation.
fn table(sqlite: &BTreeMap<String, Cost>, postgres: &BTreeMap<String, Cost>) -> String {
    let rows: BTreeSet<&String> = sqlite.keys().chain(postgres.keys()).collect();
    let mut text = format!("{HEADINGS}\n");
    for row in rows {
        let cost = |of: &BTreeMap<String, Cost>| of.get(row).copied().unwrap_or_default();
        let (sqlite, Cost { statements, round_trips }) = (cost(sqlite).statements, cost(postgres));
        text.push_str(&format!("{row}\t{sqlite}\t{statements}\t{round_trips}\n"));
    }
    text
}

/// The rows of one table that the other does not contain.
fn rows_beyond<'a>(table: &'a str, other: &str) -> Vec<&'a str> {
    let known: BTreeSet<&str> = other.lines().collect();
    table.lines().filter(|row| !known.contains(row)).collect()
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a test may read a variable that controls it")]
async fn operations_take_the_statements_of_the_table() {
    let (sqlite, postgres) = (on_sqlite().await, on_postgres().await);
    let happened = table(&sqlite, &postgres);
    if std::env::var("KALENDS_RENEW_STATEMENTS").is_ok_and(|value| value == "1") {
        std::fs::write(FILE, &happened).unwrap();
    }
    let stored = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        happened == stored,
        "the statements of operations differ from docs/contribute/statements.tsv.\nstored:\n{}\nhappened:\n{}\nIf that is \
         intended, update the table with\n{RENEW}\nand state the reason in the commit.",
        rows_beyond(&stored, &happened).join("\n"),
        rows_beyond(&happened, &stored).join("\n"),
    );
    let known = |id: &&str| sqlite.contains_key(*id) || LEFT_OUT.iter().any(|(left_out, _)| left_out == id);
    let missing: Vec<&str> = operations::ALL.iter().map(|operation| operation.id).filter(|id| !known(id)).collect();
    assert!(missing.is_empty(), "the scenario does not call {missing:?}, so their cost is not counted");
}
