//! When a delivery is tried again, and when an endpoint is given up.

use kalends_time::{SignedDuration, Timestamp};

/// The maximum time of one attempt: connection, headers and body together.
pub const ATTEMPT_WITHIN: SignedDuration = SignedDuration::seconds(15);
/// The maximum number of bytes of a response to read.
pub const ANSWER_MAX: usize = 16 * 1_024;
/// The waits before the second attempt, the third, and so on. After the last one the delivery has failed.
pub const SCHEDULE: [SignedDuration; 8] = [
    SignedDuration::seconds(5),
    SignedDuration::minutes(5),
    SignedDuration::minutes(30),
    SignedDuration::hours(2),
    SignedDuration::hours(5),
    SignedDuration::hours(10),
    SignedDuration::hours(14),
    SignedDuration::hours(20),
];
/// How long an endpoint's uninterrupted failures may last before it is switched off.
pub const FAILING_LASTS: SignedDuration = SignedDuration::days(5);

/// The wait after the attempt with that number (from 1). It is up to 20 % shorter or longer than in the schedule, so
/// that deliveries that failed together are not retried together. `random` decides by how much. Returns `None` if no
/// attempt is left.
pub fn wait_after(attempt: u32, random: [u8; 4]) -> Option<SignedDuration> {
    let index = usize::try_from(attempt).ok()?.checked_sub(1)?;
    let micros = SCHEDULE.get(index)?.as_micros();
    // The shortest and the longest wait are 40 % apart. The spread is this part of 2^32 of that.
    let part = i64::from(u32::from_le_bytes(random));
    let spread = i128::from(micros) * 2 / 5 * i128::from(part) / i128::from(u32::MAX);
    Some(SignedDuration::micros(micros * 4 / 5 + i64::try_from(spread).unwrap_or(0)))
}

/// The outcome of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Any 2xx.
    Accepted(u16),
    /// 410: the endpoint is gone.
    Gone,
    /// Any other status. Redirects are not followed.
    Refused(u16),
    /// No response: the connection or TLS failed, the time ran out, or the address is not allowed.
    Unanswered,
}

impl Outcome {
    /// The outcome of a complete response with that status.
    pub const fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Accepted(status),
            410 => Self::Gone,
            _ => Self::Refused(status),
        }
    }

    /// The status of the response, if there was one.
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Accepted(status) | Self::Refused(status) => Some(status),
            Self::Gone => Some(410),
            Self::Unanswered => None,
        }
    }

    /// The name in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Gone => "gone",
            Self::Refused(_) => "refused",
            Self::Unanswered => "unanswered",
        }
    }

    /// Whether the receiver has accepted the message.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Accepted(_))
    }
}

/// Why an endpoint is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deactivation {
    /// It returned 410.
    Gone,
    /// Its uninterrupted failures lasted for [`FAILING_LASTS`].
    Failing,
}

impl Deactivation {
    /// The `reason` in `webhook.deactivated`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Failing => "failing",
        }
    }

    /// The reason with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Gone, Self::Failing].into_iter().find(|reason| reason.as_str() == name)
    }
}

/// When an endpoint's uninterrupted failures began, if its last attempt failed. An endpoint that is switched on again
/// starts with [`Health::GOOD`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Health {
    /// The first failure after the last success; `None` if the last attempt was a success, or if there was none.
    pub failing_since: Option<Timestamp>,
}

impl Health {
    /// Nothing has failed.
    pub const GOOD: Self = Self { failing_since: None };

    /// The health after an attempt that ended at `now`, and the reason if the attempt switches the endpoint off.
    /// Attempts of several deliveries may be recorded out of order, so the earliest failure counts.
    #[must_use]
    pub fn after(self, outcome: Outcome, now: Timestamp) -> (Self, Option<Deactivation>) {
        if outcome.is_success() {
            return (Self::GOOD, None);
        }
        let since = self.failing_since.map_or(now, |since| since.min(now));
        let why = match outcome {
            Outcome::Gone => Some(Deactivation::Gone),
            Outcome::Refused(_) | Outcome::Unanswered | Outcome::Accepted(_) => {
                (now - since >= FAILING_LASTS).then_some(Deactivation::Failing)
            }
        };
        (Self { failing_since: Some(since) }, why)
    }
}

/// The effect of several consecutive attempts on an endpoint's health, whatever it was before. A store applies it to
/// the health that it finds, so that a health that was reset in between stays reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HealthChange {
    /// Whether one of the attempts was a success.
    pub resets: bool,
    /// The first failure after the last success.
    pub failed_at: Option<Timestamp>,
}

impl HealthChange {
    /// The change with one more attempt that ended at `now`.
    #[must_use]
    pub fn then(self, outcome: Outcome, now: Timestamp) -> Self {
        if outcome.is_success() {
            return Self { resets: true, failed_at: None };
        }
        Self { failed_at: Some(self.failed_at.map_or(now, |at| at.min(now))), ..self }
    }

    /// The health after the change.
    #[must_use]
    pub fn apply(self, health: Health) -> Health {
        let before = if self.resets { Health::GOOD } else { health };
        Health { failing_since: before.failing_since.or(self.failed_at) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, None)]
    #[case(1, Some(5))]
    #[case(2, Some(300))]
    #[case(3, Some(1_800))]
    #[case(4, Some(7_200))]
    #[case(5, Some(18_000))]
    #[case(6, Some(36_000))]
    #[case(7, Some(50_400))]
    #[case(8, Some(72_000))]
    #[case(9, None)]
    #[case(u32::MAX, None)]
    fn waits_follow_the_schedule(#[case] attempt: u32, #[case] seconds: Option<i64>) {
        let bounds = seconds
            .map(|seconds| (SignedDuration::micros(seconds * 800_000), SignedDuration::micros(seconds * 1_200_000)));
        assert_eq!(wait_after(attempt, [0; 4]).zip(wait_after(attempt, [255; 4])), bounds);
    }

    #[rstest]
    #[case(199, false)]
    #[case(200, true)]
    #[case(204, true)]
    #[case(299, true)]
    #[case(300, false)]
    #[case(301, false)]
    #[case(304, false)]
    #[case(400, false)]
    #[case(410, false)]
    #[case(429, false)]
    #[case(500, false)]
    #[case(999, false)]
    fn any_2xx_is_success(#[case] status: u16, #[case] success: bool) {
        let outcome = Outcome::of_status(status);
        assert_eq!((outcome.is_success(), outcome.status()), (success, Some(status)));
        assert_eq!(outcome == Outcome::Gone, status == 410);
    }

    const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[rstest]
    #[case::gone_at_once(&[(0, 410)], Some(Deactivation::Gone))]
    #[case::one_failure(&[(0, 500)], None)]
    #[case::nearly_five_days(&[(0, 500), (432_000 - 1, 500)], None)]
    #[case::five_days(&[(0, 500), (432_000, 0)], Some(Deactivation::Failing))]
    #[case::a_success_between(&[(0, 500), (400_000, 200), (432_000, 500), (831_999, 500)], None)]
    #[case::five_days_after_a_success(&[(0, 500), (400_000, 200), (400_001, 301), (832_001, 500)], Some(Deactivation::Failing))]
    #[case::out_of_order(&[(100, 500), (0, 500), (432_000, 500)], Some(Deactivation::Failing))]
    #[case::only_successes(&[(0, 200), (900_000, 204)], None)]
    fn an_endpoint_is_given_up_when_gone_or_after_five_days(
        #[case] attempts: &[(i64, u16)],
        #[case] given_up: Option<Deactivation>,
    ) {
        let mut health = Health::GOOD;
        let mut last = None;
        for (second, status) in attempts {
            let outcome = if *status == 0 { Outcome::Unanswered } else { Outcome::of_status(*status) };
            (health, last) = health.after(outcome, START + SignedDuration::seconds(*second));
        }
        assert_eq!(last, given_up);
    }

    proptest! {
        /// A batch has the same effect on the health as its attempts one by one.
        #[test]
        fn batches_equal_attempts(outcomes in prop::collection::vec(any::<bool>(), 0..8), failing in any::<bool>()) {
            let before = Health { failing_since: failing.then_some(START) };
            let (mut health, mut change) = (before, HealthChange::default());
            for (second, success) in (1..).zip(outcomes) {
                let (outcome, at) =
                    (if success { Outcome::Accepted(200) } else { Outcome::Unanswered }, START + SignedDuration::seconds(second));
                (health, change) = (health.after(outcome, at).0, change.then(outcome, at));
            }
            prop_assert_eq!(change.apply(before), health);
        }

        /// The wait before a retry is within a fifth of the schedule's, and rises with the random number.
        #[test]
        fn waits_spread_by_a_fifth(attempt in 1u32..=8, random: [u8; 4], more: [u8; 4]) {
            let index = usize::try_from(attempt).unwrap() - 1;
            let planned = SCHEDULE[index].as_micros();
            let wait = wait_after(attempt, random).unwrap().as_micros();
            prop_assert!(wait * 5 >= planned * 4 && wait * 5 <= planned * 6);
            let longer = u32::from_le_bytes(random) <= u32::from_le_bytes(more);
            prop_assert_eq!(longer || wait >= wait_after(attempt, more).unwrap().as_micros(), true);
        }
    }
}
