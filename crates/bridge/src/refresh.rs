//! Refreshes of connections: their window, the state that is kept, and when the next one is due.

use kalends_time::{SignedDuration, Span, Timestamp};

use crate::{CalendarProvider, ConnectionStatus};

/// How long the claim on a refresh lasts: longer than all requests of one refresh together may take.
pub const CLAIM_LASTS: SignedDuration = SignedDuration::minutes(5);

/// The maximum number of connections of one organization that are refreshed at the same time, so that accounts that
/// answer slowly do not hold up those of other organizations.
pub const REFRESHES_PER_ORG: u32 = 8;

/// How long before its expiry an access token is renewed. It is longer than the time between two refreshes, so that the
/// token of a connection that is refreshed as usual is always valid. Publishing uses it and does not renew it.
pub const RENEW_BEFORE: SignedDuration = SignedDuration::minutes(6);

/// The maximum number of busy times of one calendar that are kept, after those that overlap or touch are merged.
pub const SPANS_MAX: usize = 10_000;

/// The time from a successful refresh to the next one.
const EVERY: SignedDuration = SignedDuration::minutes(5);
/// The same for CalDAV, where one small request finds that nothing has changed.
const EVERY_CALDAV: SignedDuration = SignedDuration::minutes(2);
/// The longest time from a failed refresh to the next one, so that busy times do not stay stale for long.
const AT_LATEST: SignedDuration = SignedDuration::minutes(40);
/// The number of failed refreshes in a row after which the user should look at a connection: about four hours of
/// failures.
const FAILURES_UNTIL_ATTENTION: u32 = 10;
/// The days that a refresh looks back and ahead, from the last midnight (UTC).
const DAYS_BACK: i64 = 1;
const DAYS_AHEAD: i64 = 184;
const DAY: i64 = SignedDuration::days(1).as_micros();

/// The window of a refresh at `now`: from a day back to half a year ahead. It is the same for a whole day (UTC), so
/// that unchanged busy times are recognized as unchanged.
#[expect(clippy::expect_used, reason = "the edges are apart by a constant")]
pub fn window(now: Timestamp) -> Span {
    let midnight = now.as_micros().div_euclid(DAY) * DAY;
    let edge = |days: i64| Timestamp::from_micros(midnight.saturating_add(days * DAY));
    Span::new(edge(-DAYS_BACK), edge(DAYS_AHEAD)).expect("the edges are apart by a constant, far from the ends of time")
}

/// The stored state of a connection's refreshes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefreshState {
    /// When the last successful or partial refresh ended.
    pub refreshed_at: Option<Timestamp>,
    /// The error of the last refresh, to show to the user. It does not name a calendar.
    pub last_error: Option<String>,
    /// The number of refreshes that have failed in a row. A new consent resets it.
    pub failures: u32,
    /// Whether the provider no longer accepts the tokens, so that the user must consent again.
    pub lapsed: bool,
}

/// The result of a refresh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Everything was read.
    Good,
    /// Everything that the provider returned was read, but it did not return all calendars. The busy times of the
    /// others become stale.
    Partly(String),
    /// Nothing was read. A later refresh may succeed.
    Failed(String),
    /// The provider no longer accepts the tokens.
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

    /// Whether the user has to look at the connection: the provider no longer accepts the access, or refreshes have
    /// failed for hours.
    pub const fn needs_attention(&self) -> bool {
        self.lapsed || self.failures >= FAILURES_UNTIL_ATTENTION
    }

    /// Whether the end of a refresh that changed the state from `before` to this one made the connection need its user.
    pub const fn begins_to_need_attention(&self, before: &Self) -> bool {
        self.needs_attention() && !before.needs_attention()
    }

    /// The status of a connection with this state that is not paused.
    pub const fn status(&self) -> ConnectionStatus {
        if self.lapsed {
            ConnectionStatus::ReauthorizationRequired
        } else if self.last_error.is_some() {
            ConnectionStatus::Error
        } else {
            ConnectionStatus::Active
        }
    }

    /// The state after the user has consented again.
    pub(crate) fn reauthorized(&self) -> Self {
        Self { refreshed_at: self.refreshed_at, ..Self::default() }
    }
}

/// When the next refresh of an account at `provider` is due after one that ended at `now`; `None` if the connection has
/// lapsed. The wait is 5 minutes after a success or a first failure, and 2 minutes for CalDAV. It doubles with each
/// further failure in a row, up to 40 minutes. It is shortened by up to a tenth, as `random` decides, so that
/// connections do not stay in step with each other.
pub fn next_due(provider: CalendarProvider, state: &RefreshState, now: Timestamp, random: u32) -> Option<Timestamp> {
    if state.lapsed {
        return None;
    }
    let every = match provider {
        CalendarProvider::Caldav => EVERY_CALDAV,
        CalendarProvider::Google | CalendarProvider::Microsoft | CalendarProvider::Example => EVERY,
    };
    let doubled = every.as_micros().saturating_mul(1 << state.failures.saturating_sub(1).min(10));
    let wait = doubled.min(AT_LATEST.as_micros());
    let sooner = i128::from(random) * i128::from(wait / 10) / i128::from(u32::MAX);
    Some(now + SignedDuration::micros(wait - i64::try_from(sooner).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    const GOOGLE: CalendarProvider = CalendarProvider::Google;

    #[rstest]
    #[case(0, 300, 120)]
    #[case(1, 300, 120)]
    #[case(2, 600, 240)]
    #[case(4, 2400, 960)]
    #[case(5, 2400, 1920)]
    #[case(6, 2400, 2400)]
    #[case(u32::MAX, 2400, 2400)]
    fn the_wait_doubles_with_each_failure(#[case] failures: u32, #[case] seconds: i64, #[case] caldav: i64) {
        let state = RefreshState { failures, ..RefreshState::default() };
        for provider in CalendarProvider::ALL {
            let seconds = if provider == CalendarProvider::Caldav { caldav } else { seconds };
            let after = |random| (next_due(provider, &state, NOW, random).unwrap() - NOW).as_seconds();
            assert_eq!((after(0), after(u32::MAX)), (seconds, seconds * 9 / 10), "{provider:?}");
        }
    }

    #[rstest]
    #[case(9, false)]
    #[case(10, true)]
    fn ten_failures_in_a_row_need_attention(#[case] failures: u32, #[case] needs: bool) {
        let failed = |state: RefreshState, _| state.after(Ended::Failed("away".into()), NOW);
        let state = (0..failures).fold(RefreshState::default(), failed);
        assert_eq!(state.needs_attention(), needs);
        assert!(!state.after(Ended::Partly("some".into()), NOW).needs_attention());
        let lapsed = state.after(Ended::Lapsed("gone".into()), NOW);
        assert!(lapsed.needs_attention() && !lapsed.reauthorized().needs_attention());
        assert_eq!(lapsed.begins_to_need_attention(&state), !needs, "the user already knows after ten failures");
    }

    #[test]
    fn a_lapsed_connection_is_not_due_until_reauthorized() {
        let state = RefreshState::default().after(Ended::Lapsed("gone".into()), NOW);
        assert_eq!(next_due(GOOGLE, &state, NOW, 0), None);
        assert_eq!(next_due(GOOGLE, &state.reauthorized(), NOW, 0), Some(NOW + EVERY));
    }

    #[test]
    fn a_partial_refresh_does_not_delay_the_next() {
        let partly = RefreshState::default().after(Ended::Partly("one".into()), NOW);
        assert_eq!((partly.refreshed_at, partly.failures, partly.last_error.as_deref()), (Some(NOW), 0, Some("one")));
        assert_eq!(next_due(GOOGLE, &partly, NOW, 0), Some(NOW + EVERY));
    }

    #[test]
    fn a_failure_keeps_the_time_of_the_last_success() {
        let good = RefreshState::default().after(Ended::Good, NOW);
        let failed =
            good.after(Ended::Failed("away".into()), NOW + EVERY).after(Ended::Failed("x".into()), NOW + EVERY);
        assert_eq!((failed.refreshed_at, failed.failures, failed.last_error.as_deref()), (Some(NOW), 2, Some("x")));
        assert_eq!(failed.after(Ended::Good, NOW + EVERY).failures, 0);
    }

    #[rstest]
    #[case("2026-03-02T00:00:00Z")]
    #[case("2026-03-02T23:59:59.999999Z")]
    fn the_window_is_the_same_all_day(#[case] now: &str) {
        let window = window(now.parse().unwrap());
        assert_eq!(window.start().to_string(), "2026-03-01T00:00:00Z");
        assert_eq!(window.end().to_string(), "2026-09-02T00:00:00Z");
    }
}
