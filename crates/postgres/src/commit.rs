//! How change-sets become transactions.
//!
//! There are two ways, which share their statements. Change-sets that only add events wait in a queue while the
//! previous batch is written. They then share one transaction, with one statement per table, if they can be applied
//! together. Every other change-set gets a transaction of its own at once.
//!
//! Rows are locked in one order, so that no two transactions wait for each other: calendars by id, answers by scope,
//! agents and events, webhooks and their queues, subscriptions, proposals, booking pages, connection links,
//! connections, their calendars by id, grants by id, destinations of published calendars, their copies, writes of runs,
//! approvals, accounts, the organization that is counted, counters, allowances, heads of change feeds by organization,
//! and last the epoch of principals. From its beginning, a transaction holds a shared lock on its organizations, which keeps them from being deleted. Only a deletion, a change
//! of an organization's address, and the start of a change feed wait for this lock; they lock nothing that comes before
//! accounts. A transaction that still fails, because of a serialization failure or a deadlock with something else, is
//! retried here.

use std::error::Error as StdError;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use kalends_app::ports::{CommitError, FieldCipher};
use kalends_app::{ApplyBatch, ChangeSet, CommitQueue, Together, requests_of};
use kalends_kernel::{OrgId, StoreError};
use kalends_rows::SealedChangeSet;
use kalends_warm_pool::WarmPool;
use sqlx::{PgConnection, Postgres};
use tracing::Instrument as _;

use crate::apply::{
    accounts, answers, approvals, audit, bookings, bridge, calendars, change_feed, letters, outbox, placed, proposals,
    runs, subscriptions, usage, webhooks,
};
use crate::error::{ApplyError, failed};
use crate::retry::retried;
use crate::transaction::in_transaction;

/// How many batches are written at a time. Change-sets of one organization always use the same writer, since they
/// would wait for each other's locks anyway.
const WRITERS: usize = 2;
/// The most bytes of one transaction, so that a batch of long texts does not delay the others.
const BATCH_BYTES: usize = 4 << 20;
/// How long one change-set or batch may take, including retries.
const DEADLINE: Duration = Duration::from_secs(20);

/// The queues of change-sets that only add events.
pub(crate) struct Writers(Vec<CommitQueue>);

impl Writers {
    /// Starts the tasks.
    pub(crate) fn spawn(connections: &WarmPool<Postgres>, cipher: &Arc<dyn FieldCipher>) -> Self {
        let writer = || Writer { connections: connections.clone(), cipher: Arc::clone(cipher) };
        Self((0..WRITERS).map(|_| CommitQueue::spawn(writer())).collect())
    }

    pub(crate) fn of(&self, org: OrgId) -> &CommitQueue {
        // The last byte of an identifier is random.
        let [.., last] = *org.uuid().as_bytes();
        &self.0[usize::from(last) % self.0.len()]
    }
}

/// Writes the batches of a queue.
#[derive(Clone)]
struct Writer {
    connections: WarmPool<Postgres>,
    cipher: Arc<dyn FieldCipher>,
}

impl ApplyBatch for Writer {
    async fn apply(&self, batch: Vec<Arc<ChangeSet>>) -> Vec<Result<(), CommitError>> {
        let (writer, count) = (self.clone(), batch.len());
        // Runs in a task of its own: a panic ends that task, and the queue continues.
        match tokio::spawn(async move { writer.write(batch).await }.in_current_span()).await {
            Ok(outcomes) => outcomes,
            Err(error) => shared(error).map(|error| Err(StoreError::Failed(error).into())).take(count).collect(),
        }
    }
}

impl Writer {
    /// Tries the whole batch. If it is refused, tries one half and then the other. Each error is returned to the
    /// caller of its change-set, and the rest is committed.
    async fn write(&self, batch: Vec<Arc<ChangeSet>>) -> Vec<Result<(), CommitError>> {
        let mut outcomes: Vec<Result<(), CommitError>> = batch.iter().map(|_| Ok(())).collect();
        let (mut places, mut sealed) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        let mut batch: Vec<(usize, Arc<ChangeSet>)> = batch.into_iter().enumerate().collect();
        batch.sort_by_key(|(_, changes)| Together::order(changes));
        for (place, changes) in batch {
            match SealedChangeSet::seal(changes, &*self.cipher) {
                Ok(changes) => {
                    places.push(place);
                    sealed.push(changes);
                }
                Err(error) => outcomes[place] = Err(failed(error).into()),
            }
        }
        let mut waiting = portions(&sealed);
        while let Some(range) = waiting.pop() {
            match commit_together(&self.connections, &sealed[range.clone()], &*self.cipher).await {
                Ok(()) => {}
                Err(CommitError::Store(StoreError::Unavailable(error))) => {
                    // The waiting change-sets would fail too, so all callers get the error at once.
                    let lost: Vec<usize> = waiting.drain(..).chain([range]).flatten().collect();
                    tracing::error!(
                        error = &*error as &dyn StdError,
                        requests = %requests_of(lost.iter().map(|lost| sealed[*lost].changes())),
                        "a batch of changes was not committed"
                    );
                    for (lost, error) in lost.into_iter().zip(shared(error)) {
                        outcomes[places[lost]] = Err(StoreError::Unavailable(error).into());
                    }
                }
                Err(error) if range.len() == 1 => outcomes[places[range.start]] = Err(error),
                Err(_) => {
                    let middle = range.start + range.len() / 2;
                    waiting.extend([middle..range.end, range.start..middle]);
                }
            }
        }
        outcomes
    }
}

/// Repeats one error for any number of callers.
fn shared(error: impl Into<Box<dyn StdError + Send + Sync>>) -> impl Iterator<Item = Box<dyn StdError + Send + Sync>> {
    let error: Arc<dyn StdError + Send + Sync> = Arc::from(error.into());
    std::iter::repeat_with(move || Box::new(Arc::clone(&error)) as Box<dyn StdError + Send + Sync>)
}

/// Splits a batch so that no transaction grows too large or has change-sets that cannot be applied together. The first
/// portion comes last.
fn portions(batch: &[SealedChangeSet]) -> Vec<Range<usize>> {
    let mut portions: Vec<Range<usize>> = Vec::new();
    let (mut bytes, mut together) = (0, Together::default());
    for (index, changes) in batch.iter().enumerate() {
        bytes += changes.weight();
        let continues = together.continues(changes.changes());
        match portions.last_mut() {
            Some(portion) if continues && bytes <= BATCH_BYTES => portion.end = index + 1,
            _ => {
                bytes = changes.weight();
                portions.push(index..index + 1);
            }
        }
    }
    portions.reverse();
    portions
}

/// The change-set was abandoned because the database took too long.
#[derive(Debug, thiserror::Error)]
#[error("the transaction did not end within {DEADLINE:?}")]
struct TooLong;

/// Commits all of the change-sets or none.
pub(crate) async fn commit_together(
    connections: &WarmPool<Postgres>,
    batch: &[SealedChangeSet],
    cipher: &dyn FieldCipher,
) -> Result<(), CommitError> {
    tokio::time::timeout(
        DEADLINE,
        retried(|| in_transaction(connections, async |connection| write(connection, batch, cipher).await)),
    )
    .await
    .unwrap_or_else(|_| Err(StoreError::Unavailable(Box::new(TooLong)).into()))
    .map_err(ApplyError::into_commit_error)
}

/// Runs all statements of a transaction, in the order in which rows are locked.
async fn write(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
    cipher: &dyn FieldCipher,
) -> Result<(), ApplyError> {
    let locked = calendars::lock(connection, batch).await?;
    // Answers come first: a repetition gets its answer, not an error because the first request changed or used
    // something.
    answers::apply(connection, batch).await?;
    accounts::check_organizations(connection, batch, &locked.organizations).await?;
    locked.check_revisions(batch)?;
    calendars::check_times(connection, batch, &locked).await?;
    calendars::check_calendars_of_agents(connection, batch).await?;
    calendars::apply(connection, batch).await?;
    webhooks::apply(connection, batch).await?;
    subscriptions::apply(connection, batch).await?;
    proposals::apply(connection, batch).await?;
    bookings::apply(connection, batch).await?;
    bridge::apply(connection, batch).await?;
    runs::apply(connection, batch).await?;
    approvals::apply(connection, batch).await?;
    letters::withdraw(connection, batch).await?;
    letters::apply(connection, batch).await?;
    let with_feed = outbox::apply(connection, batch).await?;
    audit::apply(connection, batch).await?;
    accounts::apply(connection, batch).await?;
    usage::check_existing(connection, batch).await?;
    placed::check(connection, batch).await?;
    bookings::check(connection, batch).await?;
    runs::check(connection, batch).await?;
    approvals::check(connection, batch).await?;
    usage::charge(connection, batch).await?;
    letters::take(connection, batch).await?;
    change_feed::append(connection, batch, with_feed, cipher).await?;
    accounts::raise_epoch(connection, batch).await?;
    // A dry run is a batch of its own, and an error rolls the transaction back.
    match batch.iter().any(|entry| entry.changes().dry_run) {
        true => Err(ApplyError::Refused(CommitError::RolledBack)),
        false => Ok(()),
    }
}
