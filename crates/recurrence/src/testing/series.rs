//! Lengths, series and windows.

#![expect(clippy::unwrap_used, reason = "what is drawn is valid by construction, and a failed draw must fail the test")]

use kalends_time::{SignedDuration, Span};
use proptest::prelude::*;

use crate::{Length, Series};

/// The length of an hour.
pub fn hour() -> Length {
    Length::elapsed(SignedDuration::hours(1)).unwrap()
}

/// A length: up to 30 hours or 40 days that elapse, or 1 to 20 whole days.
pub fn length() -> impl Strategy<Value = Length> {
    let elapsed = prop_oneof![1..=30 * 3_600i64, 1..=40 * 86_400i64];
    prop_oneof![
        elapsed.prop_map(|seconds| Length::elapsed(SignedDuration::seconds(seconds)).unwrap()),
        (1..=20u16).prop_map(|days| Length::days(days).unwrap()),
    ]
}

/// A window relative to the first start of a series: the days to it (negative if before), and its length in seconds. Use
/// [`placed`] to get the span.
pub fn window() -> impl Strategy<Value = (i64, i64)> {
    (prop_oneof![-60..800i64, 0..15_000i64], 1..500 * 86_400i64)
}

/// The span of a [`window`] of a series.
pub fn placed(series: &Series, (days, seconds): (i64, i64)) -> Span {
    let from = series.first_start() + SignedDuration::days(days) + SignedDuration::seconds(seconds % 86_400);
    Span::new(from, from + SignedDuration::seconds(seconds)).unwrap()
}
