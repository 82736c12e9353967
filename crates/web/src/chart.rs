//! A chart of one or two numbers for each of several days or months, as bars side by side. A table beside it has the
//! same numbers.

use std::iter;

use crate::numbers::grouped;

/// The size of the picture, in units of its own. It grows with the page.
const WIDTH: u64 = 3_200;
const HEIGHT: u64 = 1_300;
/// The part of the height that the longest bar has. The names are below the bars.
const TALLEST: u64 = 1_000;
/// The least height of a bar, so that it can be seen.
const LEAST: u64 = 12;
/// The space above the bars, in which their largest number is written.
const ABOVE: u64 = 150;
/// The distance of a text from its line.
const APART: u64 = 120;
/// The number of names for which there is room below the bars.
const TICKS: usize = 7;

/// The classes of the looks of the bars of a group, from left to right. They differ without colours too.
const LOOKS: [&str; 2] = ["first", "second"];

/// A chart of groups with `N` numbers each, which are one or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chart<const N: usize> {
    /// What the chart shows, as a sentence for people who do not see it.
    pub label: String,
    /// What each number of a group counts.
    pub series: [&'static str; N],
    /// The groups from left to right. There is room for some hundreds.
    pub groups: Vec<Group<N>>,
}

/// The numbers of a day or of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group<const N: usize> {
    /// The day or the month, in a few letters such as `28 Nov`.
    pub name: String,
    pub numbers: [u64; N],
}

/// A bar. Its place and its size are in units of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bar {
    /// The class of its look.
    pub look: &'static str,
    pub x: u64,
    pub y: u64,
    pub width: u64,
    pub height: u64,
}

/// A name below the bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tick<'a> {
    /// The middle of its group.
    pub x: u64,
    pub text: &'a str,
}

impl<const N: usize> Chart<N> {
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

    /// The looks of the bars, with what each counts.
    pub(crate) fn legend(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        LOOKS.into_iter().zip(self.series)
    }

    fn largest(&self) -> u64 {
        self.groups.iter().flat_map(|group| group.numbers).max().unwrap_or(0)
    }

    /// The largest of all numbers.
    pub(crate) fn largest_text(&self) -> String {
        grouped(self.largest())
    }

    /// The width of a group. There is at least one unit, so more groups than units would not fit.
    fn slot(&self) -> u64 {
        (WIDTH / u64::try_from(self.groups.len().max(1)).unwrap_or(WIDTH)).max(1)
    }

    /// The bars from left to right. A zero has none, and any other number has one that can be seen.
    pub(crate) fn bars(&self) -> Vec<Bar> {
        let (slot, largest, ground) = (self.slot(), self.largest(), self.ground());
        let count = u64::try_from(N).unwrap_or(1).max(1);
        // The bars have three quarters of the width of their group. The rest is on both sides of them.
        let width = (slot * 3 / (4 * count)).max(1);
        let margin = slot.saturating_sub(width * count) / 2;
        let lefts = iter::successors(Some(margin), |left| Some(left + slot));
        let bars = self.groups.iter().zip(lefts).flat_map(|(group, left)| {
            let lefts = iter::successors(Some(left), move |left| Some(left + width));
            LOOKS.into_iter().zip(group.numbers).zip(lefts).map(move |((look, number), x)| {
                let height = height_of(number, largest);
                Bar { look, x, y: ground - height, width, height }
            })
        });
        bars.filter(|bar| bar.height > 0).collect()
    }

    /// The names below the bars: each, or one of every few if there are many groups.
    pub(crate) fn ticks(&self) -> Vec<Tick<'_>> {
        let slot = self.slot();
        let every = self.groups.len().div_ceil(TICKS).max(1);
        let middles = iter::successors(Some(slot / 2), |middle| Some(middle + slot));
        let shown = self.groups.iter().zip(middles).step_by(every);
        shown.map(|(group, x)| Tick { x, text: &group.name }).collect()
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

    fn chart<const N: usize>(numbers: &[[u64; N]]) -> Chart<N> {
        let group = |(index, numbers): (usize, &[u64; N])| Group { name: index.to_string(), numbers: *numbers };
        let groups = numbers.iter().enumerate().map(group).collect();
        Chart { label: "Deliveries".to_owned(), series: ["Used"; N], groups }
    }

    #[test]
    fn bars_have_the_heights_of_their_numbers() {
        let bars = chart(&[[100, 50], [0, 2], [1, 0]]).bars();
        let heights: Vec<_> = bars.iter().map(|bar| (bar.look, bar.height)).collect();
        let expected = [("first", TALLEST), ("second", TALLEST / 2), ("second", TALLEST / 50), ("first", LEAST)];
        assert_eq!(heights, expected);
    }

    #[test]
    fn a_single_number_has_the_place_of_both() {
        let (one, two) = (chart(&[[8], [8]]).bars(), chart(&[[8, 8], [8, 8]]).bars());
        assert_eq!(one.iter().map(|bar| bar.look).collect::<Vec<_>>(), ["first", "first"]);
        assert_eq!((one[0].x, one[1].x), (two[0].x, two[2].x));
        assert_eq!(one[0].width, two[0].width + two[1].width);
    }

    #[test]
    fn a_chart_without_groups_is_empty() {
        let empty = chart::<2>(&[]);
        assert_eq!((empty.bars(), empty.ticks(), empty.largest_text()), (vec![], vec![], "0".to_owned()));
    }

    #[test]
    fn each_series_has_a_look() {
        assert_eq!(chart(&[[1]]).legend().collect::<Vec<_>>(), [("first", "Used")]);
        assert_eq!(chart(&[[1, 2]]).legend().collect::<Vec<_>>(), [("first", "Used"), ("second", "Used")]);
    }

    #[test]
    fn few_groups_have_every_name_and_many_a_few() {
        let names = |numbers: &[[u64; 1]]| -> Vec<String> {
            chart(numbers).ticks().iter().map(|tick| tick.text.to_owned()).collect()
        };
        assert_eq!(names(&[[1]; 7]), ["0", "1", "2", "3", "4", "5", "6"]);
        assert_eq!(names(&[[1]; 12]), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(names(&[[1]; 31]).len(), 7);
    }

    /// Few numbers and many, small and as large as they can be.
    fn numbers() -> impl Strategy<Value = Vec<[u64; 2]>> {
        let number = || prop_oneof![Just(0u64), 1u64..5, 0u64..10_000, any::<u64>()];
        prop::collection::vec([number(), number()], 0..400)
    }

    /// Bars are within the picture, stand beside each other, and are as many as there are numbers but zeros.
    fn stand_beside_each_other<const N: usize>(numbers: &[[u64; N]]) -> Result<(), TestCaseError> {
        let bars = chart(numbers).bars();
        let expected = numbers.iter().flatten().filter(|number| **number > 0).count();
        prop_assert_eq!(bars.len(), expected, "each number but zero has a bar");
        let mut right = 0;
        for bar in &bars {
            prop_assert!(bar.x >= right && bar.width > 0, "{:?} begins before {}", bar, right);
            right = bar.x + bar.width;
            prop_assert!(bar.height >= LEAST && bar.y >= ABOVE, "{:?}", bar);
            prop_assert_eq!(bar.y + bar.height, ABOVE + TALLEST);
        }
        prop_assert!(right <= WIDTH);
        Ok(())
    }

    proptest! {
        /// All bars of a chart are inside of the picture, and none touches another one.
        #[test]
        fn bars_are_within_the_picture_and_do_not_overlap(numbers in numbers()) {
            stand_beside_each_other(&numbers)?;
            let firsts: Vec<_> = numbers.iter().map(|[first, _]| [*first]).collect();
            stand_beside_each_other(&firsts)?;
        }

        /// A larger number never has a shorter bar, and the largest one has the tallest bar.
        #[test]
        fn a_larger_number_never_has_a_shorter_bar(numbers in numbers()) {
            let mut sorted: Vec<_> = numbers.into_iter().flatten().collect();
            sorted.sort_unstable();
            let largest = sorted.last().copied().unwrap_or(0);
            let heights: Vec<_> = sorted.iter().map(|number| height_of(*number, largest)).collect();
            prop_assert!(heights.is_sorted());
            prop_assert_eq!(heights.last().copied().unwrap_or(0), if largest > 0 { TALLEST } else { 0 });
        }

        /// The names below the bars are inside of the picture, and there are not too many of them.
        #[test]
        fn names_are_within_the_picture(numbers in numbers()) {
            let chart = chart(&numbers);
            let ticks = chart.ticks();
            prop_assert!(ticks.len() <= TICKS && ticks.iter().all(|tick| tick.x < WIDTH));
            prop_assert_eq!(ticks.is_empty(), numbers.is_empty());
        }
    }
}
