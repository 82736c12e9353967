//! Names for what the audit log identifies.

use kalends_accounts::{KeyView, Principal};
use kalends_calendars::{Agent, ports::AgentFilter};
use kalends_kernel::{AgentId, KeyId, LIMIT_MAX, Page, UserId};

use crate::{Actor, App, Refusal};

/// The names of an organization's agents, keys and members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditNames {
    /// Agents with their names: the 200 oldest, and those that were asked for.
    pub agents: Vec<(AgentId, String)>,
    /// The keys in force, the oldest first.
    pub keys: Vec<KeyView>,
    /// The members with their addresses, the longest member first.
    pub members: Vec<(UserId, String)>,
}

impl AuditNames {
    /// The name of the agent.
    pub fn agent(&self, id: AgentId) -> Option<&str> {
        self.agents.iter().find(|(agent, _)| *agent == id).map(|(_, name)| name.as_str())
    }

    /// The key, if it is in force.
    pub fn key(&self, id: KeyId) -> Option<&KeyView> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// The address of the member.
    pub fn member(&self, id: UserId) -> Option<&str> {
        self.members.iter().find(|(user, _)| *user == id).map(|(_, email)| email.as_str())
    }

    /// The key in force that an entry names by its first characters.
    pub fn key_of(&self, prefix: &str) -> Option<&KeyView> {
        self.keys.iter().find(|key| key.prefix == prefix)
    }

    /// The address of the member that an entry names by the first characters of the identifier.
    pub fn member_of(&self, prefix: &str) -> Option<&str> {
        let named = self.members.iter().find(|(user, _)| Principal::user_prefix(*user) == prefix);
        named.map(|(_, email)| email.as_str())
    }
}

impl App {
    /// The names for the organization's audit log. `agents` are looked up if they are not among the oldest.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn audit_names(&self, actor: &Actor, agents: &[AgentId]) -> Result<AuditNames, Refusal> {
        actor.for_organization()?;
        let (store, org) = (&self.parts.store, actor.org());
        let oldest = store.list_agents(org, AgentFilter::default(), Page { limit: LIMIT_MAX, offset: 0 }).await?;
        let named = |agent: Agent| (agent.id, agent.name);
        let mut names = AuditNames {
            agents: oldest.data.into_iter().map(named).collect(),
            keys: store.keys_in_force(org).await?,
            members: Vec::new(),
        };
        for agent in agents {
            if names.agent(*agent).is_none()
                && let Some(found) = store.find_agent(org, *agent).await?
            {
                names.agents.push(named(found));
            }
        }
        let members = store.members_of(org).await?;
        names.members = members.into_iter().map(|(_, user)| (user.id, user.email.as_str().to_owned())).collect();
        Ok(names)
    }
}
