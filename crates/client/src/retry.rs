//! When a request is repeated, and after what time.

use std::time::Duration;

/// What the shortest wait grows from where the service did not say how long to wait: a fraction of a second is what a
/// restart of one of several processes takes.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// How often a request is sent, and how long it may wait in between.
///
/// The default is 4 attempts, and at most 10 seconds before each repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often a request is sent at most, the first time included. 1 repeats nothing, and so does 0.
    pub attempts: u32,
    /// The longest wait before a repetition. Where the service asks for more, its answer is given at once: a month's
    /// quota does not come back while anybody waits.
    pub longest_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 4, longest_wait: Duration::from_secs(10) }
    }
}

/// How an attempt ended, as far as that decides on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There is an answer.
    Answered {
        /// Its HTTP status.
        status: u16,
        /// What `Retry-After` says, if it is there and in seconds.
        retry_after: Option<Duration>,
    },
    /// There is none: no connection was made, it broke, or time ran out. Whether the request was done is not known.
    Lost,
}

impl Retry {
    /// Nothing is repeated.
    pub const NEVER: Self = Self { attempts: 1, longest_wait: Duration::ZERO };

    /// How long to wait before the next attempt; `None` where there is none.
    ///
    /// `attempt` is the number of the attempt that ended, from 1. A wait that the service did not choose doubles each
    /// time, from 250 ms to `longest_wait`, and is between a half and all of that, as `jitter` says (0 to 255): callers
    /// who were cut off together do not come back together.
    pub fn wait(&self, attempt: u32, outcome: Outcome, jitter: u8) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        match outcome {
            // 409 has the header where the first request under the same key still runs, or others were faster.
            Outcome::Answered { status: 409 | 429 | 502..=504, retry_after: Some(wait) } => {
                (wait <= self.longest_wait).then_some(wait)
            }
            // What stands between caller and service answers for it, and knows no more.
            Outcome::Answered { status: 502..=504, retry_after: None } | Outcome::Lost => {
                let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
                let most = FIRST_WAIT.saturating_mul(doubled).min(self.longest_wait);
                Some(most / 2 + most / 2 * u32::from(jitter) / u32::from(u8::MAX))
            }
            Outcome::Answered { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const RETRY: Retry = Retry { attempts: 4, longest_wait: Duration::from_secs(10) };

    const fn answered(status: u16, seconds: Option<u64>) -> Outcome {
        let retry_after = match seconds {
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => None,
        };
        Outcome::Answered { status, retry_after }
    }

    #[rstest]
    #[case::too_fast(429, Some(1), Some(1_000))]
    #[case::at_once(429, Some(0), Some(0))]
    #[case::up_to_the_bound(429, Some(10), Some(10_000))]
    #[case::over_the_bound(429, Some(11), None)]
    #[case::a_months_quota(429, Some(864_000), None)]
    #[case::nothing_said(429, None, None)]
    #[case::the_first_still_runs(409, Some(1), Some(1_000))]
    #[case::a_conflict(409, None, None)]
    #[case::the_database_is_away(503, Some(1), Some(1_000))]
    #[case::away_for_long(503, Some(3_600), None)]
    #[case::a_proxy_waits_too(502, Some(2), Some(2_000))]
    #[case::no_upstream(502, None, Some(250))]
    #[case::overloaded(503, None, Some(250))]
    #[case::a_slow_upstream(504, None, Some(250))]
    #[case::a_fault(500, None, None)]
    #[case::a_fault_with_a_time(500, Some(1), None)]
    #[case::success(200, Some(1), None)]
    #[case::not_found(404, Some(1), None)]
    #[case::stale(412, None, None)]
    fn what_is_repeated(#[case] status: u16, #[case] retry_after: Option<u64>, #[case] millis: Option<u64>) {
        let wait = RETRY.wait(1, answered(status, retry_after), u8::MAX);
        assert_eq!(wait, millis.map(Duration::from_millis));
    }

    #[rstest]
    #[case::the_least(1, 0, 125)]
    #[case::the_most(1, 255, 250)]
    #[case::between(1, 51, 150)]
    #[case::doubled(2, 255, 500)]
    #[case::doubled_again(3, 0, 500)]
    #[case::never_over_the_bound(30, 255, 10_000)]
    #[case::however_often(1_000, 0, 5_000)]
    fn waits_of_our_own(#[case] attempt: u32, #[case] jitter: u8, #[case] millis: u64) {
        let patient = Retry { attempts: u32::MAX, ..RETRY };
        assert_eq!(patient.wait(attempt, Outcome::Lost, jitter), Some(Duration::from_millis(millis)));
    }

    #[rstest]
    #[case(4, 3, true)]
    #[case(4, 4, false)]
    #[case(1, 1, false)]
    #[case(0, 1, false)]
    fn attempts_are_bounded(#[case] attempts: u32, #[case] attempt: u32, #[case] again: bool) {
        let retry = Retry { attempts, ..RETRY };
        for outcome in [Outcome::Lost, answered(429, Some(1)), answered(503, None)] {
            assert_eq!(retry.wait(attempt, outcome, 0).is_some(), again, "{outcome:?}");
        }
        assert_eq!(Retry::NEVER.wait(1, Outcome::Lost, 0), None);
    }
}
