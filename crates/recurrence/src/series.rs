//! A rule tied to its first start: validated, and expanded within a window.

use std::iter::FusedIterator;
use std::ops::Range;

use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use crate::clock::{Clock, MICROS_A_DAY, local_of};
use crate::dates::Dates;
use crate::exceptions::Exceptions;
use crate::instants::Instants;
use crate::length::{Lasts, Length};
use crate::limits::{EARLIEST_START, HORIZON, MAX_COUNTED};
use crate::pattern::Pattern;
use crate::rule::{End, Rule, Until};

const MICROS_A_SECOND: i64 = 1_000_000;

/// Why a rule and a start do not make a series.
///
/// ```
/// use kalends_recurrence::{Length, Rule, Series, SeriesError, Zone};
///
/// let rule: Rule = "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30".parse()?;
/// let first = "2026-01-01T09:00:00Z".parse()?;
/// let series = Series::new(rule, first, Zone::UTC, Length::nominal(1, Default::default())?);
/// assert_eq!(series.err(), Some(SeriesError::NeverOccurs { first }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// The first start is outside the supported years.
    #[error("a series must start in the years 1 to 2099, got {first}")]
    Range {
        /// The first start.
        first: Timestamp,
    },
    /// The first start has a fraction of a second.
    #[error("a series must start on a whole second, got {first}")]
    Fraction {
        /// The first start.
        first: Timestamp,
    },
    /// The series is all-day, but does not start when a day begins in its zone.
    #[error("an all-day series must start at a midnight in {zone}, got {first}")]
    NotMidnight {
        /// The first start.
        first: Timestamp,
        /// The series' zone.
        zone: Zone,
    },
    /// The rule ends before the series begins.
    #[error("UNTIL must not be before the start ({first}), got {until}")]
    UntilBeforeStart {
        /// The rule's end.
        until: Until,
        /// The first start.
        first: Timestamp,
    },
    /// The series is all-day, but its rule names times of day or is shorter than a day (RFC 5545 section 3.3.10).
    #[error("the rule of an all-day series must not name hours, minutes or seconds")]
    TimesOfDays,
    /// `COUNT` is larger than [`MAX_COUNTED`], and the rule has that many occurrences.
    #[error("COUNT must be at most {MAX_COUNTED} for this rule, got {count}")]
    TooManyToCount {
        /// The rule's count.
        count: u32,
    },
    /// No date satisfies the rule, for example because it asks for 30 February.
    #[error("the rule must have a date between the start ({first}) and the end of 2099, but none satisfies it")]
    NeverOccurs {
        /// The first start.
        first: Timestamp,
    },
}

/// A rule with its first start, its zone and the length of its occurrences.
///
/// The first occurrence begins at the first start, even if the rule does not generate that date. The others fall on the
/// later dates that the rule generates, at the same wall-clock time in the zone as the first. All starts are before
/// [`HORIZON`], and no two are the same.
///
/// ```
/// use kalends_time::{SignedDuration, Timestamp, Span, Zone};
/// use kalends_recurrence::{Length, Rule, Series};
///
/// let rule: Rule = "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12".parse()?;
/// let first: Timestamp = "2026-03-23T08:00:00Z".parse()?;
/// let zone: Zone = "Europe/Berlin".parse()?;
/// let series = Series::new(rule, first, zone, Length::elapsed(SignedDuration::minutes(45))?)?;
///
/// // 09:00 in Berlin stays 09:00 when summer time begins on 29 March.
/// let window = Span::new("2026-03-25T00:00:00Z".parse()?, "2026-04-02T00:00:00Z".parse()?)?;
/// let starts: Vec<String> = series.occurrences(window).map(|span| span.start().to_string()).collect();
/// assert_eq!(starts, ["2026-03-25T08:00:00Z", "2026-03-30T07:00:00Z", "2026-04-01T07:00:00Z"]);
///
/// // A store keeps this with the rule, so that expanding the stored series needs no counting.
/// assert_eq!(series.last_start(), Some("2026-04-29T07:00:00Z".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Series {
    pub(crate) rule: Rule,
    pattern: Pattern,
    first: i64,
    pub(crate) zone: Zone,
    length: Length,
    /// The wall-clock time of day of every occurrence, in microseconds, if they all have the same.
    pub(crate) time: i64,
    last: Option<i64>,
}

impl Series {
    /// Validates a new series, and finds its last start. [`Series`] has an example.
    ///
    /// # Errors
    /// [`SeriesError`]; see its variants.
    pub fn new(rule: Rule, first: Timestamp, zone: Zone, length: Length) -> Result<Self, SeriesError> {
        let mut series = Self::checked(rule, first, zone, length)?;
        if series.is_all_day() && series.instant_on(series.pattern.origin) != series.first {
            return Err(SeriesError::NotMidnight { first, zone: series.zone });
        }
        series.last = match series.rule.end {
            End::Never => None,
            End::Count(count) => series.counted(count)?,
            End::Until(until) => {
                series.between(series.first, series.until_end(until).min(HORIZON.as_micros())).retreat()
            }
        };
        Ok(series)
    }

    /// Rebuilds a stored series with the last start that [`Series::new`] found.
    ///
    /// Nothing is counted: the series ends at `last`, whatever `COUNT` or `UNTIL` the rule has.
    ///
    /// # Errors
    /// The same as [`Series::new`], except [`SeriesError::NotMidnight`]: a later edition of the zone database may
    /// have moved the midnight at which the series started.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let rule: Rule = "FREQ=DAILY;COUNT=1000".parse()?;
    /// let first = "2026-03-02T09:00:00Z".parse()?;
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let new = Series::new(rule.clone(), first, Zone::UTC, hour)?;
    /// let stored = Series::from_stored(rule, first, Zone::UTC, hour, new.last_start())?;
    /// assert_eq!(stored.last_start(), Some("2028-11-25T09:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_stored(
        rule: Rule,
        first: Timestamp,
        zone: Zone,
        length: Length,
        last: Option<Timestamp>,
    ) -> Result<Self, SeriesError> {
        let series = Self::checked(rule, first, zone, length)?;
        Ok(Self { last: last.map(Timestamp::as_micros), ..series })
    }

    /// Checks a series, and returns it without an end.
    fn checked(rule: Rule, first: Timestamp, zone: Zone, length: Length) -> Result<Self, SeriesError> {
        if !(EARLIEST_START..HORIZON).contains(&first) {
            return Err(SeriesError::Range { first });
        }
        if first.as_micros() % 1_000_000 != 0 {
            return Err(SeriesError::Fraction { first });
        }
        if matches!(length.0, Lasts::Days(_)) && rule.names_times() {
            return Err(SeriesError::TimesOfDays);
        }
        let series = Self::endless(rule, first, zone, length);
        if let End::Until(until) = series.rule.end
            && series.until_end(until) <= series.first
        {
            return Err(SeriesError::UntilBeforeStart { until, first });
        }
        if !series.generates_a_date() {
            return Err(SeriesError::NeverOccurs { first });
        }
        Ok(series)
    }

    fn endless(rule: Rule, first: Timestamp, zone: Zone, length: Length) -> Self {
        let local = local_of(zone, first.as_micros());
        let time = match length.0 {
            Lasts::Time(_) | Lasts::Nominal(..) => local.rem_euclid(MICROS_A_DAY),
            // If the clocks skip midnight, the first day begins later, but the other days need not.
            Lasts::Days(_) => 0,
        };
        let pattern = Pattern::new(&rule, local.div_euclid(MICROS_A_DAY), time.div_euclid(MICROS_A_SECOND));
        Self { rule, pattern, first: first.as_micros(), zone, length, time, last: None }
    }

    /// The rule.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The start of the first occurrence.
    pub const fn first_start(&self) -> Timestamp {
        Timestamp::from_micros(self.first)
    }

    /// The start of the last occurrence; `None` if the rule has no end.
    pub fn last_start(&self) -> Option<Timestamp> {
        self.last.map(Timestamp::from_micros)
    }

    /// Whether the rule itself generates the date of the first start. If not, the first start comes before every date
    /// of the rule.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let mondays: Rule = "FREQ=WEEKLY;BYDAY=MO".parse()?;
    /// let from_monday = Series::new(mondays.clone(), "2026-03-02T09:00:00Z".parse()?, Zone::UTC, hour)?;
    /// let from_tuesday = Series::new(mondays, "2026-03-03T09:00:00Z".parse()?, Zone::UTC, hour)?;
    /// assert!(from_monday.begins_by_its_rule() && !from_tuesday.begins_by_its_rule());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begins_by_its_rule(&self) -> bool {
        let origin = self.pattern.origin;
        if !self.pattern.is_of_dates() {
            let first = self.first.div_euclid(MICROS_A_SECOND);
            return self.instants().at_or_before(first, first) == Some(first);
        }
        Dates::new(&self.pattern, origin, origin).next() == Some(origin)
    }

    /// The zone whose wall clock the series follows.
    pub const fn zone(&self) -> Zone {
        self.zone
    }

    /// How long each occurrence lasts.
    pub const fn length(&self) -> Length {
        self.length
    }

    /// Whether the length is in days.
    pub const fn is_all_day(&self) -> bool {
        matches!(self.length.0, Lasts::Days(_))
    }

    /// The occurrences that overlap `window`, unclipped, in order of their starts. [`Series`] has an example.
    ///
    /// They include those that began before the window and last into it.
    pub fn occurrences(&self, window: Span) -> Occurrences<'_> {
        let (from, to) = (window.start().as_micros(), window.end().as_micros());
        let earliest = match self.length.0 {
            Lasts::Time(micros) => from.saturating_sub(micros).saturating_add(1),
            // The midnight that many days after the start must be after `from`. A day can be as long as two if a date
            // is skipped or clocks are set back.
            Lasts::Days(days) => from.saturating_sub((i64::from(days) + 2) * MICROS_A_DAY),
            Lasts::Nominal(days, micros) => from.saturating_sub((i64::from(days) + 2) * MICROS_A_DAY + micros),
        };
        Occurrences { starts: self.between(earliest, to), ends: Clock::new(self.zone), after: from }
    }

    /// The occurrences that start in a range, in order.
    pub(crate) fn occurrences_from(&self, range: Range<Timestamp>) -> Occurrences<'_> {
        Occurrences { starts: self.starts(range), ends: Clock::new(self.zone), after: i64::MIN }
    }

    /// The starts with `range.start <= start < range.end`, in order. [`Starts`] has an example.
    pub fn starts(&self, range: Range<Timestamp>) -> Starts<'_> {
        self.between(range.start.as_micros(), range.end.as_micros())
    }

    /// The earliest start after `instant`, if there is one before [`HORIZON`].
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let rule: Rule = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29".parse()?;
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let leap_days = Series::new(rule, "2024-02-29T09:00:00Z".parse()?, Zone::UTC, hour)?;
    /// assert_eq!(leap_days.next_start_after("2026-01-01T00:00:00Z".parse()?), Some("2028-02-29T09:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_start_after(&self, instant: Timestamp) -> Option<Timestamp> {
        self.starts(instant + SignedDuration::micros(1)..HORIZON).next()
    }

    /// The latest start before `instant`.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let rule: Rule = "FREQ=DAILY;COUNT=3".parse()?;
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let series = Series::new(rule, "2026-03-02T09:00:00Z".parse()?, Zone::UTC, hour)?;
    /// assert_eq!(series.previous_start_before("2027-01-01T00:00:00Z".parse()?), Some("2026-03-04T09:00:00Z".parse()?));
    /// assert_eq!(series.previous_start_before(series.first_start()), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn previous_start_before(&self, instant: Timestamp) -> Option<Timestamp> {
        self.starts(self.first_start()..instant).next_back()
    }

    /// Whether an occurrence starts at exactly this time.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let series = Series::new("FREQ=WEEKLY".parse::<Rule>()?, "2026-03-02T09:00:00Z".parse()?, Zone::UTC, hour)?;
    /// assert!(series.is_occurrence("2076-03-02T09:00:00Z".parse()?));
    /// assert!(!series.is_occurrence("2076-03-02T09:30:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_occurrence(&self, start: Timestamp) -> bool {
        self.starts(start..start + SignedDuration::micros(1)).next().is_some()
    }

    /// The occurrence that starts at exactly this time. [`Length::days`] has an example.
    pub fn span_at(&self, start: Timestamp) -> Option<Span> {
        let at = self.starts(start..start + SignedDuration::micros(1)).next()?;
        let mut clock = Clock::new(self.zone);
        let end = self.length.end(at.as_micros(), clock.shows(at.as_micros()), &mut clock);
        Span::new(at, Timestamp::from_micros(end)).ok()
    }

    /// The last of the first `count` starts, or the last of all if there are fewer.
    fn counted(&self, count: u32) -> Result<Option<i64>, SeriesError> {
        let mut starts = self.between(self.first, HORIZON.as_micros());
        let last =
            std::iter::from_fn(|| starts.advance()).take(usize::try_from(count.min(MAX_COUNTED)).unwrap_or(0)).last();
        if count > MAX_COUNTED && starts.advance().is_some() {
            return Err(SeriesError::TooManyToCount { count });
        }
        Ok(last)
    }

    fn instants(&self) -> Box<Instants<'_>> {
        // On the heap, so that the iterators of most series stay small.
        Box::new(Instants::new(&self.pattern, self.zone))
    }

    fn between(&self, from: i64, to: i64) -> Starts<'_> {
        let end = self.last.map_or(HORIZON.as_micros(), |last| last.saturating_add(1)).min(to);
        let from = from.max(self.first);
        let first = (from == self.first && self.first < end).then_some(self.first);
        let by_dates = self.pattern.is_of_dates();
        // The date of the first start is already taken.
        let earliest = earliest_day(from, self.zone).max(self.pattern.origin + 1);
        let latest = if from < end && by_dates { latest_day(end, self.zone) } else { i64::MIN };
        Starts {
            series: self,
            dates: Dates::new(&self.pattern, earliest, latest),
            clock: Clock::new(self.zone),
            instants: if by_dates { None } else { Some(self.instants()) },
            first,
            after: (from - 1).max(self.first),
            end,
            without: &[],
        }
    }

    /// Whether the rule, regardless of `COUNT` and `UNTIL`, has a date between the start and the horizon.
    fn generates_a_date(&self) -> bool {
        if !self.pattern.is_of_dates() {
            let (first, end) = (self.first.div_euclid(MICROS_A_SECOND), HORIZON.as_unix_seconds());
            return !self.pattern.is_empty() && self.instants().at_or_after(first, end).is_some();
        }
        let latest = latest_day(HORIZON.as_micros(), self.zone);
        let mut dates = Dates::new(&self.pattern, self.pattern.origin, latest);
        dates.next().is_some_and(|day| day == self.pattern.origin || self.instant_on(day) < HORIZON.as_micros())
    }

    /// The time at which the wall clock shows the series' time of day on a date.
    fn instant_on(&self, day: i64) -> i64 {
        Clock::new(self.zone).instant(day * MICROS_A_DAY + self.time)
    }

    /// The first time after `until`.
    fn until_end(&self, until: Until) -> i64 {
        match until {
            Until::Timestamp(instant) => instant.as_micros().saturating_add(1),
            Until::Date(date) => Clock::new(self.zone).instant(date.plus_days(1).as_days() * MICROS_A_DAY),
            Until::Local(until) => {
                let local = until.as_micros().unwrap_or(i64::MAX - MICROS_A_DAY);
                Clock::new(self.zone).instant(local).saturating_add(1)
            }
        }
    }
}

/// The first date on which an occurrence can start at `from` or later.
fn earliest_day(from: i64, zone: Zone) -> i64 {
    // Clocks may be set back, and a time in a gap may move to the next date, each by at most a day.
    let margin = if zone == Zone::UTC { 0 } else { 2 };
    local_of(zone, from).div_euclid(MICROS_A_DAY) - margin
}

/// The last date on which an occurrence can start before `end`.
fn latest_day(end: i64, zone: Zone) -> i64 {
    let margin = if zone == Zone::UTC { 0 } else { 2 };
    local_of(zone, end - 1).div_euclid(MICROS_A_DAY) + margin
}

/// The starts of a series in a range, from [`Series::starts`]. Forwards, a rule with one time a day allocates nothing.
///
/// ```
/// use kalends_recurrence::{Exceptions, Length, Rule, Series, SignedDuration, Zone};
///
/// let first = "2026-03-02T09:00:00Z".parse()?;
/// let hour = Length::elapsed(SignedDuration::hours(1))?;
/// let series = Series::new("FREQ=DAILY;COUNT=4".parse::<Rule>()?, first, Zone::UTC, hour)?;
/// let skipped = Exceptions::from(vec!["2026-03-03T09:00:00Z".parse()?]);
/// let mut starts = series.starts(first..kalends_recurrence::HORIZON).without(&skipped);
/// assert_eq!(starts.next_back(), Some("2026-03-05T09:00:00Z".parse()?));
/// assert_eq!(starts.next(), Some(first));
/// assert_eq!(starts.next(), Some("2026-03-04T09:00:00Z".parse()?));
/// assert_eq!(starts.next(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Starts<'a> {
    series: &'a Series,
    dates: Dates<'a>,
    clock: Clock,
    /// The search for starts that dates do not give: those of rules with several times a day, and from the end.
    instants: Option<Box<Instants<'a>>>,
    /// The first start, if it is in the range and not yet returned.
    first: Option<i64>,
    /// Later starts are after this time.
    after: i64,
    end: i64,
    /// In ascending order.
    without: &'a [Timestamp],
}

impl<'a> Starts<'a> {
    /// Skips exactly these starts. A start that the series does not have is ignored. [`Starts`] has an example.
    pub fn without(self, exceptions: &'a Exceptions) -> Self {
        Self { without: exceptions.starts(), ..self }
    }

    /// The number of steps that the iterator has taken: periods computed and dates examined. In a range of 366 days,
    /// [`MAX_STEPS_IN_366_DAYS`](crate::MAX_STEPS_IN_366_DAYS) limits them for the rules that it names.
    pub fn steps(&self) -> u64 {
        self.dates.steps() + self.instants.as_ref().map_or(0, |instants| instants.steps())
    }

    #[inline]
    fn advance(&mut self) -> Option<i64> {
        loop {
            let start = match self.first.take() {
                Some(first) => first,
                None => self.generated()?,
            };
            if self.without.is_empty() || !self.left_out(start) {
                return Some(start);
            }
        }
    }

    /// The last start that was not returned yet.
    fn retreat(&mut self) -> Option<i64> {
        loop {
            let start = match self.searched_back() {
                Some(start) => start,
                None => self.first.take()?,
            };
            self.end = start;
            if self.without.binary_search(&Timestamp::from_micros(start)).is_err() {
                return Some(start);
            }
        }
    }

    /// The last start between `after` and `end`.
    fn searched_back(&mut self) -> Option<i64> {
        if self.end <= self.after {
            return None;
        }
        let least = self.after.div_euclid(MICROS_A_SECOND) + 1;
        let to = (self.end - 1).div_euclid(MICROS_A_SECOND);
        let series = self.series;
        let start = self.instants.get_or_insert_with(|| series.instants()).at_or_before(to, least)?;
        Some(start * MICROS_A_SECOND)
    }

    /// The first start after `after`, if dates do not give the starts.
    #[inline(never)]
    fn searched(&mut self) -> Option<i64> {
        if self.series.pattern.is_of_dates() {
            return None;
        }
        let after = self.after.div_euclid(MICROS_A_SECOND);
        let end = self.end.saturating_add(MICROS_A_SECOND - 1).div_euclid(MICROS_A_SECOND);
        let start = self.instants.as_mut()?.after(after, end)? * MICROS_A_SECOND;
        self.after = start;
        Some(start)
    }

    #[inline]
    fn generated(&mut self) -> Option<i64> {
        loop {
            // If dates do not give the starts, there are no dates. So this asks which of the two it is only once.
            let Some(day) = self.dates.next() else {
                return if self.instants.is_some() { self.searched() } else { None };
            };
            let start = self.clock.instant(day * MICROS_A_DAY + self.series.time);
            // Dates ascend, and so do their timestamps. If a whole date is skipped, two of them are the same.
            if start >= self.end {
                return None;
            }
            if start > self.after {
                self.after = start;
                return Some(start);
            }
        }
    }

    #[inline(never)]
    fn left_out(&mut self, start: i64) -> bool {
        let start = Timestamp::from_micros(start);
        if self.without.first().is_some_and(|exdate| *exdate < start) {
            self.without = &self.without[self.without.partition_point(|exdate| *exdate < start)..];
        }
        self.without.first() == Some(&start)
    }
}

impl Iterator for Starts<'_> {
    type Item = Timestamp;

    #[inline]
    fn next(&mut self) -> Option<Timestamp> {
        self.advance().map(Timestamp::from_micros)
    }
}

impl DoubleEndedIterator for Starts<'_> {
    fn next_back(&mut self) -> Option<Timestamp> {
        self.retreat().map(Timestamp::from_micros)
    }
}

/// The occurrences of a series in a window, from [`Series::occurrences`]. It allocates as [`Starts`] does. [`Series`]
/// has an example.
#[derive(Debug, Clone)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Occurrences<'a> {
    starts: Starts<'a>,
    ends: Clock,
    /// Occurrences end after this time.
    after: i64,
}

impl<'a> Occurrences<'a> {
    /// The same as [`Starts::without`]. The [crate](crate) has an example.
    pub fn without(self, exceptions: &'a Exceptions) -> Self {
        Self { starts: self.starts.without(exceptions), ..self }
    }

    /// The same as [`Starts::steps`].
    pub fn steps(&self) -> u64 {
        self.starts.steps()
    }

    #[inline(never)]
    fn end_of_days(&mut self, start: i64) -> i64 {
        self.starts.series.length.end(start, self.starts.clock.shows(start), &mut self.ends)
    }

    #[inline]
    fn end_of(&mut self, start: i64) -> i64 {
        match self.starts.series.length.0 {
            Lasts::Time(micros) => start.saturating_add(micros),
            Lasts::Days(_) | Lasts::Nominal(..) => self.end_of_days(start),
        }
    }
}

impl Iterator for Occurrences<'_> {
    type Item = Span;

    #[inline]
    fn next(&mut self) -> Option<Span> {
        loop {
            let start = self.starts.advance()?;
            let end = self.end_of(start);
            if end > self.after {
                return Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).ok();
            }
        }
    }
}

impl DoubleEndedIterator for Occurrences<'_> {
    fn next_back(&mut self) -> Option<Span> {
        loop {
            let start = self.starts.retreat()?;
            let end = self.end_of(start);
            if end > self.after {
                return Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).ok();
            }
        }
    }
}

impl FusedIterator for Starts<'_> {}

impl FusedIterator for Occurrences<'_> {}
