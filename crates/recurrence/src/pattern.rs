//! Which days a rule falls on: the candidates of one period, as bit sets.
//!
//! Days are counted from 1970-01-01, months from January of the year 0, in the proleptic Gregorian calendar as in
//! [`kalends_kernel`]. A set has bit *n* if it contains the day *n* days after the first day of its period.

use kalends_kernel::CivilDate;

use crate::Frequency;
use crate::rule::Rule;
use crate::sets::{Place, Places, bits};

/// The days of a year, one bit each.
pub(crate) type YearSet = [u64; 6];

/// The periods in which dates are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Periods {
    /// Every `INTERVAL` days, computed a month at a time.
    MonthsOfDays,
    /// Every `INTERVAL` weeks.
    Weeks,
    /// Every `INTERVAL` months. A yearly rule with only one month also uses this: every 12 times `INTERVAL` months.
    Months,
    /// Every `INTERVAL` years.
    Years,
}

const ALL_MONTHS: u16 = 0xFFF;
/// Bit 0 and every seventh bit after it.
const SEVENTHS: u64 = 0x8102_0408_1020_4081;

/// A rule tied to its first date, which fills in the information missing from the rule (RFC 5545 section 3.3.10).
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) periods: Periods,
    /// The distance from one period to the next, in days, weeks, months or years.
    pub(crate) interval: i64,
    /// The first date of the series.
    pub(crate) origin: i64,
    /// The first month to examine, if periods are months. It can begin after the first date.
    pub(crate) first_month: i64,
    /// The day on which weeks begin; 0 is Monday.
    pub(crate) week_start: u8,
    /// The months to examine; bit 0 is January.
    months: u16,
    /// Whether the rule names months. If so, ordinals count within each of them.
    names_months: bool,
    month_days: Places<1>,
    names_month_days: bool,
    every: u8,
    numbered: u8,
    ordinals: [Places<1>; 7],
    /// The weekday and ordinal, if the rule names one numbered weekday of the year and nothing else.
    only: Option<(u8, Place)>,
    positions: Places<6>,
    names_positions: bool,
    /// Bit *n* for every *n* that is a multiple of the interval.
    stride: u64,
    /// The candidates of any week, if the rule names no months.
    week: u64,
}

impl Pattern {
    pub(crate) fn new(rule: &Rule, origin: i64) -> Self {
        let first = CivilDate::from_days(origin);
        let (_, month, day) = first.year_month_day();
        let interval = i64::from(rule.interval);
        let mut pattern = Self {
            periods: match rule.frequency {
                Frequency::Daily => Periods::MonthsOfDays,
                Frequency::Weekly => Periods::Weeks,
                Frequency::Monthly => Periods::Months,
                Frequency::Yearly => Periods::Years,
            },
            interval,
            first_month: month_number(origin),
            origin,
            week_start: rule.week_start,
            months: if rule.months == 0 { ALL_MONTHS } else { rule.months },
            names_months: rule.months != 0,
            month_days: rule.month_days,
            names_month_days: false,
            every: rule.days.every,
            numbered: rule.days.numbered,
            ordinals: rule.days.ordinals,
            only: None,
            positions: rule.positions,
            names_positions: !rule.positions.is_empty(),
            stride: (0..64).filter(|bit| bit % interval == 0).fold(0, |stride, bit| stride | 1 << bit),
            week: 0,
        };
        let names_days = !rule.days.is_empty() || !rule.month_days.is_empty();
        let by_first_date = match rule.frequency {
            Frequency::Monthly | Frequency::Yearly => !names_days,
            Frequency::Daily | Frequency::Weekly => false,
        };
        if by_first_date {
            // A day of a month fits in 16 bits.
            pattern.month_days.insert(Place { from_end: false, number: u16::try_from(day).unwrap_or(1) });
            if rule.frequency == Frequency::Yearly && !pattern.names_months {
                pattern.months = 1 << (month - 1);
            }
        }
        if rule.frequency == Frequency::Weekly && rule.days.is_empty() {
            pattern.every = 1 << first.weekday();
        }
        pattern.names_month_days = !pattern.month_days.is_empty();
        if pattern.periods == Periods::Years {
            if pattern.months.is_power_of_two() {
                pattern.periods = Periods::Months;
                pattern.interval = 12 * interval;
                let in_year = i64::from(pattern.months.trailing_zeros());
                pattern.first_month = pattern.first_month.div_euclid(12) * 12 + in_year;
            }
            pattern.only = pattern.only_numbered();
        }
        // Bit 0 of a week is the day on which weeks begin.
        let twice = u64::from(pattern.every) * (1 | 1 << 7);
        pattern.week = pattern.positioned(twice >> rule.week_start & 0x7F);
        pattern
    }

    /// The weekday and its ordinal, if a year has no other candidates.
    fn only_numbered(&self) -> Option<(u8, Place)> {
        if self.every != 0 || self.names_months || self.names_month_days || self.names_positions {
            return None;
        }
        let mut numbered =
            self.numbered().flat_map(|(weekday, places)| places.iter().map(move |place| (weekday, place)));
        let only = numbered.next()?;
        numbered.next().is_none().then_some(only)
    }

    /// The candidates of a month under a daily rule: every `INTERVAL` days, filtered by the other parts. `offset` is
    /// the first multiple of the interval, in days from the first of the month.
    pub(crate) fn days_of_month(&self, month: Month, offset: i64) -> u64 {
        if !self.looks_at(month) || offset >= month.length {
            return 0;
        }
        // The set of one day has one position, which is both the first and the last.
        if self.names_positions && !self.positions.holds(0, 0) {
            return 0;
        }
        self.within(month, false) & (self.stride << offset)
    }

    /// The candidates of the week that begins on `first`.
    #[inline]
    pub(crate) fn week(&self, first: i64) -> u64 {
        if self.names_months { self.week_of_months(first) } else { self.week }
    }

    fn week_of_months(&self, first: i64) -> u64 {
        let month = Month::of(first);
        let until_next = month.first + month.length - first;
        let this = if until_next >= 7 { 0x7F } else { (1 << until_next) - 1 };
        let next = if self.looks_at(month.after(1)) { 0x7F & !this } else { 0 };
        let let_through = next | if self.looks_at(month) { this } else { 0 };
        let twice = u64::from(self.every) * (1 | 1 << 7);
        self.positioned(twice >> self.week_start & 0x7F & let_through)
    }

    /// The candidates of a month under a monthly rule.
    pub(crate) fn month(&self, month: Month) -> u64 {
        if self.looks_at(month) { self.positioned(self.within(month, true)) } else { 0 }
    }

    /// The only day of the year that begins on `first`; `Some(None)` in a year with too few of the weekday. Returns
    /// `None` if the rule can have several days in a year.
    #[inline]
    pub(crate) fn only_day(&self, year: i64, first: i64) -> Option<Option<i64>> {
        let (weekday, Place { from_end, number }) = self.only?;
        let new_year = (first + 3).rem_euclid(7);
        let before = (i64::from(weekday) + 7 - new_year) % 7;
        let length = if is_leap(year) { 366 } else { 365 };
        let last = (length - 1 - before) / 7;
        let place = i64::from(number) - 1;
        let week = if from_end { last - place } else { place };
        Some((0..=last).contains(&week).then_some(first + before + 7 * week))
    }

    /// The candidates of the year that begins on `first`.
    #[inline]
    pub(crate) fn year(&self, year: i64, first: i64) -> YearSet {
        let numbered_in_year = self.numbered != 0 && !self.names_months;
        let mut set = if numbered_in_year {
            let mut days = self.numbered_in_year(year, first);
            if self.every != 0 {
                self.insert_months(year, &mut days, |month| weekdays(self.every, month));
            }
            if self.names_month_days {
                let mut month_days = [0; 6];
                self.insert_months(year, &mut month_days, |month| self.month_days(month));
                days.iter_mut().zip(month_days).for_each(|(days, month_days)| *days &= month_days);
            }
            days
        } else {
            let mut set = [0; 6];
            self.insert_months(year, &mut set, |month| self.within(month, true));
            set
        };
        if self.names_positions {
            self.choose(&mut set);
        }
        set
    }

    fn looks_at(&self, month: Month) -> bool {
        self.months >> month.in_year & 1 == 1
    }

    /// The days of a month that `BYMONTHDAY` and `BYDAY` select.
    fn within(&self, month: Month, ordinals: bool) -> u64 {
        let mut set = month.all();
        if self.names_month_days {
            set &= self.month_days(month);
        }
        if self.every | self.numbered != 0 {
            let mut days = weekdays(self.every, month);
            if ordinals && self.numbered != 0 {
                days |= self.numbered_in_month(month);
            }
            set &= days;
        }
        set
    }

    fn month_days(&self, month: Month) -> u64 {
        // Bit 0 of the backward side is the last day.
        let from_end = self.month_days.backward().reverse_bits() >> (64 - month.length);
        (self.month_days.forward() | from_end) & month.all()
    }

    fn numbered_in_month(&self, month: Month) -> u64 {
        let mut set = 0;
        for (weekday, ordinals) in self.numbered() {
            let first = i64::from((weekday + 7 - month.weekday) % 7);
            let weeks = (month.length - 1 - first) / 7;
            for ordinal in bits(ordinals.forward()).map(i64::from).filter(|ordinal| *ordinal <= weeks) {
                set |= 1 << (first + 7 * ordinal);
            }
            for ordinal in bits(ordinals.backward()).map(i64::from).filter(|ordinal| *ordinal <= weeks) {
                set |= 1 << (first + 7 * (weeks - ordinal));
            }
        }
        set
    }

    #[inline]
    fn numbered_in_year(&self, year: i64, first: i64) -> YearSet {
        let new_year = CivilDate::from_days(first).weekday();
        let length = if is_leap(year) { 366 } else { 365 };
        let mut set = [0; 6];
        let mut insert = |day: u32| {
            // A day of the year is less than 6 × 64.
            if let Some(word) = usize::try_from(day / 64).ok().and_then(|index| set.get_mut(index)) {
                *word |= 1 << (day % 64);
            }
        };
        for (weekday, ordinals) in self.numbered() {
            let first = u32::from((weekday + 7 - new_year) % 7);
            let weeks = (length - 1 - first) / 7;
            for ordinal in bits(ordinals.forward()).filter(|ordinal| *ordinal <= weeks) {
                insert(first + 7 * ordinal);
            }
            for ordinal in bits(ordinals.backward()).filter(|ordinal| *ordinal <= weeks) {
                insert(first + 7 * (weeks - ordinal));
            }
        }
        set
    }

    /// The weekdays that have ordinals.
    fn numbered(&self) -> impl Iterator<Item = (u8, &Places<1>)> {
        bits(self.numbered.into()).filter_map(|weekday| {
            let weekday = u8::try_from(weekday).ok()?;
            Some((weekday, self.ordinals.get(usize::from(weekday))?))
        })
    }

    fn insert_months(&self, year: i64, set: &mut YearSet, days: impl Fn(Month) -> u64) {
        let starts = month_starts(year);
        for in_year in bits(self.months.into()) {
            let month = Month::new(year * 12 + i64::from(in_year));
            let start = usize::try_from(in_year).ok().and_then(|index| starts.get(index)).copied().unwrap_or(0);
            insert(set, days(month), start);
        }
    }

    /// Applies `BYSETPOS` to the set of a week or a month.
    fn positioned(&self, set: u64) -> u64 {
        if !self.names_positions {
            return set;
        }
        let mut year = [set, 0, 0, 0, 0, 0];
        self.choose(&mut year);
        year[0]
    }

    /// Keeps the candidates that are in a place of `BYSETPOS`.
    fn choose(&self, set: &mut YearSet) {
        let count: usize = set.iter().map(|word| bits(*word).count()).sum();
        let mut before = 0;
        for word in set {
            for bit in bits(*word) {
                if !self.positions.holds(before, count - 1 - before) {
                    *word &= !(1 << bit);
                }
                before += 1;
            }
        }
    }
}

/// Adds the days of `month`, which starts `start` days into the year.
fn insert(set: &mut YearSet, month: u64, start: u32) {
    let wide = u128::from(month) << (start % 64);
    let word = usize::try_from(start / 64).unwrap_or(0);
    // The two halves of the shifted set.
    let halves = [wide & u128::from(u64::MAX), wide >> 64].map(|half| u64::try_from(half).unwrap_or(0));
    set.iter_mut().skip(word).zip(halves).for_each(|(word, half)| *word |= half);
}

fn weekdays(every: u8, month: Month) -> u64 {
    (u64::from(every).wrapping_mul(SEVENTHS) >> month.weekday) & month.all()
}

/// A month of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Month {
    /// Months since January of the year 0.
    pub(crate) number: i64,
    /// 0 is January.
    in_year: u8,
    pub(crate) first: i64,
    pub(crate) length: i64,
    /// The weekday of its first day; 0 is Monday.
    weekday: u8,
}

impl Month {
    pub(crate) fn new(number: i64) -> Self {
        let year = number.div_euclid(12);
        let in_year = number.rem_euclid(12);
        let index = usize::try_from(in_year).unwrap_or(0);
        let first = first_of_year(year) + i64::from(month_starts(year)[index]);
        let length = i64::from(MONTH_LENGTHS[index]) + i64::from(index == 1 && is_leap(year));
        // A remainder modulo twelve fits in a byte.
        let in_year = u8::try_from(in_year).unwrap_or(0);
        Self { number, in_year, first, length, weekday: CivilDate::from_days(first).weekday() }
    }

    /// The month that contains a day.
    pub(crate) fn of(day: i64) -> Self {
        Self::new(month_number(day))
    }

    /// The month that many months later.
    pub(crate) fn after(self, months: i64) -> Self {
        Self::new(self.number + months)
    }

    fn all(self) -> u64 {
        (1 << self.length) - 1
    }
}

/// The number of the month that contains a day: months since January of the year 0.
pub(crate) fn month_number(day: i64) -> i64 {
    let (year, month, _) = CivilDate::from_days(day).year_month_day();
    i64::from(year) * 12 + i64::from(month) - 1
}

const MONTH_LENGTHS: [u8; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MONTH_STARTS: [[u32; 12]; 2] =
    [[0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334], [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335]];

fn month_starts(year: i64) -> &'static [u32; 12] {
    &MONTH_STARTS[usize::from(is_leap(year))]
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The day number of 1 January.
pub(crate) fn first_of_year(year: i64) -> i64 {
    let before = year - 1;
    // 477 of the years up to 1969 were leap years.
    365 * (year - 1970) + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 477
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_agree_with_the_kernels_calendar() {
        for number in 1969 * 12..2102 * 12 {
            let month = Month::new(number);
            let year = i32::try_from(number / 12).unwrap();
            let in_year = u32::try_from(number % 12).unwrap() + 1;
            let first = CivilDate::new(year, in_year, 1).unwrap();
            assert_eq!((month.first, month.weekday), (first.as_days(), first.weekday()));
            assert_eq!(month.first + month.length, month.after(1).first);
            assert_eq!(Month::of(month.first + month.length - 1), month);
            assert_eq!(first_of_year(year.into()), CivilDate::new(year, 1, 1).unwrap().as_days());
        }
    }
}
