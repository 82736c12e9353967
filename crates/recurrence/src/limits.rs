//! The limits of rules and series, each defined here and nowhere else.

use kalends_time::Timestamp;

/// The maximum number of characters of a rule.
pub const MAX_RULE_LENGTH: usize = 4_096;

/// The largest `INTERVAL`: the largest integer of RFC 5545 (section 3.3.8).
pub const MAX_INTERVAL: u32 = 2_147_483_647;

/// The largest `COUNT`: the largest integer of RFC 5545 (section 3.3.8).
pub const MAX_COUNT: u32 = 2_147_483_647;

/// The maximum number of occurrences that are counted to find the last one of a rule with `COUNT`.
pub const MAX_COUNTED: u32 = 1_000_000;

/// Every occurrence starts before this time, the end of 2099. The compiled-in zone tables end there.
pub const HORIZON: Timestamp = Timestamp::HORIZON;

/// Every series starts at this time or later: 0001-01-01T00:00:00Z.
pub const EARLIEST_START: Timestamp = Timestamp::from_micros(-62_135_596_800_000_000);

/// The maximum number of steps to find the starts in any 366 days, however far the days are from the first start. It
/// holds for rules under `DAILY`, `WEEKLY`, `MONTHLY` and `YEARLY` with one time of day.
///
/// A step is one period whose dates are computed (a week, a month or a year; a month for a daily rule), or one date
/// that is examined. A weekly rule with all seven days needs the most: 54 weeks and 366 dates, and up to six more
/// dates if the zone's clocks may have changed.
pub const MAX_STEPS_IN_366_DAYS: u64 = 430;
