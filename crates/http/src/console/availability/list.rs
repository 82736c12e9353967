//! The list of calendars, each with its rules.

use axum::response::Response;
use http::StatusCode;
use kalends_calendars::{AvailabilityRules, ports::CalendarEntry};
use kalends_kernel::Listed;
use kalends_web::{AvailabilityList, Paging, Place, RuledCalendar};

use super::{
    super::{
        frame::{Asked, AskedOf, shell},
        places::AVAILABILITY,
        shown::page,
    },
    stored::shown,
};
use crate::{Service, error::ApiError, extract::Caller};

/// The list, to continue on after a refused form, with the text of the link to it.
pub(super) const TO_LIST: (&str, &str) = (AVAILABILITY, "See the calendars");

/// `GET /console/availability`
pub(super) async fn list(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let asked = Asked::of(asked);
    let Listed { data: entries, total } = app.calendar_entries(&caller.0, asked.page()).await?;
    let paging = Paging { path: AVAILABILITY.to_owned(), filter: Vec::new(), page: asked.page(), total };
    let of: Vec<_> = entries.iter().map(|entry| (entry.id, entry.agent.as_ref().map(|(agent, _)| *agent))).collect();
    let mut rules = app.rules_of_calendars(&caller.0, &of).await?;
    let ruled = |entry: CalendarEntry| {
        let rules = rules.remove(&entry.id);
        ruled(entry, rules)
    };
    let calendars: Vec<_> = entries.into_iter().map(ruled).collect();
    let list =
        AvailabilityList { shell: &shell(&caller.0, Place::Availability)?, calendars: &calendars, paging: &paging };
    Ok(page(StatusCode::OK, list.html()))
}

/// A calendar with its rules.
fn ruled(entry: CalendarEntry, rules: Option<AvailabilityRules>) -> RuledCalendar {
    let CalendarEntry { id, name, agent, zone, .. } = entry;
    let agent = agent.map(|(agent, name)| (agent.to_string(), name));
    RuledCalendar { id: id.to_string(), name, agent, zone, rules: rules.map(shown) }
}
