//! The context of a calendar.

use kalends_calendars as domain;
use kalends_kernel::{CalendarId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{AgentActivity, Event};

/// What an agent needs to know of its calendar at this moment. Cancelled events are left out.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CalendarContext {
    /// The calendar, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The service's time.
    #[schema(value_type = String, format = DateTime)]
    pub now: Timestamp,
    /// What the agent says that it is doing.
    pub agent_status: AgentActivity,
    /// The event under way that began last.
    pub current_event: Option<Event>,
    /// The event that starts soonest.
    pub next_event: Option<Event>,
    /// Up to 3 events that ended last, the newest first.
    pub recent_events: Vec<Event>,
    /// Up to 5 events that start within 24 hours, the earliest first.
    pub upcoming: Vec<Event>,
}

impl CalendarContext {
    /// The context; with `local`, the events tell their times in the calendar's zone too.
    pub fn new(context: domain::Context, local: bool) -> Self {
        let (events, zone) = (context.events, context.calendar.zone);
        let shown = |event: domain::Event| {
            let event = Event::from(event);
            if local { event.with_local(zone) } else { event }
        };
        Self {
            calendar_id: context.calendar.id,
            now: context.now,
            agent_status: context.calendar.activity.into(),
            current_event: events.current.map(shown),
            next_event: events.next.map(shown),
            recent_events: events.recent.into_iter().map(shown).collect(),
            upcoming: events.upcoming.into_iter().map(shown).collect(),
        }
    }
}
