//! The names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_accounts::ports::{AccountData as _, People as _};
use kalends_app::ports::{
    AgentName, AuditKey, AuditSubjects, CalendarName, NAMES_MAX, NamedForAudit, Names, subscription_name,
};
use kalends_kernel::{
    AgentId, BookingPageId, CalendarId, EventId, ExternalCalendarId, OrgId, ProposalId, StoreError, SubscriptionId,
    UserId, WebhookId,
};

use super::{MemoryStore, state::State};

/// The names of those of `ids` that have one.
fn named<I: Ord + Copy, N>(ids: &BTreeSet<I>, name: impl Fn(I) -> Option<N>) -> Result<BTreeMap<I, N>, StoreError> {
    Ok(ids.iter().take(NAMES_MAX).filter_map(|id| Some((*id, name(*id)?))).collect())
}

fn titles_of_events(
    state: &State,
    org: OrgId,
    events: &BTreeSet<EventId>,
) -> Result<BTreeMap<EventId, String>, StoreError> {
    named(events, |id| {
        let found = state.events.get(&(org, id))?;
        let is_visible = found.deleted_at.is_none() && state.calendar(org, found.calendar).is_some();
        (is_visible && found.occurrence().is_none()).then(|| found.title.clone())
    })
}

fn titles_of_proposals(
    state: &State,
    org: OrgId,
    proposals: &BTreeSet<ProposalId>,
) -> Result<BTreeMap<ProposalId, String>, StoreError> {
    named(proposals, |id| state.proposals.get(&(org, id)).map(|found| found.title().to_owned()))
}

fn titles_of_booking_pages(
    state: &State,
    org: OrgId,
    pages: &BTreeSet<BookingPageId>,
) -> Result<BTreeMap<BookingPageId, String>, StoreError> {
    named(pages, |id| {
        let found = state.visible_booking_pages(org).find(|page| page.id == id);
        found.map(|page| page.title.clone())
    })
}

fn hosts_of_webhooks(
    state: &State,
    org: OrgId,
    webhooks: &BTreeSet<WebhookId>,
) -> Result<BTreeMap<WebhookId, String>, StoreError> {
    named(webhooks, |id| state.webhooks.get(&(org, id)).map(|found| found.url.destination().0.to_owned()))
}

fn names_of_subscriptions(
    state: &State,
    org: OrgId,
    subscriptions: &BTreeSet<SubscriptionId>,
) -> Result<BTreeMap<SubscriptionId, String>, StoreError> {
    named(subscriptions, |id| {
        let found = state.visible_subscriptions(org).find(|found| found.id == id);
        found.map(|found| subscription_name(found.label.as_deref(), &found.url))
    })
}

#[async_trait]
impl Names for MemoryStore {
    async fn names_of_agents(
        &self,
        org: OrgId,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeMap<AgentId, AgentName>, StoreError> {
        let state = self.state();
        named(agents, |id| {
            state.agents.get(&(org, id)).map(|agent| AgentName { name: agent.name.clone(), status: agent.status })
        })
    }

    async fn names_of_calendars(
        &self,
        org: OrgId,
        calendars: &BTreeSet<CalendarId>,
    ) -> Result<BTreeMap<CalendarId, CalendarName>, StoreError> {
        let state = self.state();
        named(calendars, |id| {
            let found = state.calendar(org, id)?;
            Some(CalendarName { name: found.name.clone(), agent: found.agent, zone: found.zone })
        })
    }

    async fn names_for_audit(&self, org: OrgId, asked: &AuditSubjects) -> Result<NamedForAudit, StoreError> {
        let keys = self.keys_in_force(org).await?;
        let members = self.members_of(org).await?.into_iter();
        let calendars = self.names_of_calendars(org, &asked.calendars).await?.into_iter();

        let state = self.state();
        let mut agents: Vec<_> = state.agents.values().filter(|agent| agent.org == org).collect();
        agents.sort_by_key(|agent| (agent.created_at, agent.id));
        let oldest = agents.iter().take(NAMES_MAX).map(|agent| agent.id);
        let listed: BTreeSet<AgentId> = oldest.chain(asked.agents.iter().copied().take(NAMES_MAX)).collect();
        let keys = keys.into_iter().map(|key| AuditKey {
            agent_name: key.agent.and_then(|agent| state.agents.get(&(org, agent))).map(|agent| agent.name.clone()),
            id: key.id,
            prefix: key.prefix,
            agent: key.agent,
            label: key.label,
        });
        Ok(NamedForAudit {
            keys: keys.collect(),
            agents: agents
                .into_iter()
                .filter(|agent| listed.contains(&agent.id))
                .map(|agent| (agent.id, agent.name.clone()))
                .collect(),
            members: members.map(|(_, user)| (user.id, user.email.as_str().to_owned())).collect(),
            calendars: calendars.map(|(id, calendar)| (id, calendar.name)).collect(),
            events: titles_of_events(&state, org, &asked.events)?,
            proposals: titles_of_proposals(&state, org, &asked.proposals)?,
            booking_pages: titles_of_booking_pages(&state, org, &asked.booking_pages)?,
            webhooks: hosts_of_webhooks(&state, org, &asked.webhooks)?,
            subscriptions: names_of_subscriptions(&state, org, &asked.subscriptions)?,
        })
    }

    async fn names_of_external_calendars(
        &self,
        org: OrgId,
        human: UserId,
        calendars: &BTreeSet<ExternalCalendarId>,
    ) -> Result<BTreeMap<ExternalCalendarId, String>, StoreError> {
        let state = self.state();
        named(calendars, |id| {
            let found = state.external.get(&(org, id))?;
            let row = state.connections.get(&(org, found.connection))?;
            (row.connection.human == human).then(|| found.theirs.name.clone())
        })
    }
}
