//! What pages show of proposals, beyond what the API returns.

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::ports::AgentFilter;
use kalends_kernel::{AgentId, LIMIT_MAX, Listed, Page};
use kalends_plans::Feature;
use kalends_proposals::{
    Proposal, Status,
    ports::{ProposalFilter, StatusAt},
};

use crate::{Actor, App, Refusal};

impl App {
    /// One proposal with what its rules know of it, such as the scores of its slots.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn whole_proposal(&self, actor: &Actor, id: &str) -> Result<Proposal, Refusal> {
        let found = self.found_proposal(actor, id).await?;
        actor.for_proposal(&found)?;
        Ok(found)
    }

    /// The pending proposals with their responses, the oldest first. An agent's key sees those that its agent organizes
    /// or participates in.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`].
    pub async fn pending_proposals(&self, actor: &Actor, page: Page) -> Result<Listed<Proposal>, Refusal> {
        actor.needs(Feature::Scheduling)?;
        let status = Some(StatusAt { status: Status::Pending, now: self.now() });
        let filter = ProposalFilter { status, organizer: None, party: actor.narrowed_to() };
        Ok(self.parts.store.list_proposals(actor.org(), filter, page).await?)
    }

    /// The names of these agents of the organization, also of decommissioned ones. An agent that is not found is left
    /// out.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn agent_names(
        &self,
        actor: &Actor,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeMap<AgentId, String>, Refusal> {
        actor.for_organization()?;
        if agents.is_empty() {
            return Ok(BTreeMap::new());
        }
        let (store, org) = (&self.parts.store, actor.org());
        // Most organizations have no more agents than one list, so one read finds all names.
        let oldest = store.list_agents(org, AgentFilter::default(), Page { limit: LIMIT_MAX, offset: 0 }).await?;
        let asked = oldest.data.into_iter().filter(|agent| agents.contains(&agent.id));
        let mut names: BTreeMap<AgentId, String> = asked.map(|agent| (agent.id, agent.name)).collect();
        for agent in agents {
            if !names.contains_key(agent)
                && let Some(found) = store.find_agent(org, *agent).await?
            {
                names.insert(found.id, found.name);
            }
        }
        Ok(names)
    }
}
