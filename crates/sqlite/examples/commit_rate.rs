//! Measures how many change-sets per second the store commits when 32 callers wait at the same time, and compares this
//! with the same change-sets in one transaction each. In both cases, a change-set is durable before it is acknowledged.
//!
//! `cargo run --release -p kalends-sqlite --example commit_rate [DIRECTORY]`; the directory (the current one by
//! default) decides which disk is measured.

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use kalends_app::{ChangeSet, ports::Commit as _};
use kalends_calendars::Calendar;
use kalends_sqlite::{Database, OpenOptions, SqliteStore};
use kalends_testkit::{
    TestCipher,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::{SignedDuration, Span};
use tokio::sync::Mutex;

type Anything = Box<dyn Error + Send + Sync>;

const CALLERS: usize = 32;
const EACH: usize = 400;
const ROUNDS: usize = 3;

#[tokio::main]
async fn main() -> Result<(), Anything> {
    let place = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(measure(&place, true).await?);
        together.push(measure(&place, false).await?);
    }
    let (alone, together) = (median(alone), median(together));
    println!("one transaction each: {alone:8.0} change-sets/s");
    println!("as the store commits: {together:8.0} change-sets/s");
    println!("ratio:                {:8.1}", together / alone);
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Change-sets per second on a new database. With `alone`, only one caller commits at a time.
async fn measure(place: &Path, alone: bool) -> Result<f64, Anything> {
    let directory = tempfile::tempdir_in(place)?;
    let database = Database::open(&directory.path().join("kalends.db"), OpenOptions::default()).await?;
    database.migrate().await?;
    let store = Arc::new(SqliteStore::new(database.clone(), Arc::new(TestCipher::default())));
    let make = Fixtures::new();

    let mut work = Vec::with_capacity(CALLERS);
    for _ in 0..CALLERS {
        let organization = make.organization();
        let agent = make.agent(organization.id);
        let calendar = make.calendar(&agent);
        // Messages are stored only if an endpoint listens for them.
        let made = ChangeSet::new(organization.id).create(&organization).create(&make.webhook(organization.id));
        store.commit(made.create(&agent).create(&calendar)).await?;
        work.push((0..EACH).map(|_| addition(&make, &calendar)).collect::<Result<Vec<_>, _>>()?);
    }

    let turn = Arc::new(Mutex::new(()));
    let begun = Instant::now();
    let callers: Vec<_> = work
        .into_iter()
        .map(|changes| {
            let (store, turn) = (Arc::clone(&store), Arc::clone(&turn));
            tokio::spawn(async move {
                for change in changes {
                    let _turn = if alone { Some(turn.lock().await) } else { None };
                    store.commit(change).await?;
                }
                Ok::<_, Anything>(())
            })
        })
        .collect();
    for caller in callers {
        caller.await??;
    }
    let taken = begun.elapsed().max(Duration::from_micros(1));
    database.close().await;
    Ok(f64::from(u32::try_from(CALLERS * EACH)?) / taken.as_secs_f64())
}

/// What one `POST .../events` commits: the event, its charge, message, audit entry and stored answer.
fn addition(make: &Fixtures, calendar: &Calendar) -> Result<ChangeSet, Anything> {
    let start = make.tick();
    let event = make.event(calendar, Span::new(start, start + SignedDuration::minutes(30))?);
    Ok(ChangeSet::new(calendar.org)
        .create(&event)
        .charge(make.charge(Some(1_000_000)))
        .message(make.message(calendar.org))
        .audit(make.audit_entry(calendar.org))
        .answer(make.answer()))
}
