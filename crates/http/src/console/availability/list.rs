//! The list of calendars, each with its rules.

use std::collections::{BTreeMap, BTreeSet};

use axum::response::Response;
use http::StatusCode;
use kalends_app::ports::AgentName;
use kalends_calendars::{AvailabilityRules, Calendar, ports::CalendarFilter};
use kalends_kernel::AgentId;
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
    let listed = app.list_calendars(&caller.0, CalendarFilter::All, asked.page()).await?;
    let paging = Paging { path: AVAILABILITY.to_owned(), filter: Vec::new(), page: asked.page(), total: listed.total };
    let agents: BTreeSet<_> = listed.data.iter().filter_map(|calendar| calendar.agent).collect();
    let names = app.agent_names(&caller.0, &agents).await?;
    let mut rules = app.rules_of_calendars(&caller.0, &listed.data).await?;
    let ruled = |calendar: Calendar| {
        let rules = rules.remove(&calendar.id);
        ruled(calendar, rules, &names)
    };
    let calendars: Vec<_> = listed.data.into_iter().map(ruled).collect();
    let list =
        AvailabilityList { shell: &shell(&caller.0, Place::Availability)?, calendars: &calendars, paging: &paging };
    Ok(page(StatusCode::OK, list.html()))
}

/// A calendar with its rules, given the names of agents.
fn ruled(calendar: Calendar, rules: Option<AvailabilityRules>, names: &BTreeMap<AgentId, AgentName>) -> RuledCalendar {
    let agent = calendar.agent.map(|agent| {
        let id = agent.to_string();
        let name = names.get(&agent).map_or_else(|| id.clone(), |agent| agent.name.clone());
        (id, name)
    });
    let (id, rules) = (calendar.id.to_string(), rules.map(shown));
    RuledCalendar { id, name: calendar.name, agent, zone: calendar.zone, rules }
}
