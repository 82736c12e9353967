//! Availability queries and answers.

use std::collections::BTreeMap;

use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::{IntoParams, ToSchema};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub(crate) use parse::range;
#[cfg(feature = "parse")]
pub use parse::{Across, Found, LISTS, Of, SlotsRequest, render};
#[cfg(feature = "parse")]
mod slots;
#[cfg(feature = "parse")]
pub use slots::{MAX_RANGE, MAX_SLOTS, ParseSlotLengthError, SlotLength, SlotQuery, SlotQueryError, TooManySlots};

/// The parameters of a query for the free times of an agent or a calendar.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AvailabilityOf {
    /// The start of the range.
    #[param(format = DateTime, example = "2026-03-02T08:00:00Z")]
    pub start: String,
    /// The end of the range: after the start, and at most 366 days later.
    #[param(format = DateTime, example = "2026-03-06T18:00:00Z")]
    pub end: String,
    /// The length of a slot, `5m` to `480m` or `1h` to `8h`.
    #[param(default = "30m", example = "30m")]
    pub slot_duration: Option<String>,
    /// The time from the start of one slot to the start of the next, in the format of `slot_duration`. Defaults to
    /// `slot_duration`.
    #[param(example = "15m")]
    pub slot_step: Option<String>,
    /// Whether to return busy times as well. They contain no titles, buffers or working hours.
    #[param(default = false)]
    pub include_busy: Option<bool>,
    /// Whether to offer times even if the busy times of connected human calendars are older than 1 hour or unknown.
    #[param(default = false)]
    pub allow_stale: Option<bool>,
}

/// The parameters of a query for the times at which several agents are all free.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AcrossAgents {
    /// The agents' identifiers, separated by commas.
    #[param(example = "agt_01kjps8gy8edp9pec7d8ra1s85,agt_01kjpshnx8f9a8yr3h444hr020")]
    pub agents: String,
    /// The start of the range.
    #[param(format = DateTime, example = "2026-03-02T08:00:00Z")]
    pub start: String,
    /// The end of the range. It must be after the start.
    #[param(format = DateTime, example = "2026-03-06T18:00:00Z")]
    pub end: String,
    /// The length of a slot, `5m` to `480m` or `1h` to `8h`.
    #[param(default = "30m", example = "1h")]
    pub slot_duration: Option<String>,
    /// The time from the start of one slot to the start of the next, in the format of `slot_duration`. Defaults to
    /// `slot_duration`.
    #[param(example = "15m")]
    pub slot_step: Option<String>,
    /// Only these calendars of the agents, as identifiers separated by commas.
    pub calendars: Option<String>,
    /// Whether to return each agent's busy times as well. They contain no titles, buffers or working hours.
    #[param(default = false)]
    pub include_busy: Option<bool>,
    /// Whether to offer times even if the busy times of connected human calendars are older than 1 hour or unknown.
    #[param(default = false)]
    pub allow_stale: Option<bool>,
}

/// How complete and current the busy times behind an answer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AvailabilityState {
    /// All busy times are known and at most 1 hour old, or no human calendar is connected.
    Complete,
    /// All busy times are known, but some are older than 1 hour.
    Stale,
    /// Some busy times are known, but not those of every human calendar for the whole range.
    Partial,
    /// Human calendars are connected, but none of them was read in the last 24 hours for any part of the range.
    Unavailable,
}

/// A free span of exactly the slot's length.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Slot {
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end: Timestamp,
}

/// The times at which agents are free.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "agents": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdh"],
    "slots": [{ "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T09:30:00Z" }],
    "per_agent_busy": { "agt_01jn8r6v9ke0bt3m5qz2c7xwdh": [
        { "start": "2026-03-02T09:30:00Z", "end": "2026-03-02T11:00:00Z" }
    ] },
    "availability_state": "complete", "warnings": [],
    "as_of": "AQEBlVGDtF1ydbqRRpooC18ZKgA"
}))]
pub struct AgentAvailability {
    /// The agents, in the order given.
    pub agents: Vec<String>,
    /// The slots in which all of them are free.
    pub slots: Vec<Slot>,
    /// Each agent's busy times, merged and clipped to the range; only with `include_busy=true`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    pub per_agent_busy: BTreeMap<String, Vec<Slot>>,
    /// How complete and current the busy times of human calendars are.
    pub availability_state: AvailabilityState,
    /// Warnings about the answer.
    pub warnings: Vec<String>,
    /// An opaque token of the state of the calendars that the answer is based on. Send it as `if_as_of` with a hold.
    pub as_of: String,
}

/// The times at which a calendar is free.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
    "slots": [{ "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T09:30:00Z" }],
    "busy": [{ "start": "2026-03-02T09:30:00Z", "end": "2026-03-02T11:00:00Z" }],
    "availability_state": "complete", "warnings": [],
    "as_of": "AQEBlVGDtF1ydbqRRpooC18ZKgA"
}))]
pub struct CalendarAvailability {
    /// The calendar.
    pub calendar_id: String,
    /// The free slots.
    pub slots: Vec<Slot>,
    /// The busy times, merged and clipped to the range; only with `include_busy=true`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub busy: Vec<Slot>,
    /// How complete and current the busy times of human calendars are.
    pub availability_state: AvailabilityState,
    /// Warnings about the answer.
    pub warnings: Vec<String>,
    /// An opaque token of the state of the calendars that the answer is based on. Send it as `if_as_of` with a hold.
    pub as_of: String,
}
