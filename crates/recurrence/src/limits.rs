//! The limits of a rule, each defined here and nowhere else.

use kalends_kernel::Timestamp;

/// A rule is at most so many characters long (ruling 4.4).
pub const MAX_RULE_LENGTH: usize = 256;

/// The largest `INTERVAL` (ruling 4.5).
pub const MAX_INTERVAL: u16 = 1_000;

/// The largest `COUNT` (ruling 4.5).
pub const MAX_COUNT: u16 = 10_000;

/// Every occurrence starts before this instant, the end of 2099 (rulings 2.4 and 4.5).
pub const HORIZON: Timestamp = Timestamp::HORIZON;

/// Every series starts at this instant or later (ruling 2.4).
pub const EARLIEST_START: Timestamp = Timestamp::EARLIEST;

/// Finding the starts in any 366 days takes at most so many steps, whatever the rule and however far
/// the days are from the first start.
///
/// A step is one period whose dates are worked out (a week, a month, a year; of a daily rule a month), or
/// one date that is looked at. A weekly rule with all seven days needs the most: 54 weeks and 366 dates,
/// and up to six dates more where a zone's clock may have been set.
pub const MAX_STEPS_IN_366_DAYS: u64 = 430;
