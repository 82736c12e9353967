//! Busy time, free time and slots.
//!
//! A [`BusySet`] holds busy time as sorted half-open spans of which no two overlap or touch, so that
//! every query on it is linear or better. It has the operations of sets, and gives the time in which several people are
//! all free, or some of them. [`Rules`] widen busy time by buffers and add the time outside working hours.
//! [`free_slots`] lays a grid over a window and offers the slots that overlap nothing busy. [`nearest_free`] returns the
//! free times nearest to a wanted one, and [`explain`] returns the reasons why a time is not offered. [`CachedBusy`]
//! decides whether a busy set that was computed earlier still answers a query.
//!
//! Everything is pure and synchronous. The crate does not know events or series: the caller resolves
//! them to timestamps, in microseconds of UTC. Only rules know a time zone. Nothing panics, whatever the arguments:
//! sums of times saturate at the ends of [`Timestamp`].
//!
//! ```
//! use kalends_availability::{BusySet, SignedDuration, Span, Timestamp, free_slots};
//!
//! let span = |start: &str, end: &str| -> Result<Span, Box<dyn std::error::Error>> {
//!     Ok(Span::new(start.parse::<Timestamp>()?, end.parse::<Timestamp>()?)?)
//! };
//! let morning = span("2026-03-02T09:00:00Z", "2026-03-02T12:00:00Z")?;
//! let busy = BusySet::from_unsorted(vec![
//!     span("2026-03-02T10:45:00Z", "2026-03-02T11:30:00Z")?,
//!     span("2026-03-02T08:00:00Z", "2026-03-02T09:30:00Z")?,
//! ]);
//!
//! let half_hour = SignedDuration::minutes(30);
//! let slots = free_slots(morning, &busy, half_hour, half_hour);
//! let starts: Vec<String> = slots.map(|slot| slot.start().to_string()).collect();
//! assert_eq!(starts, ["2026-03-02T09:30:00Z", "2026-03-02T10:00:00Z", "2026-03-02T11:30:00Z"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `testing` adds the module `testing`, with strategies for property-based tests and a plain model.

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
pub use kalends_time::{CivilDate, CivilTime, SignedDuration, Span, SpanError, Timestamp, Zone, ZoneError};

pub use busy::BusySet;
pub use cached::CachedBusy;
pub use explain::{Block, CalendarTime, Reason, ReasonKind, explain};
pub use nearest::nearest_free;
pub use rules::{Hours, HoursError, NegativeBuffer, Override, Rules, Week};
pub use slots::{count_free_slots, free_slots};
