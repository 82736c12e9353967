//! Agents: create, read, change, decommission.

use kalends_accounts::Scope;
use kalends_calendars::{Agent, AgentPatch, AgentStatus, Change, NewAgent, ports::AgentFilter};
use kalends_kernel::{AgentId, FieldError, KeyId, Listed, Page, Version};
use kalends_notifications::EventType;
use kalends_plans::Metric;
use kalends_wire::ShownAgent;

use crate::{Actor, Answered, App, ChangeSet, IfMatch, Missing, Refusal, attempt::retry_stale, commits::limit};

/// The most keys of a decommissioned agent whose waiting writes are cancelled at once. Those of more keys expire.
const KEYS_ENDED_MAX: usize = 5;

impl App {
    /// Creates an agent.
    ///
    /// # Errors
    /// [`Refusal::LimitReached`] at the plan's number of agents.
    pub async fn create_agent(&self, actor: &Actor, new: NewAgent) -> Result<Answered<kalends_wire::Agent>, Refusal> {
        actor.for_organization()?;
        retry_stale(|| async {
            let now = self.now();
            let agent = Agent::create(AgentId::new(now, self.entropy()), actor.org(), new.clone(), now);
            let mut changes = ChangeSet::new(actor.org());
            changes.calendars.push(Change::CreateAgent(agent.clone()));
            limit(actor, &mut changes, Metric::Agents, 1, now);
            let (id, version) = (agent.id, agent.version);
            let resource = kalends_wire::Agent::from(agent);
            changes.messages.push(self.message(actor.org(), EventType::AgentCreated, &resource, version, now));
            let answer = Answered::shows(&actor.request, resource, Some(version));
            self.commit_for(actor, Some(id), id.to_string(), changes, answer).await
        })
        .await
    }

    /// The organization's agents, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn list_agents(&self, actor: &Actor, filter: AgentFilter, page: Page) -> Result<Listed<Agent>, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.list_agents(actor.org(), filter, page).await?)
    }

    /// [`Self::list_agents`] for any key. An agent's key sees the names of the others.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for a filter by what such a key does not see.
    pub async fn agent_directory(
        &self,
        actor: &Actor,
        filter: AgentFilter,
        page: Page,
    ) -> Result<Listed<ShownAgent>, Refusal> {
        if actor.widened_by(Scope::DirectoryOrg).is_some() && filter.kind.is_some() {
            let message = "must be left out: an agent's key does not see the type of other agents";
            return Err(FieldError::new("type", message).into());
        }
        let listed = self.parts.store.list_agents(actor.org(), filter, page).await?;
        Ok(listed.map(|agent| {
            let all = actor.sees_all_of(Some(agent.id));
            ShownAgent::new(agent, all)
        }))
    }

    /// One agent as the caller sees it, with its version if the caller sees all of it. Decommissioned agents are
    /// included.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn shown_agent(&self, actor: &Actor, id: &str) -> Result<(ShownAgent, Option<Version>), Refusal> {
        let agent = self.any_agent(actor, id).await?;
        actor.for_name(Some(agent.id))?;
        let (all, version) = (actor.sees_all_of(Some(agent.id)), agent.version);
        Ok((ShownAgent::new(agent, all), all.then_some(version)))
    }

    /// One agent. Decommissioned agents are included.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn agent(&self, actor: &Actor, id: &str) -> Result<Agent, Refusal> {
        let agent = self.any_agent(actor, id).await?;
        actor.for_agent(Some(agent.id))?;
        Ok(agent)
    }

    /// One agent of the organization, whether or not the actor may access it.
    pub(crate) async fn any_agent(&self, actor: &Actor, id: &str) -> Result<Agent, Refusal> {
        let missing = || Refusal::missing(Missing::Agent, id);
        let agent_id: AgentId = id.parse().map_err(|_| missing())?;
        self.parts.store.find_agent(actor.org(), agent_id).await?.ok_or_else(missing)
    }

    /// Changes an agent.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`], [`Refusal::AgentState`] once decommissioned.
    pub async fn update_agent(
        &self,
        actor: &Actor,
        id: &str,
        patch: AgentPatch,
        if_match: &IfMatch,
    ) -> Result<Answered<kalends_wire::Agent>, Refusal> {
        actor.for_organization()?;
        retry_stale(|| async {
            let seen = self.agent(actor, id).await?;
            if_match.check(seen.version)?;
            let now = self.now();
            let agent = seen.patched(patch.clone(), now)?;
            let mut changes = ChangeSet::new(actor.org());
            changes.alters_agent_keys = agent.status != seen.status;
            changes.calendars.push(Change::UpdateAgent { agent: agent.clone(), seen: seen.version });
            let (id, version) = (agent.id, agent.version);
            let resource = kalends_wire::Agent::from(agent);
            changes.messages.push(self.message(actor.org(), EventType::AgentUpdated, &resource, version, now));
            let answer = Answered::shows(&actor.request, resource, Some(version));
            self.commit_for(actor, Some(id), id.to_string(), changes, answer).await
        })
        .await
    }

    /// Decommissions an agent. Its row stays, its calendars and events become invisible at once, and no webhook
    /// messages are sent about them. Its keys are revoked, and their writes that wait for approval are cancelled. Deleting it
    /// again changes nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`].
    pub async fn delete_agent(&self, actor: &Actor, id: &str, if_match: &IfMatch) -> Result<Answered<()>, Refusal> {
        actor.for_organization()?;
        retry_stale(|| async {
            let seen = self.agent(actor, id).await?;
            if_match.check(seen.version)?;
            let mut changes = ChangeSet::new(actor.org());
            let id = seen.id;
            // Read before the commit, after which they are no longer in force.
            let keys = self.parts.store.list_scoped_keys(actor.org()).await?;
            let asking = keys.iter().filter(|key| key.agent == id && key.approval.is_some());
            let asking: Vec<KeyId> = asking.map(|key| key.id).take(KEYS_ENDED_MAX).collect();
            if seen.status != AgentStatus::Decommissioned {
                let agent = seen.decommissioned(self.now())?;
                changes.alters_agent_keys = true;
                changes.calendars.push(Change::UpdateAgent { agent, seen: seen.version });
            }
            let answer =
                self.commit_for(actor, Some(id), id.to_string(), changes, Answered::nothing(&actor.request)).await?;
            // Checked after the commit, when no key can be added any more. It also applies if a concurrent request
            // deleted the agent first: its keys may still be cached.
            if self.parts.store.count_scoped_keys(actor.org(), id).await? > 0 {
                self.wait_out_principals().await;
            }
            let by = &actor.principal.key_prefix;
            self.cancel_approvals_of(&actor.request, actor.org(), by, &asking).await;
            Ok(answer)
        })
        .await
    }
}
