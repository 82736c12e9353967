//! Again, where a transaction lost against a concurrent one.

use std::time::Duration;

use crate::error::{ApplyError, lost_a_race};

/// How often a transaction is begun that loses to others.
const ATTEMPTS: u32 = 8;
/// How long the second attempt waits; the next ones twice as long each.
const FIRST_WAIT: Duration = Duration::from_millis(2);

/// An error that may say that a race was lost.
pub(crate) trait MayHaveLost {
    /// Whether the same again may succeed.
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

/// Runs a transaction, and runs it again while it loses.
pub(crate) async fn retried<T, E, F>(run: impl Fn() -> F) -> Result<T, E>
where
    E: MayHaveLost,
    F: Future<Output = Result<T, E>>,
{
    let mut wait = FIRST_WAIT;
    for _ in 1..ATTEMPTS {
        match run().await {
            Err(error) if error.lost_a_race() => {
                tracing::debug!("a transaction lost against another one and is tried again");
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            outcome => return outcome,
        }
    }
    run().await
}
