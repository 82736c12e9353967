//! Events with times in their calendar's zone, if a request asks for them.

use std::collections::BTreeMap;

use kalends_calendars::{Event, ports::CalendarFilter};
use kalends_kernel::{CalendarId, Page};
use kalends_time::Zone;
use kalends_wire as wire;

use crate::{Actor, App, Refusal};

/// The event as a write returns it, when its calendar is known. Includes notices, and local times if requested.
pub(crate) fn shown_in(actor: &Actor, event: wire::Event, zone: Zone) -> wire::Event {
    let event = event.with_notices(zone);
    if actor.request.local { event.with_local(zone) } else { event }
}

impl App {
    /// The zones of the events' calendars, if the request asks for local times; otherwise nothing is read.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn local_zones(&self, actor: &Actor, events: &[Event]) -> Result<LocalZones, Refusal> {
        let mut zones = LocalZones::default();
        let (true, Some(first)) = (actor.request.local, events.first()) else { return Ok(zones) };
        let Some(calendar) = self.parts.store.find_calendar(actor.org(), first.calendar).await? else {
            return Ok(zones);
        };
        zones.0.insert(calendar.id, calendar.zone);
        // If an answer covers several calendars, they usually belong to one agent.
        if let Some(agent) = calendar.agent
            && events.iter().any(|event| event.calendar != calendar.id)
        {
            let whole = Page { limit: u32::MAX, offset: 0 };
            let listed = self.parts.store.list_calendars(actor.org(), CalendarFilter::OfAgent(agent), whole).await?;
            zones.0.extend(listed.data.into_iter().map(|calendar| (calendar.id, calendar.zone)));
        }
        // Only hold sets and searches cover calendars of several agents: a page of events at most.
        for id in events.iter().map(|event| event.calendar) {
            if !zones.0.contains_key(&id)
                && let Some(calendar) = self.parts.store.find_calendar(actor.org(), id).await?
            {
                zones.0.insert(id, calendar.zone);
            }
        }
        Ok(zones)
    }
}

/// The zones for the local times of the events in an answer.
#[derive(Debug, Clone, Default)]
pub struct LocalZones(BTreeMap<CalendarId, Zone>);

impl LocalZones {
    /// The event as it is returned. It has no local times if its calendar is no longer visible.
    pub fn to_wire(&self, event: Event) -> wire::Event {
        self.with_local(event.into())
    }

    /// The zone of a calendar, if it is among them.
    pub(crate) fn of(&self, calendar: CalendarId) -> Option<Zone> {
        self.0.get(&calendar).copied()
    }

    /// The same event with its local times.
    pub(crate) fn with_local(&self, event: wire::Event) -> wire::Event {
        match self.of(event.calendar_id) {
            Some(zone) => event.with_local(zone),
            None => event,
        }
    }
}
