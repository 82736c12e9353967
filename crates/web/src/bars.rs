//! A bar chart of one series of numbers.

/// The width of a bar with the space around it, in units of the picture.
const STEP: u64 = 20;
/// The width of a bar.
const WIDTH: u64 = 14;
/// The height of the chart.
const HEIGHT: u64 = 100;

/// A bar, in units of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bar {
    pub x: u64,
    pub y: u64,
    pub width: u64,
    pub height: u64,
}

/// A bar chart as the parts of an SVG picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bars {
    pub width: u64,
    pub height: u64,
    /// The bars, in the order of the values. A value of zero has no height, and any other value can be seen.
    pub bars: Vec<Bar>,
}

impl Bars {
    /// The chart of these values. The highest one has the whole height.
    pub(crate) fn of(values: impl Iterator<Item = u64> + Clone) -> Self {
        let highest = values.clone().max().unwrap_or(0).max(1);
        let mut bars = Vec::new();
        let mut x = 0;
        for value in values {
            let height = scaled(value, highest).max(u64::from(value > 0));
            bars.push(Bar { x: x + (STEP - WIDTH) / 2, y: HEIGHT - height, width: WIDTH, height });
            x += STEP;
        }
        Self { width: x.max(STEP), height: HEIGHT, bars }
    }
}

/// The part of the height for a value of at most `highest`, rounded down.
fn scaled(value: u64, highest: u64) -> u64 {
    let part = u128::from(value) * u128::from(HEIGHT) / u128::from(highest);
    u64::try_from(part).unwrap_or(HEIGHT).min(HEIGHT)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(&[], &[])]
    #[case::nothing_used(&[0, 0], &[0, 0])]
    #[case::parts(&[50, 0, 100, 25], &[50, 0, 100, 25])]
    #[case::tiny(&[1, 1_000_000], &[1, 100])]
    #[case::huge(&[u64::MAX, u64::MAX / 2], &[100, 49])]
    fn bars_are_as_high_as_their_values(#[case] values: &[u64], #[case] heights: &[u64]) {
        let chart = Bars::of(values.iter().copied());
        assert_eq!(chart.bars.iter().map(|bar| bar.height).collect::<Vec<_>>(), heights);
    }

    proptest! {
        /// Every bar of a chart is inside of the picture, and a higher value never has a lower bar.
        #[test]
        fn bars_stay_inside_and_in_proportion(values in vec(any::<u64>(), 0..30)) {
            let chart = Bars::of(values.iter().copied());
            prop_assert_eq!(chart.bars.len(), values.len());
            for bar in &chart.bars {
                prop_assert!(bar.x + bar.width <= chart.width && bar.y + bar.height == chart.height);
            }
            for (one, other) in chart.bars.iter().zip(&values).zip(chart.bars.iter().zip(&values).skip(1)) {
                prop_assert!((one.1 <= other.1) == (one.0.height <= other.0.height) || one.0.height == other.0.height);
            }
        }
    }
}
