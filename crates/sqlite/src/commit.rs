//! Commits batches of change-sets: one transaction a batch, and each change-set of it all or nothing.
//!
//! Change-sets that only add events are applied together, with one statement a table. Where that
//! fails their group is taken back and halved until the one that cannot be applied stands alone, so
//! that it harms no other. What one change-set does, it does in this order: the stored answer, which
//! tells a repetition whatever else would go wrong; guards; accounts; agents, calendars and events; webhooks; subscriptions; proposals;
//! bookings; the bridge to human calendars; what exists afterwards; charges; letters and the use that they make of allowances; messages; the audit entry.

use std::{panic::AssertUnwindSafe, sync::Arc};

use async_trait::async_trait;
use futures::FutureExt as _;
use kalends_app::{
    ApplyBatch, ChangeSet,
    ports::{Commit, CommitError, FieldCipher},
};
use kalends_kernel::StoreError;
use sqlx::SqliteConnection;

use crate::{
    SqliteStore,
    apply::{self, Sealed},
    error::{Failure, failed, for_each_caller, store_error},
    writer::Writer,
};

#[async_trait]
impl Commit for SqliteStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        self.queue.commit(changes).await
    }
}

/// Writes the batches of the queue.
pub(crate) struct BatchWriter {
    writer: Arc<Writer>,
    cipher: Arc<dyn FieldCipher>,
}

/// The writer panicked over a batch.
#[derive(Debug, thiserror::Error)]
#[error("the writer panicked over the batch")]
struct Panicked;

type Outcome = Result<(), CommitError>;

impl ApplyBatch for BatchWriter {
    async fn apply(&self, batch: Vec<Arc<ChangeSet>>) -> Vec<Outcome> {
        // A panic drops the connection and with it the transaction; the queue goes on.
        match AssertUnwindSafe(self.write(&batch)).catch_unwind().await {
            Ok(Ok(outcomes)) => outcomes,
            Ok(Err(failure)) => for_each_caller(batch.len(), failure),
            Err(_) => for_each_caller(batch.len(), failed(Panicked)),
        }
    }
}

impl BatchWriter {
    pub(crate) const fn new(writer: Arc<Writer>, cipher: Arc<dyn FieldCipher>) -> Self {
        Self { writer, cipher }
    }

    /// The outcome of each change-set, or why none of them was committed.
    async fn write(&self, batch: &[Arc<ChangeSet>]) -> Result<Vec<Outcome>, StoreError> {
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(batch.len());
        let mut sealed = Vec::with_capacity(batch.len());
        for changes in batch {
            let (entry, outcome) = match Sealed::new(changes, self.cipher.as_ref()) {
                Ok(entry) => (Some(entry), Ok(())),
                Err(error) => (None, Err(CommitError::Store(store_error(error)))),
            };
            sealed.push(entry);
            outcomes.push(outcome);
        }

        let mut writing = self.writer.take().await?;
        match transact(&mut writing.connection, &sealed, &mut outcomes).await {
            Ok(()) => {
                writing.hand_back();
                Ok(outcomes)
            }
            Err(failure) => {
                tracing::error!(error = &failure as &dyn std::error::Error, "a batch of changes was not committed");
                // SQLite may have ended the transaction or not: a new connection is in no doubt.
                writing.close().await;
                Err(failure)
            }
        }
    }
}

/// Statements that the driver keeps prepared like any other.
async fn run(connection: &mut SqliteConnection, statement: &'static str) -> Result<(), StoreError> {
    sqlx::query(statement).execute(connection).await.map(|_| ()).map_err(store_error)
}

/// Applies what is sealed in one transaction, and writes the outcome of each that cannot be applied.
async fn transact(
    connection: &mut SqliteConnection,
    sealed: &[Option<Sealed>],
    outcomes: &mut [Outcome],
) -> Result<(), StoreError> {
    let mut waiting = groups(sealed);
    run(connection, "begin immediate").await?;
    // A batch of one group is the transaction's only content, and needs no savepoint.
    if let [only] = waiting.as_slice() {
        match apply_group(connection, sealed, only).await {
            Ok(()) => return run(connection, "commit").await,
            Err(Failure::Broken(failure)) => return Err(failure),
            Err(Failure::Refused(error)) => {
                run(connection, "rollback").await?;
                match halves(only) {
                    Some(halves) => waiting = halves,
                    None => {
                        refuse(outcomes, only, error);
                        return Ok(());
                    }
                }
            }
        }
        run(connection, "begin immediate").await?;
    }
    while let Some(group) = waiting.pop() {
        run(connection, "savepoint applied").await?;
        match apply_group(connection, sealed, &group).await {
            Ok(()) => run(connection, "release applied").await?,
            Err(Failure::Broken(failure)) => return Err(failure),
            Err(Failure::Refused(error)) => {
                run(connection, "rollback to applied").await?;
                run(connection, "release applied").await?;
                match halves(&group) {
                    Some(halves) => waiting.extend(halves),
                    None => refuse(outcomes, &group, error),
                }
            }
        }
    }
    run(connection, "commit").await
}

/// The indexes of change-sets that are applied together.
type Group = Vec<usize>;

/// One group of all that only add events, and one of each other change-set; the last is applied first.
fn groups(sealed: &[Option<Sealed>]) -> Vec<Group> {
    let entries = || sealed.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.as_ref()?)));
    let (mut additions, others): (Vec<_>, Vec<_>) = entries().partition(|(_, entry)| entry.changes.only_adds_events());
    let mut groups: Vec<Group> = others.into_iter().rev().map(|(index, _)| vec![index]).collect();
    if !additions.is_empty() {
        // Beside its like: most of what is refused is refused for an organization that is at a limit.
        additions.sort_by_key(|(_, entry)| entry.changes.org);
        groups.push(additions.into_iter().map(|(index, _)| index).collect());
    }
    groups
}

/// The two halves of a group of several, the first half last.
fn halves(group: &[usize]) -> Option<Vec<Group>> {
    let (first, second) = group.split_at(group.len() / 2);
    (!first.is_empty()).then(|| vec![second.to_vec(), first.to_vec()])
}

fn refuse(outcomes: &mut [Outcome], group: &[usize], error: CommitError) {
    // A group that cannot be halved is a single change-set.
    if let Some(outcome) = group.first().and_then(|index| outcomes.get_mut(*index)) {
        *outcome = Err(error);
    }
}

async fn apply_group(
    connection: &mut SqliteConnection,
    sealed: &[Option<Sealed>],
    group: &[usize],
) -> Result<(), Failure> {
    let group: Vec<&Sealed> = group.iter().filter_map(|index| sealed.get(*index)?.as_ref()).collect();
    apply::answers::store_answers(connection, &group).await?;
    apply::accounts::check_organizations(connection, &group).await?;
    apply::calendars::check_guards(connection, &group).await?;
    for entry in &group {
        apply::accounts::apply(connection, entry).await?;
    }
    apply::calendars::apply(connection, &group).await?;
    for entry in &group {
        apply::webhooks::apply(connection, entry).await?;
        apply::subscriptions::apply(connection, entry).await?;
        apply::proposals::apply(connection, entry).await?;
        apply::bookings::apply(connection, entry).await?;
        apply::bridge::apply(connection, entry).await?;
    }
    for entry in &group {
        apply::accounts::check_existing(connection, entry).await?;
    }
    apply::accounts::charge(connection, &group).await?;
    for entry in &group {
        apply::letters::apply(connection, entry).await?;
    }
    apply::outbox::store_messages(connection, &group).await?;
    apply::audit::store_entries(connection, &group).await
}
