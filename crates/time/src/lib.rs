#![doc = include_str!("../README.md")]
//!
//! ## The types
//!
//! - [`Timestamp`] is a point in time, in microseconds of UTC.
//! - [`CivilDate`], [`CivilTime`] and [`CivilDateTime`] are what a calendar and a wall clock show, in no particular zone.
//! - [`Zone`] is an entry of the IANA time zone database. It connects the other two.
//! - A [`Span`] is half-open: it includes its start and excludes its end.
//! - A [`SignedDuration`] is the time between two timestamps.
//! - [`phrase::resolve`] reads times in plain English, such as `next Tuesday at 2pm`.
//! - [`Clock`] is the trait through which a program receives the current time, and a test sets it.

mod civil;
mod clock;
mod convert;
mod duration;
#[cfg(feature = "chrono")]
mod from_chrono;
pub mod phrase;
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
