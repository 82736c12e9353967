//! The limits of reading a feed. Each is defined only here.

use kalends_time::SignedDuration;

/// The maximum number of bytes of a feed.
pub const BYTES_MAX: usize = 10 * 1024 * 1024;

/// The maximum number of `VEVENT`s of a feed.
pub const EVENTS_MAX: usize = 20_000;

/// The maximum number of starts a day of a series that is kept.
pub const TIMES_A_DAY_MAX: usize = 24;

/// The maximum number of starts a day that all kept series of a feed together have beyond one each. Without this limit,
/// one feed could block 480,000 times a day, which every availability query would expand.
pub const MORE_STARTS_MAX: usize = 1_000;

/// The maximum number of occurrences to which a series that is not kept is expanded.
pub const OCCURRENCES_MAX: usize = 10_000;

/// The maximum number of occurrences to which all series of a feed together are expanded. One event
/// may use a tenth of them.
pub const OCCURRENCES_IN_ALL_MAX: usize = 100_000;

/// How far back series that are not kept are expanded.
pub const EXPANDED_BACK: SignedDuration = SignedDuration::days(365);

/// How far ahead series that are not kept are expanded.
pub const EXPANDED_AHEAD: SignedDuration = SignedDuration::days(2 * 365);

/// The maximum number of dates of one event in `EXDATE` and `RDATE` together. An event with more is skipped.
pub const DATES_MAX: usize = 20_000;

/// The maximum number of steps of one event.
///
/// A step is a day, an hour, a minute or a second that a rule looks at, an occurrence, or a date that is looked up in a
/// series.
pub const EVENT_STEPS_MAX: u64 = 1_000_000;

/// The maximum number of steps of a feed. An event that would need more is skipped. An event that needs none is still
/// read.
pub const STEPS_MAX: u64 = 10_000_000;

/// The maximum number of observances of a `VTIMEZONE`. Also the maximum number of `VTIMEZONE`s of a feed that are read.
pub const OBSERVANCES_MAX: usize = 500;

/// The maximum number of offset changes of a `VTIMEZONE` between 1970 and 2099.
pub const TRANSITIONS_MAX: usize = 2_000;

/// The maximum number of steps to evaluate one `VTIMEZONE`.
pub const ZONE_STEPS_MAX: u64 = 500_000;

/// The maximum number of zone names of a feed. Further ones are unknown.
pub const ZONES_MAX: usize = 1_000;

/// The maximum number of bytes of a `TZID`. A longer one is unknown.
pub const ZONE_NAME_MAX: usize = 255;

/// The maximum number of characters of a `UID`. A longer one is cut, and a fingerprint of the whole is appended.
pub const UID_MAX: usize = 255;

/// The maximum number of skipped events, and of warnings, that are reported one by one. All of them are counted.
pub const REPORTED_MAX: usize = 100;

/// The stored length of an event without a length, because a span is never empty. Such an event blocks nothing.
pub const NO_LENGTH: SignedDuration = SignedDuration::seconds(1);

/// The maximum number of bytes that the descriptions, locations and addresses of calls of expanded occurrences take in
/// total. Further occurrences have none of them.
pub const EXPANDED_TEXT_MAX: usize = 16 * 1024 * 1024;
