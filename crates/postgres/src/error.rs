//! Translates the driver's errors for the callers of the ports.

use std::error::Error as StdError;

use kalends_app::ports::CommitError;
use kalends_kernel::StoreError;
use sqlx::migrate::MigrateError;

/// Codes of transient conditions: the server stops, starts or has no free session, its disk or memory is full, a file
/// cannot be written, a transaction lost against others too often, a statement or its wait for a lock timed out, or the
/// node became read-only.
const PASSING: &[&str] =
    &["57P01", "57P02", "57P03", "53100", "53200", "53300", "58030", "40001", "40P01", "55P03", "57014", "25006"];
/// The class of connection errors.
const CONNECTION: &str = "08";

/// The code for a table that does not exist.
pub(crate) const NO_SUCH_TABLE: &str = "42P01";

/// The five-character code of a Postgres error.
pub(crate) fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(|error| error.code()).map(std::borrow::Cow::into_owned)
}

/// Whether the transaction lost against a concurrent one, so that a retry may succeed.
pub(crate) fn lost_a_race(error: &sqlx::Error) -> bool {
    matches!(code(error).as_deref(), Some("40001" | "40P01"))
}

/// Translates an error of the driver for a port that reads.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    if is_passing(&error) { StoreError::Unavailable(Box::new(error)) } else { StoreError::Failed(Box::new(error)) }
}

fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        // The server hung up while a connection was being opened.
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => true,
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| code.starts_with(CONNECTION) || PASSING.contains(&code.as_ref()))
        }
        _ => false,
    }
}

/// Translates an error of the migrator.
pub(crate) fn migrate_error(error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) => store_error(error),
        MigrateError::ExecuteMigration(ref source, _) if is_passing(source) => StoreError::Unavailable(Box::new(error)),
        error => StoreError::Failed(Box::new(error)),
    }
}

/// A failure that does not come from the driver.
pub(crate) fn failed(error: impl StdError + Send + Sync + 'static) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// Why a transaction failed.
#[derive(Debug)]
pub(crate) enum ApplyError {
    /// A condition of the change-set does not hold.
    Refused(CommitError),
    /// The driver failed, or a constraint was violated.
    Driver(sqlx::Error),
}

impl ApplyError {
    /// Something that the decision read has changed.
    pub(crate) const STALE: Self = Self::Refused(CommitError::Stale);

    /// The same error, for the port.
    pub(crate) fn into_commit_error(self) -> CommitError {
        let error = match self {
            Self::Refused(error) => return error,
            Self::Driver(error) => error,
        };
        match error.as_database_error().and_then(|error| error.constraint()) {
            Some("organizations_email_unique" | "users_email_unique") => CommitError::EmailTaken,
            Some("booking_pages_slug_unique") => CommitError::SlugTaken,
            // The decision did not see the other claim.
            Some("account_claims_one_held" | "account_claims_one_waits") => CommitError::Stale,
            // The decision did not see the other subscription.
            Some("ical_subscriptions_places") => CommitError::Stale,
            Some("idempotent_answers_pk") => CommitError::AlreadyAnswered,
            _ => CommitError::Store(store_error(error)),
        }
    }
}

impl From<sqlx::Error> for ApplyError {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<StoreError> for ApplyError {
    fn from(error: StoreError) -> Self {
        Self::Refused(CommitError::Store(error))
    }
}

/// Returns `Ok` if all rows were written; otherwise one of them is no longer as the decision saw it.
pub(crate) fn all_written(written: u64, meant: usize) -> Result<(), ApplyError> {
    if u64::try_from(meant) == Ok(written) { Ok(()) } else { Err(ApplyError::STALE) }
}
