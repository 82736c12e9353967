#![doc = include_str!("../README.md")]
//!
//! ## The parts
//!
//! A [`BusySet`] holds busy time as sorted half-open spans of which no two overlap or touch, so that every query on it is
//! linear or better. [`Rules`] widen busy time by buffers and add the time outside working hours. [`free_slots`] lays a grid
//! over a window and offers the slots that overlap nothing busy. [`nearest_free`] returns the free times nearest to a wanted
//! one, and [`explain`] returns the reasons why a time is not offered. [`CachedBusy`] decides whether a busy set that was
//! computed earlier still answers a query.
//!
//! Times are timestamps, in microseconds of UTC. Only rules know a time zone. Nothing panics, whatever the arguments: sums
//! of times saturate at the ends of [`Timestamp`].

mod buckets;
mod busy;
mod cached;
mod explain;
mod nearest;
mod rules;
mod slots;
#[cfg(feature = "testing")]
pub mod testing;

/// What the interface takes and returns of other crates.
pub use kalends_time::{
    CivilDate, CivilTime, ParseDateError, ParseTimestampError, SignedDuration, Span, SpanError, Timestamp, Zone,
    ZoneError,
};

pub use busy::BusySet;
pub use cached::CachedBusy;
pub use explain::{Block, CalendarTime, Reason, ReasonKind, explain};
pub use nearest::nearest_free;
pub use rules::{Hours, HoursError, NegativeBuffer, Override, Rules, Week};
pub use slots::{count_free_slots, free_slots};
