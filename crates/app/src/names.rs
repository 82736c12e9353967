//! The names of an organization's agents and calendars, and of a user's connected calendars, for pages.

use std::collections::{BTreeMap, BTreeSet};

use kalends_kernel::{AgentId, CalendarId, ExternalCalendarId};

use crate::{
    Actor, App, Refusal,
    console::human,
    ports::{AgentName, CalendarName, NAMES_MAX},
};

impl App {
    /// The names of these agents of the organization, also of decommissioned ones. An agent that is not found is left
    /// out. At most [`NAMES_MAX`] are looked up.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn agent_names(
        &self,
        actor: &Actor,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeMap<AgentId, AgentName>, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.names_of_agents(actor.org(), agents).await?)
    }

    /// [`Self::agent_names`], for visible calendars.
    ///
    /// # Errors
    /// As [`Self::agent_names`].
    pub async fn calendar_names(
        &self,
        actor: &Actor,
        calendars: &BTreeSet<CalendarId>,
    ) -> Result<BTreeMap<CalendarId, CalendarName>, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.names_of_calendars(actor.org(), calendars).await?)
    }

    /// The names of these calendars that the caller has connected in the organization. What is not found is left out.
    /// One statement looks up [`NAMES_MAX`] of them.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] for a key; [`Refusal::Store`].
    pub async fn external_calendar_names(
        &self,
        actor: &Actor,
        calendars: &BTreeSet<ExternalCalendarId>,
    ) -> Result<BTreeMap<ExternalCalendarId, String>, Refusal> {
        let (_, user) = human(actor)?;
        let calendars: Vec<ExternalCalendarId> = calendars.iter().copied().collect();
        let mut names = BTreeMap::new();
        for some in calendars.chunks(NAMES_MAX) {
            let some = some.iter().copied().collect();
            names.extend(self.parts.store.names_of_external_calendars(actor.org(), user, &some).await?);
        }
        Ok(names)
    }
}
