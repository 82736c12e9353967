//! Slots: the positions on a grid that overlap nothing busy.

use std::ops::Range;

use kalends_time::{SignedDuration, Span, Timestamp};

use crate::BusySet;

/// The slots of `window` that `busy` leaves free, in order.
///
/// A slot lasts exactly `length` and starts at `window.start()` plus a multiple of `step`. It is offered
/// if it is inside the window and shares no instant with `busy`. If `length` or `step` is not positive,
/// there are no slots.
///
/// Takes *O*(log *n*) to find the window among *n* busy spans, then *O*(1) for each slot and for each busy
/// span inside the window, whatever its length. Nothing is allocated.
///
/// ```
/// use kalends_availability::{BusySet, free_slots};
/// use kalends_time::{SignedDuration, Timestamp, Span};
///
/// let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
/// let busy = BusySet::from(Span::new(at(50), at(65))?);
/// // 40 minutes every 20: the slots at 20, 40 and 60 overlap the busy time, and the one at 100 ends too late.
/// let slots = free_slots(Span::new(at(0), at(130))?, &busy, SignedDuration::minutes(40), SignedDuration::minutes(20));
/// assert!(slots.map(|slot| slot.start()).eq([at(0), at(80)]));
/// # Ok::<(), kalends_time::SpanError>(())
/// ```
pub fn free_slots(
    window: Span,
    busy: &BusySet,
    length: SignedDuration,
    step: SignedDuration,
) -> impl Iterator<Item = Span> {
    let grid = Grid::new(window, length, step);
    busy.gaps(window).flat_map(move |gap| grid.positions(gap).filter_map(move |position| grid.slot(position)))
}

/// The number of slots that [`free_slots`] yields. Computed by arithmetic on each busy span inside the
/// window, without yielding the slots. *O*(log *n* + *k*) for *n* busy spans, of which *k* overlap the window.
///
/// ```
/// use kalends_availability::{BusySet, SignedDuration, Span, Timestamp, count_free_slots};
///
/// let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
/// let (day, lunch) = (Span::new(at(540), at(1_020))?, Span::new(at(720), at(780))?);
/// let half_hour = SignedDuration::minutes(30);
/// assert_eq!(count_free_slots(day, &BusySet::from(lunch), half_hour, half_hour), 14);
/// # Ok::<(), kalends_availability::SpanError>(())
/// ```
pub fn count_free_slots(window: Span, busy: &BusySet, length: SignedDuration, step: SignedDuration) -> u64 {
    let grid = Grid::new(window, length, step);
    busy.gaps(window).map(|gap| grid.positions(gap)).map(|range| range.end - range.start).sum()
}

/// The starts of slots: every `step` from `origin`. Distances are unsigned microseconds, so that no window is
/// too long.
#[derive(Clone, Copy)]
struct Grid {
    origin: Timestamp,
    length: u64,
    step: u64,
}

impl Grid {
    fn new(window: Span, length: SignedDuration, step: SignedDuration) -> Self {
        let positive = |elapsed: SignedDuration| u64::try_from(elapsed.as_micros()).unwrap_or(0);
        Self { origin: window.start(), length: positive(length), step: positive(step) }
    }

    /// The positions whose slots are inside `gap`, which does not begin before the origin.
    fn positions(self, gap: Span) -> Range<u64> {
        let from_origin = |at: Timestamp| at.as_micros().abs_diff(self.origin.as_micros());
        let (start, end) = (from_origin(gap.start()), from_origin(gap.end()));
        // Most gaps of a busy calendar are too short, and a division costs more than everything else here.
        if self.length == 0 || self.step == 0 || end - start < self.length {
            return 0..0;
        }
        let (first, last) = (start.div_ceil(self.step), (end - self.length) / self.step);
        first..first.max(last + 1)
    }

    /// The slot at a position; `None` only if it is beyond the end of time. No slot inside a gap is.
    fn slot(self, position: u64) -> Option<Span> {
        let start = self.origin.as_micros().checked_add_unsigned(position * self.step)?;
        let end = start.checked_add_unsigned(self.length)?;
        Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::testing::{at, busy_set, minutes, slots_by_trying, span};

    fn starts(window: Span, busy: &[(i64, i64)], length: i64, step: i64) -> Vec<Timestamp> {
        let busy: BusySet = busy.iter().map(|(start, end)| minutes(*start, *end)).collect();
        let (length, step) = (SignedDuration::minutes(length), SignedDuration::minutes(step));
        let slots: Vec<Span> = free_slots(window, &busy, length, step).collect();
        assert!(slots.iter().all(|slot| slot.length() == length));
        assert_eq!(count_free_slots(window, &busy, length, step), slots.len() as u64);
        slots.into_iter().map(Span::start).collect()
    }

    #[rstest]
    #[case::all_free(&[], &[0, 30, 60, 90])]
    #[case::all_busy(&[(0, 120)], &[])]
    #[case::busy_beyond_both_ends(&[(-60, 200)], &[])]
    #[case::touches_a_slot_on_both_sides(&[(0, 30), (60, 90)], &[30, 90])]
    #[case::off_the_grid(&[(31, 32)], &[0, 60, 90])]
    #[case::over_a_grid_position(&[(59, 61)], &[0, 90])]
    #[case::reaches_in_at_the_start(&[(-10, 1)], &[30, 60, 90])]
    #[case::reaches_out_at_the_end(&[(119, 130)], &[0, 30, 60])]
    #[case::touches_the_window(&[(-10, 0), (120, 130)], &[0, 30, 60, 90])]
    #[case::the_gap_is_long_enough_but_off_the_grid(&[(0, 40), (80, 120)], &[])]
    #[case::a_gap_that_is_too_short(&[(0, 30), (59, 90)], &[90])]
    fn half_hours_of_two_hours(#[case] busy: &[(i64, i64)], #[case] offered: &[i64]) {
        let offered: Vec<Timestamp> = offered.iter().copied().map(at).collect();
        assert_eq!(starts(minutes(0, 120), busy, 30, 30), offered);
    }

    #[rstest]
    #[case::longer_than_the_window(minutes(0, 29), 30, 30, &[])]
    #[case::as_long_as_the_window(minutes(0, 30), 30, 30, &[0])]
    #[case::the_last_ends_with_the_window(minutes(0, 90), 45, 45, &[0, 45])]
    #[case::the_last_would_end_too_late(minutes(0, 89), 45, 45, &[0])]
    #[case::from_an_odd_start(minutes(7, 70), 30, 30, &[7, 37])]
    #[case::overlapping_slots(minutes(0, 60), 40, 10, &[0, 10, 20])]
    #[case::with_pauses(minutes(0, 60), 10, 25, &[0, 25, 50])]
    #[case::no_length(minutes(0, 60), 0, 10, &[])]
    #[case::no_step(minutes(0, 60), 10, 0, &[])]
    #[case::negative(minutes(0, 60), -10, -10, &[])]
    fn empty_calendars(#[case] window: Span, #[case] length: i64, #[case] step: i64, #[case] offered: &[i64]) {
        let offered: Vec<Timestamp> = offered.iter().copied().map(at).collect();
        assert_eq!(starts(window, &[], length, step), offered);
    }

    #[test]
    fn the_last_slot_of_the_last_year() {
        let instant = |text: &str| text.parse::<Timestamp>().unwrap();
        let window = Span::new(instant("2099-12-31T22:00:00Z"), Timestamp::HORIZON).unwrap();
        let busy = Span::new(instant("2099-12-31T22:30:00Z"), instant("2099-12-31T23:15:00Z")).unwrap();
        let half_hour = SignedDuration::minutes(30);
        let slots: Vec<String> = free_slots(window, &busy.into(), half_hour, half_hour)
            .map(|slot| format!("{} {}", slot.start(), slot.end()))
            .collect();
        assert_eq!(slots, ["2099-12-31T22:00:00Z 2099-12-31T22:30:00Z", "2099-12-31T23:30:00Z 2100-01-01T00:00:00Z"]);
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        let always = Span::new(first, last).unwrap();
        let half = SignedDuration::micros(i64::MAX);
        let slots: Vec<Span> = free_slots(always, &BusySet::EMPTY, half, half).collect();
        assert_eq!(slots.iter().map(|slot| slot.end().as_micros()).collect::<Vec<_>>(), [-1, i64::MAX - 1]);
        let tick = SignedDuration::micros(1);
        assert_eq!(count_free_slots(always, &BusySet::EMPTY, tick, tick), u64::MAX);
        let busy = BusySet::from(Span::new(first + tick, last - tick).unwrap());
        assert_eq!(count_free_slots(always, &busy, tick, tick), 2);
        assert_eq!(count_free_slots(always, &busy, tick, half), 2);
    }

    proptest! {
        /// The free slots, and their number, are those that trying each start finds.
        #[test]
        fn slots_agree_with_trying_each_start(busy in busy_set(), window in span(), length in 1..90i64, step in 1..40i64) {
            let (length, step) = (SignedDuration::minutes(length), SignedDuration::minutes(step));
            let tried = slots_by_trying(window, &busy, length, step);
            let offered: Vec<Span> = free_slots(window, &busy, length, step).collect();
            prop_assert_eq!(&offered, &tried);
            prop_assert_eq!(count_free_slots(window, &busy, length, step), tried.len() as u64);
        }

        /// A slot of the grid is offered exactly if it overlaps no busy time.
        #[test]
        fn a_slot_is_offered_iff_it_overlaps_nothing_busy(busy in busy_set(), window in span()) {
            for (minutes, step) in [(5, 5), (15, 15), (30, 10), (45, 60), (120, 5)] {
                let (length, step) = (SignedDuration::minutes(minutes), SignedDuration::minutes(step));
                let offered: Vec<Span> = free_slots(window, &busy, length, step).collect();
                for slot in free_slots(window, &BusySet::EMPTY, length, step) {
                    prop_assert_eq!(busy.overlaps(slot), !offered.contains(&slot));
                }
                prop_assert_eq!(count_free_slots(window, &busy, length, step), offered.len() as u64);
            }
        }

        /// Busy time outside of the window does not change the slots.
        #[test]
        fn busy_time_outside_the_window_changes_nothing(busy in busy_set(), window in span()) {
            let quarter = SignedDuration::minutes(15);
            let slots = |busy: &BusySet| free_slots(window, busy, quarter, quarter).collect::<Vec<_>>();
            prop_assert_eq!(slots(&busy), slots(&busy.clip(window)));
        }
    }
}
