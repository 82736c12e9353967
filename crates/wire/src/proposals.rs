//! Proposals.

use std::borrow::Cow;

use kalends_kernel::{AgentId, CalendarId, EventId, ProposalId, ResponseId, SlotId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "schema")]
use crate::schemas::{
    PlacementName, ProposalCancelReason, ProposalStatus, ResolutionReason, ResolutionStatus, ResponseName,
};
use crate::{
    Notice,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::{PROPOSAL_ID, WantedProposal, WantedProposals, WantedResponse, WantedSlot};

/// A proposal, as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "spr_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Kick-off", "description": null,
    "organizer_agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "participant_agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "agt_01jn8r6v9ke0bt3m5qz2c7xwdk"],
    "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "status": "pending", "expires_at": "2026-03-03T10:00:00Z",
    "hold_slots": false, "skip_taken": false, "min_accepts": 0, "placement": "organizer", "resolved_slot_id": null,
    "created_event_id": null, "created_events": [], "reason": null,
    "metadata": {}, "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct ProposalSummary {
    /// The identifier, `spr_…`.
    #[schema(value_type = String)]
    pub id: ProposalId,
    /// The title, which the event gets too.
    pub title: String,
    /// The description, which the event gets too.
    pub description: Option<String>,
    /// The agent that organizes the proposal.
    #[schema(value_type = String)]
    pub organizer_agent_id: AgentId,
    /// The agents that are asked to respond.
    #[schema(value_type = Vec<String>)]
    pub participant_agent_ids: Vec<AgentId>,
    /// The calendar on which the event is created, unless its slot names another.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The status: `pending`, `confirmed`, `expired` or `cancelled`.
    #[schema(value_type = ProposalStatus)]
    pub status: Cow<'static, str>,
    /// When the proposal expires or would have expired.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Whether the slots are reserved while the proposal is pending.
    pub hold_slots: bool,
    /// Whether resolving the proposal skips slots that are taken.
    pub skip_taken: bool,
    /// How many responses must accept a slot before it can be confirmed.
    pub min_accepts: u32,
    /// Who gets an event when a slot is confirmed: `organizer`, or `all`, the organizer and every participant that did not
    /// decline.
    #[schema(value_type = PlacementName)]
    pub placement: Cow<'static, str>,
    /// The winning slot. Null unless the proposal is confirmed.
    #[schema(value_type = Option<String>)]
    pub resolved_slot_id: Option<SlotId>,
    /// The organizer's event that was created from the slot. Null unless the proposal is confirmed.
    #[schema(value_type = Option<String>)]
    pub created_event_id: Option<EventId>,
    /// Every event that was created from the slot: the organizer's, then those of participants. Empty unless the proposal
    /// is confirmed.
    pub created_events: Vec<CreatedEvent>,
    /// Why the proposal was cancelled: `all_declined` or `organizer_cancelled`. Null unless it is cancelled.
    #[schema(value_type = Option<ProposalCancelReason>)]
    pub reason: Option<Cow<'static, str>>,
    /// Your own data.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// When the proposal was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the proposal was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// A proposal with its slots and responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "spr_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Kick-off", "description": null,
    "organizer_agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "participant_agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "agt_01jn8r6v9ke0bt3m5qz2c7xwdk"],
    "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "status": "pending", "expires_at": "2026-03-03T10:00:00Z",
    "hold_slots": false, "skip_taken": false, "min_accepts": 0, "placement": "organizer", "resolved_slot_id": null,
    "created_event_id": null, "created_events": [], "reason": null,
    "metadata": {}, "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:30:00Z",
    "slots": [{
        "id": "slt_01jn8r6v9ke0bt3m5qz2c7xwdm", "start_time": "2026-03-03T10:00:00Z", "end_time": "2026-03-03T10:30:00Z",
        "weight": 1.0, "calendar_id": null
    }],
    "responses": [{
        "id": "rsp_01jn8r6v9ke0bt3m5qz2c7xwdn", "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "response": "accept",
        "selected_slot_id": "slt_01jn8r6v9ke0bt3m5qz2c7xwdm", "counter_slots": [], "message": null,
        "created_at": "2026-03-02T08:30:00Z"
    }]
}))]
pub struct Proposal {
    /// The fields that lists show.
    #[serde(flatten)]
    pub summary: ProposalSummary,
    /// The offered slots, in the order given.
    pub slots: Vec<ProposalSlot>,
    /// The participants' responses, oldest first.
    pub responses: Vec<ProposalResponse>,
    /// What deserves attention: why the proposal is still pending although everyone has responded, and which participants
    /// get no event. Absent if there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    pub notices: Vec<Notice>,
}

/// An event that was created from a proposal's slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedEvent {
    /// The organizer or the participant.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Its event.
    #[schema(value_type = String)]
    pub event_id: EventId,
}

/// A slot of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProposalSlot {
    /// The identifier, `slt_…`.
    #[schema(value_type = String)]
    pub id: SlotId,
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
    /// The organizer's preference for the slot, 0 to 10.
    pub weight: f64,
    /// The calendar on which the event is created. Null means the proposal's calendar.
    #[schema(value_type = Option<String>)]
    pub calendar_id: Option<CalendarId>,
}

/// A participant's response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalResponse {
    /// The identifier, `rsp_…`.
    #[schema(value_type = String)]
    pub id: ResponseId,
    /// The agent that responded.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The response: `accept`, `decline` or `counter`.
    #[schema(value_type = ResponseName)]
    pub response: Cow<'static, str>,
    /// The slot that the response is about.
    #[schema(value_type = Option<String>)]
    pub selected_slot_id: Option<SlotId>,
    /// Times that the participant would prefer.
    pub counter_slots: Vec<CounterSlot>,
    /// A message to the organizer.
    pub message: Option<String>,
    /// The calendar for the participant's event. Absent if none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub calendar_id: Option<CalendarId>,
    /// When the participant responded.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A time that a participant would prefer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CounterSlot {
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
}

/// The outcome of resolving or cancelling a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "status": "confirmed",
    "resolved_slot": {
        "id": "slt_01jn8r6v9ke0bt3m5qz2c7xwdm", "start_time": "2026-03-03T10:00:00Z", "end_time": "2026-03-03T10:30:00Z",
        "weight": 1.0, "calendar_id": null
    },
    "created_event_id": "evt_01jn8r8f4h3gyqz7s9c1b5wnkd",
    "created_events": [
        { "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh", "event_id": "evt_01jn8r8f4h3gyqz7s9c1b5wnkd" }
    ]
}))]
pub struct Resolution {
    /// The new status of the proposal: `confirmed` or `cancelled`.
    #[schema(value_type = ResolutionStatus)]
    pub status: Cow<'static, str>,
    /// The winning slot. Absent if none won.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub resolved_slot: Option<ProposalSlot>,
    /// The organizer's event that was created from the slot. Absent if no slot won.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub created_event_id: Option<EventId>,
    /// Every event that was created from the slot: the organizer's, then those of participants. Absent if no slot won.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    pub created_events: Vec<CreatedEvent>,
    /// `all_declined` if every participant who responded declined. Otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ResolutionReason>, nullable = false)]
    pub reason: Option<Cow<'static, str>>,
}

/// The payload of `proposal.responded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalResponded {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// The agent that responded.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The response: `accept`, `decline` or `counter`.
    #[schema(value_type = ResponseName)]
    pub response: Cow<'static, str>,
}

/// The payload of `proposal.confirmed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProposalConfirmed {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// The winning slot.
    pub resolved_slot: ProposalSlot,
    /// The organizer's event that was created from the slot.
    #[schema(value_type = Option<String>)]
    pub created_event_id: Option<EventId>,
    /// Every event that was created from the slot: the organizer's, then those of participants.
    pub created_events: Vec<CreatedEvent>,
}

/// The payload of `proposal.cancelled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalCancelled {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// Why the proposal was cancelled: `organizer_cancelled` or `all_declined`.
    #[schema(value_type = ProposalCancelReason)]
    pub reason: Cow<'static, str>,
}

/// The payload of `proposal.expired`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalExpired {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
}

/// The fields of a new proposal.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "title": "Kick-off", "organizer_agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "participant_agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "agt_01jn8r6v9ke0bt3m5qz2c7xwdk"],
    "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
    "slots": [
        { "start_time": "2026-03-03T10:00:00Z", "end_time": "2026-03-03T10:30:00Z" },
        { "start_time": "2026-03-03T14:00:00Z", "end_time": "2026-03-03T14:30:00Z", "weight": 2.5 }
    ]
}))]
pub struct CreateProposal {
    /// A title, 1-500 characters. The event gets it too.
    #[schema(min_length = 1, max_length = 500)]
    pub title: String,
    /// A description of at most 5,000 characters. The event gets it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 5000)]
    pub description: Option<String>,
    /// The agent that organizes the proposal, `agt_…`.
    pub organizer_agent_id: String,
    /// The agents to ask: 1-50, without duplicates. The organizer may be one of them.
    #[schema(min_items = 1, max_items = 50)]
    pub participant_agent_ids: Vec<String>,
    /// The calendar on which the event is created, `cal_…`.
    pub calendar_id: String,
    /// The slots to offer: 1-20.
    #[schema(min_items = 1, max_items = 20)]
    pub slots: Vec<OfferedSlot>,
    /// When the proposal expires. RFC 3339 with an offset. Defaults to the start of the last slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Whether to reserve the slots while the proposal is pending, so that nobody else can take them.
    #[serde(default)]
    pub hold_slots: bool,
    /// Whether resolving the proposal skips slots that were taken in the meantime. With `placement` `all`, a slot is taken
    /// if one of the calendars is.
    #[serde(default)]
    pub skip_taken: bool,
    /// How many responses must accept a slot before it can be confirmed: 0, the default, to the number of participants. If
    /// no slot has as many, the proposal stays pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 50)]
    pub min_accepts: Option<i64>,
    /// Who gets an event when a slot is confirmed: `organizer`, the default, or `all`, the organizer and every participant
    /// that did not decline, together at most 20 agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlacementName>)]
    pub placement: Option<String>,
    /// Your own data: an object of at most 16,384 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// A slot to offer.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedSlot {
    /// The start, in the future. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// The end, exclusive. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub end_time: String,
    /// Your preference for the slot, 0 to 10. Defaults to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10)]
    pub weight: Option<f64>,
    /// The calendar on which the event is created, `cal_…`, if not the proposal's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar_id: Option<String>,
}

/// Filters a list of proposals.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListProposals {
    /// Only proposals with this status.
    #[param(value_type = Option<ProposalStatus>)]
    pub status: Option<String>,
    /// Only proposals that this agent organizes, `agt_…`.
    pub organizer_agent_id: Option<String>,
    /// The maximum number of entries per page, 1-200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0)]
    pub offset: Option<i64>,
}

/// The fields of a participant's response.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "response": "accept",
    "selected_slot_id": "slt_01jn8r6v9ke0bt3m5qz2c7xwdm"
}))]
pub struct RespondToProposal {
    /// The participant that responds, `agt_…`.
    pub agent_id: String,
    /// The response: `accept` a slot, `decline` all of them, or `counter` with other times.
    #[schema(value_type = ResponseName)]
    pub response: String,
    /// The slot that the response is about, `slt_…`. Required with `accept`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_slot_id: Option<String>,
    /// Up to 20 times that the participant would prefer. They are information for the organizer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 20)]
    pub counter_slots: Option<Vec<OfferedCounterSlot>>,
    /// A message to the organizer, at most 2,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub message: Option<String>,
    /// The participant's calendar for its event, `cal_…`, if the proposal has the placement `all`. Required if the agent
    /// has several calendars and does not decline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar_id: Option<String>,
}

/// A time that a participant would prefer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedCounterSlot {
    /// The start. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// The end, exclusive. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub end_time: String,
}
