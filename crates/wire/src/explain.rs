//! Explains why a time is not offered.

use kalends_kernel::CalendarId;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    AvailabilityState,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::{ExplainOf, ExplainQuery};

/// Asks why an agent or a calendar is not free at a time. Send exactly one of `agent` and `calendar`.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExplainAvailability {
    /// The agent, `agt_…`. All of its calendars are considered.
    pub agent: Option<String>,
    /// The calendar, `cal_…`.
    pub calendar: Option<String>,
    /// The start of the time.
    #[param(format = DateTime, example = "2026-03-02T09:45:00Z")]
    pub start: String,
    /// The end of the time: after the start, and at most 7 days later.
    #[param(format = DateTime, example = "2026-03-02T10:45:00Z")]
    pub end: String,
    /// Whether to explain the answer to a query with `allow_stale=true`.
    #[param(default = false)]
    pub allow_stale: Option<bool>,
}

/// A reason why a time is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// An event blocks the time.
    Event,
    /// A hold blocks the time.
    Hold,
    /// An imported event blocks the time.
    ExternalEvent,
    /// A human calendar is busy at that time, or is not known to be free.
    HumanBusy,
    /// A pending proposal reserves the time.
    Reservation,
    /// The time is in the buffer before or after something that blocks.
    Buffer,
    /// The time is outside the working hours of the weekday.
    OutsideWorkingHours,
    /// A date override closes the time, although the working hours of the weekday do not.
    Override,
    /// The time is outside the range in which anything is offered.
    OutsideRange,
}

/// One reason. It reveals neither titles nor which human calendar is busy.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// The calendar whose events or rules are the reason. Null if the time is outside the range, and if a human
    /// calendar is busy for an agent without calendars.
    #[schema(value_type = Option<String>)]
    pub calendar_id: Option<CalendarId>,
    /// The kind of the reason.
    pub reason: ReasonKind,
    /// The start. For an event or a hold, its own start. Otherwise, the start of the part within the queried time. For
    /// the busy time of a human calendar, the queried time includes the calendar's buffers.
    #[schema(value_type = String, format = DateTime)]
    pub start: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end: Timestamp,
}

/// The reasons why a time is not offered.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "start": "2026-03-02T09:45:00Z", "end": "2026-03-02T10:45:00Z", "offered": false,
    "reasons": [
        { "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "reason": "event",
          "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z" },
        { "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "reason": "buffer",
          "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T10:30:00Z" }
    ],
    "has_more": false, "availability_state": "complete", "warnings": []
}))]
pub struct Explanation {
    /// The start of the queried time.
    #[schema(value_type = String, format = DateTime)]
    pub start: Timestamp,
    /// The end of the queried time, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end: Timestamp,
    /// Whether all of the time is free, so that it can be offered as a slot. If true, there are no reasons.
    pub offered: bool,
    /// The reasons, sorted by start and then by calendar. At most 1,000.
    pub reasons: Vec<Reason>,
    /// Whether there are more reasons. To see them, ask about a shorter time.
    pub has_more: bool,
    /// How complete and current the busy times of human calendars are.
    pub availability_state: AvailabilityState,
    /// Warnings about the answer.
    pub warnings: Vec<String>,
}
