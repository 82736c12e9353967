//! Searches for the local times of a pattern, forwards and backwards, from any time on.
//!
//! Local times are seconds since 1970-01-01T00:00 on the wall clock of a series.

use crate::month::Month;
use crate::pattern::{Pattern, YearSet};
use crate::sets::{bits_before, last_bit, next_bit, nth_bit};
use crate::times::has;
use crate::units::Units;

pub(crate) const SECONDS_A_DAY: i64 = 86_400;

/// A place in the local times of a pattern. It keeps the days of the last period that it computed.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    pattern: &'a Pattern,
    period: i64,
    /// The day of bit 0 of `days`.
    base: i64,
    days: YearSet,
    steps: u64,
    /// The search ends without a result after this many steps.
    most_steps: u64,
    /// Whether each local time needs a search of its own.
    is_searched: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(pattern: &'a Pattern) -> Self {
        let is_searched = pattern.chooses_times || pattern.units.is_some();
        // No period has this number.
        Self { pattern, is_searched, period: i64::MIN, base: 0, days: [0; 6], steps: 0, most_steps: u64::MAX }
    }

    pub(crate) const fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) const fn limit_steps(&mut self, most: u64) {
        self.most_steps = most;
    }

    /// Whether the steps are used up. If so, the last search may have missed a result.
    pub(crate) const fn is_exhausted(&self) -> bool {
        self.steps > self.most_steps
    }

    /// The local time after `time`, if both are in the period that was computed last and the rule does not choose among
    /// the times of a period. This is much faster than a search.
    #[inline]
    pub(crate) fn following(&self, time: i64) -> Option<i64> {
        if self.is_searched {
            return None;
        }
        let day = time.div_euclid(SECONDS_A_DAY);
        let bit = u32::try_from(day - self.base).ok().filter(|bit| next_bit(&self.days, *bit) == Some(*bit))?;
        if let Some(next) = self.pattern.times.from(time - day * SECONDS_A_DAY + 1) {
            return Some(day * SECONDS_A_DAY + next);
        }
        let bit = next_bit(&self.days, bit + 1)?;
        Some(self.at(bit, self.pattern.times.from(0)?))
    }

    /// The first local time from `from` on, up to and including the day `last`.
    pub(crate) fn at_or_after(&mut self, from: i64, last: i64) -> Option<i64> {
        // Days before the first date can be candidates for a position, but none of them takes place.
        let from = from.max(self.pattern.origin * SECONDS_A_DAY);
        let found = match self.pattern.units {
            None => self.date_from(from, last),
            Some(units) => self.unit_from(units, from, last),
        };
        found.filter(|time| time.div_euclid(SECONDS_A_DAY) <= last)
    }

    /// The last local time up to and including `to`, from the day `least` on.
    pub(crate) fn at_or_before(&mut self, to: i64, least: i64) -> Option<i64> {
        let least = least.max(self.pattern.origin);
        let found = match self.pattern.units {
            None => self.date_to(to, least),
            Some(units) => self.unit_to(units, to, least),
        };
        found.filter(|time| time.div_euclid(SECONDS_A_DAY) >= least)
    }

    fn load(&mut self, period: i64) {
        if self.period != period {
            self.period = period;
            (self.base, self.days) = self.pattern.days_of(period);
            self.steps += 1;
        }
    }

    fn date_from(&mut self, from: i64, last: i64) -> Option<i64> {
        let mut period = self.pattern.first_period(from.div_euclid(SECONDS_A_DAY));
        loop {
            self.steps += 1;
            // A long interval leads to years that are far beyond the calendar.
            if self.pattern.first_day(period) > last || self.is_exhausted() {
                return None;
            }
            self.load(period);
            let found = if self.pattern.chooses_times { self.chosen_from(from) } else { self.in_period_from(from) };
            if found.is_some() {
                return found;
            }
            period = self.pattern.period_after(period);
        }
    }

    fn date_to(&mut self, to: i64, least: i64) -> Option<i64> {
        let mut period = self.pattern.last_period(to.div_euclid(SECONDS_A_DAY));
        // No period before the first one's can hold a day from `least` on.
        let first = self.pattern.last_period(least);
        while period >= first {
            self.load(period);
            self.steps += 1;
            if self.is_exhausted() {
                return None;
            }
            let found = if self.pattern.chooses_times { self.chosen_to(to) } else { self.in_period_to(to) };
            if found.is_some() {
                return found;
            }
            period = self.pattern.period_before(period);
        }
        None
    }

    /// The first local time of the period from `from` on.
    fn in_period_from(&self, from: i64) -> Option<i64> {
        let (day, time) = (from.div_euclid(SECONDS_A_DAY), from.rem_euclid(SECONDS_A_DAY));
        let times = &self.pattern.times;
        let wanted = self.bit_of(day);
        let mut bit = next_bit(&self.days, wanted)?;
        if bit == wanted && day >= self.base {
            if let Some(time) = times.from(time) {
                return Some(self.at(bit, time));
            }
            bit = next_bit(&self.days, wanted + 1)?;
        }
        Some(self.at(bit, times.from(0)?))
    }

    /// The last local time of the period up to and including `to`.
    fn in_period_to(&self, to: i64) -> Option<i64> {
        let (day, time) = (to.div_euclid(SECONDS_A_DAY), to.rem_euclid(SECONDS_A_DAY));
        if day < self.base {
            return None;
        }
        let times = &self.pattern.times;
        let wanted = self.bit_of(day);
        let mut bit = last_bit(&self.days, wanted)?;
        if bit == wanted {
            if let Some(time) = times.to(time) {
                return Some(self.at(bit, time));
            }
            bit = last_bit(&self.days, wanted.checked_sub(1)?)?;
        }
        Some(self.at(bit, times.to(SECONDS_A_DAY - 1)?))
    }

    /// The first local time from `from` on that is in a place of `BYSETPOS`, among the times of all days of the period.
    fn chosen_from(&self, from: i64) -> Option<i64> {
        self.nth(self.pattern.positions().index_from(self.rank(from), self.count())?)
    }

    /// The last such time up to and including `to`.
    fn chosen_to(&self, to: i64) -> Option<i64> {
        let up_to = self.rank(to.saturating_add(1)).checked_sub(1)?;
        self.nth(self.pattern.positions().index_to(up_to, self.count())?)
    }

    /// The number of times in the period. A year has at most 366 times 86,400.
    fn count(&self) -> u32 {
        self.days.iter().map(|word| word.count_ones()).sum::<u32>() * self.pattern.times.product.count()
    }

    /// The number of times in the period before `local`.
    fn rank(&self, local: i64) -> u32 {
        let (day, time) = (local.div_euclid(SECONDS_A_DAY), local.rem_euclid(SECONDS_A_DAY));
        if day < self.base {
            return 0;
        }
        let (bit, product) = (self.bit_of(day), &self.pattern.times.product);
        let on_day = if next_bit(&self.days, bit) == Some(bit) { product.rank(time) } else { 0 };
        bits_before(&self.days, bit) * product.count() + on_day
    }

    /// The time in the period after `index` others.
    fn nth(&self, index: u32) -> Option<i64> {
        let product = &self.pattern.times.product;
        let bit = nth_bit(&self.days, index / product.count())?;
        Some(self.at(bit, product.nth(index % product.count())?))
    }

    /// The bit of a day, or of the nearest day that has one.
    fn bit_of(&self, day: i64) -> u32 {
        u32::try_from((day - self.base).clamp(0, 6 * 64)).unwrap_or(0)
    }

    fn at(&self, bit: u32, time: i64) -> i64 {
        (self.base + i64::from(bit)) * SECONDS_A_DAY + time
    }

    /// The first local time from `from` on, if periods are shorter than a day.
    fn unit_from(&mut self, units: Units, from: i64, last: i64) -> Option<i64> {
        let mut unit = from.div_euclid(units.size);
        let mut time = from.rem_euclid(units.size);
        loop {
            self.steps += 1;
            let aligned = unit + (units.origin - unit).rem_euclid(units.interval);
            if aligned != unit {
                (unit, time) = (aligned, 0);
            }
            let start = unit * units.size;
            let (day, second) = (start.div_euclid(SECONDS_A_DAY), start.rem_euclid(SECONDS_A_DAY));
            if day > last || self.is_exhausted() {
                return None;
            }
            let next = if !self.falls_on(day) {
                self.day_from(day + 1, last)? * SECONDS_A_DAY
            } else {
                match units.within.from(second) {
                    Some(next) if next == second => match self.pattern.times.from(time) {
                        Some(time) => return Some(start + time),
                        None => start + units.size,
                    },
                    Some(next) => day * SECONDS_A_DAY + next,
                    None => (day + 1) * SECONDS_A_DAY,
                }
            };
            (unit, time) = (next.div_euclid(units.size), 0);
        }
    }

    /// The last local time up to and including `to`, if periods are shorter than a day.
    fn unit_to(&mut self, units: Units, to: i64, least: i64) -> Option<i64> {
        let mut unit = to.div_euclid(units.size);
        let mut time = to.rem_euclid(units.size);
        loop {
            self.steps += 1;
            let aligned = unit - (unit - units.origin).rem_euclid(units.interval);
            if aligned != unit {
                (unit, time) = (aligned, units.size - 1);
            }
            let start = unit * units.size;
            let (day, second) = (start.div_euclid(SECONDS_A_DAY), start.rem_euclid(SECONDS_A_DAY));
            if day < least || self.is_exhausted() {
                return None;
            }
            // The last second that can hold the next candidate.
            let before = if !self.falls_on(day) {
                (self.day_to(day - 1, least)? + 1) * SECONDS_A_DAY - 1
            } else {
                match units.within.to(second) {
                    Some(last) if last == second => match self.pattern.times.to(time) {
                        Some(time) => return Some(start + time),
                        None => start - 1,
                    },
                    Some(last) => day * SECONDS_A_DAY + last + units.size - 1,
                    None => day * SECONDS_A_DAY - 1,
                }
            };
            (unit, time) = (before.div_euclid(units.size), units.size - 1);
        }
    }

    /// Whether the rule, regardless of times, falls on a day.
    fn falls_on(&mut self, day: i64) -> bool {
        if self.period == i64::MIN || day < self.base || day >= self.base + 28 {
            self.load(Month::of(day).number);
        }
        has(self.days[0], self.bit_of(day))
    }

    /// The first day from `day` on, up to `last`, on which the rule falls.
    fn day_from(&mut self, day: i64, last: i64) -> Option<i64> {
        let mut month = Month::of(day).number;
        loop {
            self.load(month);
            if self.base > last || self.is_exhausted() {
                return None;
            }
            if let Some(bit) = next_bit(&self.days, self.bit_of(day)) {
                return Some(self.base + i64::from(bit));
            }
            month += 1;
        }
    }

    /// The last day up to `day`, from `least` on, on which the rule falls.
    fn day_to(&mut self, day: i64, least: i64) -> Option<i64> {
        let mut month = Month::of(day).number;
        let first = Month::of(least).number;
        while month >= first && !self.is_exhausted() {
            self.load(month);
            if let Some(bit) = last_bit(&self.days, self.bit_of(day)) {
                return Some(self.base + i64::from(bit));
            }
            month -= 1;
        }
        None
    }
}
