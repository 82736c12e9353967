//! What the driver says, in the words of the ports.

use std::error::Error as StdError;

use kalends_app::ports::CommitError;
use kalends_kernel::StoreError;
use sqlx::migrate::MigrateError;

/// Codes of conditions that pass: the server stops, starts or has no place for another session, its disk or its memory is
/// full, a file cannot be written, a transaction lost against another one too often, a statement ran out of time, or the
/// node became one that only reads.
const PASSING: &[&str] =
    &["57P01", "57P02", "57P03", "53100", "53200", "53300", "58030", "40001", "40P01", "55P03", "57014", "25006"];
/// The class of codes about connections.
const CONNECTION: &str = "08";

/// The code of a statement on a table that does not exist.
pub(crate) const NO_SUCH_TABLE: &str = "42P01";

/// The five characters by which Postgres names an error.
pub(crate) fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(|error| error.code()).map(std::borrow::Cow::into_owned)
}

/// Whether the transaction lost against a concurrent one, so that the same again may succeed.
pub(crate) fn lost_a_race(error: &sqlx::Error) -> bool {
    matches!(code(error).as_deref(), Some("40001" | "40P01"))
}

/// What the driver says, for a port that reads.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    if is_passing(&error) { StoreError::Unavailable(Box::new(error)) } else { StoreError::Failed(Box::new(error)) }
}

fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        // What a server says that hangs up while a connection is being opened.
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

/// What the migrator says.
pub(crate) fn migrate_error(error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) => store_error(error),
        MigrateError::ExecuteMigration(ref source, _) if is_passing(source) => StoreError::Unavailable(Box::new(error)),
        error => StoreError::Failed(Box::new(error)),
    }
}

/// A failure of this crate's own making.
pub(crate) fn failed(error: impl StdError + Send + Sync + 'static) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// Why a transaction does not go through.
#[derive(Debug)]
pub(crate) enum ApplyError {
    /// A condition of the change-set does not hold.
    Refused(CommitError),
    /// The driver failed, or a constraint was hurt.
    Driver(sqlx::Error),
}

impl ApplyError {
    /// What the decision looked at has changed.
    pub(crate) const STALE: Self = Self::Refused(CommitError::Stale);

    /// The same in the words of the port.
    pub(crate) fn into_commit_error(self) -> CommitError {
        let error = match self {
            Self::Refused(error) => return error,
            Self::Driver(error) => error,
        };
        match error.as_database_error().and_then(|error| error.constraint()) {
            Some("organizations_email_unique" | "users_email_unique") => CommitError::EmailTaken,
            // The decision did not see the other claim.
            Some("account_claims_one_held" | "account_claims_one_waits") => CommitError::Stale,
            // Nor the other subscription.
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

/// `Ok` where as many rows were written as were meant; otherwise one of them is no longer what the
/// decision saw.
pub(crate) fn all_written(written: u64, meant: usize) -> Result<(), ApplyError> {
    if u64::try_from(meant) == Ok(written) { Ok(()) } else { Err(ApplyError::STALE) }
}
