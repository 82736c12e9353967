//! Time for calendars: points in time, spans between them, what calendars and wall clocks show, and time zones.
//!
//! Three kinds of time are separate types:
//!
//! - [`Timestamp`] is a point in time, in microseconds of UTC.
//! - [`CivilDate`], [`CivilTime`] and [`CivilDateTime`] are what a calendar and a wall clock show, in no particular zone.
//! - [`Zone`] is an entry of the IANA time zone database. It connects the other two.
//!
//! A [`Span`] is half-open: it includes its start and excludes its end. A [`SignedDuration`] is the time between two
//! timestamps.
//!
//! The time zone database is compiled in, so a program gives the same answers on every machine. Nothing here does I/O
//! or reads a clock: [`Clock`] is the trait through which a program receives the current time, and a test sets it.
//!
//! ```
//! use kalends_time::{CivilDate, CivilTime, SignedDuration, Span, Timestamp, Zone};
//!
//! let berlin: Zone = "Europe/Berlin".parse()?;
//! let date = CivilDate::new(2026, 3, 29).ok_or("no such date")?;
//! let nine = CivilTime::new(9, 0, 0).ok_or("no such time")?;
//! let start = berlin.to_timestamp(date.at(nine)).ok_or("out of range")?;
//! assert_eq!(start.to_string(), "2026-03-29T07:00:00Z");
//!
//! let meeting = Span::new(start, start + SignedDuration::minutes(45))?;
//! assert!(meeting.contains("2026-03-29T07:30:00Z".parse::<Timestamp>()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Conversions
//!
//! Timestamps, durations and civil times convert to and from those of [`jiff`], and timestamps and durations to and
//! from [`std::time::SystemTime`] and [`std::time::Duration`]. A conversion that can fail is a `TryFrom`.
//!
//! # Features
//!
//! - `serde`: timestamps and civil dates are RFC 3339 text in serde's formats.
//! - `chrono`: conversions to and from the types of `chrono`.
//! - `testing`: the module `testing`, with strategies for property-based tests.

mod civil;
mod clock;
mod convert;
mod duration;
#[cfg(feature = "chrono")]
mod from_chrono;
mod rfc3339;
#[cfg(feature = "serde")]
mod serialized;
mod span;
#[cfg(feature = "testing")]
pub mod testing;
mod timestamp;
mod zone;

pub use civil::{CivilDate, CivilDateTime, CivilTime, MissingDay, ParseDateError};
pub use clock::Clock;
pub use convert::OutOfRange;
pub use duration::SignedDuration;
pub use rfc3339::ParseTimestampError;
pub use span::{Span, SpanError};
pub use timestamp::Timestamp;
pub use zone::{OffsetPeriod, Zone, ZoneError};

#[cfg(feature = "chrono")]
pub use chrono;
pub use jiff;
