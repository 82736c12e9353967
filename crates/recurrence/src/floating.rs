//! A rule on a wall clock of no particular zone.

use std::ops::Range;

use kalends_time::{CivilDate, CivilDateTime, CivilTime};

use crate::cursor::{Cursor, SECONDS_A_DAY};
use crate::limits::{EARLIEST_START, HORIZON};
use crate::pattern::Pattern;
use crate::rule::Rule;

/// A rule and a first start on a wall clock, without a zone: for times that float (RFC 5545 section 3.3.5), and for
/// zones that the time zone database does not have.
///
/// The first start is always a start. `COUNT` and `UNTIL` of the rule do not end it: the caller's range does.
///
/// ```
/// use kalends_recurrence::{CivilDate, CivilTime, FloatingSeries, Rule};
///
/// let rule: Rule = "FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU".parse()?;
/// let first = CivilDate::new(2026, 1, 4).ok_or("no such date")?.at(CivilTime::MIDNIGHT);
/// let series = FloatingSeries::new(&rule, first);
/// let until = CivilDate::new(2100, 1, 1).ok_or("no such date")?.midnight();
/// let starts: Vec<String> = series.starts(first..until).take(3).map(|start| start.date.to_string()).collect();
/// assert_eq!(starts, ["2026-01-04", "2027-01-03", "2033-01-02"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FloatingSeries {
    pattern: Pattern,
    first: i64,
}

impl FloatingSeries {
    /// A rule from a first start on. A fraction of a second is cut off, and a first start outside the years 1 to 2099
    /// moves to the nearest time in them. [`FloatingSeries`] has an example.
    pub fn new(rule: &Rule, first: CivilDateTime) -> Self {
        let (earliest, latest) = (EARLIEST_START.as_unix_seconds(), HORIZON.as_unix_seconds());
        let first = seconds(first).clamp(earliest, latest);
        let pattern = Pattern::new(rule, first.div_euclid(SECONDS_A_DAY), first.rem_euclid(SECONDS_A_DAY));
        Self { pattern, first }
    }

    /// The starts in a range, in order. They end with the year 2099. [`FloatingSeries`] has an example.
    pub fn starts(&self, range: Range<CivilDateTime>) -> FloatingStarts<'_> {
        let from = seconds(range.start).max(self.first);
        let end = seconds(range.end).min(HORIZON.as_unix_seconds());
        let first = (from == self.first && from < end).then_some(self.first);
        // The first start is returned by itself.
        let from = from.max(self.first + 1);
        FloatingStarts { cursor: Cursor::new(&self.pattern), can_occur: !self.pattern.is_empty(), first, from, end }
    }
}

/// The starts of a [`FloatingSeries`] in a range, from either end. It does not allocate.
///
/// ```
/// use kalends_recurrence::{CivilDate, FloatingSeries, Rule};
///
/// let rule: Rule = "FREQ=MONTHLY;BYMONTHDAY=-1".parse()?;
/// let first = "2026-01-31".parse::<CivilDate>()?.midnight();
/// let series = FloatingSeries::new(&rule, first);
/// let mut starts = series.starts(first..first.date.plus_days(365).midnight());
/// assert_eq!(starts.next_back().map(|start| start.to_string()).as_deref(), Some("2026-12-31T00:00:00"));
/// assert_eq!(starts.count(), 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct FloatingStarts<'a> {
    cursor: Cursor<'a>,
    can_occur: bool,
    /// The first start, if it is in the range and not yet returned.
    first: Option<i64>,
    /// The other starts are from this time on, up to but not including `end`.
    from: i64,
    end: i64,
}

impl FloatingStarts<'_> {
    /// Ends the iterator after that many steps in all. This bounds the work for a rule that occurs rarely.
    ///
    /// ```
    /// use kalends_recurrence::{CivilDate, FloatingSeries, Rule};
    ///
    /// // A 29 February is a Monday only every 28 years.
    /// let rule: Rule = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO".parse()?;
    /// let first = "2026-01-01".parse::<CivilDate>()?.midnight();
    /// let series = FloatingSeries::new(&rule, first);
    /// let mut starts = series.starts(first..first.date.plus_days(20_000).midnight());
    /// starts.limit_steps(20);
    /// assert_eq!(starts.by_ref().count(), 1, "only the first start was found");
    /// assert!(starts.is_exhausted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn limit_steps(&mut self, steps: u64) {
        self.cursor.limit_steps(steps);
    }

    /// Whether the iterator has used up the steps of [`limit_steps`](Self::limit_steps). If so, more starts may follow.
    /// [`limit_steps`](Self::limit_steps) has an example.
    pub const fn is_exhausted(&self) -> bool {
        self.cursor.is_exhausted()
    }

    /// The number of steps that the iterator has taken: periods computed and candidates examined.
    pub const fn steps(&self) -> u64 {
        self.cursor.steps()
    }
}

impl Iterator for FloatingStarts<'_> {
    type Item = CivilDateTime;

    fn next(&mut self) -> Option<CivilDateTime> {
        if let Some(first) = self.first.take() {
            return Some(civil(first));
        }
        if !self.can_occur || self.from >= self.end {
            return None;
        }
        let found = self.cursor.at_or_after(self.from, (self.end - 1).div_euclid(SECONDS_A_DAY));
        self.from = found.map_or(self.end, |found| found + 1);
        found.filter(|found| *found < self.end).map(civil)
    }
}

impl DoubleEndedIterator for FloatingStarts<'_> {
    fn next_back(&mut self) -> Option<CivilDateTime> {
        let found = (self.can_occur && self.from < self.end)
            .then(|| self.cursor.at_or_before(self.end - 1, self.from.div_euclid(SECONDS_A_DAY)))
            .flatten()
            .filter(|found| *found >= self.from);
        match found {
            Some(found) => {
                self.end = found;
                Some(civil(found))
            }
            None => {
                self.end = self.from;
                self.first.take().map(civil)
            }
        }
    }
}

impl std::iter::FusedIterator for FloatingStarts<'_> {}

fn seconds(civil: CivilDateTime) -> i64 {
    civil.date.as_days() * SECONDS_A_DAY + civil.time.as_micros() / 1_000_000
}

fn civil(seconds: i64) -> CivilDateTime {
    let time = CivilTime::from_micros(seconds.rem_euclid(SECONDS_A_DAY) * 1_000_000).unwrap_or(CivilTime::MIDNIGHT);
    CivilDate::from_days(seconds.div_euclid(SECONDS_A_DAY)).at(time)
}
