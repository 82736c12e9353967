//! Times in plain English, such as `next Tuesday at 2pm`. A text is read by a fixed grammar, relative to a current
//! time and in a zone. A text that can mean several times is refused, and the error lists them.
//!
//! ## The grammar
//!
//! Capital and small letters are the same. Spaces and commas separate words, and so do `at`, `on`, `from` and `the`,
//! which mean nothing by themselves. The parts of a point may be in any order.
//!
//! ```text
//! phrase   = instant | point | point separator point
//! separator = "to" | "until" | "till" | "-" | "and" (after "between")
//! point    = { day | WEEKDAY | clock | part | moment }        each at most once
//! day      = "today" | "tomorrow" | "yesterday" | "day after tomorrow" | "day before yesterday"
//!          | ("this" | "next" | "last" | "coming") WEEKDAY | ("this" | "next" | "last") "week"
//!          | "in" days | days ("from now" | "ago") | date
//! days     = count ("days" | "weeks" | "months")
//! date     = YYYY-MM-DD | YYYY/MM/DD | DD/MM/YYYY | MM/DD/YYYY
//!          | DAY ["of"] MONTH [YEAR] | MONTH DAY [YEAR]
//! moment   = "now" | YYYY-MM-DDTHH:MM[:SS] | RFC 3339
//!          | "in" length | length ("from now" | "ago")
//! length   = count ("minutes" | "hours") | "half an hour"
//! count    = number | "a" | "an" | "one" | ... | "twelve"
//! clock    = HH:MM[:SS] | H:MM | HOUR ("am" | "pm") | H:MM ("am" | "pm") | HOUR (after "at" or in a range)
//!          | "noon" | "midnight"
//! part     = ["this" | "in the"] ("morning" | "afternoon" | "evening") | "tonight"
//! ```
//!
//! Weekdays and months are written in full or with their first letters, at least three. A day of the month may be
//! ordinal, as in `5th`.
//!
//! ## What the words mean
//!
//! - A day alone is the whole day, from its midnight to the next one. Days, weeks and months from now are whole days
//!   too. A month from 31 January is the last day of February.
//! - A clock alone is the next such time after now. `midnight` is the beginning of the day that is named. But
//!   `today at midnight` is ambiguous, because it may be the end of today. `today at 00:00` is not.
//! - A morning is from 08:00 to 12:00, an afternoon from 12:00 to 18:00, an evening from 18:00 to 22:00. Beside a
//!   clock, as in `8 in the morning`, they choose the half of the day.
//! - A clock with a one-digit hour and without `am` or `pm` is ambiguous, and so is a bare hour from 1 to 12.
//! - Weeks begin on Monday. A weekday alone is the next one, and ambiguous on that weekday. `coming` is the next one
//!   after today. `next` is ambiguous if the next one after today is in this week, `last` if the last one before today
//!   is, and `this` if the one of this week is over.
//! - A date without a year is the next one, from today on. At the start of a range to a date with a year, it is the last
//!   one before that: `5 March to 8 March 2027` begins in 2027. A weekday beside a date must be the date's.
//! - A weekday at the start of a range to a weekday of a week, as in `Thursday to Friday next week`, may be of that week
//!   or the next such day. If they differ, the text is ambiguous.
//! - The end of a range is on the day of its start, or on the next day if its clock is not later. If only the end has a
//!   day, it is that of the start too: `2pm to 3pm tomorrow`. But before the clock it may be that of the end alone:
//!   `2pm to tomorrow 3pm` is ambiguous if the next 14:00 is today.
//! - If hours of a range can mean several times, the shortest range on that day counts: `11 to 1pm` begins at 11:00.
//!   Beside an hour that only a clock with 24 hours shows, the hour as it is written counts too, so that `8:00-20:30` is
//!   ambiguous.
//! - Times that the clocks of the zone skip are refused, and times that they show twice are ambiguous.

mod calendar;
mod clocks;
mod ends;
mod grammar;
#[cfg(test)]
mod range_tests;
mod resolve;
#[cfg(test)]
mod tests;
mod unresolved;
mod words;

pub use resolve::{Precision, Resolved, resolve};
pub use unresolved::{LENGTH_MAX, Unresolved};
