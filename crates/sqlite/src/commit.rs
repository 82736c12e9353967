//! Commits batches of change-sets in one transaction each. Within a batch, each change-set is applied as a whole or
//! not at all.
//!
//! Change-sets that only add events are applied together as a group, with one statement per table, unless one of them
//! guards a calendar to which another writes. If that fails, the group is rolled back and halved until the change-set
//! that cannot be applied is alone. All others are applied.
//!
//! Each change-set is applied in this order: the stored answer, so that a repetition gets its answer whatever else
//! would fail; the check that the organization exists; guards; accounts; agents, calendars and events; webhooks;
//! subscriptions; proposals; bookings; the bridge to human calendars; the journal of runs; approvals; limits on what
//! exists; charges; letters and their use of allowances; messages; entries of the change feed; entries of the audit log.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt as _;
use kalends_app::{
    ApplyBatch, ChangeSet, Together,
    ports::{CommitError, FieldCipher},
    requests_of,
};
use kalends_kernel::StoreError;
use kalends_rows::SealedChangeSet;
use sqlx::SqliteConnection;

use crate::{
    apply,
    error::{Failure, failed, for_each_caller, store_error},
    writer::Writer,
};

/// Writes the batches of the queue.
pub(crate) struct BatchWriter {
    writer: Arc<Writer>,
    cipher: Arc<dyn FieldCipher>,
}

/// The writer panicked while it wrote a batch.
#[derive(Debug, thiserror::Error)]
#[error("the writer panicked while it wrote the batch")]
struct Panicked;

type Outcome = Result<(), CommitError>;

impl ApplyBatch for BatchWriter {
    async fn apply(&self, batch: Vec<Arc<ChangeSet>>) -> Vec<Outcome> {
        // A panic drops the connection, which rolls the transaction back. The queue continues.
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

    /// Returns the outcome of each change-set, or why none of them was committed.
    async fn write(&self, batch: &[Arc<ChangeSet>]) -> Result<Vec<Outcome>, StoreError> {
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(batch.len());
        let mut sealed = Vec::with_capacity(batch.len());
        for changes in batch {
            let (entry, outcome) = match SealedChangeSet::seal(Arc::clone(changes), self.cipher.as_ref()) {
                Ok(entry) => (Some(entry), Ok(())),
                Err(error) => (None, Err(CommitError::Store(failed(error)))),
            };
            sealed.push(entry);
            outcomes.push(outcome);
        }

        let mut writing = self.writer.take().await?;
        match transact(&mut writing.connection, &sealed, &mut outcomes, self.cipher.as_ref()).await {
            Ok(()) => {
                writing.hand_back();
                Ok(outcomes)
            }
            Err(failure) => {
                tracing::error!(
                    error = &failure as &dyn std::error::Error,
                    requests = %requests_of(batch.iter().map(|changes| &**changes)),
                    "a batch of changes was not committed"
                );
                // It is unclear whether SQLite has ended the transaction. A new connection has none open.
                writing.close().await;
                Err(failure)
            }
        }
    }
}

/// Runs a statement that the driver keeps prepared like any other.
async fn run(connection: &mut SqliteConnection, statement: &'static str) -> Result<(), StoreError> {
    sqlx::query(statement).execute(connection).await.map(|_| ()).map_err(store_error)
}

/// Applies the sealed change-sets in one transaction, and sets the outcome of each that cannot be applied.
async fn transact(
    connection: &mut SqliteConnection,
    sealed: &[Option<SealedChangeSet>],
    outcomes: &mut [Outcome],
    cipher: &dyn FieldCipher,
) -> Result<(), StoreError> {
    let mut waiting = groups(sealed);
    run(connection, "begin immediate").await?;
    // A batch of one group is all that the transaction does, so it needs no savepoint.
    if let [only] = waiting.as_slice() {
        match apply_group(connection, sealed, only, cipher).await {
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
        match apply_group(connection, sealed, &group, cipher).await {
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

/// The indexes of the change-sets that are applied together.
type Group = Vec<usize>;

/// As few groups as possible for the change-sets that only add events, and one for each other change-set. The last group
/// is applied first.
fn groups(sealed: &[Option<SealedChangeSet>]) -> Vec<Group> {
    let entries = sealed.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.as_ref()?.changes())));
    let (mut additions, others): (Vec<_>, Vec<_>) = entries.partition(|(_, changes)| changes.only_adds_events());
    additions.sort_by_key(|(_, changes)| Together::order(changes));
    let (mut groups, mut together) = (Vec::<Group>::new(), Together::default());
    for (index, changes) in additions {
        let continues = together.continues(changes);
        match groups.last_mut() {
            Some(group) if continues => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    groups.extend(others.into_iter().map(|(index, _)| vec![index]));
    groups.reverse();
    groups
}

/// The two halves of a group, the first half last; `None` for a single change-set.
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
    sealed: &[Option<SealedChangeSet>],
    group: &[usize],
    cipher: &dyn FieldCipher,
) -> Result<(), Failure> {
    let group: Vec<&SealedChangeSet> = group.iter().filter_map(|index| sealed.get(*index)?.as_ref()).collect();
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
        apply::runs::apply(connection, entry).await?;
        apply::approvals::apply(connection, entry).await?;
    }
    for entry in &group {
        apply::accounts::check_existing(connection, entry).await?;
        apply::placed::check(connection, entry).await?;
        apply::bookings::check(connection, entry).await?;
        apply::runs::check(connection, entry).await?;
        apply::approvals::check(connection, entry).await?;
    }
    apply::accounts::charge(connection, &group).await?;
    for entry in &group {
        apply::letters::apply(connection, entry).await?;
    }
    apply::outbox::store_messages(connection, &group).await?;
    apply::change_feed::append(connection, &group, cipher).await?;
    apply::audit::store_entries(connection, &group).await?;
    // A dry run is a group of its own, which is rolled back like one that is refused.
    match group.iter().any(|entry| entry.changes().dry_run) {
        true => Err(Failure::Refused(CommitError::RolledBack)),
        false => Ok(()),
    }
}
