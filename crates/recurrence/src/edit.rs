//! The rules of a series that is split in two, or moved on the wall clock.

use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Timestamp, Zone};

use crate::clock::MICROS_A_DAY;
use crate::rule::{End, Frequency, Rule, Until};
use crate::series::Series;
use crate::weekday::{Weekday, WeekdayNum};

/// Why a series cannot be split at a time.
///
/// ```
/// use kalends_recurrence::{Length, Rule, Series, SignedDuration, SplitError, Zone};
///
/// let hour = Length::elapsed(SignedDuration::hours(1))?;
/// let daily = Series::new("FREQ=DAILY".parse::<Rule>()?, "2026-03-02T09:00:00Z".parse()?, Zone::UTC, hour)?;
/// assert_eq!(daily.split_at("2026-03-02T09:00:00Z".parse()?), Err(SplitError::First));
/// assert_eq!(daily.split_at("2026-03-04T10:00:00Z".parse()?), Err(SplitError::NoOccurrence));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// No occurrence starts at that time.
    #[error("a series can only be split at the start of an occurrence")]
    NoOccurrence,
    /// The first occurrence starts at that time, so nothing is before it.
    #[error("a series cannot be split at its first occurrence")]
    First,
    /// The clocks skip the time of day of the series on that date. A series that began there would have another time of
    /// day.
    #[error(
        "a series cannot be split on a date on which the clocks skip its time of day; split it one occurrence earlier or later"
    )]
    SkippedTime,
    /// The rule names times of day, or is shorter than a day.
    #[error("a series with several times of day cannot be split")]
    TimesOfDay,
}

impl Series {
    /// The rules of the two halves of this series: the rule of the occurrences before `start`, from the same first
    /// start, and the rule of the others, from `start`. Together they have the occurrences of this series.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let first = "2026-03-02T09:00:00Z".parse()?;
    /// let split = |rule: &str| {
    ///     let series = Series::new(rule.parse::<Rule>()?, first, Zone::UTC, hour)?;
    ///     let (before, after) = series.split_at("2026-03-06T09:00:00Z".parse()?)?;
    ///     Ok::<_, Box<dyn std::error::Error>>([before.to_string(), after.to_string()])
    /// };
    /// assert_eq!(split("FREQ=DAILY;INTERVAL=2")?, ["FREQ=DAILY;INTERVAL=2;UNTIL=20260304T090000Z", "FREQ=DAILY;INTERVAL=2"]);
    /// assert_eq!(split("FREQ=DAILY;COUNT=10")?, ["FREQ=DAILY;COUNT=4", "FREQ=DAILY;COUNT=6"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SplitError`]; see its variants.
    pub fn split_at(&self, start: Timestamp) -> Result<(Rule, Rule), SplitError> {
        let before = self.ended_before(start)?;
        // The day of an all-day series may begin later than at midnight.
        if !self.is_all_day() && self.nominal(start) != wall_clock(self.zone, start) {
            return Err(SplitError::SkippedTime);
        }
        let mut after = self.rule.clone();
        if let (End::Count(all), End::Count(ended)) = (self.rule.end, before.end) {
            after.end = End::Count(all.saturating_sub(ended));
        }
        Ok((before, after))
    }

    /// The rule of the occurrences before `start`, where an occurrence starts. [`Self::split_at`] has an example.
    ///
    /// # Errors
    /// [`SplitError`], except for [`SplitError::SkippedTime`].
    pub fn ended_before(&self, start: Timestamp) -> Result<Rule, SplitError> {
        if self.rule.names_times() {
            return Err(SplitError::TimesOfDay);
        }
        if !self.is_occurrence(start) {
            return Err(SplitError::NoOccurrence);
        }
        let last = self.previous_start_before(start).ok_or(SplitError::First)?;
        let mut rule = self.rule.clone();
        rule.end = match self.rule.end {
            End::Count(_) => {
                let count = self.starts(self.first_start()..start).count();
                End::Count(u32::try_from(count).unwrap_or(u32::MAX))
            }
            _ if self.is_all_day() => End::Until(Until::Date(self.zone.to_civil(last).date)),
            _ => End::Until(Until::Timestamp(last)),
        };
        Ok(rule)
    }

    /// Where an occurrence of this series starts if it is moved by this much on the wall clock of the series' zone, and
    /// then read on the wall clock of `zone`. A time that the clocks skip at `start` counts as the skipped time. `None`
    /// if the result is no timestamp.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let berlin: Zone = "Europe/Berlin".parse()?;
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// // 09:00 in Berlin. On 29 March, summer time begins.
    /// let series = Series::new("FREQ=DAILY".parse::<Rule>()?, "2026-03-27T08:00:00Z".parse()?, berlin, hour)?;
    /// let moved = series.shifted_start("2026-03-28T08:00:00Z".parse()?, SignedDuration::days(1), berlin);
    /// assert_eq!(moved, Some("2026-03-29T07:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shifted_start(&self, start: Timestamp, by: SignedDuration, zone: Zone) -> Option<Timestamp> {
        at_wall_clock(zone, self.nominal(start).checked_add(by.as_micros())?)
    }

    /// How far `to`, on the wall clock of `zone`, is after the occurrence at `start`, on the wall clock of the series'
    /// zone: the inverse of [`Self::shifted_start`].
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let berlin: Zone = "Europe/Berlin".parse()?;
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let series = Series::new("FREQ=DAILY".parse::<Rule>()?, "2026-03-27T08:00:00Z".parse()?, berlin, hour)?;
    /// let shift = series.shift_between("2026-03-28T08:00:00Z".parse()?, "2026-03-29T07:00:00Z".parse()?, berlin);
    /// assert_eq!(shift, SignedDuration::days(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shift_between(&self, start: Timestamp, to: Timestamp, zone: Zone) -> SignedDuration {
        let mut shown = wall_clock(zone, to);
        let midnight = shown.div_euclid(MICROS_A_DAY) * MICROS_A_DAY;
        // The day begins later if the clocks skip midnight.
        if self.is_all_day() && at_wall_clock(zone, midnight) == Some(to) {
            shown = midnight;
        }
        SignedDuration::micros(shown.saturating_sub(self.nominal(start)))
    }

    /// The rule with which every occurrence of this series is moved by this much on the wall clock, as
    /// [`Self::shifted_start`] moves it. The series must then begin at the shifted first start.
    ///
    /// `None` if no rule has exactly these occurrences: the first Monday of a month is not always one day before its first
    /// Tuesday, and no series begins at a time that the clocks skip. A move that keeps the date changes the rule at most in
    /// its `UNTIL`. A move to another date needs a rule whose dates are days of the week, or days of the month that exist
    /// in every month before and after the move.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration, Zone};
    ///
    /// let hour = Length::elapsed(SignedDuration::hours(1))?;
    /// let first = "2026-03-02T09:00:00Z".parse()?;
    /// let next_day = |rule: &str| {
    ///     let series = Series::new(rule.parse::<Rule>()?, first, Zone::UTC, hour)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(series.shifted_rule(SignedDuration::days(1), Zone::UTC))
    /// };
    /// assert_eq!(next_day("FREQ=WEEKLY;BYDAY=MO,SU")?, Some("FREQ=WEEKLY;BYDAY=MO,TU".parse()?));
    /// assert_eq!(next_day("FREQ=MONTHLY;BYMONTHDAY=2,-2")?, Some("FREQ=MONTHLY;BYMONTHDAY=3,-1".parse()?));
    /// assert_eq!(next_day("FREQ=MONTHLY;BYDAY=1MO")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shifted_rule(&self, by: SignedDuration, zone: Zone) -> Option<Rule> {
        if self.rule.names_times() {
            return None;
        }
        let nominal = self.nominal(self.first_start());
        let first = self.shifted_start(self.first_start(), by, zone)?;
        if self.shift_between(self.first_start(), first, zone) != by {
            return None;
        }
        let days = nominal.checked_add(by.as_micros())?.div_euclid(MICROS_A_DAY) - nominal.div_euclid(MICROS_A_DAY);
        let first = CivilDate::from_days(nominal.div_euclid(MICROS_A_DAY));
        let mut rule = if days == 0 { self.rule.clone() } else { on_later_dates(&self.rule, first, days)? };
        rule.end = match self.rule.end {
            End::Until(Until::Date(date)) => End::Until(Until::Date(date.plus_days(days))),
            // The order of two times can be another on the wall clock, so the last start decides.
            End::Until(_) => End::Until(Until::Timestamp(self.shifted_start(self.last_start()?, by, zone)?)),
            end @ (End::Never | End::Count(_)) => end,
        };
        Some(rule)
    }

    /// The wall-clock time of an occurrence by the rule, in microseconds. It differs from what the clock shows if the
    /// clocks skip that time.
    fn nominal(&self, start: Timestamp) -> i64 {
        let shown = wall_clock(self.zone, start);
        let date = shown.div_euclid(MICROS_A_DAY);
        // A skipped time can be shown as one of the next date.
        let candidates = [date, date - 1].map(|date| date * MICROS_A_DAY + self.time);
        candidates.into_iter().find(|nominal| at_wall_clock(self.zone, *nominal) == Some(start)).unwrap_or(shown)
    }
}

/// What the clocks of `zone` show at `instant`, in microseconds.
fn wall_clock(zone: Zone, instant: Timestamp) -> i64 {
    crate::clock::local_of(zone, instant.as_micros())
}

fn at_wall_clock(zone: Zone, micros: i64) -> Option<Timestamp> {
    let date = CivilDate::from_days(micros.div_euclid(MICROS_A_DAY));
    let time = CivilTime::from_micros(micros.rem_euclid(MICROS_A_DAY))?;
    zone.to_timestamp(CivilDateTime { date, time })
}

/// The rule whose dates are `days` later than those of `rule`, which begins on `first`. Its end stays the same.
fn on_later_dates(rule: &Rule, first: CivilDate, days: i64) -> Option<Rule> {
    if !rule.weeks.is_empty() || !rule.year_days.is_empty() {
        return None;
    }
    let by_month_day = !rule.month_days.is_empty();
    let (from, to) = (first.year_month_day(), first.plus_days(days).year_month_day());
    let same_month = (from.0, from.1) == (to.0, to.1);
    let exact = match rule.frequency {
        Frequency::Daily => rule.months == 0 || by_month_day,
        Frequency::Weekly => rule.months == 0,
        // The months, or years, count from that of the first date.
        Frequency::Monthly | Frequency::Yearly if by_month_day => same_month,
        Frequency::Monthly | Frequency::Yearly if !rule.days.is_empty() => false,
        Frequency::Yearly if rule.months == 0 => in_every_year(first, days),
        Frequency::Monthly | Frequency::Yearly => in_every_month(from.2.into(), days).is_some(),
        Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => false,
    };
    if !exact {
        return None;
    }
    let weekday = |day: Weekday| {
        let number = (i64::from(day.number()) + days).rem_euclid(7);
        Weekday::ALL.into_iter().find(|later| i64::from(later.number()) == number)
    };
    let mut builder = Rule::builder(rule.frequency).interval(rule.interval).by_month(rule.months());
    for day in rule.month_days() {
        builder = builder.by_month_day([i8::try_from(in_every_month(day.into(), days)?).ok()?]);
    }
    for WeekdayNum { ordinal, weekday: day } in rule.days() {
        // An ordinal counts from the beginning or the end of a month or year, which does not move.
        builder = if ordinal.is_none() { builder.by_day([weekday(day)?]) } else { return None };
    }
    // Where weeks begin matters only if some are left out, or places in them count.
    let weeks_matter = rule.frequency == Frequency::Weekly && (rule.interval > 1 || !rule.positions.is_empty());
    let week_start = if weeks_matter && !rule.days.is_empty() { weekday(rule.week_start)? } else { rule.week_start };
    builder.by_position(rule.positions()).week_start(week_start).build().ok()
}

/// The day of the month that is `days` later, if both days exist in every month and are in the same one.
fn in_every_month(day: i64, days: i64) -> Option<i64> {
    let in_every = if day > 0 { 1..=28 } else { -28..=-1 };
    let later = day.checked_add(days)?;
    (in_every.contains(&day) && in_every.contains(&later)).then_some(later)
}

/// Whether the day that is `days` after this day of the year is the same in every year.
fn in_every_year(day: CivilDate, days: i64) -> bool {
    let (_, month, of_month) = day.year_month_day();
    // A leap year, and the years around it.
    let mut later = [2022, 2023, 2024, 2025].into_iter().map(|year| {
        let (later, month, day) = CivilDate::new(year, month, of_month)?.plus_days(days).year_month_day();
        Some((later - year, month, day))
    });
    let first = later.next().flatten();
    first.is_some() && later.all(|other| other == first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Length;

    #[test]
    fn a_skipped_time_may_be_shown_on_the_next_date() {
        // In Nuuk, the clocks go from 23:00 to midnight on 28 March 2026. 23:30 is then shown as 00:30 on the 29th.
        let nuuk: Zone = "America/Nuuk".parse().unwrap();
        let hour = Length::elapsed(SignedDuration::hours(1)).unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let rule: Rule = "FREQ=DAILY".parse().unwrap();
        let series = Series::new(rule, at("2026-03-28T01:30:00Z"), nuuk, hour).unwrap();
        let skipped = at("2026-03-29T01:30:00Z");
        assert!(series.is_occurrence(skipped));
        assert_eq!(series.split_at(skipped), Err(SplitError::SkippedTime));
        let an_hour_earlier = SignedDuration::hours(-1);
        assert_eq!(series.shifted_start(skipped, an_hour_earlier, nuuk), Some(at("2026-03-29T00:30:00Z")));
        assert_eq!(series.shift_between(skipped, at("2026-03-29T00:30:00Z"), nuuk), an_hour_earlier);
    }

    #[test]
    fn a_day_without_a_midnight_can_begin_an_all_day_series() {
        let sao_paulo: Zone = "America/Sao_Paulo".parse().unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let day = Length::days(1).unwrap();
        let daily: Rule = "FREQ=DAILY".parse().unwrap();
        let series = Series::new(daily, at("2018-11-01T03:00:00Z"), sao_paulo, day).unwrap();
        // On 4 November, the clocks go from midnight to 01:00.
        let (before, after) = series.split_at(at("2018-11-04T03:00:00Z")).unwrap();
        assert_eq!([before.to_string(), after.to_string()], ["FREQ=DAILY;UNTIL=20181103", "FREQ=DAILY"]);
        let rest = Series::new(after, at("2018-11-04T03:00:00Z"), sao_paulo, day).unwrap();
        assert_eq!(rest.next_start_after(rest.first_start()), Some(at("2018-11-05T02:00:00Z")));
    }
}
