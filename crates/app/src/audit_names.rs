//! Names for what the audit log identifies.

use std::{collections::BTreeMap, fmt::Display, str::FromStr};

use kalends_accounts::{Allowance, Principal};
use kalends_calendars::Occurrence;
use kalends_kernel::{AgentId, KeyId, UserId};
use kalends_plans::Feature;
use kalends_wire::AuditEntry;

use crate::{
    Actor, App, Refusal, operations,
    ports::{AuditKey, AuditSubjects},
};

/// The names of an organization's agents, keys and members, and of what entries of the audit log are about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditNames {
    /// Agents with their names: the 200 oldest, and those that were asked for.
    pub agents: Vec<(AgentId, String)>,
    /// The keys in force, the oldest first.
    pub keys: Vec<AuditKey>,
    /// The names of these agents, and of those of the keys.
    agent_names: BTreeMap<AgentId, String>,
    members: Vec<(UserId, String)>,
    /// The addresses of the members by the first characters of their identifiers.
    emails: BTreeMap<String, String>,
    /// The names of other things by their identifiers.
    things: BTreeMap<String, String>,
}

impl AuditNames {
    /// The names of these agents, keys and members. Members have their addresses.
    pub fn new(agents: Vec<(AgentId, String)>, keys: Vec<AuditKey>, members: Vec<(UserId, String)>) -> Self {
        let emails = members.iter().map(|(user, email)| (Principal::user_prefix(*user), email.clone())).collect();
        let of_keys = keys.iter().filter_map(|key| Some((key.agent?, key.agent_name.clone()?)));
        let agent_names = agents.iter().cloned().chain(of_keys).collect();
        Self { agents, keys, agent_names, members, emails, things: BTreeMap::new() }
    }

    /// Adds the names of other things, each with its identifier.
    pub fn add<I: Display>(&mut self, things: impl IntoIterator<Item = (I, String)>) {
        self.things.extend(things.into_iter().map(|(id, name)| (id.to_string(), name)));
    }

    /// The name of the event, calendar, proposal, booking page, webhook endpoint or subscription with this identifier,
    /// if it exists and the caller may read it.
    pub fn thing(&self, id: &str) -> Option<&str> {
        self.things.get(id).map(String::as_str)
    }

    /// The members with their addresses, the longest member first.
    pub fn members(&self) -> &[(UserId, String)] {
        &self.members
    }

    /// The name of the agent.
    pub fn agent(&self, id: AgentId) -> Option<&str> {
        self.agent_names.get(&id).map(String::as_str)
    }

    /// The key, if it is in force.
    pub fn key(&self, id: KeyId) -> Option<&AuditKey> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// The address of the member.
    pub fn member(&self, id: UserId) -> Option<&str> {
        self.members.iter().find(|(user, _)| *user == id).map(|(_, email)| email.as_str())
    }

    /// The key in force that an entry names by its first characters.
    pub fn key_of(&self, prefix: &str) -> Option<&AuditKey> {
        self.keys.iter().find(|key| key.prefix == prefix)
    }

    /// The address of the member that an entry names by the first characters of the identifier.
    pub fn member_of(&self, prefix: &str) -> Option<&str> {
        self.emails.get(prefix).map(String::as_str)
    }
}

impl App {
    /// The names for these entries of the organization's audit log, and of the agent that is `chosen`. Things that the
    /// caller may not read have none. It takes one statement.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn audit_names(
        &self,
        actor: &Actor,
        entries: &[AuditEntry],
        chosen: Option<AgentId>,
    ) -> Result<AuditNames, Refusal> {
        actor.for_organization()?;
        let named = self.parts.store.names_for_audit(actor.org(), &subjects(actor, entries, chosen)).await?;
        let mut names = AuditNames::new(named.agents, named.keys, named.members);
        names.add(named.calendars);
        names.add(named.events);
        names.add(named.proposals);
        names.add(named.booking_pages);
        names.add(named.webhooks);
        names.add(named.subscriptions);
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

/// What the entries are about, as far as the caller may read its name.
fn subjects(actor: &Actor, entries: &[AuditEntry], chosen: Option<AgentId>) -> AuditSubjects {
    let concerned = entries.iter().filter_map(|entry| entry.agent_id);
    let agents = concerned.chain(resources(entries)).chain(chosen).collect();
    let mut asked = AuditSubjects { agents, ..AuditSubjects::default() };
    if actor.may(&operations::GET_CALENDAR) {
        asked.calendars = resources(entries).collect();
    }
    if actor.may(&operations::GET_EVENT) {
        let series = resources(entries).map(|occurrence: Occurrence| occurrence.series);
        asked.events = resources(entries).chain(series).collect();
    }
    if actor.may(&operations::GET_PROPOSAL) && actor.needs(Feature::Scheduling).is_ok() {
        asked.proposals = resources(entries).collect();
    }
    if actor.may(&operations::GET_BOOKING_PAGE) {
        asked.booking_pages = resources(entries).collect();
    }
    if actor.may(&operations::GET_WEBHOOK) {
        asked.webhooks = resources(entries).collect();
    }
    if actor.may(&operations::GET_SUBSCRIPTION) {
        asked.subscriptions = resources(entries).collect();
    }
    asked
}

/// The changed resources of one kind.
fn resources<I: FromStr>(entries: &[AuditEntry]) -> impl Iterator<Item = I> {
    entries.iter().filter_map(|entry| entry.resource.parse().ok())
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
