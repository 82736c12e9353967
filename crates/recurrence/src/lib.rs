#![doc = include_str!("../README.md")]
//!
//! ## The types
//!
//! A [`Rule`] is any `RRULE` of RFC 5545. It is built from values ([`Rule::builder`]), parsed ([`Rule::parse`]), or read
//! leniently ([`Rule::parse_lenient`]), and written as one canonical text. A [`Series`] ties it to a first start, a zone and
//! a length. A series is validated once, when it is created ([`Series::new`]), and rebuilt from a store without counting its
//! occurrences again ([`Series::from_stored`]). A [`RecurrenceSet`] adds single dates, exceptions and overrides to series. A
//! [`FloatingSeries`] has no zone.
//!
//! Expansion works on bit sets of days. The iterators [`Occurrences`] and [`Starts`] run in both directions. Forwards, they
//! do not allocate for rules with one time a day.
//!
//! The page `docs/use/recurrence.md` of the repository says how each edge case is decided.

mod builder;
mod clock;
mod cursor;
mod dates;
mod dialect;
mod edit;
mod error;
mod exceptions;
mod floating;
mod instants;
mod length;
mod lenient;
mod limits;
mod month;
mod parse;
mod pattern;
mod rule;
mod series;
mod set;
mod sets;
#[cfg(feature = "testing")]
pub mod testing;
mod times;
mod units;
mod weekday;

/// What the interface takes and returns of other crates.
pub use kalends_time::{
    CivilDate, CivilDateTime, CivilTime, ParseDateError, ParseTimestampError, SignedDuration, Span, SpanError,
    Timestamp, Zone, ZoneError,
};

pub use builder::RuleBuilder;
pub use dialect::Dialect;
pub use edit::SplitError;
pub use error::RuleError;
pub use exceptions::Exceptions;
pub use floating::{FloatingSeries, FloatingStarts};
pub use length::{Length, LengthError};
pub use lenient::{LenientRule, RuleWarning};
pub use limits::{
    EARLIEST_START, HORIZON, MAX_COUNT, MAX_COUNTED, MAX_INTERVAL, MAX_RULE_LENGTH, MAX_STEPS_IN_366_DAYS,
};
pub use rule::{Frequency, Part, Rule, Until};
pub use series::{Occurrences, Series, SeriesError, Starts};
pub use set::{Between, Occurrence, RecurrenceSet};
pub use weekday::{Weekday, WeekdayNum};
