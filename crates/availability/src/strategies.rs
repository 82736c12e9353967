//! What the tests of this crate draw from: short spans on a grid of minutes, dense enough that they
//! overlap, nest and touch.

use kalends_kernel::{Elapsed, Instant, Span};
use proptest::prelude::*;

use crate::BusySet;

/// Drawn spans lie in the first so many minutes of the grid.
pub(crate) const MINUTES: i64 = 240;

/// 2026-03-01T00:00:00Z.
const MIDNIGHT: Instant = Instant::from_micros(1_772_323_200_000_000);

pub(crate) fn at(minute: i64) -> Instant {
    MIDNIGHT + Elapsed::minutes(minute)
}

pub(crate) fn minutes(start: i64, end: i64) -> Span {
    Span::new(at(start), at(end)).unwrap()
}

pub(crate) fn span() -> impl Strategy<Value = Span> {
    (0..MINUTES, 1..=60i64).prop_map(|(start, length)| minutes(start, (start + length).min(MINUTES)))
}

pub(crate) fn spans() -> impl Strategy<Value = Vec<Span>> {
    let drawn = prop::collection::vec(span(), 0..24);
    (drawn, any::<bool>()).prop_map(|(mut spans, sorted)| {
        if sorted {
            spans.sort();
        }
        spans
    })
}

pub(crate) fn busy_set() -> impl Strategy<Value = BusySet> {
    let short = (0..MINUTES, 1..=12i64).prop_map(|(start, length)| minutes(start, (start + length).min(MINUTES)));
    prop_oneof![prop::collection::vec(short, 0..24), spans()].prop_map(BusySet::from_unsorted)
}

/// For each minute of the grid whether it is busy, looked up without the algebra.
pub(crate) fn busy_minutes(busy: &BusySet) -> Vec<bool> {
    (0..MINUTES).map(|minute| busy.spans().iter().any(|span| span.contains(at(minute)))).collect()
}
