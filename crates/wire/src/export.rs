//! The export of an account, and its deletion.

use kalends_accounts::{Acceptance, KeyView};
use kalends_kernel::{AgentId, KeyId, OrgId, ProposalId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    Agent, AvailabilityGrant, AvailabilityRules, Calendar, CalendarConnection, Event, ExportedClaim, ExportedWebhook,
    ExternalCalendar, ProposalResponse, ProposalSlot, ProposalSummary, Subscription,
    schemas::{MetricName, ShownPlan, SignUpSourceName},
};

/// Everything that an organization has. It is written piece by piece; this is what the whole looks like.
#[derive(Debug, Serialize, ToSchema)]
pub struct Export {
    /// When the export was begun.
    #[schema(value_type = String, format = DateTime)]
    pub exported_at: Timestamp,
    /// The form of the export.
    #[schema(minimum = 1)]
    pub format_version: u32,
    /// The organization.
    pub org: ExportedOrg,
    /// Its agents, decommissioned ones too.
    pub agents: Vec<Agent>,
    /// Its calendars.
    pub calendars: Vec<ExportedCalendar>,
    /// Their events; series with their rule, and their changed occurrences.
    pub events: Vec<Event>,
    /// The calendars' availability rules.
    pub availability_rules: Vec<AvailabilityRules>,
    /// Subscriptions to iCal feeds.
    pub ical_subscriptions: Vec<Subscription>,
    /// Booking pages.
    pub booking_pages: Vec<crate::BookingPage>,
    /// Connected accounts of humans, without what lets into them.
    pub calendar_connections: Vec<ExportedConnection>,
    /// For which agents their calendars count as busy.
    pub availability_grants: Vec<AvailabilityGrant>,
    /// Webhook endpoints with their secrets.
    pub webhook_subscriptions: Vec<ExportedWebhook>,
    /// The keys in force, by their beginning.
    pub api_keys: Vec<ExportedKey>,
    /// Scheduling proposals.
    pub scheduling_proposals: Vec<ProposalSummary>,
    /// Their slots.
    pub proposal_slots: Vec<ExportedSlot>,
    /// The responses to them.
    pub proposal_responses: Vec<ExportedResponse>,
    /// What was used, by month.
    pub usage_records: Vec<ExportedUse>,
    /// What is used of this month's quotas.
    pub quota_counters: Vec<ExportedCounter>,
    /// Every acceptance of terms.
    pub tos_acceptances: Vec<ExportedAcceptance>,
    /// The claims on organizations of agents that the human initiated who exports.
    pub account_claims_initiated: Vec<ExportedClaim>,
}

/// A time that a proposal offers.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedSlot {
    /// The proposal, `spr_…`.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// The slot.
    #[serde(flatten)]
    pub slot: ProposalSlot,
}

impl ExportedSlot {
    /// A slot of that proposal.
    pub fn of(proposal: &kalends_proposals::Proposal, slot: &kalends_proposals::Slot) -> Self {
        Self { proposal_id: proposal.id, slot: slot.into() }
    }
}

/// What a participant said to a proposal.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedResponse {
    /// The proposal, `spr_…`.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// What was said.
    #[serde(flatten)]
    pub response: ProposalResponse,
}

impl ExportedResponse {
    /// A response to that proposal.
    pub fn of(proposal: &kalends_proposals::Proposal, response: &kalends_proposals::Response) -> Self {
        Self { proposal_id: proposal.id, response: response.into() }
    }
}

/// A connected account of a human with its calendars.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedConnection {
    /// The account.
    #[serde(flatten)]
    pub connection: CalendarConnection,
    /// Its calendars.
    pub external_calendars: Vec<ExternalCalendar>,
}

/// The organization.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedOrg {
    /// `org_…`
    #[schema(value_type = String)]
    pub id: OrgId,
    /// Its name.
    pub name: String,
    /// Its address.
    pub email: Option<String>,
    /// Its plan: `free`, `pro` or `scale`.
    #[schema(value_type = ShownPlan)]
    pub plan: &'static str,
    /// When the address was verified.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub verified_at: Option<Timestamp>,
    /// Since when it waits to be let in.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waitlisted_at: Option<Timestamp>,
    /// How it came to be: `agent`, `waitlist`, `operator` or `console`.
    #[schema(value_type = SignUpSourceName)]
    pub signup_source: &'static str,
    /// The terms accepted last.
    pub accepted_terms_version: Option<String>,
    /// When they were accepted.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub accepted_terms_at: Option<Timestamp>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A calendar with the token of its feed.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedCalendar {
    /// The calendar.
    #[serde(flatten)]
    pub calendar: Calendar,
    /// The token of its feed.
    pub ical_token: String,
}

/// A key that is in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedKey {
    /// `key_…`
    #[schema(value_type = String)]
    pub id: KeyId,
    /// Its first characters.
    pub key_prefix: String,
    /// The agent that it speaks for; null for a key of the organization.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// What it is called.
    pub label: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<KeyView> for ExportedKey {
    fn from(key: KeyView) -> Self {
        Self {
            id: key.id,
            key_prefix: key.prefix,
            agent_id: key.agent,
            label: key.label.map(|label| label.as_str().to_owned()),
            created_at: key.created_at,
        }
    }
}

/// What was used of a metric in a month.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedUse {
    /// The metric.
    #[schema(value_type = MetricName)]
    pub metric: &'static str,
    /// The UTC month, such as `2026-03`.
    pub period: String,
    /// How much.
    pub used: u64,
}

/// What is used of a quota.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedCounter {
    /// What is counted.
    #[serde(flatten)]
    pub counted: ExportedUse,
    /// The plan's limit; null is unlimited.
    pub limit: Option<u64>,
}

/// An acceptance of terms.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedAcceptance {
    /// The version.
    pub version: String,
    /// When it was accepted.
    #[schema(value_type = String, format = DateTime)]
    pub accepted_at: Timestamp,
}

impl From<Acceptance> for ExportedAcceptance {
    fn from(acceptance: Acceptance) -> Self {
        Self { version: acceptance.version, accepted_at: acceptance.at }
    }
}
