//! Expands a rule in local time, period by period, and counts each step.
//!
//! This is for rules outside the subset of the crate `kalends-recurrence`, which is faster and knows the end of a
//! series in advance. The expansion of a rule without `COUNT` starts at the window, however long ago the rule began.

use std::collections::VecDeque;

use kalends_kernel::CivilDate;

use super::rule::{AnyRule, Frequency};
use super::steps::{Exhausted, Steps};
use super::values::DAY;

/// The local times that a rule generates from its start on, ascending.
#[derive(Debug)]
pub(super) struct Generated<'a> {
    rule: &'a AnyRule,
    start: i64,
    days: DayFilter,
    /// The times of day of a rule with a frequency of days or longer, ascending, in seconds.
    times: Vec<i64>,
    /// The number of the next period: a year, a month, the first day of a week, a day, an hour, a minute or a second.
    period: i64,
    /// The last local time that is needed.
    until: i64,
    waiting: VecDeque<i64>,
    /// The number of occurrences that `COUNT` leaves.
    left: Option<u64>,
    given: i64,
}

impl<'a> Generated<'a> {
    /// The times that `rule` generates from `start` to `until`, all in local seconds. Times before `from` may be left
    /// out, unless the rule has a `COUNT`.
    pub(super) fn new(rule: &'a AnyRule, start: i64, from: i64, until: i64) -> Self {
        let mut generated = Self {
            rule,
            start,
            days: DayFilter::new(rule, start),
            times: times(rule, start),
            period: period_of(rule, start),
            until,
            waiting: VecDeque::new(),
            left: rule.count,
            given: i64::MIN,
        };
        if rule.count.is_none() && from > start {
            let (first, target) = (generated.period, period_of(rule, from));
            let interval = generated.interval();
            generated.period = first + (target - first).div_euclid(interval) * interval;
        } else {
            generated.waiting.push_back(start);
        }
        generated
    }

    /// The next local time.
    pub(super) fn next(&mut self, steps: &mut Steps) -> Result<Option<i64>, Exhausted> {
        loop {
            while let Some(local) = self.waiting.pop_front() {
                if local < self.start || local <= self.given {
                    continue;
                }
                if local > self.until || self.left == Some(0) {
                    return Ok(None);
                }
                self.left = self.left.map(|left| left - 1);
                self.given = local;
                return Ok(Some(local));
            }
            if self.first_of_period() > self.until || self.left == Some(0) {
                return Ok(None);
            }
            self.next_period(steps)?;
        }
    }

    /// The distance from one period to the next, in the unit in which they are numbered.
    fn interval(&self) -> i64 {
        if self.rule.frequency == Frequency::Weekly { 7 * self.rule.interval } else { self.rule.interval }
    }

    fn first_of_period(&self) -> i64 {
        match self.rule.frequency {
            Frequency::Yearly => first_of_month(self.period.saturating_mul(12)).saturating_mul(DAY),
            Frequency::Monthly => first_of_month(self.period).saturating_mul(DAY),
            Frequency::Weekly | Frequency::Daily => self.period.saturating_mul(DAY),
            Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => self.period.saturating_mul(self.unit()),
        }
    }

    /// The length in seconds of a period that is shorter than a day.
    fn unit(&self) -> i64 {
        match self.rule.frequency {
            Frequency::Hourly => 3_600,
            Frequency::Minutely => 60,
            _ => 1,
        }
    }

    fn next_period(&mut self, steps: &mut Steps) -> Result<(), Exhausted> {
        steps.take(1)?;
        match self.rule.frequency {
            Frequency::Yearly => self.year(steps)?,
            Frequency::Monthly => self.month(self.period, steps)?,
            Frequency::Weekly => self.days(self.period..self.period + 7, steps)?,
            Frequency::Daily => self.days(self.period..self.period + 1, steps)?,
            Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => return self.within_a_day(steps),
        }
        self.choose();
        self.period += self.interval();
        Ok(())
    }

    fn year(&mut self, steps: &mut Steps) -> Result<(), Exhausted> {
        (0..12).try_for_each(|month| self.month(12 * self.period + month, steps))
    }

    fn month(&mut self, month: i64, steps: &mut Steps) -> Result<(), Exhausted> {
        // A month that the rule does not name costs nothing, so the rules of zones are cheap.
        if self.days.has_month(month) {
            self.days(first_of_month(month)..first_of_month(month + 1), steps)
        } else {
            Ok(())
        }
    }

    fn days(&mut self, days: std::ops::Range<i64>, steps: &mut Steps) -> Result<(), Exhausted> {
        for day in days {
            steps.take(1)?;
            if self.days.has(day) {
                steps.take(self.times.len().try_into().unwrap_or(u64::MAX))?;
                self.waiting.extend(self.times.iter().map(|time| day * DAY + time));
            }
        }
        Ok(())
    }

    /// Looks at one hour, minute or second, or skips the rest of a day, an hour or a minute that does not match.
    fn within_a_day(&mut self, steps: &mut Steps) -> Result<(), Exhausted> {
        let (rule, unit) = (self.rule, self.unit());
        let local = self.period * unit;
        let (hour, minute) = (local.rem_euclid(DAY) / 3_600, local.rem_euclid(3_600) / 60);
        let past = if !self.days.has(local.div_euclid(DAY)) {
            Some((local.div_euclid(DAY) + 1) * DAY)
        } else if !allows(&rule.hours, hour) {
            Some((local.div_euclid(3_600) + 1) * 3_600)
        } else if unit < 3_600 && !allows(&rule.minutes, minute) {
            Some((local.div_euclid(60) + 1) * 60)
        } else {
            None
        };
        if let Some(past) = past {
            let ahead = (past / unit - self.period).max(1);
            self.period += (ahead + rule.interval - 1) / rule.interval * rule.interval;
            return Ok(());
        }
        let (minutes, seconds) = (self.minutes_of(minute), self.seconds_of(local.rem_euclid(60)));
        steps.take((minutes.len() * seconds.len()).try_into().unwrap_or(u64::MAX))?;
        let hour = local.div_euclid(3_600) * 3_600;
        let candidates =
            minutes.iter().flat_map(|minute| seconds.iter().map(move |second| hour + minute * 60 + second));
        self.waiting.extend(candidates);
        self.choose();
        self.period += rule.interval;
        Ok(())
    }

    fn minutes_of(&self, minute: i64) -> Vec<i64> {
        match self.rule.frequency {
            Frequency::Hourly if self.rule.minutes.is_empty() => vec![self.start.rem_euclid(3_600) / 60],
            Frequency::Hourly => self.rule.minutes.clone(),
            _ => vec![minute],
        }
    }

    fn seconds_of(&self, second: i64) -> Vec<i64> {
        match self.rule.frequency {
            Frequency::Secondly if allows(&self.rule.seconds, second) => vec![second],
            Frequency::Secondly => Vec::new(),
            _ if self.rule.seconds.is_empty() => vec![self.start.rem_euclid(60)],
            _ => self.rule.seconds.clone(),
        }
    }

    /// Keeps only the times of a period that `BYSETPOS` selects.
    fn choose(&mut self) {
        if self.rule.positions.is_empty() {
            return;
        }
        let length = i64::try_from(self.waiting.len()).unwrap_or(i64::MAX);
        let mut chosen: Vec<usize> = self
            .rule
            .positions
            .iter()
            .map(|position| if *position > 0 { position - 1 } else { length + position })
            .filter(|index| *index < length)
            .filter_map(|index| usize::try_from(index).ok())
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        self.waiting = chosen.into_iter().filter_map(|index| self.waiting.get(index).copied()).collect();
    }
}

fn allows(list: &[i64], value: i64) -> bool {
    list.is_empty() || list.binary_search(&value).is_ok()
}

fn times(rule: &AnyRule, start: i64) -> Vec<i64> {
    let or_start = |list: &[i64], of_start: i64| if list.is_empty() { vec![of_start] } else { list.to_vec() };
    if rule.frequency > Frequency::Daily {
        return Vec::new();
    }
    let time = start.rem_euclid(DAY);
    let (minutes, seconds) = (or_start(&rule.minutes, time / 60 % 60), or_start(&rule.seconds, time % 60));
    let mut times = Vec::new();
    for hour in or_start(&rule.hours, time / 3_600) {
        for minute in &minutes {
            times.extend(seconds.iter().map(|second| hour * 3_600 + minute * 60 + second));
        }
    }
    times
}

fn period_of(rule: &AnyRule, local: i64) -> i64 {
    let day = local.div_euclid(DAY);
    match rule.frequency {
        Frequency::Yearly => month_of(day).div_euclid(12),
        Frequency::Monthly => month_of(day),
        Frequency::Weekly => day - (weekday(day) - rule.week_start).rem_euclid(7),
        Frequency::Daily => day,
        Frequency::Hourly => local.div_euclid(3_600),
        Frequency::Minutely => local.div_euclid(60),
        Frequency::Secondly => local,
    }
}

/// The weekday. Monday is 0.
fn weekday(day: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (day + 3).rem_euclid(7)
}

/// Months are numbered from January of the year 0.
fn month_of(day: i64) -> i64 {
    let (year, month, _) = CivilDate::from_days(day).year_month_day();
    i64::from(year) * 12 + i64::from(month) - 1
}

fn first_of_month(month: i64) -> i64 {
    let year = i32::try_from(month.div_euclid(12)).ok();
    let month = u32::try_from(month.rem_euclid(12) + 1).unwrap_or(1);
    // Years that `CivilDate` does not support are far beyond every window.
    year.and_then(|year| CivilDate::new(year, month, 1)).map_or(i64::from(i32::MAX), CivilDate::as_days)
}

/// The days that satisfy a rule.
#[derive(Debug)]
struct DayFilter {
    /// Bit 0 is January.
    months: u16,
    /// Bit 0 is Monday.
    every: u8,
    numbered: Vec<(i64, i64)>,
    by_day: bool,
    within_month: bool,
    month_days: Vec<i64>,
    year_days: Vec<i64>,
    weeks: Vec<i64>,
    week_start: i64,
}

impl DayFilter {
    /// Parts that the rule leaves out are taken from the start (RFC 5545 section 3.3.10).
    fn new(rule: &AnyRule, start: i64) -> Self {
        let start = start.div_euclid(DAY);
        let (_, month, day) = CivilDate::from_days(start).year_month_day();
        let mut filter = Self {
            months: rule.months.iter().fold(0, |months, month| months | 1 << (month - 1)),
            every: 0,
            numbered: rule.days.iter().copied().filter(|(ordinal, _)| *ordinal != 0).collect(),
            by_day: !rule.days.is_empty(),
            within_month: rule.frequency == Frequency::Monthly || !rule.months.is_empty(),
            month_days: rule.month_days.clone(),
            year_days: rule.year_days.clone(),
            // BYWEEKNO has a meaning only in yearly rules.
            weeks: if rule.frequency == Frequency::Yearly { rule.weeks.clone() } else { Vec::new() },
            week_start: rule.week_start,
        };
        for (_, weekday) in rule.days.iter().filter(|(ordinal, _)| *ordinal == 0) {
            filter.every |= 1 << weekday;
        }
        let open = !filter.by_day && filter.month_days.is_empty() && filter.year_days.is_empty();
        match rule.frequency {
            Frequency::Yearly if open && !filter.weeks.is_empty() => filter.on_weekday(weekday(start)),
            Frequency::Yearly if open => {
                filter.month_days = vec![day.into()];
                filter.months = if filter.months == 0 { 1 << (month - 1) } else { filter.months };
            }
            Frequency::Monthly if open => filter.month_days = vec![day.into()],
            Frequency::Weekly if !filter.by_day => filter.on_weekday(weekday(start)),
            _ => {}
        }
        filter
    }

    fn on_weekday(&mut self, weekday: i64) {
        (self.by_day, self.every) = (true, 1 << weekday);
    }

    /// Whether the rule allows a month. Months are numbered from January of the year 0.
    fn has_month(&self, month: i64) -> bool {
        self.months == 0 || self.months >> month.rem_euclid(12) & 1 == 1
    }

    fn has(&self, day: i64) -> bool {
        let month = month_of(day);
        self.has_month(month)
            && (self.weeks.is_empty() || self.in_week(day))
            && (self.month_days.is_empty()
                || in_range(&self.month_days, day, first_of_month(month), first_of_month(month + 1)))
            && (self.year_days.is_empty() || self.in_year(day, month))
            && (!self.by_day || self.on_day(day, month))
    }

    fn in_year(&self, day: i64, month: i64) -> bool {
        let january = month - month.rem_euclid(12);
        in_range(&self.year_days, day, first_of_month(january), first_of_month(january + 12))
    }

    fn on_day(&self, day: i64, month: i64) -> bool {
        let weekday = weekday(day);
        if self.every >> weekday & 1 == 1 {
            return true;
        }
        if self.numbered.is_empty() {
            return false;
        }
        let (first, end) = if self.within_month {
            (month, month + 1)
        } else {
            (month - month.rem_euclid(12), month - month.rem_euclid(12) + 12)
        };
        let (before, after) = ((day - first_of_month(first)) / 7, (first_of_month(end) - 1 - day) / 7);
        self.numbered
            .iter()
            .any(|(ordinal, named)| *named == weekday && (*ordinal == before + 1 || *ordinal == -(after + 1)))
    }

    /// Weeks begin on `WKST`. The first week of a year is the first with at least four days in it.
    fn in_week(&self, day: i64) -> bool {
        let first = day - (weekday(day) - self.week_start).rem_euclid(7);
        // A week belongs to the year of its fourth day.
        let year = month_of(first + 3).div_euclid(12);
        let first_week = |year: i64| {
            let fourth = first_of_month(12 * year) + 3;
            fourth - (weekday(fourth) - self.week_start).rem_euclid(7)
        };
        let (number, weeks) = ((first - first_week(year)) / 7 + 1, (first_week(year + 1) - first_week(year)) / 7);
        self.weeks.iter().any(|week| *week == number || *week == number - weeks - 1)
    }
}

/// Whether `day` is one of the places between `first` and `end`, counted from either.
fn in_range(places: &[i64], day: i64, first: i64, end: i64) -> bool {
    let (forward, backward) = (day - first + 1, day - end);
    places.iter().any(|place| *place == forward || *place == backward)
}
