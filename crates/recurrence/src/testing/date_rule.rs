//! Random rules whose occurrences are dates: their parts and their text.

#![expect(clippy::unwrap_used, reason = "what is drawn is valid by construction, and a failed draw must fail the test")]

use std::fmt;

use kalends_time::{Timestamp, Zone};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::series::hour;
use crate::{Frequency, Rule, Series, SeriesError};

const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// The frequencies of the rules that are drawn here: those whose occurrences are dates.
const OF_DATES: [Frequency; 4] = [Frequency::Daily, Frequency::Weekly, Frequency::Monthly, Frequency::Yearly];

/// A rule in parts. An empty list stands for a part that is left out. Its `Display` is the text of the rule.
#[derive(Debug, Clone)]
pub struct DateRule {
    /// `FREQ`: a day or longer.
    pub frequency: Frequency,
    /// `INTERVAL`, from 1 to 1,000.
    pub interval: i64,
    /// `BYMONTH`, from 1 to 12.
    pub months: Vec<u32>,
    /// `BYMONTHDAY`, from 1 to 31 or from -31 to -1.
    pub month_days: Vec<i64>,
    /// `BYDAY`: an ordinal, 0 for none, and a weekday, 0 for Monday.
    pub days: Vec<(i64, usize)>,
    /// `BYSETPOS`, from 1 to 366 or from -366 to -1.
    pub positions: Vec<i64>,
    /// `WKST`, 0 for Monday.
    pub week_start: usize,
}

impl DateRule {
    /// Whether a weekday has an ordinal.
    pub fn has_ordinals(&self) -> bool {
        self.days.iter().any(|(ordinal, _)| *ordinal != 0)
    }

    /// Whether a weekday has an ordinal and another has none.
    pub fn mixes_ordinals(&self) -> bool {
        self.has_ordinals() && self.days.iter().any(|(ordinal, _)| *ordinal == 0)
    }

    /// The rule of this crate with the same parts.
    pub fn rule(&self) -> Rule {
        self.to_string().parse().unwrap()
    }

    /// A series of the rule whose occurrences last an hour.
    ///
    /// # Errors
    ///
    /// [`SeriesError`] if the rule never occurs or the start is out of range, as [`Series::new`] reports it.
    pub fn series(&self, first: Timestamp, zone: Zone) -> Result<Series, SeriesError> {
        Series::new(self.rule(), first, zone, hour())
    }
}

impl fmt::Display for DateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FREQ={}", self.frequency)?;
        if self.interval != 1 {
            write!(f, ";INTERVAL={}", self.interval)?;
        }
        let day = |(ordinal, day): &(i64, usize)| match ordinal {
            0 => WEEKDAYS[*day].to_owned(),
            ordinal => format!("{ordinal}{}", WEEKDAYS[*day]),
        };
        let lists = [
            ("BYMONTH", self.months.iter().map(u32::to_string).collect::<Vec<_>>()),
            ("BYMONTHDAY", self.month_days.iter().map(i64::to_string).collect()),
            ("BYDAY", self.days.iter().map(day).collect()),
            ("BYSETPOS", self.positions.iter().map(i64::to_string).collect()),
        ];
        for (name, values) in lists.iter().filter(|(_, values)| !values.is_empty()) {
            write!(f, ";{name}={}", values.join(","))?;
        }
        if self.week_start != 0 {
            write!(f, ";WKST={}", WEEKDAYS[self.week_start])?;
        }
        Ok(())
    }
}

/// Any rule of dates without `BYWEEKNO` and `BYYEARDAY`, and without an end. The service accepts all of these.
pub fn date_rule() -> impl Strategy<Value = DateRule> {
    let interval = prop_oneof![4 => Just(1), 4 => 2..=5i64, 2 => 6..=60i64, 1 => 61..=1_000i64];
    let months = prop_oneof![3 => Just(vec![]), 2 => subsequence((1..=12).collect::<Vec<u32>>(), 1..=4)];
    let month_day = prop_oneof![6 => 1..=28i64, 2 => 29..=31i64, 2 => -31..=-1i64];
    let month_days = prop_oneof![3 => Just(vec![]), 2 => prop::collection::vec(month_day, 1..=4)];
    let position = prop_oneof![8 => 1..=5i64, 8 => -5..=-1i64, 1 => 6..=40i64, 1 => -366..=366i64];
    let position = position.prop_map(|position| if position == 0 { 1 } else { position });
    let positions = prop_oneof![2 => Just(vec![]), 1 => prop::collection::vec(position, 1..=3)];
    (select(&OF_DATES[..]), interval, months, month_days, positions, 0..7usize).prop_flat_map(
        |(frequency, interval, months, month_days, positions, week_start)| {
            let within_month = frequency == Frequency::Monthly || !months.is_empty();
            let ordinal = if within_month { (1..=5i64).boxed() } else { prop_oneof![1..=5i64, 1..=53i64].boxed() };
            let ordinal = (ordinal, any::<bool>()).prop_map(|(ordinal, back)| if back { -ordinal } else { ordinal });
            let numbered = prop::collection::vec((ordinal, 0..7usize), 1..=3);
            let plain = subsequence((0..7).map(|day| (0, day)).collect::<Vec<(i64, usize)>>(), 1..=4);
            let days = match frequency {
                Frequency::Monthly | Frequency::Yearly => {
                    let mixed =
                        (plain.clone(), numbered.clone()).prop_map(|(plain, numbered)| [plain, numbered].concat());
                    prop_oneof![6 => Just(vec![]), 6 => plain, 6 => numbered, 1 => mixed].boxed()
                }
                _ => prop_oneof![2 => Just(vec![]), 3 => plain].boxed(),
            };
            days.prop_map(move |days| {
                let month_days = if frequency == Frequency::Weekly { vec![] } else { month_days.clone() };
                let alone = days.is_empty() && month_days.is_empty() && months.is_empty();
                let positions = if alone { vec![] } else { positions.clone() };
                DateRule { frequency, interval, months: months.clone(), month_days, days, positions, week_start }
            })
        },
    )
}
