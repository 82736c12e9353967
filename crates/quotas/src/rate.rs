//! Limits on speed: the generic cell rate algorithm, as a state transition.
//!
//! The state of one key is one number, which fits in an atomic integer or a column. A limiter keeps one [`RateState`]
//! per key, calls [`Rate::decide`], and stores the returned state. A compare-and-swap loop suffices, because the
//! decision is pure. A refusal changes nothing.
//!
//! States are nanoseconds in 64 bits. Times before 1677 or after 2262 do not fit: they count as the nearest time that
//! does, and no request after 2262 is refused.

use kalends_time::{SignedDuration, Timestamp};

const NANOS_A_MICRO: i64 = 1_000;
const NANOS_A_SECOND: i64 = 1_000_000_000;

/// A number of requests per window of time, all of which may come at once.
///
/// ```
/// use kalends_quotas::{Rate, RateDecision, RateState};
/// use kalends_time::{SignedDuration, Timestamp};
///
/// let rate = Rate::new(2, 10);
/// let now: Timestamp = "2027-03-15T12:00:00Z".parse()?;
/// let RateDecision::Admitted { state, remaining: 1 } = rate.decide(RateState::FRESH, now) else {
///     return Err("a new caller is admitted".into());
/// };
/// let RateDecision::Admitted { state, remaining: 0 } = rate.decide(state, now) else {
///     return Err("two may come at once".into());
/// };
/// assert_eq!(rate.decide(state, now), RateDecision::Refused { retry_after: SignedDuration::seconds(5) });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count: u32,
    seconds: u32,
    /// Nanoseconds per request, rounded up so that the limit is never exceeded. The rounding loses at most a
    /// thousandth, and nothing at a million requests per second.
    interval: i64,
}

/// The time at which a key has regained its full burst, in nanoseconds since the epoch.
///
/// Microseconds would be too coarse: at high rates, the interval per request is not a whole number of them.
///
/// ```
/// use kalends_quotas::{Rate, RateDecision, RateState};
///
/// let now = "2027-03-15T12:00:00Z".parse()?;
/// let RateDecision::Admitted { state, .. } = Rate::per_second(10).decide(RateState::FRESH, now) else {
///     return Err("a new caller is admitted".into());
/// };
/// let stored: i64 = state.as_i64();
/// assert_eq!(RateState::from_i64(stored), state);
/// assert!(!state.is_idle(now) && RateState::FRESH.is_idle(now));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RateState(i64);

/// The decision about one request. [`Rate`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateDecision {
    /// The request may pass.
    Admitted {
        /// The new state of the key.
        state: RateState,
        /// The number of further requests that could pass at the same time.
        remaining: u32,
    },
    /// The request may not pass. The state is unchanged.
    Refused {
        /// The time until a request can pass, rounded up to the microsecond.
        retry_after: SignedDuration,
    },
}

impl RateState {
    /// The state of a key that has not been seen.
    pub const FRESH: Self = Self(i64::MIN);

    /// The state from the number that a store or an atomic integer kept. Any number is a state. [`RateState`] has an
    /// example.
    pub const fn from_i64(state: i64) -> Self {
        Self(state)
    }

    /// The state as a number for a store or an atomic integer.
    pub const fn as_i64(self) -> i64 {
        self.0
    }

    /// Whether the state is equivalent to [`Self::FRESH`], so that it may be forgotten. [`RateState`] has an example.
    pub const fn is_idle(self, now: Timestamp) -> bool {
        self.0 <= nanos(now)
    }
}

impl Rate {
    /// A number of requests in a number of seconds. Zero counts as one, because a limit that admits nothing is not a
    /// rate. [`Rate`] has an example.
    pub const fn new(count: u32, seconds: u32) -> Self {
        let count = if count == 0 { 1 } else { count };
        let seconds = if seconds == 0 { 1 } else { seconds };
        let window = seconds as i64 * NANOS_A_SECOND;
        let each = count as i64;
        Self { count, seconds, interval: (window + each - 1) / each }
    }

    /// A number of requests per second.
    ///
    /// ```
    /// # use kalends_quotas::Rate;
    /// assert_eq!(Rate::per_second(10), Rate::new(10, 1));
    /// assert_eq!(Rate::per_second(0), Rate::per_second(1));
    /// ```
    pub const fn per_second(count: u32) -> Self {
        Self::new(count, 1)
    }

    /// A number of requests per minute.
    ///
    /// ```
    /// # use kalends_quotas::Rate;
    /// assert_eq!(Rate::per_minute(10), Rate::new(10, 60));
    /// ```
    pub const fn per_minute(count: u32) -> Self {
        Self::new(count, 60)
    }

    /// A number of requests per hour.
    ///
    /// ```
    /// # use kalends_quotas::Rate;
    /// assert_eq!(Rate::per_hour(10), Rate::new(10, 3_600));
    /// ```
    pub const fn per_hour(count: u32) -> Self {
        Self::new(count, 3_600)
    }

    /// The number of requests that may come at once, which is that of one window.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// The window in seconds.
    pub const fn seconds(self) -> u32 {
        self.seconds
    }

    /// Whether a request at `now` may pass. [`Rate`] has an example.
    ///
    /// If the state is more than two windows ahead of `now`, the clock was set back. The key is then treated as fresh,
    /// because one more burst is better than hours of refusals.
    pub const fn decide(self, state: RateState, now: Timestamp) -> RateDecision {
        let now = nanos(now);
        // At most 2^32 seconds and 2^32 nanoseconds, which fits.
        let burst = self.interval.saturating_mul(self.count as i64);
        // A state is at most one burst ahead of the request that created it. So it is at most two bursts ahead of a
        // request that arrived up to a window earlier and is decided later.
        let set_back = state.0 > now.saturating_add(burst.saturating_mul(2));
        let busy_until = if set_back || state.0 < now { now } else { state.0 };
        let next = busy_until.saturating_add(self.interval);
        let room = burst.saturating_sub(next.saturating_sub(now));
        if room >= 0 {
            // The quotient is at most the count, because the room is at most the burst.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to count, which is a u32")]
            let remaining = (room / self.interval) as u32;
            RateDecision::Admitted { state: RateState(next), remaining }
        } else {
            let wait = room.saturating_neg().saturating_add(NANOS_A_MICRO - 1) / NANOS_A_MICRO;
            RateDecision::Refused { retry_after: SignedDuration::micros(wait) }
        }
    }

    /// The state after taking back one admitted request, as if it had never come.
    ///
    /// ```
    /// use kalends_quotas::{Rate, RateDecision, RateState};
    ///
    /// let (rate, now) = (Rate::per_minute(1), "2027-03-15T12:00:00Z".parse()?);
    /// let RateDecision::Admitted { state, .. } = rate.decide(RateState::FRESH, now) else {
    ///     return Err("a new caller is admitted".into());
    /// };
    /// assert!(matches!(rate.decide(state, now), RateDecision::Refused { .. }));
    /// assert!(matches!(rate.decide(rate.give_back(state), now), RateDecision::Admitted { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn give_back(self, state: RateState) -> RateState {
        RateState(state.0.saturating_sub(self.interval))
    }
}

/// A wait as `Retry-After` shows it (RFC 9110): whole seconds, rounded up, at least one.
///
/// ```
/// use kalends_quotas::retry_after_seconds;
/// use kalends_time::SignedDuration;
///
/// assert_eq!(retry_after_seconds(SignedDuration::micros(1_000_001)), 2);
/// assert_eq!(retry_after_seconds(SignedDuration::ZERO), 1);
/// ```
pub fn retry_after_seconds(wait: SignedDuration) -> i64 {
    wait.as_micros().saturating_add(999_999).div_euclid(1_000_000).max(1)
}

const fn nanos(at: Timestamp) -> i64 {
    at.as_micros().saturating_mul(NANOS_A_MICRO)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn admit(rate: Rate, state: &mut RateState, now: Timestamp) -> bool {
        match rate.decide(*state, now) {
            RateDecision::Admitted { state: next, .. } => {
                *state = next;
                true
            }
            RateDecision::Refused { .. } => false,
        }
    }

    /// A bucket of `count` tokens that refills evenly. Levels are in nanoseconds of refill.
    struct Bucket {
        level: i64,
        at: Timestamp,
    }

    impl Bucket {
        fn admit(&mut self, rate: Rate, now: Timestamp) -> bool {
            let full = rate.interval * i64::from(rate.count);
            self.level = (self.level + (now - self.at).as_micros() * NANOS_A_MICRO).min(full);
            self.at = now;
            let admitted = self.level >= rate.interval;
            if admitted {
                self.level -= rate.interval;
            }
            admitted
        }
    }

    #[rstest]
    #[case::free(Rate::per_second(10), 10, SignedDuration::micros(100_000))]
    #[case::pro(Rate::per_second(50), 50, SignedDuration::micros(20_000))]
    #[case::thirds(Rate::per_second(3), 3, SignedDuration::micros(333_334))]
    #[case::one(Rate::per_second(1), 1, SignedDuration::seconds(1))]
    #[case::a_minute(Rate::per_minute(5), 5, SignedDuration::seconds(12))]
    #[case::an_hour(Rate::per_hour(10), 10, SignedDuration::minutes(6))]
    #[case::nothing_is_one(Rate::per_second(0), 1, SignedDuration::seconds(1))]
    fn a_burst_passes_and_then_one_request_per_interval(
        #[case] rate: Rate,
        #[case] burst: u32,
        #[case] interval: SignedDuration,
    ) {
        let mut state = RateState::FRESH;
        for left in (0..burst).rev() {
            let RateDecision::Admitted { state: next, remaining } = rate.decide(state, START) else {
                panic!("{left} were left");
            };
            assert_eq!(remaining, left);
            state = next;
        }
        assert_eq!(rate.decide(state, START), RateDecision::Refused { retry_after: interval });
        assert!(!admit(rate, &mut state, START + interval - SignedDuration::micros(1)));
        assert!(admit(rate, &mut state, START + interval));
    }

    #[test]
    fn a_clock_set_back_locks_no_key_out() {
        let rate = Rate::per_second(1);
        let mut state = RateState::FRESH;
        assert!(admit(rate, &mut state, START));
        assert!(!admit(rate, &mut state, START - SignedDuration::micros(0)), "the same instant");
        assert!(admit(rate, &mut state, START - SignedDuration::hours(5)), "a fresh key");
        assert!(!admit(rate, &mut state, START - SignedDuration::hours(5)));
    }

    #[test]
    fn a_request_that_arrived_before_a_burst_and_is_decided_after_it_makes_no_room() {
        let rate = Rate::per_second(10);
        let mut state = RateState::FRESH;
        assert!((0..10).all(|_| admit(rate, &mut state, START)));
        for earlier in [1, 1_000, 999_999, 1_000_000] {
            assert!(!admit(rate, &mut state, START - SignedDuration::micros(earlier)), "{earlier} us before");
        }
        assert!(!admit(rate, &mut state, START));
    }

    #[test]
    fn an_idle_state_may_be_forgotten() {
        let rate = Rate::per_second(10);
        let RateDecision::Admitted { state, .. } = rate.decide(RateState::FRESH, START) else { panic!("fresh") };
        assert!(!state.is_idle(START + SignedDuration::micros(99_999)));
        assert!(state.is_idle(START + SignedDuration::micros(100_000)) && RateState::FRESH.is_idle(START));
        let later = START + SignedDuration::micros(100_000);
        assert_eq!(rate.decide(state, later), rate.decide(RateState::FRESH, later));
        assert_eq!(RateState::from_i64(state.as_i64()), state);
    }

    #[rstest]
    #[case(SignedDuration::ZERO, 1)]
    #[case(SignedDuration::micros(1), 1)]
    #[case(SignedDuration::seconds(1), 1)]
    #[case(SignedDuration::micros(1_000_001), 2)]
    #[case(SignedDuration::seconds(-5), 1)]
    fn waits_are_rounded_up(#[case] wait: SignedDuration, #[case] seconds: i64) {
        assert_eq!(retry_after_seconds(wait), seconds);
    }

    fn any_i64() -> impl Strategy<Value = i64> {
        prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0), Just(1_800_000_000_000_000), any::<i64>()]
    }

    fn any_u32() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), Just(1), Just(u32::MAX), any::<u32>()]
    }

    fn rates() -> impl Strategy<Value = Rate> {
        let count = prop_oneof![1u32..100, 1u32..=1_000_000];
        (count, prop_oneof![Just(1u32), Just(60), Just(3_600)]).prop_map(|(count, seconds)| Rate::new(count, seconds))
    }

    /// Time steps that suit the rate: shorter and longer than an interval and a window.
    fn calls() -> impl Strategy<Value = (Rate, Vec<i64>)> {
        rates().prop_flat_map(|rate| {
            let interval = rate.interval / NANOS_A_MICRO;
            let step = prop_oneof![
                6 => Just(0i64),
                4 => 0..=interval.max(1),
                2 => 0..=interval * 3 + 1,
                1 => 0..=i64::from(rate.seconds) * 2_000_000,
            ];
            (Just(rate), prop::collection::vec(step, 1..200))
        })
    }

    proptest! {
        /// No rate, state or time makes a decision panic, and a new caller is always admitted.
        #[test]
        fn no_argument_makes_a_rate_panic(
            (count, seconds) in (any_u32(), any_u32()), state in any_i64(), micros in any_i64(),
        ) {
            let (rate, state, now) = (Rate::new(count, seconds), RateState(state), Timestamp::from_micros(micros));
            prop_assert!(rate.count() >= 1 && rate.seconds() >= 1);
            match rate.decide(state, now) {
                RateDecision::Admitted { remaining, .. } => prop_assert!(remaining <= rate.count()),
                RateDecision::Refused { retry_after } => {
                    prop_assert!(retry_after > SignedDuration::ZERO);
                    retry_after_seconds(retry_after);
                }
            }
            let fresh = rate.decide(RateState::FRESH, now);
            prop_assert!(matches!(fresh, RateDecision::Admitted { .. }), "a new caller is admitted");
            let _ = (state.is_idle(now), rate.give_back(state), retry_after_seconds(SignedDuration::micros(micros)));
        }

        /// A rate admits and refuses exactly as a token bucket does.
        #[test]
        fn agrees_with_a_token_bucket((rate, steps) in calls()) {
            let mut state = RateState::FRESH;
            let mut bucket = Bucket { level: rate.interval * i64::from(rate.count), at: START };
            let mut now = START;
            for step in steps {
                now = now + SignedDuration::micros(step);
                let before = state;
                let expected = bucket.admit(rate, now);
                match rate.decide(state, now) {
                    RateDecision::Admitted { state: next, remaining } => {
                        prop_assert!(expected);
                        prop_assert_eq!(i64::from(remaining), bucket.level / rate.interval);
                        state = next;
                    }
                    RateDecision::Refused { retry_after } => {
                        prop_assert!(!expected);
                        prop_assert!(retry_after > SignedDuration::ZERO);
                        // A request passes exactly then, and not a microsecond before.
                        let early = now + retry_after - SignedDuration::micros(1);
                        let refused = matches!(rate.decide(before, early), RateDecision::Refused { .. });
                        let admitted = matches!(rate.decide(before, now + retry_after), RateDecision::Admitted { .. });
                        prop_assert!(refused && admitted);
                    }
                }
            }
        }

        /// A request that is given back late lets at most one more request pass.
        ///
        /// Other requests are admitted between a request and its return.
        #[test]
        fn a_request_given_back_late_is_granted_at_most_once_more(
            (rate, steps) in calls(),
            back in prop::collection::vec(any::<bool>(), 200),
        ) {
            let (mut state, mut now, mut passed, mut held) = (RateState::FRESH, START, 0i128, 0);
            for (step, back) in steps.into_iter().zip(back) {
                now = now + SignedDuration::micros(step);
                if back && held > 0 {
                    state = rate.give_back(state);
                    held -= 1;
                    passed -= 1;
                }
                if admit(rate, &mut state, now) {
                    held += 1;
                    passed += 1;
                }
                let window = i128::from(rate.seconds) * 1_000_000;
                let granted = i128::from(rate.count) * (window + i128::from((now - START).as_micros()));
                prop_assert!(passed * window <= granted);
            }
        }

        /// A request that is given back at once does not change the next decision.
        #[test]
        fn a_request_given_back_at_once_changes_no_later_decision((rate, steps) in calls()) {
            let (mut state, mut now) = (RateState::FRESH, START);
            for (number, step) in steps.into_iter().enumerate() {
                now = now + SignedDuration::micros(step);
                let RateDecision::Admitted { state: next, .. } = rate.decide(state, now) else { continue };
                let returned = rate.give_back(next);
                prop_assert_eq!(rate.decide(returned, now), rate.decide(state, now));
                state = if number % 3 == 0 { returned } else { next };
            }
        }

        /// No more requests pass than the rate grants in the elapsed time.
        #[test]
        fn no_more_pass_than_the_rate_grants((rate, steps) in calls()) {
            let (mut state, mut now, mut passed) = (RateState::FRESH, START, 0i128);
            for step in steps {
                now = now + SignedDuration::micros(step);
                passed += i128::from(admit(rate, &mut state, now));
                let window = i128::from(rate.seconds) * 1_000_000;
                let granted = i128::from(rate.count) * (window + i128::from((now - START).as_micros()));
                prop_assert!(passed * window <= granted);
            }
        }
    }
}
