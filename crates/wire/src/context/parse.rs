//! Builds the answers from values of the domain.

use kalends_calendars as domain;

use super::CalendarContext;
use crate::Event;

impl CalendarContext {
    /// Builds the context. With `local`, events also show their times in the calendar's zone.
    pub fn new(context: domain::Context, local: bool) -> Self {
        let (events, zone) = (context.events, context.calendar.zone);
        let to_json = |event: domain::Event| {
            let event = Event::from(event);
            if local { event.with_local(zone) } else { event }
        };
        Self {
            calendar_id: context.calendar.id,
            now: context.now,
            agent_status: context.calendar.activity.into(),
            current_event: events.current.map(to_json),
            next_event: events.next.map(to_json),
            recent_events: events.recent.into_iter().map(to_json).collect(),
            upcoming: events.upcoming.into_iter().map(to_json).collect(),
        }
    }
}
