//! Retries transactions that lost against concurrent ones.

use std::time::Duration;

use crate::error::{ApplyError, lost_a_race};

/// The maximum number of attempts for a transaction that loses.
const ATTEMPTS: u32 = 8;
/// How long to wait before the second attempt. Each later wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(2);

/// An error that may mean that a race was lost.
pub(crate) trait MayHaveLost {
    /// Whether a retry may succeed.
    fn lost_a_race(&self) -> bool;
}

impl MayHaveLost for sqlx::Error {
    fn lost_a_race(&self) -> bool {
        lost_a_race(self)
    }
}

impl MayHaveLost for ApplyError {
    fn lost_a_race(&self) -> bool {
        match self {
            Self::Driver(error) => lost_a_race(error),
            Self::Refused(_) => false,
        }
    }
}

/// Runs a transaction, and retries it while it loses against others.
pub(crate) async fn retried<T, E, F>(run: impl Fn() -> F) -> Result<T, E>
where
    E: MayHaveLost,
    F: Future<Output = Result<T, E>>,
{
    let mut wait = FIRST_WAIT;
    for _ in 1..ATTEMPTS {
        match run().await {
            Err(error) if error.lost_a_race() => {
                tracing::debug!("a transaction lost against a concurrent one and is retried");
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            outcome => return outcome,
        }
    }
    run().await
}
