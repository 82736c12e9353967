//! Random rules of all of RFC 5545, for the model in `rfc_model`.
//!
//! Every drawn rule is one that RFC 5545 allows. Draws that are all 0 give the simplest rule, so that a source that
//! shrinks its numbers shrinks the rule.

use proptest::prelude::*;

use super::rfc_model::{Freq, Parts};
use crate::Rule;

impl Parts {
    /// The rule of this crate with the same parts.
    ///
    /// # Panics
    ///
    /// If this crate refuses the parts. It refuses no parts that [`any_rule`] draws.
    #[expect(clippy::expect_used, reason = "a test whose rule is refused fails")]
    pub fn rule(&self) -> Rule {
        self.to_string().parse().expect("a rule that RFC 5545 allows")
    }
}

/// The frequencies, the one of the simplest rules first.
const FREQUENCIES: [Freq; 7] =
    [Freq::Daily, Freq::Weekly, Freq::Monthly, Freq::Yearly, Freq::Hourly, Freq::Minutely, Freq::Secondly];

/// Any rule that RFC 5545 allows, without an end.
pub fn any_rule() -> impl Strategy<Value = Parts> {
    prop::collection::vec(any::<u32>(), 120).prop_map(|numbers| {
        let mut numbers = numbers.into_iter().chain(std::iter::repeat(0));
        draw(&mut |bound| numbers.next().unwrap_or(0) % bound)
    })
}

/// Draws a rule from any source of numbers, for programs that do not use proptest: `next(n)` must return a number from 0
/// up to `n`, exclusive. Numbers that are all 0 give the simplest rule.
pub fn draw(next: &mut dyn FnMut(u32) -> u32) -> Parts {
    let frequency = pick(next, &FREQUENCIES);
    let mut rule = Parts::new(frequency);
    rule.interval = interval(next, frequency);
    let yearly = frequency == Freq::Yearly;
    let short = frequency >= Freq::Hourly;
    // A filter of days more often leaves nothing when the periods are short.
    let rare = if short { 5 } else { 3 };
    if one_in(next, rare) {
        rule.months = values(next, 1, 12, false);
    }
    if yearly && one_in(next, 3) {
        rule.weeks = values(next, 1, 53, true);
    }
    if (yearly || short) && one_in(next, rare + 1) {
        rule.year_days = values(next, 1, 366, true);
    }
    if frequency != Freq::Weekly && one_in(next, rare) {
        rule.month_days = values(next, 1, 31, true);
    }
    if one_in(next, if short { 5 } else { 2 }) {
        let numbered = matches!(frequency, Freq::Yearly | Freq::Monthly) && rule.weeks.is_empty();
        let within_month = frequency == Freq::Monthly || !rule.months.is_empty();
        rule.days = days(
            next,
            if !numbered {
                0
            } else if within_month {
                5
            } else {
                53
            },
        );
    }
    if one_in(next, if short { 2 } else { 4 }) {
        rule.hours = values(next, 0, 23, false);
    }
    if one_in(next, if short { 3 } else { 5 }) {
        rule.minutes = values(next, 0, 59, false);
    }
    if one_in(next, if short { 3 } else { 6 }) {
        rule.seconds = values(next, 0, 60, false);
    }
    if rule != (Parts { interval: rule.interval, ..Parts::new(frequency) }) && one_in(next, 3) {
        let furthest = if short { pick(next, &[1, 2, 5, 60]) } else { pick(next, &[1, 2, 5, 31, 366]) };
        rule.positions = values(next, 1, furthest, true);
    }
    if one_in(next, 2) {
        rule.week_start = i64::from(next(7));
    }
    rule
}

/// An interval: mostly 1, but also longer ones that do and do not divide the next longer period.
fn interval(next: &mut dyn FnMut(u32) -> u32, frequency: Freq) -> i64 {
    let long: &[i64] = match frequency {
        Freq::Yearly => &[4, 5, 7, 12, 28, 39],
        Freq::Monthly => &[5, 7, 11, 12, 13, 18, 25, 60, 120],
        Freq::Weekly => &[4, 5, 13, 26, 52, 53, 104],
        Freq::Daily => &[7, 10, 30, 31, 365, 366, 1000, 1461],
        Freq::Hourly => &[5, 7, 11, 12, 24, 25, 48, 100, 168, 1001],
        Freq::Minutely => &[7, 15, 60, 61, 90, 97, 1439, 1440, 1441, 10_007],
        Freq::Secondly => &[7, 59, 60, 61, 3599, 3600, 3601, 86_399, 86_400, 100_003],
    };
    match next(8) {
        0..4 => 1,
        4 | 5 => 2 + i64::from(next(5)),
        6 => pick(next, long),
        _ => 1 + i64::from(next(if frequency == Freq::Yearly { 20 } else { 100 })),
    }
}

/// Entries of BYDAY. Ordinals go up to `furthest`; 0 is for no ordinals.
fn days(next: &mut dyn FnMut(u32) -> u32, furthest: i64) -> Vec<(i64, i64)> {
    let mut days = Vec::new();
    let numbers = if furthest == 0 { 0 } else { next(3) };
    for _ in 0..=next(5) {
        let weekday = i64::from(next(7));
        let numbered = match numbers {
            0 => false,
            1 => true,
            _ => one_in(next, 2),
        };
        let ordinal = if numbered { value(next, 1, furthest, true) } else { 0 };
        if !days.contains(&(ordinal, weekday)) {
            days.push((ordinal, weekday));
        }
    }
    days
}

/// A list of different values from `low` to `high`, in no order: some that are apart, or some that follow each other.
fn values(next: &mut dyn FnMut(u32) -> u32, low: i64, high: i64, signed: bool) -> Vec<i64> {
    let mut list = Vec::new();
    let apart = next(4);
    if apart == 3 {
        let start = value(next, low, high, false);
        let sign = if signed && one_in(next, 2) { -1 } else { 1 };
        let longest = ((high - low) / 3).clamp(1, 30);
        let end = (start + 1 + below(next, longest)).min(high);
        list.extend((start..=end).map(|value| value * sign));
    } else {
        for _ in 0..=apart {
            let value = value(next, low, high, signed);
            if !list.contains(&value) {
                list.push(value);
            }
        }
    }
    list
}

/// A value from `low` to `high`, often one of the last, and if `signed` at times with a minus.
fn value(next: &mut dyn FnMut(u32) -> u32, low: i64, high: i64, signed: bool) -> i64 {
    let value = match next(5) {
        4 => (high - i64::from(next(3))).max(low),
        3 => (low + i64::from(next(3))).min(high),
        _ => low + below(next, high - low + 1),
    };
    if signed && one_in(next, 2) { -value } else { value }
}

/// A number from 0 up to `limit`, exclusive.
fn below(next: &mut dyn FnMut(u32) -> u32, limit: i64) -> i64 {
    i64::from(next(u32::try_from(limit).unwrap_or(u32::MAX)))
}

/// One of the items.
fn pick<T: Copy>(next: &mut dyn FnMut(u32) -> u32, items: &[T]) -> T {
    let place = next(u32::try_from(items.len()).unwrap_or(u32::MAX));
    items[usize::try_from(place).unwrap_or_default()]
}

/// True once in `n` draws, and not for a draw of 0.
fn one_in(next: &mut dyn FnMut(u32) -> u32, n: u32) -> bool {
    next(n) == n - 1
}

#[cfg(test)]
mod tests {
    use super::super::rfc_model::starts;
    use super::*;

    /// A source of numbers that gives the same numbers in every run.
    fn source(mut state: u64) -> impl FnMut(u32) -> u32 {
        move |n| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u32::try_from((state >> 32) % u64::from(n)).expect("less than n")
        }
    }

    /// Whether every value is in the range, with either sign if `signed`.
    fn within(list: &[i64], low: i64, high: i64, signed: bool) -> bool {
        list.iter().all(|value| (low..=high).contains(&if signed { value.abs() } else { *value }))
    }

    #[test]
    fn rules_are_allowed() {
        let mut next = source(88_172_645_463_325_252);
        for _ in 0..5_000 {
            let rule = draw(&mut next);
            let coarse = rule.frequency <= Freq::Monthly;
            assert!(rule.interval >= 1, "{rule}");
            assert!(within(&rule.months, 1, 12, false), "{rule}");
            assert!(within(&rule.weeks, 1, 53, true), "{rule}");
            assert!(rule.weeks.is_empty() || rule.frequency == Freq::Yearly, "{rule}");
            assert!(within(&rule.year_days, 1, 366, true), "{rule}");
            let no_year_days = matches!(rule.frequency, Freq::Daily | Freq::Weekly | Freq::Monthly);
            assert!(rule.year_days.is_empty() || !no_year_days, "{rule}");
            assert!(within(&rule.month_days, 1, 31, true), "{rule}");
            assert!(rule.month_days.is_empty() || rule.frequency != Freq::Weekly, "{rule}");
            for (ordinal, weekday) in &rule.days {
                assert!((0..7).contains(weekday) && ordinal.abs() <= 53, "{rule}");
                assert!(*ordinal == 0 || coarse && rule.weeks.is_empty(), "{rule}");
            }
            assert!(within(&rule.hours, 0, 23, false), "{rule}");
            assert!(within(&rule.minutes, 0, 59, false), "{rule}");
            assert!(within(&rule.seconds, 0, 60, false), "{rule}");
            assert!(within(&rule.positions, 1, 366, true), "{rule}");
            let mut bare = Parts::new(rule.frequency);
            bare.interval = rule.interval;
            bare.week_start = rule.week_start;
            bare.positions.clone_from(&rule.positions);
            assert!(rule.positions.is_empty() || rule != bare, "{rule}");
            assert_eq!(Parts::read(&rule.to_string()), rule);
        }
    }

    #[test]
    fn rules_have_all_parts() {
        let mut next = source(7);
        let mut seen: Vec<(Freq, String)> = Vec::new();
        for _ in 0..20_000 {
            let rule = draw(&mut next);
            let text = rule.to_string();
            for part in text.split(';') {
                let entry = (rule.frequency, part.split('=').next().unwrap_or_default().to_owned());
                if !seen.contains(&entry) {
                    seen.push(entry);
                }
            }
        }
        // Apart from FREQ there are 11 parts: BYWEEKNO is for one frequency, BYYEARDAY for four and BYMONTHDAY for six.
        assert_eq!(seen.len(), 7 + 7 * 8 + 1 + 4 + 6);
    }

    #[test]
    fn zeros_give_the_simplest_rule() {
        assert_eq!(draw(&mut |_| 0).to_string(), "FREQ=DAILY");
    }

    #[test]
    fn many_rules_have_starts() {
        let mut next = source(11);
        let first = 1_709_209_496;
        let mut some = 0;
        for _ in 0..300 {
            let rule = draw(&mut next);
            let length = match rule.frequency {
                Freq::Hourly => 20 * 86_400,
                Freq::Minutely => 2 * 86_400,
                Freq::Secondly => 7_200,
                _ => 2 * 366 * 86_400,
            };
            if starts(&rule, first, first, first + length).len() > 1 {
                some += 1;
            }
        }
        assert!(some > 150, "{some}");
    }
}
