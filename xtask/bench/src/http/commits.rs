//! How much SQLite gains from group commit, measured on the store itself.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use kalends_app::ChangeSet;
use kalends_app::ports::Commit as _;
use kalends_sqlite::{Database, OpenOptions, SqliteStore};
use kalends_testkit::TestCipher;
use kalends_testkit::fixtures::{Compose as _, Fixtures};
use kalends_time::{SignedDuration, Span};
use tokio::sync::Mutex;

use crate::figures::median;
use crate::load::CONNECTIONS;

/// The number of change-sets of each caller when one commits at a time, and when all commit together.
const ALONE: usize = 60;
const TOGETHER: usize = 400;
const ROUNDS: usize = 3;

/// Change-sets a second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    /// Each in its own transaction, one after the other.
    pub(crate) alone: f64,
    /// As the store batches them when 32 callers wait.
    pub(crate) together: f64,
}

/// Measures both on databases in `directory`. This blocks, because it creates its own runtime.
pub(crate) fn measure(directory: &Path) -> Result<Rates> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        alone.push(runtime.block_on(rate(&directory.join(format!("alone-{round}.db")), Some(ALONE)))?);
        together.push(runtime.block_on(rate(&directory.join(format!("together-{round}.db")), None))?);
    }
    Ok(Rates { alone: median(&mut alone), together: median(&mut together) })
}

/// The rate on a new database. With `alone`, one caller commits at a time, and each caller commits that many
/// change-sets.
async fn rate(file: &Path, alone: Option<usize>) -> Result<f64> {
    let database = Database::open(file, OpenOptions::default()).await?;
    database.migrate().await?;
    let store = Arc::new(SqliteStore::new(database.clone(), Arc::new(TestCipher::default())));
    let make = Fixtures::new();
    let organization = make.organization();
    // Messages are stored only if there is an endpoint for them.
    let listener = make.webhook(organization.id);
    store.commit(ChangeSet::new(organization.id).create(&organization).create(&listener)).await?;

    let each = alone.unwrap_or(TOGETHER);
    let mut work = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let agent = make.agent(organization.id);
        let calendar = make.calendar(&agent);
        store.commit(ChangeSet::new(organization.id).create(&agent).create(&calendar)).await?;
        // The changes of one `POST .../events`: the event, its charge, its message and its audit entry.
        let addition = || {
            let start = make.tick();
            let event = make.event(&calendar, Span::new(start, start + SignedDuration::minutes(30))?);
            Ok(ChangeSet::new(calendar.org)
                .create(&event)
                .charge(make.charge(None))
                .message(make.message(calendar.org))
                .audit(make.audit_entry(calendar.org)))
        };
        work.push((0..each).map(|_| addition()).collect::<Result<Vec<_>>>()?);
    }

    let turn = Arc::new(Mutex::new(()));
    let begun = Instant::now();
    let callers: Vec<_> = work
        .into_iter()
        .map(|changes| {
            let (store, turn) = (Arc::clone(&store), Arc::clone(&turn));
            tokio::spawn(async move {
                for change in changes {
                    let _turn = if alone.is_some() { Some(turn.lock().await) } else { None };
                    store.commit(change).await?;
                }
                Ok::<_, anyhow::Error>(())
            })
        })
        .collect();
    for caller in callers {
        caller.await??;
    }
    let taken = begun.elapsed().max(Duration::from_micros(1));
    database.close().await;
    Ok(f64::from(u32::try_from(CONNECTIONS * each)?) / taken.as_secs_f64())
}
