//! The free times nearest to a wanted one.

use std::borrow::Cow;

use kalends_time::{SignedDuration, Span, Timestamp};

use crate::BusySet;

/// Returns at most `count` free spans as long as `wanted`, nearest start first. If two are equally near,
/// the earlier comes first.
///
/// * All are inside `within` and share no instant with `busy`.
/// * Starts are on the grid `wanted.start() + k * step`, so that a caller who wanted 10:00 is offered
///   10:15 and not 10:07. If a gap between busy times is long enough but no grid start fits in it, one span
///   is offered at the nearer edge of the gap: an odd time is better than none. The limits of `within` count
///   as edges too. If `step` is not positive, the start of `wanted` is the only one on the grid.
/// * `wanted` itself comes first if it is free and inside `within`. If any instant of it is busy, no
///   offer overlaps it, so that no part of a refused time is offered again.
///
/// Takes *O*(log *n* + *k* + `count` log `count`) for *n* busy spans, of which *k* meet `within`.
///
/// ```
/// use kalends_availability::{BusySet, nearest_free};
/// use kalends_time::{SignedDuration, Timestamp, Span};
///
/// let minutes = |start, end| {
///     let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
///     Span::new(at(start), at(end))
/// };
/// let busy = BusySet::from_unsorted(vec![minutes(60, 100)?, minutes(150, 240)?]);
/// let found = nearest_free(&busy, minutes(60, 90)?, minutes(0, 300)?, SignedDuration::minutes(15), 3);
/// assert_eq!(found, [minutes(30, 60)?, minutes(15, 45)?, minutes(105, 135)?]);
/// # Ok::<(), kalends_time::SpanError>(())
/// ```
pub fn nearest_free(busy: &BusySet, wanted: Span, within: Span, step: SignedDuration, count: usize) -> Vec<Span> {
    let taken =
        if busy.overlaps(wanted) { Cow::Owned(busy.clip(within).union(&wanted.into())) } else { Cow::Borrowed(busy) };
    let grid = Grid { wanted, step };
    let gaps: Vec<Starts> = taken.gaps(within).filter_map(|gap| grid.starts(gap)).collect();

    let later = gaps.iter().flat_map(|starts| starts.at_or_after_anchor()).take(count);
    let earlier = gaps.iter().rev().flat_map(|starts| starts.before_anchor()).take(count);
    // Distances from the wanted start. The wanted start itself has the distance 0.
    let mut nearest: Vec<i128> = later.chain(earlier).collect();
    nearest.sort_unstable_by_key(|distance| (distance.abs(), *distance));
    nearest.truncate(count);
    nearest.into_iter().filter_map(|distance| grid.span(distance)).collect()
}

/// The starts of offers, as microseconds from the wanted start. `i128` holds the distance between any
/// two instants.
struct Grid {
    wanted: Span,
    step: SignedDuration,
}

/// In microseconds: more than the distance between any two instants.
const BEYOND_ALL: i128 = 1 << 65;

/// The starts of one gap: `first`, `first + step` and so on up to `last`.
struct Starts {
    first: i128,
    last: i128,
    step: i128,
}

impl Grid {
    /// The starts that fit into `gap`; `None` if it is too short.
    fn starts(&self, gap: Span) -> Option<Starts> {
        let (first, last) = (self.distance(gap.start()), self.distance(gap.end()) - self.length());
        if last < first {
            return None;
        }
        let step = if self.step > SignedDuration::ZERO { i128::from(self.step.as_micros()) } else { BEYOND_ALL };
        // The first start is rounded up to the grid, the last one down.
        let (on_grid, last_on_grid) = (-(-first).div_euclid(step) * step, last.div_euclid(step) * step);
        if on_grid <= last_on_grid {
            return Some(Starts { first: on_grid, last: last_on_grid, step });
        }
        // If both edges are equally near, take the earlier.
        let edge = if first.abs() <= last.abs() { first } else { last };
        Some(Starts { first: edge, last: edge, step: 1 })
    }

    fn distance(&self, at: Timestamp) -> i128 {
        i128::from(at.as_micros()) - i128::from(self.wanted.start().as_micros())
    }

    fn length(&self) -> i128 {
        self.distance(self.wanted.end())
    }

    /// The span that starts at this distance from the wanted start. It exists for every one of [`Starts`], because
    /// the gap also holds its end.
    fn span(&self, distance: i128) -> Option<Span> {
        let start = i128::from(self.wanted.start().as_micros()) + distance;
        let instant = |micros| i64::try_from(micros).ok().map(Timestamp::from_micros);
        Span::new(instant(start)?, instant(start + self.length())?).ok()
    }
}

impl Starts {
    /// The starts at or after the wanted one, nearest first.
    fn at_or_after_anchor(&self) -> impl Iterator<Item = i128> + use<> {
        // Starts on the grid are multiples of the step, and so is the wanted start. A lone edge has one start.
        let Self { first, last, step } = *self;
        let first = if last < 0 { last + step } else { first.max(0) };
        walk(first, last, step)
    }

    /// The starts before the wanted one, nearest first.
    fn before_anchor(&self) -> impl Iterator<Item = i128> + use<> {
        let Self { first, last, step } = *self;
        let last = last.min(-step);
        walk(-last, -first, step).map(|distance| -distance)
    }
}

/// `from`, `from + step` and so on, up to `to`.
fn walk(from: i128, to: i128, step: i128) -> impl Iterator<Item = i128> {
    std::iter::successors(Some(from), move |at| Some(at + step)).take_while(move |at| *at <= to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::testing::{MINUTES, at, busy_set, minutes, nearest_by_trying, span};

    fn set(spans: &[(i64, i64)]) -> BusySet {
        spans.iter().map(|(start, end)| minutes(*start, *end)).collect()
    }

    #[rstest]
    #[case::the_wanted_time_comes_first_if_free(&[], (60, 90), &[60, 45, 75])]
    #[case::taken_as_a_whole(&[(60, 90)], (60, 90), &[30, 90, 15])]
    #[case::no_offer_overlaps_a_refused_time(&[(60, 65)], (60, 90), &[30, 90, 15])]
    #[case::off_the_grid_only_if_nothing_else_fits(&[(0, 65), (97, 240)], (120, 150), &[67])]
    #[case::on_the_grid_if_it_fits(&[(0, 65), (107, 240)], (120, 150), &[75])]
    #[case::the_near_edge_of_a_later_gap(&[(0, 185), (217, 240)], (60, 90), &[185])]
    #[case::exactly_as_long(&[(0, 65), (95, 240)], (120, 150), &[65])]
    #[case::a_gap_too_short(&[(0, 65), (94, 240)], (120, 150), &[])]
    #[case::only_later(&[(0, 100)], (30, 60), &[105, 120, 135])]
    #[case::only_earlier(&[(100, 240)], (200, 230), &[65, 50, 35])]
    #[case::nothing_at_all(&[(0, 240)], (60, 90), &[])]
    fn quarters_of_four_hours(#[case] busy: &[(i64, i64)], #[case] (start, end): (i64, i64), #[case] starts: &[i64]) {
        let found = nearest_free(&set(busy), minutes(start, end), minutes(0, 240), SignedDuration::minutes(15), 3);
        assert_eq!(found.into_iter().map(Span::start).collect::<Vec<_>>(), ats(starts));
    }

    #[rstest]
    #[case::within_begins_later((70, 240), 15, 9, &[75, 90, 105, 120, 135, 150, 165, 180, 195])]
    #[case::within_ends_sooner((0, 89), 15, 2, &[45, 30])]
    #[case::within_fits_one_odd_time((61, 92), 15, 2, &[61])]
    #[case::within_is_wanted((60, 90), 15, 2, &[60])]
    #[case::within_is_too_short((60, 89), 15, 2, &[])]
    #[case::a_count_of_zero((0, 240), 15, 0, &[])]
    #[case::no_step((0, 240), 0, 3, &[60])]
    #[case::a_negative_step((0, 240), -15, 3, &[60])]
    #[case::a_step_over_all((0, 240), 1_000, 3, &[60])]
    fn free_time(#[case] within: (i64, i64), #[case] step: i64, #[case] count: usize, #[case] starts: &[i64]) {
        let within = minutes(within.0, within.1);
        let found = nearest_free(&BusySet::EMPTY, minutes(60, 90), within, SignedDuration::minutes(step), count);
        assert_eq!(found.into_iter().map(Span::start).collect::<Vec<_>>(), ats(starts));
    }

    fn ats(minutes: &[i64]) -> Vec<Timestamp> {
        minutes.iter().copied().map(at).collect()
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        let always = Span::new(first, last).unwrap();
        let wanted = Span::new(first, first + SignedDuration::micros(2)).unwrap();
        let busy = Span::new(first, last - SignedDuration::micros(3)).unwrap();
        let found = nearest_free(&busy.into(), wanted, always, SignedDuration::micros(2), 3);
        assert_eq!(found, [Span::new(last - SignedDuration::micros(3), last - SignedDuration::micros(1)).unwrap()]);
        assert_eq!(nearest_free(&BusySet::EMPTY, always, always, SignedDuration::micros(1), 3), [always]);
    }

    proptest! {
        /// The nearest free times are those that trying each minute as a start finds.
        #[test]
        fn agrees_with_trying_each_start(
            busy in busy_set(), wanted in span(), within in (span(), span()), step in 1..40i64, count in 0..6usize,
        ) {
            let within = Span::new(within.0.start().min(within.1.start()), within.0.end().max(within.1.end())).unwrap();
            let found = nearest_free(&busy, wanted, within, SignedDuration::minutes(step), count);
            prop_assert_eq!(found, nearest_by_trying(&busy, wanted, within, step, count));
        }

        /// Asking for one more of the nearest free times keeps the others.
        #[test]
        fn asking_for_more_only_adds(busy in busy_set(), wanted in span(), step in 1..40i64, count in 0..6usize) {
            let nearest = |count| nearest_free(&busy, wanted, minutes(0, MINUTES), SignedDuration::minutes(step), count);
            let more = nearest(count + 1);
            prop_assert_eq!(&nearest(count)[..], &more[..count.min(more.len())]);
        }
    }
}
