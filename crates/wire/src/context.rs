//! The context of a calendar.

use kalends_kernel::CalendarId;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentActivity, Event, derives::ToSchema};

#[cfg(feature = "parse")]
mod parse;

/// What an agent needs to know about its calendar right now. Cancelled events are left out.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CalendarContext {
    /// The calendar, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The server's current time.
    #[schema(value_type = String, format = DateTime)]
    pub now: Timestamp,
    /// The activity that the agent reports.
    pub agent_status: AgentActivity,
    /// The current event. If several overlap, the one that started last.
    pub current_event: Option<Event>,
    /// The next event to start.
    pub next_event: Option<Event>,
    /// Up to 3 events that ended most recently, newest first.
    pub recent_events: Vec<Event>,
    /// Up to 5 events that start within 24 hours, earliest first.
    pub upcoming: Vec<Event>,
}
