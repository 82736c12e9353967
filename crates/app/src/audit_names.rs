//! Names for what the audit log identifies.

use std::collections::{BTreeMap, BTreeSet};

use kalends_accounts::{Allowance, KeyView, Principal};
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
    members: Vec<(UserId, String)>,
    /// The addresses of the members by the first characters of their identifiers.
    emails: BTreeMap<String, String>,
}

impl AuditNames {
    /// The names of these agents, keys and members. Members have their addresses.
    pub fn new(agents: Vec<(AgentId, String)>, keys: Vec<KeyView>, members: Vec<(UserId, String)>) -> Self {
        let emails = members.iter().map(|(user, email)| (Principal::user_prefix(*user), email.clone())).collect();
        Self { agents, keys, members, emails }
    }

    /// The members with their addresses, the longest member first.
    pub fn members(&self) -> &[(UserId, String)] {
        &self.members
    }

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
        self.emails.get(prefix).map(String::as_str)
    }
}

impl App {
    /// The names for the organization's audit log. `agents` are looked up if they are not among the oldest.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn audit_names(&self, actor: &Actor, agents: &[AgentId]) -> Result<AuditNames, Refusal> {
        let mut names = self.audit_members(actor).await?;
        let (store, org) = (&self.parts.store, actor.org());
        let oldest = store.list_agents(org, AgentFilter::default(), Page { limit: LIMIT_MAX, offset: 0 }).await?;
        let named = |agent: Agent| (agent.id, agent.name);
        names.agents = oldest.data.into_iter().map(named).collect();
        names.keys = store.keys_in_force(org).await?;
        // Many entries are about the same agent.
        let asked: BTreeSet<_> = agents.iter().copied().collect();
        for agent in asked {
            if names.agent(agent).is_none()
                && let Some(found) = store.find_agent(org, agent).await?
            {
                names.agents.push(named(found));
            }
        }
        Ok(names)
    }

    /// Takes one of the files of the audit log that the organization may have in an hour.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] if there were too many.
    pub async fn allow_audit_file(&self, actor: &Actor) -> Result<(), Refusal> {
        self.allow(&Allowance::audit_files(actor.org())).await
    }

    /// [`Self::audit_names`] of the members only.
    ///
    /// # Errors
    /// As [`Self::audit_names`].
    pub async fn audit_members(&self, actor: &Actor) -> Result<AuditNames, Refusal> {
        actor.for_organization()?;
        let members = self.parts.store.members_of(actor.org()).await?;
        let members = members.into_iter().map(|(_, user)| (user.id, user.email.as_str().to_owned())).collect();
        Ok(AuditNames::new(Vec::new(), Vec::new(), members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_by_identifier_and_by_its_first_characters() {
        let (ada, ben) = (UserId::from_bytes([1; 16]), UserId::from_bytes([2; 16]));
        let members = vec![(ada, "ada@example.com".to_owned())];
        let names = AuditNames::new(Vec::new(), Vec::new(), members.clone());
        assert_eq!(names.members(), members);
        assert_eq!((names.member(ada), names.member(ben)), (Some("ada@example.com"), None));
        assert_eq!(names.member_of(&Principal::user_prefix(ada)), Some("ada@example.com"));
        assert_eq!(names.member_of(&Principal::user_prefix(ben)), None);
    }
}
