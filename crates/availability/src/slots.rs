//! Slots: the positions on a grid that overlap nothing busy.

use std::{fmt, ops::Range, str::FromStr};

use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Span, Timestamp};

use crate::BusySet;

/// The longest range of one query: 366 days of 24 hours.
pub const MAX_RANGE: SignedDuration = SignedDuration::days(MAX_RANGE_DAYS);

/// The maximum number of slots in one response.
pub const MAX_SLOTS: usize = 50_000;

const MAX_RANGE_DAYS: i64 = 366;

/// The length of a slot, or the step from one slot to the next: 5 to 480 whole minutes, as on booking
/// pages.
///
/// ```
/// use kalends_availability::SlotLength;
/// use kalends_time::SignedDuration;
///
/// let length: SlotLength = "90m".parse()?;
/// assert_eq!(length.elapsed(), SignedDuration::minutes(90));
/// assert_eq!("120m".parse::<SlotLength>()?.to_string(), "2h");
/// assert!("90".parse::<SlotLength>().is_err());
/// # Ok::<(), kalends_availability::ParseSlotLengthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotLength {
    minutes: u16,
}

impl SlotLength {
    /// 5 minutes.
    pub const MIN: Self = Self { minutes: 5 };
    /// 480 minutes, which are 8 hours.
    pub const MAX: Self = Self { minutes: 480 };
    /// 30 minutes: the length if a request names none.
    pub const DEFAULT: Self = Self { minutes: 30 };

    /// A length in minutes; `None` below 5 and above 480.
    pub const fn from_minutes(minutes: u16) -> Option<Self> {
        if minutes < Self::MIN.minutes || minutes > Self::MAX.minutes { None } else { Some(Self { minutes }) }
    }

    /// The length in minutes.
    pub const fn as_minutes(self) -> u16 {
        self.minutes
    }

    /// The length as a duration.
    pub const fn elapsed(self) -> SignedDuration {
        // `From` is not const yet.
        SignedDuration::minutes(self.minutes as i64)
    }
}

impl Default for SlotLength {
    /// [`SlotLength::DEFAULT`].
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for SlotLength {
    /// Formats whole hours as `1h` to `8h`, and other lengths as `5m` to `479m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.minutes / 60, self.minutes % 60) {
            (hours, 0) => write!(f, "{hours}h"),
            _ => write!(f, "{}m", self.minutes),
        }
    }
}

/// A text that is not a [`SlotLength`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be 5m to 480m or 1h to 8h, got {text:?}")]
pub struct ParseSlotLengthError {
    /// The first characters of the text.
    pub text: String,
}

impl ParseSlotLengthError {
    /// The field error of the parameter `param`, such as `slot_step`.
    pub fn of(&self, param: &str) -> FieldError {
        FieldError::new(param, self.to_string())
    }
}

impl FromStr for SlotLength {
    type Err = ParseSlotLengthError;

    /// Reads minutes (`5m` to `480m`) or hours (`1h` to `8h`): digits without a sign or a leading zero, and
    /// the unit in lower case.
    fn from_str(text: &str) -> Result<Self, ParseSlotLengthError> {
        read_minutes(text)
            .and_then(Self::from_minutes)
            .ok_or_else(|| ParseSlotLengthError { text: text.chars().take(40).collect() })
    }
}

fn read_minutes(text: &str) -> Option<u16> {
    let (digits, minutes) = match text.strip_suffix('h') {
        Some(hours) => (hours, 60),
        None => (text.strip_suffix('m')?, 1),
    };
    let canonical = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    canonical.then_some(digits)?.parse::<u16>().ok()?.checked_mul(minutes)
}

impl From<ParseSlotLengthError> for FieldError {
    /// The field error of the parameter `slot_duration`.
    fn from(error: ParseSlotLengthError) -> Self {
        error.of("slot_duration")
    }
}

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

/// More than [`MAX_SLOTS`] slots would be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be earlier: a response has at most {MAX_SLOTS} slots, got {count}")]
pub struct TooManySlots {
    /// The number of slots that there would be.
    pub count: u64,
}

impl From<TooManySlots> for FieldError {
    /// The field error of the parameter `end`.
    fn from(error: TooManySlots) -> Self {
        Self::new("end", error.to_string())
    }
}

/// The number of slots that [`free_slots`] yields. Computed by arithmetic on each busy span inside the
/// window, without yielding the slots.
///
/// # Errors
/// [`TooManySlots`] if there are more than [`MAX_SLOTS`].
pub fn count_free_slots(
    window: Span,
    busy: &BusySet,
    length: SignedDuration,
    step: SignedDuration,
) -> Result<usize, TooManySlots> {
    let grid = Grid::new(window, length, step);
    let count = busy.gaps(window).map(|gap| grid.positions(gap)).map(|range| range.end - range.start).sum();
    usize::try_from(count).ok().filter(|count| *count <= MAX_SLOTS).ok_or(TooManySlots { count })
}

/// A query for the free slots of a window, within the limits of the service.
///
/// ```
/// use kalends_availability::{BusySet, SlotLength, SlotQuery, SlotQueryError};
/// use kalends_time::{SignedDuration, Timestamp, Span};
///
/// let days = |days| Span::new(Timestamp::EPOCH, Timestamp::EPOCH + SignedDuration::days(days));
/// let query = SlotQuery::new(days(1)?, SlotLength::default())?;
/// assert_eq!(query.count(&BusySet::EMPTY)?, 48);
///
/// let refused = SlotQuery::new(days(367)?, SlotLength::default());
/// assert_eq!(refused, Err(SlotQueryError::Range { lasts: SignedDuration::days(367) }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotQuery {
    window: Span,
    length: SlotLength,
    step: SlotLength,
}

/// Why a [`SlotQuery`] is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SlotQueryError {
    /// The window is longer than [`MAX_RANGE`].
    #[error("must be at most {MAX_RANGE_DAYS} days after the start, got {}", InDays(*lasts))]
    Range {
        /// The length of the window.
        lasts: SignedDuration,
    },
}

impl From<SlotQueryError> for FieldError {
    /// The field error of the parameter `end`.
    fn from(error: SlotQueryError) -> Self {
        match error {
            SlotQueryError::Range { .. } => Self::new("end", error.to_string()),
        }
    }
}

impl SlotQuery {
    /// A query for slots of `length` in `window`, one after the other. The step is the length, unless
    /// [`stepping`](Self::stepping) sets another.
    ///
    /// # Errors
    /// [`SlotQueryError::Range`] if the window is longer than [`MAX_RANGE`].
    pub fn new(window: Span, length: SlotLength) -> Result<Self, SlotQueryError> {
        let lasts = window.length();
        if lasts > MAX_RANGE { Err(SlotQueryError::Range { lasts }) } else { Ok(Self { window, length, step: length }) }
    }

    /// The same query with slots that start every `step`. If the step is shorter than the length, slots
    /// overlap each other. If it is longer, there are pauses between them.
    ///
    /// ```
    /// use kalends_availability::{BusySet, SlotQuery};
    /// use kalends_time::{SignedDuration, Timestamp, Span};
    ///
    /// let window = Span::new(Timestamp::EPOCH, Timestamp::EPOCH + SignedDuration::hours(2))?;
    /// let query = SlotQuery::new(window, "1h".parse()?)?;
    /// assert_eq!(query.count(&BusySet::EMPTY)?, 2);
    /// assert_eq!(query.stepping("15m".parse()?).count(&BusySet::EMPTY)?, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn stepping(self, step: SlotLength) -> Self {
        Self { step, ..self }
    }

    /// The range of the query.
    pub const fn window(self) -> Span {
        self.window
    }

    /// The length of a slot.
    pub const fn length(self) -> SlotLength {
        self.length
    }

    /// The time from the start of one slot to the start of the next.
    pub const fn step(self) -> SlotLength {
        self.step
    }

    /// The slots that `busy` leaves free, in order. See [`free_slots`].
    pub fn slots(self, busy: &BusySet) -> impl Iterator<Item = Span> {
        free_slots(self.window, busy, self.length.elapsed(), self.step.elapsed())
    }

    /// The number of slots. See [`count_free_slots`].
    ///
    /// # Errors
    /// [`TooManySlots`] if there are more than [`MAX_SLOTS`].
    pub fn count(self, busy: &BusySet) -> Result<usize, TooManySlots> {
        count_free_slots(self.window, busy, self.length.elapsed(), self.step.elapsed())
    }
}

/// Formats a length in days, followed by hours, minutes and seconds if it is not a whole number of days.
struct InDays(SignedDuration);

impl fmt::Display for InDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_seconds();
        write!(f, "{} days", seconds / 86_400)?;
        if self.0 != SignedDuration::days(seconds / 86_400) {
            let (hours, minutes, seconds) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
            write!(f, " and {hours:02}:{minutes:02}:{seconds:02}")?;
        }
        Ok(())
    }
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
    use crate::strategies::{at, busy_set, minutes, span};

    fn length(minutes: u16) -> SlotLength {
        SlotLength::from_minutes(minutes).unwrap()
    }

    fn starts(window: Span, busy: &[(i64, i64)], length: i64, step: i64) -> Vec<Timestamp> {
        let busy: BusySet = busy.iter().map(|(start, end)| minutes(*start, *end)).collect();
        let (length, step) = (SignedDuration::minutes(length), SignedDuration::minutes(step));
        let slots: Vec<Span> = free_slots(window, &busy, length, step).collect();
        assert!(slots.iter().all(|slot| slot.length() == length));
        assert_eq!(count_free_slots(window, &busy, length, step), Ok(slots.len()));
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
        let slots: Vec<String> = SlotQuery::new(window, SlotLength::DEFAULT)
            .unwrap()
            .slots(&busy.into())
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
        let refused = count_free_slots(always, &BusySet::EMPTY, SignedDuration::micros(1), SignedDuration::micros(1));
        assert_eq!(refused, Err(TooManySlots { count: u64::MAX }));
    }

    #[test]
    fn counts_up_to_the_limit() {
        let minute = SignedDuration::minutes(1);
        let count = |minutes_| count_free_slots(minutes(0, minutes_), &BusySet::EMPTY, minute, minute);
        assert_eq!(count(50_000), Ok(MAX_SLOTS));
        assert_eq!(count(50_001), Err(TooManySlots { count: 50_001 }));
        let error = FieldError::from(TooManySlots { count: 50_001 });
        assert_eq!(error.to_string(), "end: must be earlier: a response has at most 50000 slots, got 50001");
    }

    #[test]
    fn the_longest_query_stays_below_the_limit() {
        let year = Span::new(at(0), at(0) + MAX_RANGE).unwrap();
        let query = SlotQuery::new(year, length(15)).unwrap();
        assert_eq!(query.count(&BusySet::EMPTY), Ok(35_136));
        assert_eq!((query.window(), query.length(), query.step()), (year, length(15), length(15)));
    }

    #[test]
    fn a_short_step_meets_the_limit_too() {
        let year = Span::new(at(0), at(0) + MAX_RANGE).unwrap();
        let query = SlotQuery::new(year, SlotLength::MAX).unwrap();
        assert_eq!(query.count(&BusySet::EMPTY), Ok(1_098));
        // One slot every 5 minutes for 366 days less 8 hours, and the one at the very end.
        let refused = query.stepping(SlotLength::MIN).count(&BusySet::EMPTY);
        assert_eq!(refused, Err(TooManySlots { count: (366 * 24 - 8) * 12 + 1 }));
    }

    #[rstest]
    #[case::one_after_the_other(60, &[0, 60])]
    #[case::every_quarter(15, &[0, 15, 30, 45, 60, 135])]
    #[case::with_pauses(100, &[0])]
    fn hours_by_step(#[case] step: u16, #[case] offered: &[i64]) {
        let query = SlotQuery::new(minutes(0, 200), length(60)).unwrap().stepping(length(step));
        let starts: Vec<Timestamp> = query.slots(&minutes(120, 125).into()).map(Span::start).collect();
        assert_eq!(starts, offered.iter().copied().map(at).collect::<Vec<_>>());
    }

    #[rstest]
    #[case::a_microsecond(SignedDuration::micros(1), "366 days and 00:00:00")]
    #[case::an_hour_and_a_half(SignedDuration::minutes(90), "366 days and 01:30:00")]
    #[case::a_day(SignedDuration::days(1), "367 days")]
    fn refuses_the_range(#[case] beyond: SignedDuration, #[case] got: &str) {
        let window = Span::new(at(0), at(0) + MAX_RANGE + beyond).unwrap();
        let error = FieldError::from(SlotQuery::new(window, SlotLength::default()).unwrap_err());
        assert_eq!(error.to_string(), format!("end: must be at most 366 days after the start, got {got}"));
    }

    #[rstest]
    #[case("5m", 5, "5m")]
    #[case("7m", 7, "7m")]
    #[case("15m", 15, "15m")]
    #[case("30m", 30, "30m")]
    #[case("60m", 60, "1h")]
    #[case("1h", 60, "1h")]
    #[case("90m", 90, "90m")]
    #[case("2h", 120, "2h")]
    #[case("479m", 479, "479m")]
    #[case("480m", 480, "8h")]
    #[case("8h", 480, "8h")]
    fn reads_and_writes_lengths(#[case] text: &str, #[case] minutes: u16, #[case] written: &str) {
        let length: SlotLength = text.parse().unwrap();
        assert_eq!((length.as_minutes(), length.to_string()), (minutes, written.to_owned()));
        assert_eq!(length.elapsed(), SignedDuration::minutes(i64::from(minutes)));
    }

    #[rstest]
    #[case::empty("")]
    #[case::too_short("4m")]
    #[case::too_long("481m")]
    #[case::too_many_hours("9h")]
    #[case::nothing("0h")]
    #[case::no_digits("m")]
    #[case::upper_case("30M")]
    #[case::a_space(" 30m")]
    #[case::no_unit("30")]
    #[case::another_unit("600s")]
    #[case::a_fraction("1.5h")]
    #[case::both_units("1h30m")]
    #[case::a_sign("+30m")]
    #[case::negative("-30m")]
    #[case::a_leading_zero("05m")]
    #[case::minutes_that_overflow("65566m")]
    #[case::hours_that_overflow("1093h")]
    #[case::other_digits("\u{663}\u{660}m")]
    fn refuses_other_lengths(#[case] text: &str) {
        let error = text.parse::<SlotLength>().unwrap_err();
        let message = format!("must be 5m to 480m or 1h to 8h, got {text:?}");
        assert_eq!(error.of("slot_step"), FieldError::new("slot_step", message.clone()));
        assert_eq!(FieldError::from(error), FieldError::new("slot_duration", message));
    }

    #[test]
    fn a_long_text_is_cut_in_the_error() {
        let error = "9".repeat(1_000).parse::<SlotLength>().unwrap_err();
        assert_eq!(error.text.len(), 40);
    }

    #[test]
    fn the_default_is_half_an_hour() {
        assert_eq!(SlotLength::default().to_string(), "30m");
    }

    proptest! {
        #[test]
        fn every_length_round_trips(minutes in 5..=480u16) {
            let length = length(minutes);
            prop_assert_eq!(length.to_string().parse(), Ok(length));
            prop_assert_eq!(format!("{minutes}m").parse(), Ok(length));
        }

        #[test]
        fn slots_agree_with_trying_each_start(busy in busy_set(), window in span(), length in 1..90i64, step in 1..40i64) {
            let (length, step) = (SignedDuration::minutes(length), SignedDuration::minutes(step));
            let mut tried = Vec::new();
            let mut start = window.start();
            while start < window.end() {
                let slot = Span::new(start, start + length).unwrap();
                if slot.end() <= window.end() && !busy.spans().iter().any(|span| span.overlaps(slot)) {
                    tried.push(slot);
                }
                start = start + step;
            }
            let offered: Vec<Span> = free_slots(window, &busy, length, step).collect();
            prop_assert_eq!(&offered, &tried);
            prop_assert_eq!(count_free_slots(window, &busy, length, step), Ok(tried.len()));
        }

        #[test]
        fn a_slot_is_offered_iff_it_overlaps_nothing_busy(busy in busy_set(), window in span()) {
            for (minutes, step) in [(5, 5), (15, 15), (30, 10), (45, 60), (120, 5)] {
                let query = SlotQuery::new(window, length(minutes)).unwrap().stepping(length(step));
                let offered: Vec<Span> = query.slots(&busy).collect();
                for slot in query.slots(&BusySet::EMPTY) {
                    prop_assert_eq!(busy.overlaps(slot), !offered.contains(&slot));
                }
                prop_assert_eq!(query.count(&busy), Ok(offered.len()));
            }
        }

        #[test]
        fn busy_time_outside_the_window_changes_nothing(busy in busy_set(), window in span()) {
            let query = SlotQuery::new(window, length(15)).unwrap();
            prop_assert!(query.slots(&busy).eq(query.slots(&busy.clip(window))));
        }
    }
}
