//! Busy time, free time and slots.
//!
//! A [`BusySet`] holds busy time as sorted half-open spans of which no two overlap or touch, so that
//! every query on it is linear or better. [`Rules`] widen busy time by a calendar's buffers and add the
//! time outside its working hours. [`HumanTime`] adds the busy times of connected human calendars, as
//! far as their age allows. [`SlotQuery`] lays a grid over a window and offers the slots that overlap
//! nothing busy. [`nearest_free`] returns the free times nearest to a wanted one, and [`explain`]
//! returns the reasons why a time is not offered. [`CachedBusy`] decides whether a busy set that was
//! computed earlier still answers a query.
//!
//! Everything is pure and synchronous. The crate does not know events or series: the caller resolves
//! them to timestamps, in microseconds of UTC. Only rules know a time zone.
//!
//! ```
//! use kalends_availability::{BusySet, SlotLength, SlotQuery};
//! use kalends_time::{Timestamp, Span};
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
//! let query = SlotQuery::new(morning, "30m".parse::<SlotLength>()?)?;
//! let starts: Vec<String> = query.slots(&busy).map(|slot| slot.start().to_string()).collect();
//! assert_eq!(starts, ["2026-03-02T09:30:00Z", "2026-03-02T10:00:00Z", "2026-03-02T11:30:00Z"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod buckets;
mod busy;
mod cached;
mod explain;
mod human;
mod nearest;
mod rules;
mod slots;
#[cfg(test)]
mod strategies;

/// What the interface takes and returns of other crates.
pub use kalends_time::{CivilDate, CivilTime, SignedDuration, Span, SpanError, Timestamp, Zone};

pub use busy::BusySet;
pub use cached::CachedBusy;
pub use explain::{Block, BlockKind, CalendarTime, Reason, ReasonKind, explain};
pub use human::{
    AvailabilityState, HumanBusy, HumanSource, HumanTime, STALE_AFTER, UNAVAILABLE_AFTER, Warning, WarningKind,
};
pub use nearest::nearest_free;
pub use rules::{
    BUFFER_MAX_MINUTES, Hours, OVERRIDES_MAX, Override, Rules, Week, WrittenHours, WrittenOverride, WrittenRules,
};
pub use slots::{
    MAX_RANGE, MAX_SLOTS, ParseSlotLengthError, SlotLength, SlotQuery, SlotQueryError, TooManySlots, count_free_slots,
    free_slots,
};
