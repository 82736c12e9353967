//! Which rules a program accepts.

use crate::limits::{MAX_COUNT, MAX_INTERVAL, MAX_RULE_LENGTH};
use crate::rule::{Frequency, Part};

/// Which rules [`Rule::parse_as`](crate::Rule::parse_as) accepts: all of RFC 5545, or a subset that a program
/// documents. Errors list what the dialect allows.
///
/// ```
/// use kalends_recurrence::{Dialect, Frequency, Part, Rule};
///
/// const SIMPLE: Dialect = Dialect {
///     frequencies: &[Frequency::Daily, Frequency::Weekly],
///     parts: &[Part::Freq, Part::Interval, Part::Until],
///     ..Dialect::RFC_5545
/// };
/// let error = Rule::parse_as("FREQ=DAILY;BYHOUR=9", &SIMPLE).unwrap_err();
/// assert_eq!(error.to_string(), "BYHOUR is not supported; the parts are FREQ, INTERVAL, UNTIL");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The maximum number of characters of a rule. [`MAX_RULE_LENGTH`] limits it too.
    pub max_length: usize,
    /// The frequencies.
    pub frequencies: &'static [Frequency],
    /// The parts.
    pub parts: &'static [Part],
    /// The largest `INTERVAL`. [`MAX_INTERVAL`] limits it too.
    pub max_interval: u32,
    /// The largest `COUNT`. [`MAX_COUNT`] limits it too.
    pub max_count: u32,
    /// Whether `UNTIL` may be a time of the series' wall clock.
    pub local_until: bool,
}

impl Dialect {
    /// All rules of RFC 5545.
    pub const RFC_5545: Self = Self {
        max_length: MAX_RULE_LENGTH,
        frequencies: &Frequency::ALL,
        parts: &Part::ALL,
        max_interval: MAX_INTERVAL,
        max_count: MAX_COUNT,
        local_until: true,
    };
}
