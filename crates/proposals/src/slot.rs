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
///
/// ```
/// use kalends_proposals::Weight;
///
/// let weight = Weight::parse("weight", 2.5).map_err(|error| error.to_string())?;
/// assert_eq!((weight.millionths(), weight.as_f64()), (2_500_000, 2.5));
/// assert_eq!(Weight::try_from(2_500_000), Ok(weight));
/// assert!(Weight::parse("weight", 10.5).is_err());
/// # Ok::<(), String>(())
/// ```
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

    /// The weight of a number, rounded to the millionth. `param` is the field of the error. [`Weight`] has an example.
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
///
/// ```
/// use kalends_proposals::Weight;
///
/// let error = Weight::try_from(10_000_001).map_err(|error| error.to_string());
/// assert_eq!(error, Err("a weight of 10000001 millionths is more than 10".to_owned()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a weight of {0} millionths is more than 10")]
pub struct WeightError(u32);

/// The fields of a new slot.
///
/// ```
/// use kalends_proposals::{NewSlot, Weight};
/// use kalends_time::Span;
///
/// let span = Span::new("2027-03-02T10:00:00Z".parse()?, "2027-03-02T11:00:00Z".parse()?)?;
/// let slot = NewSlot::new(span).with_weight(Weight::MAX);
/// assert_eq!((slot.span(), slot.weight(), slot.calendar()), (span, Weight::MAX, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSlot {
    pub(crate) span: Span,
    pub(crate) weight: Weight,
    pub(crate) calendar: Option<CalendarId>,
}

impl NewSlot {
    /// A slot of weight 1 on the proposal's calendar. [`NewSlot`] has an example.
    pub const fn new(span: Span) -> Self {
        Self { span, weight: Weight::ONE, calendar: None }
    }

    /// The same slot with the organizer's preference. [`NewSlot`] has an example.
    #[must_use]
    pub const fn with_weight(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }

    /// The same slot with a calendar for its event. With `None`, the event is on the proposal's calendar.
    ///
    /// ```
    /// use kalends_kernel::CalendarId;
    /// use kalends_proposals::NewSlot;
    /// use kalends_time::Span;
    ///
    /// let calendar: CalendarId = "cal_00000000000000000000000001".parse()?;
    /// let span = Span::new("2027-03-02T10:00:00Z".parse()?, "2027-03-02T11:00:00Z".parse()?)?;
    /// assert_eq!(NewSlot::new(span).with_calendar(calendar).calendar(), Some(calendar));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_calendar(mut self, calendar: impl Into<Option<CalendarId>>) -> Self {
        self.calendar = calendar.into();
        self
    }

    /// The time.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// The organizer's preference.
    pub const fn weight(&self) -> Weight {
        self.weight
    }

    /// The calendar for the event, if not the proposal's.
    pub const fn calendar(&self) -> Option<CalendarId> {
        self.calendar
    }
}

/// A slot that a proposal offers.
///
/// ```
/// use kalends_kernel::SlotId;
/// use kalends_proposals::{NewSlot, Slot, Weight};
/// use kalends_time::Span;
///
/// let id: SlotId = "slt_00000000000000000000000001".parse()?;
/// let span = Span::new("2027-03-02T10:00:00Z".parse()?, "2027-03-02T11:00:00Z".parse()?)?;
/// let slot = Slot::from_stored(id, NewSlot::new(span));
/// assert_eq!((slot.id(), slot.span(), slot.weight()), (id, span, Weight::ONE));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub(crate) id: SlotId,
    pub(crate) span: Span,
    pub(crate) weight: Weight,
    pub(crate) calendar: Option<CalendarId>,
}

impl Slot {
    /// The slot from what a store kept. The types of its fields keep their bounds. [`Slot`] has an example.
    pub const fn from_stored(id: SlotId, fields: NewSlot) -> Self {
        let NewSlot { span, weight, calendar } = fields;
        Self { id, span, weight, calendar }
    }

    /// The identifier.
    pub const fn id(&self) -> SlotId {
        self.id
    }

    /// The time.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// The organizer's preference.
    pub const fn weight(&self) -> Weight {
        self.weight
    }

    /// The calendar for the event, if not the proposal's.
    pub const fn calendar(&self) -> Option<CalendarId> {
        self.calendar
    }
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
