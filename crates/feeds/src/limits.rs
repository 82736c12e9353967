//! The limits of a feed that is read, each defined here and nowhere else.

use kalends_kernel::SignedDuration;

/// A feed is at most so many bytes long (ruling 8.2).
pub const BYTES_MAX: usize = 10 * 1024 * 1024;

/// A feed has at most so many `VEVENT`s (ruling 8.2).
pub const EVENTS_MAX: usize = 20_000;

/// A series outside the subset becomes at most so many occurrences (ruling 8.2).
pub const OCCURRENCES_MAX: usize = 10_000;

/// All series of a feed together become at most so many occurrences. One event may fill a tenth of it.
pub const OCCURRENCES_IN_ALL_MAX: usize = 100_000;

/// How far back series outside the subset are expanded (ruling 8.2).
pub const EXPANDED_BACK: SignedDuration = SignedDuration::days(365);

/// How far ahead series outside the subset are expanded (ruling 8.2).
pub const EXPANDED_AHEAD: SignedDuration = SignedDuration::days(2 * 365);

/// One event names at most so many dates in `EXDATE` and `RDATE` together; one with more is skipped.
pub const DATES_MAX: usize = 20_000;

/// One event takes at most so many steps.
///
/// A step is a day, an hour, a minute or a second that a rule looks at, an occurrence, or a date that is
/// looked up in a series.
pub const EVENT_STEPS_MAX: u64 = 1_000_000;

/// A feed takes at most so many steps. An event that would need more is skipped; one that needs none is read.
pub const STEPS_MAX: u64 = 10_000_000;

/// A rule lists at most so many values in one part; no part has more that differ.
pub const RULE_VALUES_MAX: usize = 750;

/// A `VTIMEZONE` has at most so many observances, and a feed so many `VTIMEZONE`s that are looked at.
pub const OBSERVANCES_MAX: usize = 500;

/// A `VTIMEZONE` changes its offset at most so often between 1970 and 2099.
pub const TRANSITIONS_MAX: usize = 2_000;

/// Evaluating one `VTIMEZONE` takes at most so many steps.
pub const ZONE_STEPS_MAX: u64 = 500_000;

/// A feed names at most so many zones; the others are unknown.
pub const ZONES_MAX: usize = 1_000;

/// A `TZID` longer than this is unknown. In bytes.
pub const ZONE_NAME_MAX: usize = 255;

/// A `UID` longer than this is cut, and what it was is told by a fingerprint. In characters.
pub const UID_MAX: usize = 255;

/// So many skipped events are told one by one, and so many warnings; all are counted.
pub const TOLD_MAX: usize = 100;

/// What an event without a length is stored as, since a span is never empty. It blocks nothing.
pub const NO_LENGTH: SignedDuration = SignedDuration::seconds(1);

/// The descriptions of occurrences that stand in for a series take at most so many bytes in all; the
/// occurrences after that have none.
pub const EXPANDED_TEXT_MAX: usize = 16 * 1024 * 1024;
