//! The queries for slots that the service answers, and their limits.

use std::{fmt, str::FromStr};

use kalends_availability::{BusySet, count_free_slots, free_slots};
use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Span};

/// The longest range of one query: 366 days of 24 hours.
pub const MAX_RANGE: SignedDuration = SignedDuration::days(MAX_RANGE_DAYS);

/// The maximum number of slots in one response.
pub const MAX_SLOTS: usize = 50_000;

const MAX_RANGE_DAYS: i64 = 366;

/// The length of a slot, or the step from one slot to the next: 5 to 480 whole minutes, as on booking
/// pages.
///
/// ```
/// use kalends_wire::SlotLength;
/// use kalends_time::SignedDuration;
///
/// let length: SlotLength = "90m".parse()?;
/// assert_eq!(length.elapsed(), SignedDuration::minutes(90));
/// assert_eq!("120m".parse::<SlotLength>()?.to_string(), "2h");
/// assert!("90".parse::<SlotLength>().is_err());
/// # Ok::<(), kalends_wire::ParseSlotLengthError>(())
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

/// A query for the free slots of a window, within the limits of the service.
///
/// ```
/// use kalends_availability::BusySet;
/// use kalends_time::{SignedDuration, Span, Timestamp};
/// use kalends_wire::{SlotLength, SlotQuery, SlotQueryError};
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
    /// use kalends_availability::BusySet;
    /// use kalends_time::{SignedDuration, Span, Timestamp};
    /// use kalends_wire::SlotQuery;
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

    /// The number of slots, computed without yielding them.
    ///
    /// # Errors
    /// [`TooManySlots`] if there are more than [`MAX_SLOTS`].
    pub fn count(self, busy: &BusySet) -> Result<usize, TooManySlots> {
        let count = count_free_slots(self.window, busy, self.length.elapsed(), self.step.elapsed());
        usize::try_from(count).ok().filter(|count| *count <= MAX_SLOTS).ok_or(TooManySlots { count })
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

#[cfg(test)]
mod tests {
    use kalends_time::Timestamp;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::EPOCH + SignedDuration::minutes(minute)
    }

    fn minutes(start: i64, end: i64) -> Span {
        Span::new(at(start), at(end)).unwrap()
    }

    fn length(minutes: u16) -> SlotLength {
        SlotLength::from_minutes(minutes).unwrap()
    }

    #[test]
    fn counts_up_to_the_limit() {
        let five = SlotLength::MIN;
        let count = |slots: i64| SlotQuery::new(minutes(0, 5 * slots), five).unwrap().count(&BusySet::EMPTY);
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
        /// Every length of a slot is read back from its text, and from its number of minutes.
        #[test]
        fn every_length_round_trips(minutes in 5..=480u16) {
            let length = length(minutes);
            prop_assert_eq!(length.to_string().parse(), Ok(length));
            prop_assert_eq!(format!("{minutes}m").parse(), Ok(length));
        }
    }
}
