//! Which days a rule falls on: the candidates of one period, as bit sets.
//!
//! Days are counted from 1970-01-01, months from January of the year 0, in the proleptic Gregorian calendar as in
//! [`kalends_time`]. A set has bit *n* if it contains the day *n* days after the first day of its period.

use kalends_time::CivilDate;

use crate::month::{Month, first_of_year, is_leap, month_number, month_starts, year_of};
use crate::rule::{Frequency, Rule};
use crate::sets::{Place, Places, bits};
use crate::times::{Product, Times};
use crate::units::Units;

/// The days of a year, one bit each.
pub(crate) type YearSet = [u64; 6];

/// The periods in which dates are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Periods {
    /// Every `INTERVAL` days, computed a month at a time. Rules shorter than a day use this to find the days on which
    /// they fall, with an interval of one day.
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
    weeks: Places<1>,
    names_weeks: bool,
    year_days: Places<6>,
    names_year_days: bool,
    month_days: Places<1>,
    names_month_days: bool,
    every: u8,
    numbered: u8,
    ordinals: [Places<1>; 7],
    /// The weekday and ordinal, if the rule names one numbered weekday of the year and nothing else.
    only: Option<(u8, Place)>,
    positions: Places<6>,
    /// Whether positions choose among days, because there is one time a day. If there are several, positions choose
    /// among the times of a period.
    chooses_days: bool,
    /// Whether positions choose among the times of all days of a week, a month or a year.
    pub(crate) chooses_times: bool,
    /// The times within a day, or within a period that is shorter than a day.
    pub(crate) times: Times,
    /// The periods, if they are shorter than a day.
    pub(crate) units: Option<Units>,
    of_dates: bool,
    /// Bit *n* for every *n* that is a multiple of the interval.
    stride: u64,
    /// The candidates of any week, if the rule names no months.
    week: u64,
}

impl Pattern {
    /// The pattern of a rule whose first start is at the second `time` of the day `origin`.
    pub(crate) fn new(rule: &Rule, origin: i64, time: i64) -> Self {
        let first = CivilDate::from_days(origin);
        let (_, month, day) = first.year_month_day();
        let mut units = Units::of(rule, origin, time);
        let mut times = times(rule, time);
        if let Some(product) = units.and_then(|units| units.of_every_day(&times)) {
            (units, times) = (None, Times { product, positions: None });
        }
        let has_positions = !rule.positions.is_empty();
        let by_day_or_less = rule.frequency <= Frequency::Daily;
        let interval = if rule.frequency.is_shorter_than_a_day() { 1 } else { i64::from(rule.interval) };
        let mut pattern = Self {
            periods: match rule.frequency {
                Frequency::Secondly | Frequency::Minutely | Frequency::Hourly | Frequency::Daily => {
                    Periods::MonthsOfDays
                }
                Frequency::Weekly => Periods::Weeks,
                Frequency::Monthly => Periods::Months,
                Frequency::Yearly => Periods::Years,
            },
            interval,
            first_month: month_number(origin),
            origin,
            week_start: rule.week_start.number(),
            months: if rule.months == 0 { ALL_MONTHS } else { rule.months },
            names_months: rule.months != 0,
            weeks: rule.weeks,
            names_weeks: !rule.weeks.is_empty(),
            year_days: rule.year_days,
            names_year_days: !rule.year_days.is_empty(),
            month_days: rule.month_days,
            names_month_days: false,
            every: rule.days.every,
            numbered: rule.days.numbered,
            ordinals: rule.days.ordinals,
            only: None,
            positions: rule.positions,
            chooses_days: has_positions && !by_day_or_less && times.product.count() == 1,
            chooses_times: has_positions && !by_day_or_less && times.product.count() > 1,
            times,
            units,
            of_dates: units.is_none()
                && times.positions.is_none()
                && times.product.count() == 1
                && times.product.nth(0) == Some(time),
            stride: (0..64).filter(|bit| bit % interval == 0).fold(0, |stride, bit| stride | 1 << bit),
            week: 0,
        };
        let names_days = !rule.days.is_empty() || pattern.names_year_days || !rule.month_days.is_empty();
        let by_first_weekday = match rule.frequency {
            Frequency::Weekly => rule.days.is_empty(),
            Frequency::Yearly => pattern.names_weeks && !names_days,
            _ => false,
        };
        let by_first_date = matches!(rule.frequency, Frequency::Monthly | Frequency::Yearly) && !names_days;
        if by_first_date && !by_first_weekday {
            // A day of a month fits in 16 bits.
            pattern.month_days.insert(Place { from_end: false, number: u16::try_from(day).unwrap_or(1) });
            if rule.frequency == Frequency::Yearly && !pattern.names_months {
                pattern.months = 1 << (month - 1);
            }
        }
        if by_first_weekday {
            pattern.every = 1 << first.weekday();
        }
        pattern.names_month_days = !pattern.month_days.is_empty();
        if pattern.periods == Periods::Years {
            if pattern.months.is_power_of_two() && !pattern.names_weeks && !pattern.names_year_days {
                pattern.periods = Periods::Months;
                pattern.interval = 12 * interval;
                let in_year = i64::from(pattern.months.trailing_zeros());
                pattern.first_month = pattern.first_month.div_euclid(12) * 12 + in_year;
            }
            pattern.only = pattern.only_numbered();
        }
        pattern.week = pattern.positioned(pattern.weekdays_of_week().into());
        pattern
    }

    /// The weekday and its ordinal, if a year has no other candidates.
    fn only_numbered(&self) -> Option<(u8, Place)> {
        let names_others = self.names_months || self.names_weeks || self.names_year_days || self.names_month_days;
        if self.every != 0 || names_others || self.chooses_days || self.chooses_times {
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
        let days = self.within(month, false) & (self.stride << offset);
        if self.names_year_days { days & self.year_days_of(month) } else { days }
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
        self.positioned(u64::from(self.weekdays_of_week()) & let_through)
    }

    /// The weekdays without an ordinal; bit 0 is the day on which weeks begin.
    fn weekdays_of_week(&self) -> u8 {
        let twice = u16::from(self.every) * (1 | 1 << 7);
        // Seven bits fit in a byte.
        u8::try_from(twice >> self.week_start & 0x7F).unwrap_or(0)
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
        if self.names_weeks && !self.names_months && !self.names_month_days && !self.names_year_days {
            let mut set = self.weeks(year, first, self.weekdays_of_week());
            if self.chooses_days {
                self.choose(&mut set);
            }
            return set;
        }
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
        if self.names_year_days {
            set.iter_mut().zip(self.year_days(year)).for_each(|(days, named)| *days &= named);
        }
        if self.names_weeks {
            set.iter_mut().zip(self.weeks(year, first, 0x7F)).for_each(|(days, named)| *days &= named);
        }
        if self.chooses_days {
            self.choose(&mut set);
        }
        set
    }

    /// The days of a year that `BYYEARDAY` names.
    fn year_days(&self, year: i64) -> YearSet {
        let length = year_length(year);
        let mut set = *self.year_days.words_from_start();
        for (index, word) in self.year_days.words_from_end().iter().enumerate() {
            for bit in bits(*word) {
                // The last day is bit 0 from the end. A set has 6 words of 64 bits.
                let from_end = u32::try_from(index).unwrap_or(0) * 64 + bit;
                length.checked_sub(1 + from_end).into_iter().for_each(|day| insert_day(&mut set, day));
            }
        }
        keep_before(&mut set, length);
        set
    }

    /// The days of a month that `BYYEARDAY` names.
    fn year_days_of(&self, month: Month) -> u64 {
        let year = month.number.div_euclid(12);
        let set = self.year_days(year);
        let start = month_starts(year).get(usize::from(month.in_year)).copied().unwrap_or(0);
        let word = usize::try_from(start / 64).unwrap_or(0);
        let at = |index: usize| u128::from(set.get(index).copied().unwrap_or(0));
        let wide = (at(word) | at(word + 1) << 64) >> (start % 64);
        // The lower half.
        u64::try_from(wide & u128::from(u64::MAX)).unwrap_or(0) & month.all()
    }

    /// The days of a year that are in a week of `BYWEEKNO`, on these weekdays; bit 0 is the day on which weeks begin. Week
    /// 1 is the first with at least four days in the year (ISO 8601). The first and the last days of a year can be in a
    /// week of another year.
    fn weeks(&self, year: i64, first: i64, weekdays: u8) -> YearSet {
        let (previous, length) = (i64::from(year_length(year - 1)), i64::from(year_length(year)));
        let begins = self.first_week(first);
        let after = self.first_week(first + length) + length;
        let mut set = [0; 6];
        let mut insert = |week: i64| insert_week(&mut set, week, weekdays);
        let count = (after - begins) / 7;
        for number in bits(self.weeks.forward()).map(i64::from).filter(|number| *number < count) {
            insert(begins + 7 * number);
        }
        for number in bits(self.weeks.backward()).map(i64::from).filter(|number| *number < count) {
            insert(begins + 7 * (count - 1 - number));
        }
        let holds = |before: i64, after: i64| {
            let place = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
            self.weeks.holds(place(before), place(after))
        };
        if begins > 0 {
            // The last week of the year before.
            let count = (begins - self.first_week(first - previous) + previous) / 7;
            if holds(count - 1, 0) {
                insert(begins - 7);
            }
        }
        // Week 1 of the next year, which is also its last but 51 or 52.
        if after < length && holds(0, self.weeks_of(year + 1, first + length) - 1) {
            insert(after);
        }
        keep_before(&mut set, year_length(year));
        set
    }

    /// The first day of week 1 of a year, in days from its 1 January; -3 to 3.
    fn first_week(&self, first: i64) -> i64 {
        let into_week = (first + 3 - i64::from(self.week_start)).rem_euclid(7);
        if into_week <= 3 { -into_week } else { 7 - into_week }
    }

    /// The number of weeks of the year that begins on `first`.
    fn weeks_of(&self, year: i64, first: i64) -> i64 {
        let length = i64::from(year_length(year));
        (self.first_week(first + length) + length - self.first_week(first)) / 7
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
        let length = year_length(year);
        let mut set = [0; 6];
        let mut insert = |day: u32| insert_day(&mut set, day);
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

    /// Whether no time of any day can satisfy the rule.
    pub(crate) fn is_empty(&self) -> bool {
        self.times.from(0).is_none() || self.units.is_some_and(|units| !units.can_count())
    }

    /// Whether every date of the rule has one time, that of the first start, so that dates are enough to expand it.
    pub(crate) const fn is_of_dates(&self) -> bool {
        self.of_dates
    }

    /// The first day of a period.
    pub(crate) fn first_day(&self, period: i64) -> i64 {
        match self.periods {
            Periods::Weeks => period,
            Periods::MonthsOfDays | Periods::Months => Month::new(period).first,
            Periods::Years => first_of_year(period),
        }
    }

    /// The first day of a period and the days of the period on which the rule falls; bit 0 is the first day.
    pub(crate) fn days_of(&self, period: i64) -> (i64, YearSet) {
        let short = |first, days| (first, [days, 0, 0, 0, 0, 0]);
        match self.periods {
            Periods::Weeks => short(period, self.week(period)),
            Periods::MonthsOfDays => {
                let month = Month::new(period);
                short(month.first, self.days_of_month(month, self.days_into(month)))
            }
            Periods::Months => {
                let month = Month::new(period);
                short(month.first, self.month(month))
            }
            Periods::Years => {
                let first = first_of_year(period);
                (first, self.year(period, first))
            }
        }
    }

    /// The first day of a month that is a multiple of the interval from the first date, in days from its first.
    pub(crate) fn days_into(&self, month: Month) -> i64 {
        match self.interval {
            1 => 0,
            interval => (self.origin - month.first).rem_euclid(interval),
        }
    }

    /// The period after this one.
    pub(crate) fn period_after(&self, period: i64) -> i64 {
        match self.periods {
            Periods::Weeks => period + 7 * self.interval,
            Periods::MonthsOfDays if self.interval > 31 => {
                let month = Month::new(period);
                let offset = self.days_into(month);
                month_number(month.first + if offset < month.length { offset + self.interval } else { offset })
            }
            Periods::MonthsOfDays => period + 1,
            Periods::Months | Periods::Years => period + self.interval,
        }
    }

    /// The period before this one.
    pub(crate) fn period_before(&self, period: i64) -> i64 {
        match self.periods {
            Periods::Weeks => period - 7 * self.interval,
            Periods::MonthsOfDays if self.interval > 31 => {
                let month = Month::new(period);
                month_number(month.first + self.days_into(month) - self.interval)
            }
            Periods::MonthsOfDays => period - 1,
            Periods::Months | Periods::Years => period - self.interval,
        }
    }

    /// The first period that can hold a day from `from` on. It is a whole number of intervals after the first period.
    #[inline]
    pub(crate) fn first_period(&self, from: i64) -> i64 {
        // Most rules skip no period, and a division would cost them as much as all the rest of this.
        if self.interval > 1 {
            return self.first_period_after_others(from);
        }
        match self.periods {
            Periods::MonthsOfDays | Periods::Months => month_number(from),
            Periods::Weeks => self.week_of(from),
            Periods::Years => year_of(from),
        }
    }

    #[inline(never)]
    fn first_period_after_others(&self, from: i64) -> i64 {
        let jump = |origin: i64, target: i64, interval: i64| {
            origin + (target - origin + interval - 1).div_euclid(interval) * interval
        };
        match self.periods {
            Periods::MonthsOfDays => month_number(jump(self.origin, from, self.interval)),
            Periods::Weeks => jump(self.week_of(self.origin), self.week_of(from), 7 * self.interval),
            Periods::Months => jump(self.first_month, month_number(from), self.interval),
            Periods::Years => jump(year_of(self.origin), year_of(from), self.interval),
        }
    }

    /// The last period that can hold a day up to and including `to`.
    pub(crate) fn last_period(&self, to: i64) -> i64 {
        let jump = |origin: i64, target: i64, interval: i64| origin + (target - origin).div_euclid(interval) * interval;
        match self.periods {
            Periods::MonthsOfDays => month_number(jump(self.origin, to, self.interval)),
            Periods::Weeks => jump(self.week_of(self.origin), self.week_of(to), 7 * self.interval),
            Periods::Months => jump(self.first_month, month_number(to), self.interval),
            Periods::Years => jump(year_of(self.origin), year_of(to), self.interval),
        }
    }

    /// The first day of the week that contains a day.
    fn week_of(&self, day: i64) -> i64 {
        day - (day + 3 - i64::from(self.week_start)).rem_euclid(7)
    }

    /// The places of `BYSETPOS`.
    pub(crate) const fn positions(&self) -> &Places<6> {
        &self.positions
    }

    /// Applies `BYSETPOS` to the set of a week or a month.
    fn positioned(&self, set: u64) -> u64 {
        if !self.chooses_days {
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

/// The times within a day, or within a period that is shorter. What the rule does not name is the first start's.
fn times(rule: &Rule, time: i64) -> Times {
    // The parts of a time of day are less than 64.
    let bit = |number: i64| 1u64 << u32::try_from(number).unwrap_or(0).min(63);
    let named = |set: u64, number: i64| if set == 0 { bit(number) } else { set };
    let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
    let day = Product {
        hours: named(rule.hours.into(), hour),
        minutes: named(rule.minutes, minute),
        seconds: named(rule.seconds, second),
    };
    let product = match rule.frequency {
        Frequency::Hourly => Product { hours: 1, ..day },
        Frequency::Minutely => Product { hours: 1, minutes: 1, ..day },
        Frequency::Secondly => Product::START,
        _ => day,
    };
    let chosen = rule.frequency <= Frequency::Daily && !rule.positions.is_empty();
    Times { product, positions: chosen.then_some(rule.positions) }
}

/// Adds days of the week that begins on `week`, in days from 1 January. Days before the year are left out.
fn insert_week(set: &mut YearSet, week: i64, weekdays: u8) {
    let (week, weekdays) = if week < 0 {
        (0, weekdays.checked_shr(u32::try_from(-week).unwrap_or(8)).unwrap_or(0))
    } else {
        (week, weekdays)
    };
    // A day of the year is less than 6 × 64.
    let start = u32::try_from(week).unwrap_or(0);
    insert(set, weekdays.into(), start);
}

/// Adds a day of the year, which is less than 6 × 64.
fn insert_day(set: &mut YearSet, day: u32) {
    if let Some(word) = usize::try_from(day / 64).ok().and_then(|index| set.get_mut(index)) {
        *word |= 1 << (day % 64);
    }
}

/// Removes the days from `end` on.
fn keep_before(set: &mut YearSet, end: u32) {
    for (start, word) in (0..).step_by(64).zip(set) {
        let days = end.saturating_sub(start).min(64);
        *word &= if days == 0 { 0 } else { u64::MAX >> (64 - days) };
    }
}

fn year_length(year: i64) -> u32 {
    if is_leap(year) { 366 } else { 365 }
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
