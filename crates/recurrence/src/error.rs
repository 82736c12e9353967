//! Why something is not a rule.

use crate::rule::{Frequency, Part};

/// Why a text or a set of parts is not a rule. Messages name the part at fault, what is allowed and what was received.
///
/// ```
/// use kalends_recurrence::{Rule, RuleError};
///
/// assert_eq!(Rule::parse("FREQ=DAILY;COUNT=3;UNTIL=20261231"), Err(RuleError::CountAndUntil));
/// let error = Rule::parse("FREQ=DAILY;INTERVAL=0").map_err(|error| error.to_string());
/// assert_eq!(error, Err(r#"INTERVAL must be a whole number from 1 to 2147483647, got "0""#.to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// More characters than allowed.
    #[error("must be at most {most} characters long, got {length}")]
    TooLong {
        /// The number of characters.
        length: usize,
        /// The maximum.
        most: usize,
    },
    /// A line break or another control character.
    #[error("must be one line without control characters, got {got:?} after {after} characters")]
    ControlCharacter {
        /// The character.
        got: char,
        /// The number of characters before it.
        after: usize,
    },
    /// A leading `RRULE:`.
    #[error("must not begin with RRULE: (leave it out and begin with FREQ=)")]
    Prefix,
    /// Text between two semicolons that has no name, no equals sign or no value.
    #[error("must be parts such as FREQ=WEEKLY, separated by single semicolons, got {got:?}")]
    NotAPart {
        /// Its first characters.
        got: String,
    },
    /// A part that is unknown, or that is not in the [`Dialect`](crate::Dialect). `RSCALE` and `SKIP` (RFC 7529) are
    /// never supported.
    #[error("{name} is not supported; the parts are {allowed}")]
    Unsupported {
        /// The first characters of its name.
        name: String,
        /// The parts that are supported.
        allowed: String,
    },
    /// A part that is given twice.
    #[error("{part} must be given once")]
    Repeated {
        /// The part.
        part: Part,
    },
    /// No `FREQ`.
    #[error("FREQ is missing: one of {allowed}")]
    MissingFrequency {
        /// The frequencies that are supported.
        allowed: String,
    },
    /// A value that the part does not take.
    #[error("{part} must be {allowed}, got {got:?}")]
    Value {
        /// The part.
        part: Part,
        /// What the part takes.
        allowed: String,
        /// The first characters of the value.
        got: String,
    },
    /// Both `COUNT` and `UNTIL`.
    #[error("COUNT and UNTIL must not be given together")]
    CountAndUntil,
    /// A weekday with an ordinal under a frequency other than `MONTHLY` and `YEARLY`.
    #[error(
        "BYDAY takes ordinals under FREQ=MONTHLY and FREQ=YEARLY only; under {frequency} it must be plain weekdays, got {got:?}"
    )]
    OrdinalFrequency {
        /// The rule's frequency.
        frequency: Frequency,
        /// The weekday and its ordinal.
        got: String,
    },
    /// An ordinal that no month has.
    #[error("BYDAY ordinals that count within a month must be 1 to 5 or -5 to -1, got {got:?}")]
    OrdinalOfMonth {
        /// The weekday and its ordinal.
        got: String,
    },
    /// A weekday with an ordinal together with `BYWEEKNO`.
    #[error("BYDAY must be plain weekdays together with BYWEEKNO, got {got:?}")]
    OrdinalOfWeek {
        /// The weekday and its ordinal.
        got: String,
    },
    /// A part that the frequency does not take.
    #[error("{part} must not be given under FREQ={frequency} (use {instead})")]
    Frequency {
        /// The part.
        part: Part,
        /// The rule's frequency.
        frequency: Frequency,
        /// The frequencies that take the part.
        instead: &'static str,
    },
    /// `BYSETPOS` without a part that it could choose from.
    #[error("BYSETPOS must be given together with another BY part, such as BYDAY, BYMONTHDAY or BYMONTH")]
    PositionAlone,
}

impl RuleError {
    /// The part at fault, if it is one of [`Part::ALL`].
    ///
    /// ```
    /// use kalends_recurrence::{Part, Rule};
    ///
    /// let at_fault = |text| Rule::parse(text).err().and_then(|error| error.part());
    /// assert_eq!(at_fault("FREQ=DAILY;BYMONTH=13"), Some(Part::ByMonth));
    /// assert_eq!(at_fault("every day"), None);
    /// ```
    pub const fn part(&self) -> Option<Part> {
        match self {
            Self::TooLong { .. }
            | Self::ControlCharacter { .. }
            | Self::Prefix
            | Self::NotAPart { .. }
            | Self::Unsupported { .. } => None,
            Self::Repeated { part } | Self::Value { part, .. } | Self::Frequency { part, .. } => Some(*part),
            Self::MissingFrequency { .. } => Some(Part::Freq),
            Self::CountAndUntil => Some(Part::Until),
            Self::OrdinalFrequency { .. } | Self::OrdinalOfMonth { .. } | Self::OrdinalOfWeek { .. } => {
                Some(Part::ByDay)
            }
            Self::PositionAlone => Some(Part::BySetPos),
        }
    }
}
