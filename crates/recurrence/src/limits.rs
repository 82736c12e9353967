//! The limits of a rule, each defined here and nowhere else.

use kalends_kernel::Timestamp;

/// The maximum number of characters of a rule.
pub const MAX_RULE_LENGTH: usize = 256;

/// The largest `INTERVAL`.
pub const MAX_INTERVAL: u16 = 1_000;

/// The largest `COUNT`.
pub const MAX_COUNT: u16 = 10_000;

/// Every occurrence starts before this time, the end of 2099.
pub const HORIZON: Timestamp = Timestamp::HORIZON;

/// Every series starts at this time or later.
pub const EARLIEST_START: Timestamp = Timestamp::EARLIEST;

/// The maximum number of steps to find the starts in any 366 days, whatever the rule and however far the days are
/// from the first start.
///
/// A step is one period whose dates are computed (a week, a month or a year; a month for a daily rule), or one date
/// that is examined. A weekly rule with all seven days needs the most: 54 weeks and 366 dates, and up to six more
/// dates if the zone's clocks may have changed.
pub const MAX_STEPS_IN_366_DAYS: u64 = 430;
