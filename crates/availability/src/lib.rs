//! When somebody is free.
//!
//! A [`BusySet`] holds the time that is taken, in a form that makes every question about it linear
//! or better: sorted half-open spans of which no two overlap or touch. [`Rules`] widen what blocks by
//! a calendar's buffers and add the time outside its working hours; [`HumanTime`] adds the busy times
//! of connected human calendars, by what their age allows to say. [`SlotQuery`] lays a grid over a
//! window and offers the positions that nothing taken overlaps, [`nearest_free`] the free times near
//! one that is taken, and [`explain`] tells why a time is not offered. [`CachedBusy`]
//! says when a busy set that was computed earlier still answers.
//!
//! Everything is pure and synchronous. The crate knows nothing of events or series: whoever asks has
//! resolved them to instants, which count microseconds of UTC. Only rules know a time zone.
//!
//! ```
//! use kalends_availability::{BusySet, SlotLength, SlotQuery};
//! use kalends_kernel::{Timestamp, Span};
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

mod busy;
mod cached;
mod explain;
mod human;
mod nearest;
mod rules;
mod slots;
#[cfg(test)]
mod strategies;

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
