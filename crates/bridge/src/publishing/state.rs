//! The results of attempts to publish, and when the next one is due.

use std::time::Duration;

use kalends_time::{SignedDuration, Timestamp};

/// The time from a first failed attempt to the next one.
const FIRST_WAIT: SignedDuration = SignedDuration::seconds(15);
/// The longest time from a failed attempt to the next one.
const LONGEST_WAIT: SignedDuration = SignedDuration::minutes(15);
/// The longest time after midnight (UTC) at which an attempt without a change is due.
const SPREAD: SignedDuration = SignedDuration::hours(1);
const DAY: i64 = SignedDuration::days(1).as_micros();

/// The error while the connection is asked for a new access token.
const WAITS_FOR_TOKEN: &str = "copying waits until access to the account has been renewed";
/// The error of an attempt that the provider ended without a time for the next one.
const THROTTLED: &str = "the provider accepts no more requests at the moment; copying goes on later";

/// The stored results of attempts to publish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishState {
    /// When everything that was due had last been published.
    pub published_at: Option<Timestamp>,
    /// The error of the last attempt, to show to the user: a fragment that begins in lower case. It names no event and
    /// no calendar.
    pub last_error: Option<String>,
    /// The number of attempts that have failed in a row.
    pub failures: u32,
}

/// The result of an attempt to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishOutcome {
    /// Everything was published.
    Done,
    /// Everything was published but events that the provider refuses, with this error to show to the user. They are
    /// sent again when they change, and once a day.
    Partly(String),
    /// The provider wants a pause, and said how long. What was done before it counts. This is no failure: a calendar
    /// with many events may need several attempts. Its time is [`throttled_until`].
    Paused,
    /// The provider wants a pause, and did not say how long.
    Throttled,
    /// The access token is no longer valid, and a refresh of the connection has to renew it. This is a failure only if
    /// the attempt before ended in the same way.
    WaitsForToken,
    /// The attempt failed, with this error to show to the user. A later one may succeed.
    Failed(String),
}

impl PublishState {
    /// The state after an attempt that ended at `now`.
    #[must_use]
    pub fn after(&self, outcome: PublishOutcome, now: Timestamp) -> Self {
        let failed =
            |error: String| Self { last_error: Some(error), failures: self.failures.saturating_add(1), ..self.clone() };
        match outcome {
            PublishOutcome::Done => Self { published_at: Some(now), ..Self::default() },
            PublishOutcome::Partly(error) => {
                Self { published_at: Some(now), last_error: Some(error), ..Self::default() }
            }
            PublishOutcome::Paused => self.clone(),
            PublishOutcome::Throttled => failed(THROTTLED.to_owned()),
            PublishOutcome::WaitsForToken if self.failures == 0 && !self.waits_for_token() => {
                Self { last_error: Some(WAITS_FOR_TOKEN.to_owned()), ..self.clone() }
            }
            PublishOutcome::WaitsForToken => failed(WAITS_FOR_TOKEN.to_owned()),
            PublishOutcome::Failed(error) => failed(error),
        }
    }

    /// Whether the last attempt ended because the access token was no longer valid.
    fn waits_for_token(&self) -> bool {
        self.last_error.as_deref() == Some(WAITS_FOR_TOKEN)
    }
}

/// When the next attempt is due after one that ended at `now`, if nothing on the calendar changes before.
///
/// After a success that is the next midnight (UTC) and up to an hour, as `random` decides, because the window of
/// publishing moves at midnight. After a failure it is 15 seconds, twice as long after each further failure in a row,
/// and at most 15 minutes. It is shortened by up to a tenth, as `random` decides.
pub fn next_publication(state: &PublishState, now: Timestamp, random: u32) -> Timestamp {
    let part = |most: i64| i64::try_from(i128::from(random) * i128::from(most) / i128::from(u32::MAX)).unwrap_or(0);
    if state.failures == 0 && !state.waits_for_token() {
        let midnight = now.as_micros().div_euclid(DAY).saturating_add(1).saturating_mul(DAY);
        return Timestamp::from_micros(midnight) + SignedDuration::micros(part(SPREAD.as_micros()));
    }
    let doubled = FIRST_WAIT.as_micros().saturating_mul(1 << state.failures.saturating_sub(1).min(10));
    let wait = doubled.min(LONGEST_WAIT.as_micros());
    now + SignedDuration::micros(wait - part(wait / 10))
}

/// When the next attempt is due after one that ended at `now` because the provider wants a pause of `after`: at least a
/// second and at most 15 minutes.
pub fn throttled_until(now: Timestamp, after: Duration) -> Timestamp {
    let micros = i64::try_from(after.as_micros()).unwrap_or(i64::MAX);
    let wait = micros.clamp(SignedDuration::seconds(1).as_micros(), LONGEST_WAIT.as_micros());
    now + SignedDuration::micros(wait)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn failed(failures: u32) -> PublishState {
        PublishState { failures, last_error: Some("away".into()), ..PublishState::default() }
    }

    #[rstest]
    #[case(1, 15)]
    #[case(2, 30)]
    #[case(6, 480)]
    #[case(7, 900)]
    #[case(u32::MAX, 900)]
    fn the_wait_doubles_with_each_failure(#[case] failures: u32, #[case] seconds: i64) {
        let wait = |random| next_publication(&failed(failures), NOW, random) - NOW;
        let longest = SignedDuration::seconds(seconds);
        assert_eq!((wait(0), wait(u32::MAX)), (longest, SignedDuration::micros(longest.as_micros() * 9 / 10)));
    }

    #[rstest]
    #[case("2026-03-02T00:00:00Z")]
    #[case("2026-03-02T23:59:59.999999Z")]
    fn a_success_is_due_again_after_midnight(#[case] now: &str) {
        let now = now.parse().unwrap();
        let state = failed(3).after(PublishOutcome::Done, now);
        assert_eq!(state, PublishState { published_at: Some(now), ..PublishState::default() });
        assert_eq!(next_publication(&state, now, 0).to_string(), "2026-03-03T00:00:00Z");
        assert_eq!(next_publication(&state, now, u32::MAX).to_string(), "2026-03-03T01:00:00Z");
    }

    #[test]
    fn refused_events_are_no_failure() {
        let state = failed(3).after(PublishOutcome::Partly("some".into()), NOW);
        assert_eq!((state.failures, state.published_at, state.last_error.as_deref()), (0, Some(NOW), Some("some")));
        assert!(next_publication(&state, NOW, 0) > NOW + LONGEST_WAIT);
    }

    #[test]
    fn waiting_for_a_token_is_a_failure_from_the_second_time() {
        let first = PublishState::default().after(PublishOutcome::WaitsForToken, NOW);
        assert_eq!((first.failures, next_publication(&first, NOW, 0)), (0, NOW + FIRST_WAIT));
        let second = first.after(PublishOutcome::WaitsForToken, NOW);
        assert_eq!((second.failures, next_publication(&second, NOW, 0)), (1, NOW + FIRST_WAIT));
        let third = second.after(PublishOutcome::WaitsForToken, NOW);
        assert_eq!(next_publication(&third, NOW, 0), NOW + SignedDuration::seconds(30));
        assert_eq!(third.after(PublishOutcome::Done, NOW).last_error, None);
    }

    /// They are fragments, which pages show as sentences, and have the word of the pages.
    #[test]
    fn errors_are_fragments_about_copying() {
        for outcome in [PublishOutcome::WaitsForToken, PublishOutcome::Throttled] {
            let error = PublishState::default().after(outcome, NOW).last_error.unwrap();
            assert!(error.starts_with(char::is_lowercase) && error.ends_with(char::is_alphabetic), "{error}");
            assert!(error.contains("copying") && !error.contains("publish"), "{error}");
        }
    }

    #[rstest]
    #[case(0, 1)]
    #[case(30, 30)]
    #[case(u64::MAX, 900)]
    fn a_pause_is_bounded(#[case] after: u64, #[case] seconds: i64) {
        assert_eq!(throttled_until(NOW, Duration::from_secs(after)), NOW + SignedDuration::seconds(seconds));
        let published = PublishState::default().after(PublishOutcome::Done, NOW);
        assert_eq!(published.after(PublishOutcome::Paused, NOW + FIRST_WAIT), published);
        assert_eq!(published.after(PublishOutcome::Throttled, NOW).failures, 1);
    }

    proptest! {
        /// A failed attempt to publish is repeated after 13 seconds to 15 minutes, and not sooner after more failures.
        #[test]
        fn a_failed_attempt_is_repeated_in_time(failures in 1..u32::MAX, random: u32) {
            let wait = next_publication(&failed(failures), NOW, random) - NOW;
            prop_assert!(wait >= SignedDuration::seconds(13) && wait <= LONGEST_WAIT, "{:?}", wait);
            prop_assert!(next_publication(&failed(failures + 1), NOW, random) - NOW >= wait);
        }
    }
}
