//! Translates the driver's errors for the callers of the ports.

use std::{error::Error, sync::Arc};

use kalends_app::ports::CommitError;
use kalends_kernel::StoreError;

/// Primary result codes of SQLite (<https://sqlite.org/rescode.html>).
mod code {
    pub(super) const ERROR: u32 = 1;
    pub(super) const BUSY: u32 = 5;
    pub(super) const LOCKED: u32 = 6;
    pub(super) const READONLY: u32 = 8;
    pub(super) const IOERR: u32 = 10;
    pub(super) const FULL: u32 = 13;
    pub(super) const CANTOPEN: u32 = 14;
    pub(super) const TOOBIG: u32 = 18;
    pub(super) const CONSTRAINT: u32 = 19;
    pub(super) const MISMATCH: u32 = 20;
}

/// The primary code of an error that SQLite itself returned.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    // The driver returns the extended code; its lowest byte is the primary code.
    error.as_database_error()?.code()?.parse::<u32>().ok().map(|extended| extended & 0xff)
}

/// Whether another connection holds the lock.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(code::BUSY)
}

/// Translates an error of the driver for the callers of the ports.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    let passing = match &error {
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed | sqlx::Error::Io(_) => true,
        // The disk is full or fails, or another process holds the lock: an operator can fix that while the program
        // runs.
        error => matches!(
            primary_code(error),
            Some(code::BUSY | code::LOCKED | code::READONLY | code::IOERR | code::FULL | code::CANTOPEN)
        ),
    };
    if passing { StoreError::Unavailable(Box::new(error)) } else { StoreError::Failed(Box::new(error)) }
}

/// Whether a unique constraint refused a second row with the same value in `column`, written as `table.column`.
/// SQLite names the column, not the constraint.
pub(crate) fn is_duplicate_of(error: &sqlx::Error, column: &str) -> bool {
    error.as_database_error().is_some_and(|error| {
        error.is_unique_violation()
            && error.message().strip_prefix("UNIQUE constraint failed: ").is_some_and(|columns| columns == column)
    })
}

/// Why change-sets were not applied.
#[derive(Debug)]
pub(crate) enum Failure {
    /// These change-sets cannot be applied; others of the same transaction still can.
    Refused(CommitError),
    /// The whole transaction cannot continue: the disk is full, the file is unreadable or the lock is lost. SQLite
    /// may have rolled it back already.
    Broken(StoreError),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        match primary_code(&error) {
            Some(code::ERROR | code::TOOBIG | code::CONSTRAINT | code::MISMATCH) => {
                Self::Refused(CommitError::Store(store_error(error)))
            }
            Some(_) => Self::Broken(store_error(error)),
            // The driver itself failed. A value that it cannot decode does not affect the transaction; a lost
            // connection ends it.
            None => match error {
                sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::Encode(_) => {
                    Self::Refused(CommitError::Store(store_error(error)))
                }
                error => Self::Broken(store_error(error)),
            },
        }
    }
}

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Self {
        Self::Refused(error)
    }
}

/// A failure that is returned to several callers.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the transaction that should have committed the change was rolled back")]
struct RolledBack(#[source] Arc<StoreError>);

/// The same failure for each of `count` callers.
pub(crate) fn for_each_caller(count: usize, failure: StoreError) -> Vec<Result<(), CommitError>> {
    let failure = Arc::new(failure);
    (0..count)
        .map(|_| {
            let rolled_back: Box<dyn Error + Send + Sync> = Box::new(RolledBack(Arc::clone(&failure)));
            Err(CommitError::Store(match *failure {
                StoreError::Unavailable(_) => StoreError::Unavailable(rolled_back),
                StoreError::Corrupt(_) | StoreError::Failed(_) => StoreError::Failed(rolled_back),
            }))
        })
        .collect()
}

/// Translates a duplicate address; returns any other error unchanged.
pub(crate) fn email_taken(error: sqlx::Error) -> Failure {
    let taken = ["organizations.email", "users.email"].into_iter().any(|column| is_duplicate_of(&error, column));
    if taken { CommitError::EmailTaken.into() } else { error.into() }
}

/// Translates a duplicate slug; returns any other error unchanged.
pub(crate) fn slug_taken(error: sqlx::Error) -> Failure {
    if is_duplicate_of(&error, "booking_pages.slug_hash") { CommitError::SlugTaken.into() } else { error.into() }
}

/// Returns `Ok` if all the rows are still as the decision saw them.
pub(crate) fn fresh(written: u64, expected: u64) -> Result<(), Failure> {
    if written == expected { Ok(()) } else { Err(CommitError::Stale.into()) }
}

/// A failure that does not come from the driver.
pub(crate) fn failed(error: impl Error + Send + Sync + 'static) -> StoreError {
    StoreError::Failed(Box::new(error))
}
