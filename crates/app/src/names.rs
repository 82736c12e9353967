//! The names of an organization's agents and calendars, for pages.

use std::collections::{BTreeMap, BTreeSet};

use kalends_kernel::{AgentId, CalendarId};

use crate::{
    Actor, App, Refusal,
    ports::{AgentName, CalendarName},
};

impl App {
    /// The names of these agents of the organization, also of decommissioned ones. An agent that is not found is left
    /// out. At most [`NAMES_MAX`](crate::ports::NAMES_MAX) are looked up.
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
}
