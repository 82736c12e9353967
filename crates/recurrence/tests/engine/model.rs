//! A model that asks for each day whether RFC 5545 section 3.3.10 has the rule fall on it. It is slow, uses neither
//! bit sets nor jumps, and is defined for the rules of `date_rule`.

use kalends_recurrence::testing::{DateRule, date_rule};
use kalends_recurrence::{Frequency, HORIZON};
use kalends_time::testing::{config, whole_second};
use kalends_time::{CivilDate, Timestamp, Zone};
use proptest::prelude::*;

const MICROS_A_DAY: i64 = 86_400_000_000;

/// The dates on which a rule falls. `origin` is the first date of the series.
struct Model<'a> {
    rule: &'a DateRule,
    origin: i64,
}

impl Model<'_> {
    fn falls_on(&self, day: i64) -> bool {
        let (start, end) = self.period(day);
        let (origin, _) = self.period(self.origin);
        if self.periods_between(origin, start) % self.rule.interval != 0 {
            return false;
        }
        if self.rule.positions.is_empty() {
            return self.is_candidate(day);
        }
        let candidates: Vec<i64> = (start..end).filter(|day| self.is_candidate(*day)).collect();
        is_at_one_of(&self.rule.positions, &candidates, day)
    }

    /// The period of the frequency that contains a day: its first day, and the day after its last.
    fn period(&self, day: i64) -> (i64, i64) {
        let (year, month, _) = CivilDate::from_days(day).year_month_day();
        match self.rule.frequency {
            Frequency::Weekly => {
                let start = (0..7).map(|back| day - back).find(|day| weekday(*day) == self.rule.week_start).unwrap();
                (start, start + 7)
            }
            Frequency::Monthly => month_of(year, month),
            Frequency::Yearly => (month_of(year, 1).0, month_of(year, 12).1),
            _ => (day, day + 1),
        }
    }

    fn periods_between(&self, origin: i64, start: i64) -> i64 {
        let (from, to) = (CivilDate::from_days(origin).year_month_day(), CivilDate::from_days(start).year_month_day());
        match self.rule.frequency {
            Frequency::Weekly => (start - origin) / 7,
            Frequency::Monthly => i64::from((to.0 - from.0) * 12) + i64::from(to.1) - i64::from(from.1),
            Frequency::Yearly => i64::from(to.0 - from.0),
            _ => start - origin,
        }
    }

    /// Whether the BY parts, except `BYSETPOS`, let a day through. The first date stands in for missing parts.
    fn is_candidate(&self, day: i64) -> bool {
        let rule = self.rule;
        let (year, month, in_month) = CivilDate::from_days(day).year_month_day();
        let (_, origin_month, origin_day) = CivilDate::from_days(self.origin).year_month_day();
        let bounds = month_of(year, month);
        let of_month: Vec<i64> = (bounds.0..bounds.1).collect();
        let silent = rule.month_days.is_empty() && rule.days.is_empty();
        let by_first_date = match rule.frequency {
            Frequency::Weekly => !rule.days.is_empty() || weekday(day) == weekday(self.origin),
            Frequency::Monthly => !silent || in_month == origin_day,
            Frequency::Yearly => {
                !silent || in_month == origin_day && (!rule.months.is_empty() || month == origin_month)
            }
            _ => true,
        };
        let counted: Vec<i64> = if rule.frequency == Frequency::Yearly && rule.months.is_empty() {
            (month_of(year, 1).0..month_of(year, 12).1).collect()
        } else {
            of_month.clone()
        };
        let same_weekday: Vec<i64> = counted.into_iter().filter(|other| weekday(*other) == weekday(day)).collect();
        let by_day = |(ordinal, wanted): &(i64, usize)| {
            weekday(day) == *wanted && (*ordinal == 0 || is_at_one_of(&[*ordinal], &same_weekday, day))
        };
        by_first_date
            && (rule.months.is_empty() || rule.months.contains(&month))
            && (rule.month_days.is_empty() || is_at_one_of(&rule.month_days, &of_month, day))
            && (rule.days.is_empty() || rule.days.iter().any(by_day))
    }
}

/// Whether `day` is at one of the places of `days`: 1 is the first, -1 the last.
fn is_at_one_of(places: &[i64], days: &[i64], day: i64) -> bool {
    let count = i64::try_from(days.len()).unwrap();
    (1..=count)
        .zip(days)
        .any(|(place, other)| *other == day && (places.contains(&place) || places.contains(&(place - count - 1))))
}

fn month_of(year: i32, month: u32) -> (i64, i64) {
    let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    [(year, month), next].map(|(year, month)| CivilDate::new(year, month, 1).unwrap().as_days()).into()
}

fn weekday(day: i64) -> usize {
    CivilDate::from_days(day).weekday().into()
}

proptest! {
    #![proptest_config(config(150))]

    /// A rule of dates falls on the days of a model that examines each day, near its start and decades later.
    #[test]
    fn the_engine_falls_on_the_days_of_the_model(rule in date_rule(), first in whole_second(), far in 0..14_000i64) {
        let Ok(series) = rule.series(first, Zone::UTC) else {
            return Ok(());
        };
        let origin = first.utc_date().as_days();
        let time = first.as_micros() - origin * MICROS_A_DAY;
        let model = Model { rule: &rule, origin };
        for (from, days) in [(origin, 400), (origin + far, 60)] {
            let days = from..from + days;
            let falls_on = |day: &i64| *day == origin || model.falls_on(*day);
            let expected: Vec<Timestamp> =
                days.clone().filter(falls_on).map(|day| Timestamp::from_micros(day * MICROS_A_DAY + time)).collect();
            let at_midnight = |day: i64| Timestamp::from_micros(day * MICROS_A_DAY);
            let got: Vec<Timestamp> = series.starts(at_midnight(days.start)..at_midnight(days.end)).collect();
            let expected: Vec<Timestamp> = expected.into_iter().filter(|start| *start < HORIZON).collect();
            prop_assert_eq!(got, expected, "{} from {}, days {:?}", rule, first, days);
        }
    }
}
