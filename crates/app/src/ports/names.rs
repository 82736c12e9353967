//! The names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_accounts::KeyLabel;
use kalends_calendars::AgentStatus;
use kalends_kernel::{
    AgentId, BookingPageId, CalendarId, EventId, ExternalCalendarId, KeyId, LIMIT_MAX, OrgId, ProposalId, StoreError,
    SubscriptionId, UserId, WebhookId,
};
use kalends_remote::RemoteUrl;
use kalends_time::Zone;

/// The most identifiers that one call of [`Names`] looks up: those of the longest page of a list.
pub const NAMES_MAX: usize = LIMIT_MAX as usize;

/// The name of an agent, and whether the agent is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentName {
    /// The name.
    pub name: String,
    /// The status.
    pub status: AgentStatus,
}

/// The name of a calendar, and what a list shows beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarName {
    /// The name.
    pub name: String,
    /// The agent that owns it; `None` if the organization shares it.
    pub agent: Option<AgentId>,
    /// The zone.
    pub zone: Zone,
}

/// What a page of the audit log identifies, by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditSubjects {
    /// The agents.
    pub agents: BTreeSet<AgentId>,
    /// The calendars.
    pub calendars: BTreeSet<CalendarId>,
    /// The events.
    pub events: BTreeSet<EventId>,
    /// The proposals.
    pub proposals: BTreeSet<ProposalId>,
    /// The booking pages.
    pub booking_pages: BTreeSet<BookingPageId>,
    /// The webhook endpoints.
    pub webhooks: BTreeSet<WebhookId>,
    /// The subscriptions.
    pub subscriptions: BTreeSet<SubscriptionId>,
}

/// A key in force, as the audit log shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditKey {
    /// The identifier.
    pub id: KeyId,
    /// The first characters of the text.
    pub prefix: String,
    /// The agent that it speaks for, if any.
    pub agent: Option<AgentId>,
    /// The name of that agent.
    pub agent_name: Option<String>,
    /// The label, if it has one.
    pub label: Option<KeyLabel>,
}

/// What [`Names::names_for_audit`] returns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedForAudit {
    /// The [`NAMES_MAX`] oldest agents, and those that were asked for, the oldest first.
    pub agents: Vec<(AgentId, String)>,
    /// The keys in force, the oldest first: those that are neither revoked nor of a decommissioned agent.
    pub keys: Vec<AuditKey>,
    /// The members with their addresses, the longest member first.
    pub members: Vec<(UserId, String)>,
    /// The names of the visible calendars.
    pub calendars: BTreeMap<CalendarId, String>,
    /// The titles of the visible events. An event that replaces an occurrence has none here: its series names it.
    pub events: BTreeMap<EventId, String>,
    /// The titles of the proposals, also of those that have ended.
    pub proposals: BTreeMap<ProposalId, String>,
    /// The titles of the visible booking pages.
    pub booking_pages: BTreeMap<BookingPageId, String>,
    /// The hosts of the webhook endpoints. The rest of an address may carry a secret.
    pub webhooks: BTreeMap<WebhookId, String>,
    /// The names of the visible subscriptions, as [`subscription_name`] makes them.
    pub subscriptions: BTreeMap<SubscriptionId, String>,
}

/// Reads the names of things of an organization by their identifiers, without the rest of each thing.
///
/// Each method takes one statement, and none if no identifier is given. It looks up the [`NAMES_MAX`] smallest
/// identifiers. What does not exist, is not visible, or belongs to another organization is missing in the answer. So is
/// what cannot be read, which is logged.
#[async_trait]
pub trait Names: Send + Sync {
    /// The names of agents, also of decommissioned ones.
    async fn names_of_agents(
        &self,
        org: OrgId,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeMap<AgentId, AgentName>, StoreError>;

    /// The names of visible calendars.
    async fn names_of_calendars(
        &self,
        org: OrgId,
        calendars: &BTreeSet<CalendarId>,
    ) -> Result<BTreeMap<CalendarId, CalendarName>, StoreError>;

    /// Everything that a page of the audit log names, in one statement, also if nothing is asked for.
    ///
    /// Calendars, events, booking pages and subscriptions are named only if they are visible. Decommissioned agents and
    /// proposals that have ended are named too. A sealed name that cannot be read is left out. A calendar is named even
    /// if its zone cannot be read.
    async fn names_for_audit(&self, org: OrgId, asked: &AuditSubjects) -> Result<NamedForAudit, StoreError>;

    /// The names of calendars that the user has connected in the organization. Those of other users have none here.
    async fn names_of_external_calendars(
        &self,
        org: OrgId,
        human: UserId,
        calendars: &BTreeSet<ExternalCalendarId>,
    ) -> Result<BTreeMap<ExternalCalendarId, String>, StoreError>;
}

/// The name of a subscription: its label, or else the host of its feed.
pub fn subscription_name(label: Option<&str>, url: &RemoteUrl) -> String {
    let (host, _) = url.destination();
    label.unwrap_or(host).to_owned()
}
