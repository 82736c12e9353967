//! Measures how many change-sets per second the store commits when 32 callers wait at the same time, and compares this
//! with bare inserts of one row that commit by themselves. If the server is durable, all are durable before they are
//! acknowledged.
//!
//! `KALENDS_TEST_POSTGRES=postgres://... cargo run --release -p kalends-postgres --example postgres_commit_rate`; the
//! user must be allowed to create databases.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use kalends_app::ports::Commit as _;
use kalends_app::{ChangeSet, Guard};
use kalends_calendars::Calendar;
use kalends_kernel::Revision;
use kalends_postgres::{Database, PostgresStore};
use kalends_testkit::TestCipher;
use kalends_testkit::fixtures::{Compose as _, Fixtures};
use kalends_time::{SignedDuration, Span};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Executor as _, PgPool};

type Anything = Box<dyn Error + Send + Sync>;

const CALLERS: usize = 32;
const EACH: usize = 300;
const ROUNDS: usize = 3;
const POOL: u32 = 16;
const DATABASE: &str = "kalends_commit_rate";

/// How the callers' events share organizations.
#[derive(Debug, Clone, Copy)]
enum Load {
    /// Each caller has an organization of its own.
    ManyOrganizations,
    /// All callers share one organization, and so its counters, but no calendar.
    OneOrganization,
    /// Same as `OneOrganization`, with a guard on the calendar as bookings have it, so that each is a transaction of
    /// its own.
    Guarded,
}

#[tokio::main]
#[expect(clippy::disallowed_methods, reason = "the person who runs the example starts the server and names it here")]
async fn main() -> Result<(), Anything> {
    let server: PgConnectOptions =
        std::env::var("KALENDS_TEST_POSTGRES").map_err(|_| "KALENDS_TEST_POSTGRES is not set")?.parse()?;
    let mut maintenance = server.connect().await?;
    maintenance.execute("DROP DATABASE IF EXISTS kalends_commit_rate WITH (FORCE)").await?;
    maintenance.execute("CREATE DATABASE kalends_commit_rate").await?;

    let options = server.database(DATABASE);
    let url = options.to_url_lossy().to_string();
    Database::open(&url, POOL).await?.migrate().await?;
    let pool = PgPoolOptions::new().max_connections(POOL).test_before_acquire(false).connect_with(options).await?;
    pool.execute("CREATE TABLE bare (id BIGINT NOT NULL PRIMARY KEY, content TEXT NOT NULL)").await?;

    let mut rates: [Vec<f64>; 4] = Default::default();
    for round in 0..ROUNDS {
        rates[0].push(inserts(&pool, round).await?);
        for (rates, load) in rates[1..].iter_mut().zip([Load::ManyOrganizations, Load::OneOrganization, Load::Guarded])
        {
            rates.push(change_sets(&url, load).await?);
        }
    }
    for (rates, what) in rates.into_iter().zip([
        "bare inserts",
        "change-sets of 32 organizations",
        "change-sets of one organization",
        "the same, guarded, one by one",
    ]) {
        println!("{what:32} {:8.0}/s", median(rates));
    }
    pool.close().await;
    maintenance.execute("DROP DATABASE kalends_commit_rate WITH (FORCE)").await?;
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Runs one list of work per caller, and returns how many items were done per second.
async fn timed<T, F>(work: Vec<Vec<T>>, one: impl Fn(T) -> F + Clone + Send + 'static) -> Result<f64, Anything>
where
    T: Send + 'static,
    F: Future<Output = Result<(), Anything>> + Send,
{
    let count = u32::try_from(work.iter().map(Vec::len).sum::<usize>())?;
    let begun = Instant::now();
    let callers: Vec<_> = work
        .into_iter()
        .map(|pieces| {
            let one = one.clone();
            tokio::spawn(async move {
                for piece in pieces {
                    one(piece).await?;
                }
                Ok::<_, Anything>(())
            })
        })
        .collect();
    for caller in callers {
        caller.await??;
    }
    Ok(f64::from(count) / begun.elapsed().as_secs_f64())
}

async fn inserts(pool: &PgPool, round: usize) -> Result<f64, Anything> {
    let mut ids = (round * CALLERS * EACH..).map(i64::try_from);
    let mut work = Vec::with_capacity(CALLERS);
    for _ in 0..CALLERS {
        work.push(ids.by_ref().take(EACH).collect::<Result<Vec<_>, _>>()?);
    }
    let (pool, content) = (pool.clone(), "x".repeat(160));
    timed(work, move |id| {
        let (pool, content) = (pool.clone(), content.clone());
        async move {
            let insert = sqlx::query("INSERT INTO bare (id, content) VALUES ($1, $2)").bind(id).bind(content);
            insert.execute(&pool).await?;
            Ok(())
        }
    })
    .await
}

async fn change_sets(url: &str, load: Load) -> Result<f64, Anything> {
    let database = Database::open(url, POOL).await?;
    let store = Arc::new(PostgresStore::new(database.clone(), Arc::new(TestCipher::default())));
    // Identifiers that no earlier round has used.
    let make = Fixtures { entropy: kalends_testkit::SeededEntropy::new(seed()), ..Fixtures::new() };
    let mut organization = make.organization();
    store.commit(ChangeSet::new(organization.id).create(&organization)).await?;
    let mut work = Vec::with_capacity(CALLERS);
    for _ in 0..CALLERS {
        if matches!(load, Load::ManyOrganizations) {
            organization = make.organization();
            store.commit(ChangeSet::new(organization.id).create(&organization)).await?;
        }
        let agent = make.agent(organization.id);
        let calendar = make.calendar(&agent);
        store.commit(ChangeSet::new(organization.id).create(&agent).create(&calendar)).await?;
        work.push((0..EACH).map(|before| addition(&make, &calendar, before, load)).collect::<Result<Vec<_>, _>>()?);
    }
    let rate = timed(work, move |changes| {
        let store = Arc::clone(&store);
        async move { Ok(store.commit(changes).await?) }
    })
    .await;
    database.close().await;
    rate
}

fn seed() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed) << 32
}

/// What one `POST .../events` commits: the event, its charge, message, audit entry and stored answer.
fn addition(make: &Fixtures, calendar: &Calendar, before: usize, load: Load) -> Result<ChangeSet, Anything> {
    let start = make.tick();
    let event = make.event(calendar, Span::new(start, start + SignedDuration::minutes(30))?);
    let changes = ChangeSet::new(calendar.org)
        .create(&event)
        .charge(make.charge(Some(1_000_000)))
        .message(make.message(calendar.org))
        .audit(make.audit_entry(calendar.org))
        .answer(make.answer());
    Ok(match load {
        Load::ManyOrganizations | Load::OneOrganization => changes,
        Load::Guarded => {
            changes.guard(Guard::CalendarRevision { calendar: calendar.id, seen: Revision(i64::try_from(before)?) })
        }
    })
}
