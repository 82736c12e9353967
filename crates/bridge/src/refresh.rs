//! Refreshing a connection: how far it looks, what is kept of it, when it is due again (ruling 9.3).

use kalends_kernel::{SignedDuration, Span, Timestamp};

/// How long a claim on a connection lasts: longer than all requests of one refresh together may take.
pub const CLAIM_LASTS: SignedDuration = SignedDuration::minutes(5);

/// How long before its end an access token is renewed.
pub const RENEW_BEFORE: SignedDuration = SignedDuration::minutes(2);

/// The most busy times of one calendar that are kept, once those that overlap or touch are one.
pub const SPANS_MAX: usize = 10_000;

/// How long after a good refresh the next one is due (ruling 9.3).
const EVERY: SignedDuration = SignedDuration::minutes(5);
/// How long after one that failed at most: so that what is stale is not left so.
const AT_LATEST: SignedDuration = SignedDuration::minutes(40);
/// How far a refresh looks back and ahead, from the midnight (UTC) before it.
const DAYS_BACK: i64 = 1;
const DAYS_AHEAD: i64 = 184;
const DAY: i64 = SignedDuration::days(1).as_micros();

/// For which time a refresh at `now` asks: from a day back to half a year ahead, the same all day (UTC), so that busy
/// times that stay the same are seen to.
#[expect(clippy::expect_used, reason = "the edges are apart by a constant")]
pub fn window(now: Timestamp) -> Span {
    let midnight = now.as_micros().div_euclid(DAY) * DAY;
    let edge = |days: i64| Timestamp::from_micros(midnight.saturating_add(days * DAY));
    Span::new(edge(-DAYS_BACK), edge(DAYS_AHEAD)).expect("the edges are apart by a constant, far from the ends of time")
}

/// What is kept of a connection's refreshes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefreshState {
    /// When one last ended well.
    pub refreshed_at: Option<Timestamp>,
    /// What went wrong with the last one. For the human: it names no calendar.
    pub last_error: Option<String>,
    /// How many have failed since.
    pub failures: u32,
    /// Whether the provider lets us in no more, so that only the human can help.
    pub lapsed: bool,
}

/// How a refresh ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Everything was read.
    Good,
    /// All that is told was read. Something is not told, and ages by itself.
    Partly(String),
    /// Nothing was read, and may be another time.
    Failed(String),
    /// The provider lets us in no more.
    Lapsed(String),
}

impl RefreshState {
    /// The state after a refresh that ended at `now`.
    #[must_use]
    pub fn after(&self, ended: Ended, now: Timestamp) -> Self {
        let failed = |error, lapsed| Self {
            last_error: Some(error),
            failures: self.failures.saturating_add(1),
            lapsed,
            ..self.clone()
        };
        match ended {
            Ended::Good => Self { refreshed_at: Some(now), ..Self::default() },
            Ended::Partly(error) => Self { refreshed_at: Some(now), last_error: Some(error), ..Self::default() },
            Ended::Failed(error) => failed(error, false),
            Ended::Lapsed(error) => failed(error, true),
        }
    }

    /// The state of a connection that its human consented to again.
    pub(crate) fn reauthorized(&self) -> Self {
        Self { refreshed_at: self.refreshed_at, ..Self::default() }
    }
}

/// When the next refresh is due after one that ended at `now`; `None` where none will do any good. Every 5 minutes, and
/// after failures in a row 5 minutes times a power of two, 40 minutes at most; each up to a tenth sooner, so that
/// connections do not stay in step with each other. `random` decides how much.
pub fn next_due(state: &RefreshState, now: Timestamp, random: u32) -> Option<Timestamp> {
    if state.lapsed {
        return None;
    }
    let doubled = EVERY.as_micros().saturating_mul(1 << state.failures.saturating_sub(1).min(10));
    let wait = doubled.min(AT_LATEST.as_micros());
    let sooner = i128::from(random) * i128::from(wait / 10) / i128::from(u32::MAX);
    Some(now + SignedDuration::micros(wait - i64::try_from(sooner).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[rstest]
    #[case(0, 300)]
    #[case(1, 300)]
    #[case(2, 600)]
    #[case(4, 2400)]
    #[case(5, 2400)]
    #[case(u32::MAX, 2400)]
    fn waits(#[case] failures: u32, #[case] seconds: i64) {
        let state = RefreshState { failures, ..RefreshState::default() };
        let after = |random| (next_due(&state, NOW, random).unwrap() - NOW).as_seconds();
        assert_eq!((after(0), after(u32::MAX)), (seconds, seconds * 9 / 10));
    }

    #[test]
    fn what_has_lapsed_waits_for_its_human() {
        let state = RefreshState::default().after(Ended::Lapsed("gone".into()), NOW);
        assert_eq!(next_due(&state, NOW, 0), None);
        assert_eq!(next_due(&state.reauthorized(), NOW, 0), Some(NOW + EVERY));
    }

    #[test]
    fn what_is_not_told_slows_nothing_down() {
        let partly = RefreshState::default().after(Ended::Partly("one".into()), NOW);
        assert_eq!((partly.refreshed_at, partly.failures, partly.last_error.as_deref()), (Some(NOW), 0, Some("one")));
        assert_eq!(next_due(&partly, NOW, 0), Some(NOW + EVERY));
    }

    #[test]
    fn a_failure_keeps_when_it_was_good() {
        let good = RefreshState::default().after(Ended::Good, NOW);
        let failed =
            good.after(Ended::Failed("away".into()), NOW + EVERY).after(Ended::Failed("x".into()), NOW + EVERY);
        assert_eq!((failed.refreshed_at, failed.failures, failed.last_error.as_deref()), (Some(NOW), 2, Some("x")));
        assert_eq!(failed.after(Ended::Good, NOW + EVERY).failures, 0);
    }

    #[rstest]
    #[case("2026-03-02T00:00:00Z")]
    #[case("2026-03-02T23:59:59.999999Z")]
    fn the_window_stands_still_all_day(#[case] now: &str) {
        let window = window(now.parse().unwrap());
        assert_eq!(window.start().to_string(), "2026-03-01T00:00:00Z");
        assert_eq!(window.end().to_string(), "2026-09-02T00:00:00Z");
    }
}
