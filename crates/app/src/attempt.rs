//! Attempts at a use case: reading, deciding and committing again while others change the same rows.

use std::{
    future::Future,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use kalends_kernel::FieldErrors;

use crate::Refusal;

/// How many times a use case reads and decides, if others keep changing the same rows.
pub(crate) const ATTEMPTS: u32 = 24;
/// Why one attempt at a use case ended.
pub(crate) enum Attempt {
    /// What was read has changed: read and decide again.
    Stale,
    /// The final outcome.
    Refused(Refusal),
}

impl Attempt {
    /// The refusal, for callers that do not retry.
    pub(crate) fn into_refusal(self) -> Refusal {
        match self {
            Self::Stale => Refusal::Contended,
            Self::Refused(refusal) => refusal,
        }
    }

    /// The same outcome, about one of several events in a request.
    pub(crate) fn about_item(mut self, index: usize) -> Self {
        match &mut self {
            Self::Refused(Refusal::SlotTaken(found) | Refusal::Outdated(found)) => found.item = Some(index),
            Self::Refused(Refusal::Invalid(errors)) => {
                let mut below = FieldErrors::default();
                below.extend_below(&format!("events[{index}]"), errors);
                *errors = below;
            }
            _ => {}
        }
        self
    }
}

impl<T: Into<Refusal>> From<T> for Attempt {
    fn from(refusal: T) -> Self {
        Self::Refused(refusal.into())
    }
}

/// How many attempts follow each other immediately. A request that competes with only one other has succeeded by
/// then.
const AT_ONCE: u32 = 2;

/// How often and how quickly a use case is attempted again.
#[derive(Debug, Clone, Copy)]
struct Pace {
    attempts: u32,
    /// The longest wait between two attempts.
    wait_max: Duration,
}

/// For requests of which any number may compete in one process.
const CROWD: Pace = Pace { attempts: ATTEMPTS, wait_max: Duration::from_millis(128) };
/// For requests that take turns in their process, so that only those of other processes compete. While one waits, its whole
/// process loses its turn, and the others do not wait for it. So it waits less and tries more often.
const IN_TURN: Pace = Pace { attempts: 200, wait_max: Duration::from_millis(8) };

impl Pace {
    /// How long to wait before an attempt, numbered from 0: a random time up to a bound that doubles, so that competing
    /// requests spread out.
    fn wait_before(self, attempt: u32, random: u64) -> Duration {
        let Some(doubled) = attempt.checked_sub(AT_ONCE) else { return Duration::ZERO };
        let bound = Duration::from_millis(2u64.saturating_pow(doubled + 1)).min(self.wait_max);
        // The conversion cannot fail: a remainder by 1,000 fits in a `u32`.
        bound * u32::try_from(random % 1_000).unwrap_or(0) / 1_000
    }
}

/// Runs `attempt` until it is not stale, at most [`ATTEMPTS`] times. The first retry does not wait.
pub(crate) async fn retry_stale<T, F>(attempt: impl FnMut() -> F) -> Result<T, Refusal>
where
    F: Future<Output = Result<T, Attempt>>,
{
    retry(CROWD, attempt).await
}

/// As [`retry_stale`], for a request that holds a lock which all requests of this process for the same thing take.
pub(crate) async fn retry_in_turn<T, F>(attempt: impl FnMut() -> F) -> Result<T, Refusal>
where
    F: Future<Output = Result<T, Attempt>>,
{
    retry(IN_TURN, attempt).await
}

async fn retry<T, F>(pace: Pace, mut attempt: impl FnMut() -> F) -> Result<T, Refusal>
where
    F: Future<Output = Result<T, Attempt>>,
{
    for number in 0..pace.attempts {
        // This jitter need not be secret, and no rule depends on it.
        let wait = pace.wait_before(number, RandomState::new().hash_one(number));
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        match attempt().await {
            Ok(done) => return Ok(done),
            Err(Attempt::Refused(refusal)) => return Err(refusal),
            Err(Attempt::Stale) => {}
        }
    }
    Err(Refusal::Contended)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first attempts do not wait. Then the bound doubles up to the longest wait of the pace.
    #[test]
    fn stale_attempts_wait_longer_each_time() {
        let cases = [(0, 999, 0), (1, 999, 0), (2, 0, 0), (2, 500, 1_000), (5, 500, 8_000), (8, 500, 64_000)];
        for (attempt, random, micros) in cases.into_iter().chain([(ATTEMPTS, 1_500, 64_000)]) {
            assert_eq!(CROWD.wait_before(attempt, random), Duration::from_micros(micros), "attempt {attempt}");
        }
        assert_eq!(IN_TURN.wait_before(3, 500), Duration::from_micros(2_000));
        assert_eq!(IN_TURN.wait_before(IN_TURN.attempts, 500), Duration::from_micros(4_000));
    }
}
