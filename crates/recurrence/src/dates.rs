//! The dates of a pattern between two days, found by jumping to the first period that matters.

use crate::month::{Month, first_of_year, month_number};
use crate::pattern::{Pattern, Periods, YearSet};

/// An ascending run of dates, as days since 1970-01-01.
#[derive(Debug, Clone)]
pub(crate) struct Dates<'a> {
    pattern: &'a Pattern,
    /// The next period to compute: a month's number, the first day of a week, or a year.
    period: i64,
    /// The day of bit 0 of `candidates`.
    base: i64,
    /// The days left in the current period, 64 at a time.
    candidates: u64,
    /// The words of a year, the number of words up to the last one with days, and the index of the word after
    /// `candidates`.
    year: YearSet,
    words: usize,
    word: usize,
    last: i64,
    steps: u64,
}

impl<'a> Dates<'a> {
    /// The dates from `from` to `last`, both inclusive. There are none before the pattern's first date.
    pub(crate) fn new(pattern: &'a Pattern, from: i64, last: i64) -> Self {
        let from = from.max(pattern.origin);
        let period = pattern.first_period(from);
        let mut dates =
            Self { pattern, period, base: 0, candidates: 0, year: [0; 6], words: 0, word: 0, last, steps: 0 };
        // Only the first period can hold days before `from`.
        dates.next_period();
        dates.drop_before(from);
        dates
    }

    pub(crate) const fn steps(&self) -> u64 {
        self.steps
    }

    fn drop_before(&mut self, from: i64) {
        while from - self.base >= 64 && self.next_word() {}
        let before = from - self.base;
        if before > 0 {
            self.candidates = if before < 64 { self.candidates >> before << before } else { 0 };
        }
    }

    #[inline]
    fn next_word(&mut self) -> bool {
        // Nothing is left after the last word of the year that has days.
        let Some(word) = self.year.get(self.word).filter(|_| self.word < self.words) else {
            return false;
        };
        self.candidates = *word;
        self.word += 1;
        self.base += 64;
        true
    }

    /// Computes the candidates of the next period. Returns `false` after the last day.
    #[inline]
    fn next_period(&mut self) -> bool {
        if self.pattern.periods != Periods::Weeks {
            return self.next_month_or_year();
        }
        self.base = self.period;
        if self.base > self.last {
            return false;
        }
        self.candidates = self.pattern.week(self.base);
        self.period += 7 * self.pattern.interval;
        self.steps += 1;
        true
    }

    #[inline(never)]
    fn next_month_or_year(&mut self) -> bool {
        // A series whose starts are not given by dates asks for each start. Do not compute a period for it.
        if self.last == i64::MIN {
            return false;
        }
        let pattern = self.pattern;
        match pattern.periods {
            Periods::Weeks => return false,
            Periods::MonthsOfDays => {
                let month = Month::new(self.period);
                self.base = month.first;
                if self.base > self.last {
                    return false;
                }
                let offset = pattern.days_into(month);
                self.candidates = pattern.days_of_month(month, offset);
                self.period += 1;
                if pattern.interval > 31 {
                    let next = if offset < month.length { offset + pattern.interval } else { offset };
                    self.period = month_number(month.first + next);
                }
            }
            Periods::Months => {
                let month = Month::new(self.period);
                self.base = month.first;
                if self.base > self.last {
                    return false;
                }
                self.candidates = pattern.month(month);
                self.period += pattern.interval;
            }
            Periods::Years => {
                self.base = first_of_year(self.period);
                if self.base > self.last {
                    return false;
                }
                if let Some(only) = pattern.only_day(self.period, self.base) {
                    // The set begins on that day.
                    (self.base, self.candidates) = only.map_or((self.base, 0), |day| (day, 1));
                } else {
                    self.year = pattern.year(self.period, self.base);
                    self.candidates = self.year[0];
                    self.words = self.year.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
                    self.word = 1;
                }
                self.period += pattern.interval;
            }
        }
        self.steps += 1;
        true
    }
}

impl Iterator for Dates<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        while self.candidates == 0 {
            if !self.next_word() && !self.next_period() {
                return None;
            }
        }
        let day = self.base + i64::from(self.candidates.trailing_zeros());
        self.candidates &= self.candidates - 1;
        self.steps += 1;
        (day <= self.last).then_some(day)
    }
}
