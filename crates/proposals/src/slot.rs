//! The slots that a proposal offers.

use std::fmt;

use kalends_kernel::{CalendarId, FieldError, SlotId};
use kalends_time::Span;
use serde::{Deserialize, Serialize};

/// The maximum number of slots of a proposal.
pub const SLOTS_MAX: usize = 20;

/// The organizer's preference for a slot: 0 to 10, in steps of a millionth.
///
/// It is kept as an integer, so that sums are exact: 0.9 equals three times 0.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Weight(u32);

impl Weight {
    /// The number of units in 1.0.
    pub(crate) const SCALE: u32 = 1_000_000;
    /// The highest weight, 10.
    pub const MAX: Self = Self(10 * Self::SCALE);
    /// The default weight, 1.
    pub const ONE: Self = Self(Self::SCALE);

    /// The weight of a number, rounded to the millionth.
    ///
    /// # Errors
    /// If the number is below 0, above 10 or NaN.
    pub fn parse(param: &str, number: f64) -> Result<Self, FieldError> {
        if (0.0..=10.0).contains(&number) {
            let millionths = (number * f64::from(Self::SCALE)).round();
            // The range was checked, so the number fits.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 10,000,000")]
            return Ok(Self(millionths as u32));
        }
        Err(FieldError::new(param, format!("must be 0 to 10, got {number}")))
    }

    /// The weight in millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// The weight as a number, as responses show it.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(Self::SCALE)
    }
}

impl Default for Weight {
    /// [`Weight::ONE`].
    fn default() -> Self {
        Self::ONE
    }
}

impl From<Weight> for u32 {
    fn from(weight: Weight) -> Self {
        weight.0
    }
}

impl TryFrom<u32> for Weight {
    type Error = WeightError;

    /// The weight of a number of millionths.
    fn try_from(millionths: u32) -> Result<Self, WeightError> {
        if millionths <= Self::MAX.0 { Ok(Self(millionths)) } else { Err(WeightError(millionths)) }
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_f64().fmt(f)
    }
}

/// A stored weight above 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a weight of {0} millionths is more than 10")]
pub struct WeightError(u32);

/// The fields of a new slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSlot {
    /// The time.
    pub span: Span,
    /// The organizer's preference.
    pub weight: Weight,
    /// The calendar for the event, if not the proposal's.
    pub calendar: Option<CalendarId>,
}

/// A slot that a proposal offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The identifier.
    pub id: SlotId,
    /// The time.
    pub span: Span,
    /// The organizer's preference.
    pub weight: Weight,
    /// The calendar for the event, if not the proposal's.
    pub calendar: Option<CalendarId>,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0.0, Some(0))]
    #[case(-0.0, Some(0))]
    #[case(1.0, Some(1_000_000))]
    #[case(0.3, Some(300_000))]
    #[case(9.999_999_9, Some(10_000_000))]
    #[case(10.0, Some(10_000_000))]
    #[case(10.000_001, None)]
    #[case(-0.1, None)]
    #[case(f64::NAN, None)]
    #[case(f64::INFINITY, None)]
    fn weights(#[case] number: f64, #[case] millionths: Option<u32>) {
        let weight = Weight::parse("slots[3].weight", number);
        assert_eq!(weight.as_ref().ok().map(|weight| weight.millionths()), millionths);
        if let Err(error) = weight {
            assert_eq!(error.param, "slots[3].weight");
        }
    }

    #[test]
    fn weights_round_trip() {
        for number in [0.0, 0.1, 0.3, 1.0, 1.25, 3.333_333, 10.0] {
            let weight = Weight::parse("weight", number).unwrap();
            assert_eq!((weight.as_f64(), weight.to_string()), (number, number.to_string()));
            assert_eq!(Weight::try_from(weight.millionths()), Ok(weight));
        }
        assert_eq!(Weight::try_from(10_000_001), Err(WeightError(10_000_001)));
    }
}
