//! Computes when something that repeats takes place.
//!
//! A [`Rule`] is any `RRULE` of RFC 5545. It is built from values ([`Rule::builder`]), parsed with errors that name the
//! part at fault, or read leniently with warnings ([`Rule::parse_lenient`]), and written as one canonical text. A
//! [`Series`] ties it to a first start, a zone and a length. A series is validated once, when it is created
//! ([`Series::new`]), and rebuilt from a store without counting its occurrences again ([`Series::from_stored`]). A
//! [`RecurrenceSet`] adds single dates, exceptions and overrides to series. A [`FloatingSeries`] has no zone.
//!
//! Expansion works on bit sets of days and begins at the window. Its cost depends on the occurrences inside the window,
//! not on their distance from the first start. The iterators [`Occurrences`] and [`Starts`] run in both directions.
//! Forwards, they do not allocate for rules with one time a day.
//!
//! Everything is pure and synchronous. `docs/use/recurrence.md` describes what is supported and how each edge case is
//! decided. The feature `testing` adds the module `testing`, with strategies for property-based tests and a plain model.
//!
//! ```
//! use kalends_time::{SignedDuration, Timestamp, Span, Zone};
//! use kalends_recurrence::{Exceptions, Length, Rule, Series};
//!
//! let rule: Rule = "FREQ=MONTHLY;BYDAY=-1FR".parse()?;
//! let first: Timestamp = "2026-01-30T15:00:00Z".parse()?;
//! let series = Series::new(rule, first, Zone::UTC, Length::elapsed(SignedDuration::hours(1))?)?;
//!
//! let window = Span::new("2076-01-01T00:00:00Z".parse()?, "2076-04-01T00:00:00Z".parse()?)?;
//! let exdates = Exceptions::from(vec!["2076-02-28T15:00:00Z".parse()?]);
//! let starts = series.occurrences(window).without(&exdates).map(|span| span.start().to_string());
//! assert!(starts.eq(["2076-01-31T15:00:00Z", "2076-03-27T15:00:00Z"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod clock;
mod cursor;
mod dates;
mod dialect;
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

pub use builder::RuleBuilder;
pub use dialect::Dialect;
pub use error::RuleError;
pub use exceptions::Exceptions;
pub use floating::{FloatingSeries, FloatingStarts};
pub use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};
pub use length::{Length, LengthError};
pub use lenient::{LenientRule, RuleWarning};
pub use limits::{
    EARLIEST_START, HORIZON, MAX_COUNT, MAX_COUNTED, MAX_INTERVAL, MAX_RULE_LENGTH, MAX_STEPS_IN_366_DAYS,
};
pub use rule::{Frequency, Part, Rule, Until};
pub use series::{Occurrences, Series, SeriesError, Starts};
pub use set::{Between, Occurrence, RecurrenceSet};
pub use weekday::{Weekday, WeekdayNum};
