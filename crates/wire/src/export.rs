//! The export of an account.

use kalends_kernel::{AgentId, KeyId, OrgId, ProposalId};
use kalends_time::{CivilDate, Timestamp};
use serde::Serialize;

#[cfg(feature = "schema")]
use crate::schemas::{MetricName, ShownPlan, SignUpSourceName};
use crate::{
    Agent, AvailabilityGrant, AvailabilityRules, Calendar, CalendarConnection, Event, ExportedClaim, ExportedWebhook,
    ExternalCalendar, Member, ProposalResponse, ProposalSlot, ProposalSummary, RequiredApproval, Scope, Subscription,
    derives::ToSchema,
};

#[cfg(feature = "parse")]
mod parse;

/// All data of an organization. It is written piece by piece; this schema describes the whole.
#[derive(Debug, Serialize, ToSchema)]
pub struct Export {
    /// When the export started.
    #[schema(value_type = String, format = DateTime)]
    pub exported_at: Timestamp,
    /// The version of the export format.
    #[schema(minimum = 1)]
    pub format_version: u32,
    /// The organization.
    pub org: ExportedOrg,
    /// Its members.
    pub members: Vec<Member>,
    /// Its agents, including decommissioned ones.
    pub agents: Vec<Agent>,
    /// Its calendars.
    pub calendars: Vec<ExportedCalendar>,
    /// The events on them. A series is listed with its rule, together with its changed occurrences.
    pub events: Vec<Event>,
    /// The availability rules of the calendars.
    pub availability_rules: Vec<AvailabilityRules>,
    /// Subscriptions to iCal feeds.
    pub ical_subscriptions: Vec<Subscription>,
    /// Booking pages.
    pub booking_pages: Vec<crate::BookingPage>,
    /// The exporting user's connected accounts, without their credentials. Those of other members are private.
    pub calendar_connections: Vec<ExportedConnection>,
    /// The grants: the agents for which those calendars count as busy.
    pub availability_grants: Vec<AvailabilityGrant>,
    /// Webhook endpoints, with their secrets.
    pub webhook_subscriptions: Vec<ExportedWebhook>,
    /// The keys in force, each with its first characters.
    pub api_keys: Vec<ExportedKey>,
    /// Scheduling proposals.
    pub scheduling_proposals: Vec<ProposalSummary>,
    /// The slots of the proposals.
    pub proposal_slots: Vec<ExportedSlot>,
    /// The responses to the proposals.
    pub proposal_responses: Vec<ExportedResponse>,
    /// Usage by month.
    pub usage_records: Vec<ExportedUse>,
    /// The usage of this month's quotas.
    pub quota_counters: Vec<ExportedCounter>,
    /// Every acceptance of terms.
    pub tos_acceptances: Vec<ExportedAcceptance>,
    /// The claims on organizations of agents that the exporting user made.
    pub account_claims_initiated: Vec<ExportedClaim>,
}

/// A slot of a proposal.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedSlot {
    /// The proposal, `spr_…`.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// The slot.
    #[serde(flatten)]
    pub slot: ProposalSlot,
}

/// A participant's response to a proposal.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedResponse {
    /// The proposal, `spr_…`.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// The response.
    #[serde(flatten)]
    pub response: ProposalResponse,
}

/// A connected account of a user, with its calendars.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedConnection {
    /// The account.
    #[serde(flatten)]
    pub connection: CalendarConnection,
    /// The calendars of the account.
    pub external_calendars: Vec<ExternalCalendar>,
}

/// The organization.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedOrg {
    /// The identifier, `org_…`.
    #[schema(value_type = String)]
    pub id: OrgId,
    /// The name.
    pub name: String,
    /// The email address.
    pub email: Option<String>,
    /// The plan: `free`, `pro` or `scale`.
    #[schema(value_type = ShownPlan)]
    pub plan: &'static str,
    /// When the email address was verified. Null before that.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub verified_at: Option<Timestamp>,
    /// When the organization joined the waiting list. Null if it is not waiting.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waitlisted_at: Option<Timestamp>,
    /// How the organization was created: `agent`, `waitlist`, `operator` or `console`.
    #[schema(value_type = SignUpSourceName)]
    pub signup_source: &'static str,
    /// The version of the terms that were accepted last.
    pub accepted_terms_version: Option<String>,
    /// When those terms were accepted.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub accepted_terms_at: Option<Timestamp>,
    /// When the organization was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A calendar, with the token of its feed.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedCalendar {
    /// The calendar.
    #[serde(flatten)]
    pub calendar: Calendar,
    /// The token in the address of its feed.
    pub ical_token: String,
}

/// A key in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedKey {
    /// The identifier, `key_…`.
    #[schema(value_type = String)]
    pub id: KeyId,
    /// The first characters of the key.
    pub key_prefix: String,
    /// The agent that the key is scoped to. Null for a key of the organization.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The label.
    pub label: Option<String>,
    /// What an agent's key reaches beyond its agent. Absent if it is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Scope>,
    /// Which writes of the key need a person's approval: `writes`, or `operationId`s. Absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub requires_approval: Option<RequiredApproval>,
    /// How long an approval waits for a decision, in minutes. Absent if no write needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub approval_expires_in_minutes: Option<i64>,
    /// When the key was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The creator of an agent's key: the first 20 characters of a key, or of a user's identifier. Null for a key of
    /// the organization, and for a key of an earlier release.
    pub created_by: Option<String>,
    /// The UTC day on which the key was last accepted. Null if no use is recorded: uses before the release that
    /// introduced this field, or by nodes of an earlier release, are not.
    #[schema(value_type = Option<String>, format = Date)]
    pub last_used_on: Option<CivilDate>,
}

/// The usage of a metric in a month.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedUse {
    /// The metric.
    #[schema(value_type = MetricName)]
    pub metric: &'static str,
    /// The UTC month, such as `2026-03`.
    pub period: String,
    /// The amount used.
    pub used: u64,
}

/// The usage of a quota.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedCounter {
    /// The metric and its usage.
    #[serde(flatten)]
    pub counted: ExportedUse,
    /// The plan's limit. Null means unlimited.
    pub limit: Option<u64>,
}

/// An acceptance of terms.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedAcceptance {
    /// The version of the terms.
    pub version: String,
    /// When the terms were accepted.
    #[schema(value_type = String, format = DateTime)]
    pub accepted_at: Timestamp,
}
