//! A chart of two numbers for each of several days, as bars side by side, with a table of the same numbers.

use std::iter;

use kalends_time::CivilDate;

use crate::time::short_date;

/// The size of the picture, in units of its own. It grows with the page.
const WIDTH: u64 = 3_200;
const HEIGHT: u64 = 1_300;
/// The part of the height that the longest bar has. The dates are below the bars.
const TALLEST: u64 = 1_000;
/// The least height of a bar, so that it can be seen.
const LEAST: u64 = 12;
/// The space above the bars, in which their largest number is written.
const ABOVE: u64 = 150;
/// The distance of a text from its line.
const APART: u64 = 120;
/// The number of dates for which there is room below the bars.
const DATES: usize = 7;

/// A chart of days with two numbers each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chart<'a> {
    /// What the chart shows, as a sentence for people who do not see it.
    pub label: &'a str,
    /// What the first number of each day counts.
    pub first: &'a str,
    /// What the second number of each day counts.
    pub second: &'a str,
    /// The days, the oldest first.
    pub days: &'a [ChartDay],
}

/// A day of a [`Chart`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartDay {
    /// The date.
    pub date: CivilDate,
    /// The first number.
    pub first: u64,
    /// The second number.
    pub second: u64,
}

/// A bar. Its place and its size are in units of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bar {
    /// The class of its look. The two numbers of a day differ in it without colours too.
    pub look: &'static str,
    pub x: u64,
    pub y: u64,
    pub width: u64,
    pub height: u64,
}

/// A date below the bars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tick {
    /// The middle of its day.
    pub x: u64,
    pub text: String,
}

impl ChartDay {
    /// The date as people write it, such as `28 Nov`.
    pub(crate) fn short(&self) -> String {
        short_date(self.date)
    }
}

impl Chart<'_> {
    /// The width of the picture.
    pub(crate) const fn width(&self) -> u64 {
        WIDTH
    }

    /// The height of the picture.
    pub(crate) const fn height(&self) -> u64 {
        HEIGHT
    }

    /// The height at which the longest bar ends.
    pub(crate) const fn top(&self) -> u64 {
        ABOVE
    }

    /// The height of the text above the bars.
    pub(crate) const fn above(&self) -> u64 {
        APART
    }

    /// The height of the texts below the bars.
    pub(crate) const fn below(&self) -> u64 {
        self.ground() + APART
    }

    /// The height at which the bars begin.
    pub(crate) const fn ground(&self) -> u64 {
        ABOVE + TALLEST
    }

    /// The largest number of all days.
    pub(crate) fn largest(&self) -> u64 {
        self.days.iter().map(|day| day.first.max(day.second)).max().unwrap_or(0)
    }

    /// The width of a day. There is at least one unit, so more days than units would not fit.
    fn slot(&self) -> u64 {
        (WIDTH / u64::try_from(self.days.len().max(1)).unwrap_or(WIDTH)).max(1)
    }

    /// The bars from left to right. A zero has none, and any other number has one that can be seen.
    pub(crate) fn bars(&self) -> Vec<Bar> {
        let (slot, largest) = (self.slot(), self.largest());
        // A day has a bar, half a gap on each side of it, and the other bar.
        let width = (slot * 3 / 8).max(1);
        let bar = |look, number: u64, x| {
            let height = height_of(number, largest);
            (height > 0).then(|| Bar { look, x, y: self.ground() - height, width, height })
        };
        let lefts = iter::successors(Some(0), |left| Some(left + slot));
        let pairs = self.days.iter().zip(lefts).map(|(day, left)| {
            let middle = left + slot / 2;
            let first = bar("first", day.first, middle.saturating_sub(width).max(left));
            [first, bar("second", day.second, middle)]
        });
        pairs.flatten().flatten().collect()
    }

    /// The dates below the bars: each, or one of every few if there are many days.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        let slot = self.slot();
        let every = self.days.len().div_ceil(DATES).max(1);
        let middles = iter::successors(Some(slot / 2), |middle| Some(middle + slot));
        let shown = self.days.iter().zip(middles).step_by(every);
        shown.map(|(day, x)| Tick { x, text: day.short() }).collect()
    }
}

/// The height of a bar, in proportion to the largest number.
fn height_of(number: u64, largest: u64) -> u64 {
    if number == 0 || largest == 0 {
        return 0;
    }
    let part = u128::from(number) * u128::from(TALLEST) / u128::from(largest);
    u64::try_from(part).unwrap_or(TALLEST).clamp(LEAST, TALLEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn days(numbers: &[(u64, u64)]) -> Vec<ChartDay> {
        let dates = (20_500..).map(CivilDate::from_days);
        numbers.iter().zip(dates).map(|(&(first, second), date)| ChartDay { date, first, second }).collect()
    }

    fn chart(days: &[ChartDay]) -> Chart<'_> {
        Chart { label: "Deliveries", first: "Delivered", second: "Failed", days }
    }

    #[test]
    fn bars_have_the_heights_of_their_numbers() {
        let days = days(&[(100, 50), (0, 2), (1, 0)]);
        let heights: Vec<_> = chart(&days).bars().iter().map(|bar| (bar.look, bar.height)).collect();
        let expected = [("first", TALLEST), ("second", TALLEST / 2), ("second", TALLEST / 50), ("first", LEAST)];
        assert_eq!(heights, expected);
    }

    #[test]
    fn a_chart_without_days_is_empty() {
        let empty = chart(&[]);
        assert_eq!((empty.bars(), empty.ticks(), empty.largest()), (vec![], vec![], 0));
    }

    #[test]
    fn a_week_has_every_date_and_a_month_a_few() {
        let (week, month) = (days(&[(1, 0); 7]), days(&[(1, 0); 31]));
        assert_eq!(chart(&week).ticks().len(), 7);
        assert_eq!(chart(&month).ticks().len(), 7);
        let texts: Vec<_> = chart(&week).ticks().into_iter().map(|tick| tick.text).collect();
        assert_eq!(texts, week.iter().map(ChartDay::short).collect::<Vec<_>>());
    }

    /// Few numbers and many, small and as large as they can be.
    fn numbers() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let number = || prop_oneof![Just(0u64), 1u64..5, 0u64..10_000, any::<u64>()];
        prop::collection::vec((number(), number()), 0..400)
    }

    proptest! {
        #[test]
        fn bars_are_within_the_picture_and_do_not_overlap(numbers in numbers()) {
            let days = days(&numbers);
            let bars = chart(&days).bars();
            let expected = numbers.iter().flat_map(|(first, second)| [first, second]).filter(|number| **number > 0);
            prop_assert_eq!(bars.len(), expected.count(), "each number but zero has a bar");
            let mut right = 0;
            for bar in &bars {
                prop_assert!(bar.x >= right && bar.width > 0, "{:?} begins before {}", bar, right);
                right = bar.x + bar.width;
                prop_assert!(bar.height >= LEAST && bar.y >= ABOVE, "{:?}", bar);
                prop_assert_eq!(bar.y + bar.height, ABOVE + TALLEST);
            }
            prop_assert!(right <= WIDTH);
        }

        #[test]
        fn a_larger_number_never_has_a_shorter_bar(numbers in numbers()) {
            let largest = numbers.iter().map(|(first, second)| *first.max(second)).max().unwrap_or(0);
            let mut sorted: Vec<_> = numbers.iter().flat_map(|(first, second)| [*first, *second]).collect();
            sorted.sort_unstable();
            let heights: Vec<_> = sorted.iter().map(|number| height_of(*number, largest)).collect();
            prop_assert!(heights.is_sorted());
            prop_assert_eq!(heights.last().copied().unwrap_or(0), if largest > 0 { TALLEST } else { 0 });
        }

        #[test]
        fn dates_are_within_the_picture(numbers in numbers()) {
            let days = days(&numbers);
            let ticks = chart(&days).ticks();
            prop_assert!(ticks.len() <= DATES && ticks.iter().all(|tick| tick.x < WIDTH));
            prop_assert_eq!(ticks.is_empty(), numbers.is_empty());
        }
    }
}
