//! Limits on how fast: the generic cell rate algorithm, as a state transition.
//!
//! The whole state of one key is one number, so that it fits an atomic integer or a column. A limiter
//! keeps one [`RateState`] a key, asks [`Rate::decide`], and stores the state that it gets (a
//! compare-and-swap loop suffices, since the decision is pure). What is refused changes nothing.

use kalends_kernel::{SignedDuration, Timestamp};

const NANOS_A_MICRO: i64 = 1_000;
const NANOS_A_SECOND: i64 = 1_000_000_000;

/// So many requests in so much time, all of which may come at once (ruling 2.9: a burst of one second
/// for keys; a minute for limits by IP).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count: u32,
    seconds: u32,
    /// Nanoseconds that one request takes up: rounded up, so that the limit is never passed. At most a
    /// thousandth is lost, at a million requests a second nothing.
    interval: i64,
}

/// How often a wrong password may be tried for one account, over all addresses from which it is tried.
///
/// A guesser who has many addresses gets past every limit by address; this one holds for the account.
pub const SIGN_IN_FAILURES: Rate = Rate::per_minute(10);

/// When a key has made up for everything that it was admitted: nanoseconds since the epoch.
///
/// Nanoseconds, because at high rates one request takes up no whole number of microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RateState(i64);

/// What becomes of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateDecision {
    /// It may pass.
    Admitted {
        /// The key's state from now on.
        state: RateState,
        /// How many more requests could pass at this very instant.
        remaining: u32,
    },
    /// It may not; the state stays what it was.
    Refused {
        /// After how long one request could pass, rounded up to the microsecond.
        retry_after: SignedDuration,
    },
}

impl RateState {
    /// The state of a key that has not been seen yet.
    pub const FRESH: Self = Self(i64::MIN);

    /// The state as a store or an atomic kept it.
    pub const fn from_i64(state: i64) -> Self {
        Self(state)
    }

    /// The state as a store or an atomic keeps it.
    pub const fn as_i64(self) -> i64 {
        self.0
    }

    /// Whether the state says no more than [`Self::FRESH`] does, so that it may be forgotten.
    pub const fn is_idle(self, now: Timestamp) -> bool {
        self.0 <= nanos(now)
    }
}

impl Rate {
    /// So many requests in so many seconds. Zero counts as one: a limit that admits nothing is a
    /// feature that is missing, not a rate.
    pub const fn new(count: u32, seconds: u32) -> Self {
        let count = if count == 0 { 1 } else { count };
        let seconds = if seconds == 0 { 1 } else { seconds };
        let window = seconds as i64 * NANOS_A_SECOND;
        let each = count as i64;
        Self { count, seconds, interval: (window + each - 1) / each }
    }

    /// So many requests in a second.
    pub const fn per_second(count: u32) -> Self {
        Self::new(count, 1)
    }

    /// So many requests in a minute.
    pub const fn per_minute(count: u32) -> Self {
        Self::new(count, 60)
    }

    /// So many requests in an hour.
    pub const fn per_hour(count: u32) -> Self {
        Self::new(count, 3_600)
    }

    /// How many requests may come at once: as many as in one window.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// The window in seconds.
    pub const fn seconds(self) -> u32 {
        self.seconds
    }

    /// Whether a request at `now` may pass.
    ///
    /// A clock that was set back behind the last request of the key by more than a window makes the key
    /// a fresh one: better one more burst than hours of refusals.
    pub const fn decide(self, state: RateState, now: Timestamp) -> RateDecision {
        let now = nanos(now);
        let burst = self.interval * self.count as i64;
        // A state is at most a burst ahead of the request that made it, and so at most two of what came a window
        // before that one and is decided after it.
        let set_back = state.0 > now.saturating_add(burst.saturating_mul(2));
        let busy_until = if set_back || state.0 < now { now } else { state.0 };
        let next = busy_until.saturating_add(self.interval);
        let room = burst - (next - now);
        if room >= 0 {
            // At most the count fits into the burst, so that the quotient fits.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to count, which is a u32")]
            let remaining = (room / self.interval) as u32;
            RateDecision::Admitted { state: RateState(next), remaining }
        } else {
            RateDecision::Refused { retry_after: SignedDuration::micros((-room + NANOS_A_MICRO - 1) / NANOS_A_MICRO) }
        }
    }

    /// The state after one admitted request is taken back, as if it had never come.
    #[must_use]
    pub const fn give_back(self, state: RateState) -> RateState {
        RateState(state.0.saturating_sub(self.interval))
    }
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

    /// A bucket of `count` tokens that refills evenly, in nanoseconds of refill.
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
    fn a_burst_passes_and_then_one_an_interval(
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
    fn a_clock_set_back_locks_nobody_out() {
        let rate = Rate::per_second(1);
        let mut state = RateState::FRESH;
        assert!(admit(rate, &mut state, START));
        assert!(!admit(rate, &mut state, START - SignedDuration::micros(0)), "the same instant");
        assert!(admit(rate, &mut state, START - SignedDuration::hours(5)), "a fresh key");
        assert!(!admit(rate, &mut state, START - SignedDuration::hours(5)));
    }

    #[test]
    fn what_arrived_before_a_burst_and_is_decided_after_it_makes_no_room() {
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

    fn rates() -> impl Strategy<Value = Rate> {
        let count = prop_oneof![1u32..100, 1u32..=1_000_000];
        (count, prop_oneof![Just(1u32), Just(60), Just(3_600)]).prop_map(|(count, seconds)| Rate::new(count, seconds))
    }

    /// Steps of time that fit the rate: shorter and longer than an interval and a window.
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
                        // Exactly then, and not a microsecond before, one request passes.
                        let early = now + retry_after - SignedDuration::micros(1);
                        let refused = matches!(rate.decide(before, early), RateDecision::Refused { .. });
                        let admitted = matches!(rate.decide(before, now + retry_after), RateDecision::Admitted { .. });
                        prop_assert!(refused && admitted);
                    }
                }
            }
        }

        /// Others are admitted between a request and its return.
        #[test]
        fn what_is_given_back_late_is_granted_once_more_at_most(
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

        #[test]
        fn what_is_given_back_at_once_changes_no_later_decision((rate, steps) in calls()) {
            let (mut state, mut now) = (RateState::FRESH, START);
            for (number, step) in steps.into_iter().enumerate() {
                now = now + SignedDuration::micros(step);
                let RateDecision::Admitted { state: next, .. } = rate.decide(state, now) else { continue };
                let returned = rate.give_back(next);
                prop_assert_eq!(rate.decide(returned, now), rate.decide(state, now));
                state = if number % 3 == 0 { returned } else { next };
            }
        }

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
