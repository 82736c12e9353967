//! When to retry a request, and after what wait.

use std::time::Duration;

/// The maximum of the first wait if the service names none. Restarting one of several processes takes a fraction of a
/// second.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// How often to send a request, and how long to wait between attempts.
///
/// The default is 4 attempts, with waits of at most 10 seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The maximum number of attempts, including the first one. 1 and 0 disable retries.
    pub attempts: u32,
    /// The longest wait before a retry. If the service asks for a longer one, the call returns the service's answer
    /// at once, because a monthly quota does not come back while the caller waits.
    pub longest_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 4, longest_wait: Duration::from_secs(10) }
    }
}

/// The part of an attempt's outcome that decides whether to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There was an answer.
    Answered {
        /// Its HTTP status.
        status: u16,
        /// The value of `Retry-After`, if it was sent in seconds.
        retry_after: Option<Duration>,
    },
    /// There was no answer: the connection failed or broke, or the attempt timed out. It is unknown whether the
    /// request was executed.
    Lost,
}

impl Retry {
    /// Never retries.
    pub const NEVER: Self = Self { attempts: 1, longest_wait: Duration::ZERO };

    /// Returns how long to wait before the next attempt, or `None` to stop.
    ///
    /// `attempt` is the number of the attempt that ended, starting at 1. If the service names no wait, the maximum wait
    /// doubles with each attempt, from 250 ms to `longest_wait`. `jitter` (0 to 255) picks a point between half of it
    /// and all of it, so that callers that failed together do not retry together.
    pub fn wait(&self, attempt: u32, outcome: Outcome, jitter: u8) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        match outcome {
            // 409 has the header if the first request with the same key is still running, or if other requests were
            // faster.
            Outcome::Answered { status: 409 | 429 | 502..=504, retry_after: Some(wait) } => {
                (wait <= self.longest_wait).then_some(wait)
            }
            // A proxy between the client and the service answered, and sent no `Retry-After`.
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
    #[case::zero(429, Some(0), Some(0))]
    #[case::at_the_limit(429, Some(10), Some(10_000))]
    #[case::over_the_limit(429, Some(11), None)]
    #[case::monthly_quota(429, Some(864_000), None)]
    #[case::no_header(429, None, None)]
    #[case::first_request_still_running(409, Some(1), Some(1_000))]
    #[case::conflict(409, None, None)]
    #[case::database_unavailable(503, Some(1), Some(1_000))]
    #[case::unavailable_for_an_hour(503, Some(3_600), None)]
    #[case::proxy_with_header(502, Some(2), Some(2_000))]
    #[case::no_upstream(502, None, Some(250))]
    #[case::overloaded(503, None, Some(250))]
    #[case::slow_upstream(504, None, Some(250))]
    #[case::internal_error(500, None, None)]
    #[case::internal_error_with_header(500, Some(1), None)]
    #[case::success(200, Some(1), None)]
    #[case::not_found(404, Some(1), None)]
    #[case::stale(412, None, None)]
    fn some_outcomes_are_retried(#[case] status: u16, #[case] retry_after: Option<u64>, #[case] millis: Option<u64>) {
        let wait = RETRY.wait(1, answered(status, retry_after), u8::MAX);
        assert_eq!(wait, millis.map(Duration::from_millis));
    }

    #[rstest]
    #[case::minimum(1, 0, 125)]
    #[case::maximum(1, 255, 250)]
    #[case::between(1, 51, 150)]
    #[case::doubled(2, 255, 500)]
    #[case::doubled_again(3, 0, 500)]
    #[case::capped(30, 255, 10_000)]
    #[case::capped_after_many_attempts(1_000, 0, 5_000)]
    fn waits_without_retry_after_double(#[case] attempt: u32, #[case] jitter: u8, #[case] millis: u64) {
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
