//! Those whose slots can be tested, and those who are chosen.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use kalends_app::{
    Actor, App, Missing, Refusal,
    ports::{AgentName, CalendarName},
};
use kalends_calendars::{AgentError, AgentStatus, ports::CalendarFilter};
use kalends_kernel::{AgentId, CalendarId, FieldError, LIMIT_MAX, Page};
use kalends_time::{Span, Timestamp, Zone};
use kalends_web::{CHOSEN_MAX, Candidate};
use kalends_wire::{ExplainOf, SlotsRequest};

use super::{super::living::living_agents, stored::rules_of};
use crate::pages::Fields;

/// The calendars to choose from, the oldest first.
const ALL: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// An agent or a calendar that is chosen.
pub(super) struct Chosen {
    pub of: ExplainOf,
    pub name: String,
    /// The agent, or the one that owns the calendar.
    pub agent: Option<AgentId>,
    /// The zone of the calendar; `None` for an agent.
    zone: Option<Zone>,
}

/// The agents and calendars to choose from.
pub(super) struct Choices {
    pub candidates: Vec<Candidate>,
    /// The zone of the first calendar.
    pub zone: Zone,
    pub has_more: bool,
}

/// The agents and calendars that the address names.
pub(super) async fn chosen(app: &App, caller: &Actor, asked: &Fields) -> Result<Vec<Chosen>, Refusal> {
    let mut ids: Vec<&str> = Vec::new();
    for id in asked.all("who") {
        if !ids.contains(&id) {
            ids.push(id);
        }
        if ids.len() > CHOSEN_MAX {
            return Err(FieldError::new("who", format!("must be at most {CHOSEN_MAX} agents and calendars")).into());
        }
    }
    let agents = app.agent_names(caller, &ids.iter().filter_map(|id| id.parse().ok()).collect()).await?;
    let calendars = app.calendar_names(caller, &ids.iter().filter_map(|id| id.parse().ok()).collect()).await?;
    let one =
        |id: &&str| if id.starts_with("agt_") { chosen_agent(id, &agents) } else { chosen_calendar(id, &calendars) };
    ids.iter().map(one).collect()
}

fn chosen_agent(text: &str, names: &BTreeMap<AgentId, AgentName>) -> Result<Chosen, Refusal> {
    let id: Option<AgentId> = text.parse().ok();
    let (id, agent) =
        id.and_then(|id| Some((id, names.get(&id)?))).ok_or_else(|| Refusal::missing(Missing::Agent, text))?;
    if agent.status == AgentStatus::Decommissioned {
        return Err(AgentError::Decommissioned(id).into());
    }
    Ok(Chosen { of: ExplainOf::Agent(text.to_owned()), name: agent.name.clone(), agent: Some(id), zone: None })
}

fn chosen_calendar(text: &str, names: &BTreeMap<CalendarId, CalendarName>) -> Result<Chosen, Refusal> {
    let id: Option<CalendarId> = text.parse().ok();
    let calendar = id.and_then(|id| names.get(&id)).ok_or_else(|| Refusal::missing(Missing::Calendar, text))?;
    let (of, zone) = (ExplainOf::Calendar(text.to_owned()), Some(calendar.zone));
    Ok(Chosen { of, name: calendar.name.clone(), agent: calendar.agent, zone })
}

/// The zone of the first calendar of those who are chosen: that of its rules, if it has any.
pub(super) async fn zone_of(app: &App, caller: &Actor, chosen: &[Chosen]) -> Result<Option<Zone>, Refusal> {
    for one in chosen {
        let found = if let (ExplainOf::Calendar(id), Some(zone)) = (&one.of, one.zone) {
            Some((id.clone(), zone))
        } else {
            let first = Page { limit: 1, offset: 0 };
            let owned = app.list_agent_calendars(caller, one.id(), first).await?;
            owned.data.first().map(|calendar| (calendar.id.to_string(), calendar.zone))
        };
        if let Some((id, zone)) = found {
            let rules = rules_of(app, caller, &id).await?;
            return Ok(Some(rules.map_or(zone, |rules| rules.rules.zone())));
        }
    }
    Ok(None)
}

impl Chosen {
    pub(super) fn id(&self) -> &str {
        match &self.of {
            ExplainOf::Agent(id) | ExplainOf::Calendar(id) => id,
        }
    }

    /// The slots that it offers, as the API answers.
    pub(super) async fn slots(&self, app: &App, caller: &Actor, slots: SlotsRequest) -> Result<Bytes, Refusal> {
        match &self.of {
            ExplainOf::Agent(id) => app.agent_availability(caller, id, slots).await,
            ExplainOf::Calendar(id) => app.calendar_availability(caller, id, slots).await,
        }
    }
}

impl Choices {
    pub(super) async fn read(app: &App, caller: &Actor, asked: &Fields) -> Result<Self, Refusal> {
        let agents = living_agents(app, caller).await?;
        let calendars = app.list_calendars(caller, CalendarFilter::All, ALL).await?;
        let is_all = |total: u64, listed: usize| u64::try_from(listed).is_ok_and(|listed| total <= listed);
        let has_more = !is_all(agents.total, agents.data.len()) || !is_all(calendars.total, calendars.data.len());
        let is_chosen = |id: &str| asked.all("who").any(|named| named == id);
        let mut candidates = Vec::with_capacity(agents.data.len() + calendars.data.len());
        for agent in &agents.data {
            let (id, name) = (agent.id.to_string(), agent.name.clone());
            let is_chosen = is_chosen(&id);
            candidates.push(Candidate { id, name, is_agent: true, is_chosen });
        }
        for calendar in &calendars.data {
            // Calendars of several agents often have the same name.
            let owner = agents.data.iter().find(|agent| Some(agent.id) == calendar.agent);
            let owned = |name: &str| format!("{} ({name})", calendar.name);
            let name = owner.map_or_else(|| calendar.name.clone(), |agent| owned(&agent.name));
            let id = calendar.id.to_string();
            let is_chosen = is_chosen(&id);
            candidates.push(Candidate { id, name, is_agent: false, is_chosen });
        }
        let zone = calendars.data.first().map_or(Zone::UTC, |calendar| calendar.zone);
        Ok(Self { candidates, zone, has_more })
    }

    /// Adds those who are chosen and not listed.
    pub(super) fn add(&mut self, chosen: &[Chosen]) {
        for one in chosen {
            if self.candidates.iter().all(|known| known.id != one.id()) {
                let (id, name) = (one.id().to_owned(), one.name.clone());
                let is_agent = matches!(one.of, ExplainOf::Agent(_));
                self.candidates.push(Candidate { id, name, is_agent, is_chosen: true });
            }
        }
    }
}

/// Those who are chosen, first those who offer nothing of their own on most of the days. `offers` are the slots of
/// each.
pub(super) fn hindered_first<'a>(
    chosen: &'a [Chosen],
    offers: &[BTreeSet<Timestamp>],
    days: &[Span],
) -> Vec<&'a Chosen> {
    let offered = |own: &BTreeSet<Timestamp>| {
        days.iter().filter(|day| own.range(day.start()..day.end()).next().is_some()).count()
    };
    let mut found: Vec<(usize, &Chosen)> = chosen.iter().zip(offers).map(|(one, own)| (offered(own), one)).collect();
    found.sort_by_key(|(offered, _)| *offered);
    found.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;

    use super::*;

    fn day(number: i64) -> Span {
        let at = |day| Timestamp::EPOCH + SignedDuration::days(day);
        Span::new(at(number), at(number + 1)).unwrap()
    }

    #[test]
    fn those_who_offer_nothing_are_explained_first() {
        let chosen = ["busy", "free", "closed"].map(|name| {
            let of = ExplainOf::Calendar(name.to_owned());
            Chosen { of, name: name.to_owned(), agent: None, zone: None }
        });
        let slot = |number| -> BTreeSet<Timestamp> { [day(number).start()].into() };
        let offers = [slot(5), slot(0), BTreeSet::new()];
        let order = hindered_first(&chosen, &offers, &[day(0), day(1)]);
        assert_eq!(order.iter().map(|one| one.id()).collect::<Vec<_>>(), ["busy", "closed", "free"]);
    }
}
