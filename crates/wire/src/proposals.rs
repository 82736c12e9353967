//! Proposals.

use std::borrow::Cow;

use kalends_kernel::{
    AgentId, CalendarId, Code, EventId, FieldError, FieldErrors, Metadata, Page, ProposalId, ResponseId, SlotId, Span,
    Timestamp, bounded_text, optional_text,
};
use kalends_proposals::{
    self as domain, COUNTER_SLOTS_MAX, CancelReason, DESCRIPTION_MAX, MESSAGE_MAX, NewResponse, PARTICIPANTS_MAX,
    ResponseKind, SLOTS_MAX, State, Status, TITLE_MAX, Weight,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::{
    agent::metadata,
    event::instant,
    schemas::{ProposalCancelReason, ProposalStatus, ResolutionReason, ResolutionStatus, ResponseName},
};

/// Under which name an event's metadata tells from which proposal it is.
pub const PROPOSAL_ID: &str = "proposal_id";

/// A proposal as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "spr_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Kick-off", "description": null,
    "organizer_agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "participant_agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "agt_01jn8r6v9ke0bt3m5qz2c7xwdk"],
    "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "status": "pending", "expires_at": "2026-03-03T10:00:00Z",
    "hold_slots": false, "skip_taken": false, "resolved_slot_id": null, "created_event_id": null, "reason": null,
    "metadata": {}, "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct ProposalSummary {
    /// `spr_…`
    #[schema(value_type = String)]
    pub id: ProposalId,
    /// Also the event's.
    pub title: String,
    /// Also the event's.
    pub description: Option<String>,
    /// Whose proposal it is.
    #[schema(value_type = String)]
    pub organizer_agent_id: AgentId,
    /// Who is asked.
    #[schema(value_type = Vec<String>)]
    pub participant_agent_ids: Vec<AgentId>,
    /// Where the event is to stand, unless its slot says otherwise.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// `pending`, `confirmed`, `expired` or `cancelled`.
    #[schema(value_type = ProposalStatus)]
    pub status: Cow<'static, str>,
    /// When it expires, or did, unless it was settled before.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Whether its slots are kept free while it is pending.
    pub hold_slots: bool,
    /// Whether resolving passes over slots that are taken.
    pub skip_taken: bool,
    /// The slot that won; null unless it is confirmed.
    #[schema(value_type = Option<String>)]
    pub resolved_slot_id: Option<SlotId>,
    /// The event that the slot became; null unless it is confirmed.
    #[schema(value_type = Option<String>)]
    pub created_event_id: Option<EventId>,
    /// `all_declined` or `organizer_cancelled`; null unless it is cancelled.
    #[schema(value_type = Option<ProposalCancelReason>)]
    pub reason: Option<Cow<'static, str>>,
    /// The caller's own data.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl ProposalSummary {
    /// The proposal as it is at `now`.
    pub fn of(proposal: &domain::Proposal, now: Timestamp) -> Self {
        let state = proposal.state_at(now);
        let (won, reason) = state.details();
        let (resolved_slot_id, created_event_id) = won.unzip();
        Self {
            id: proposal.id,
            title: proposal.title.clone(),
            description: proposal.description.clone(),
            organizer_agent_id: proposal.organizer,
            participant_agent_ids: proposal.participants.clone(),
            calendar_id: proposal.calendar,
            status: state.status().as_str().into(),
            expires_at: proposal.expires_at,
            hold_slots: proposal.hold_slots,
            skip_taken: proposal.skip_taken,
            resolved_slot_id,
            created_event_id,
            reason: reason.map(|reason| reason.as_str().into()),
            metadata: proposal.metadata.as_map().clone(),
            created_at: proposal.created_at,
            updated_at: proposal.updated_at,
        }
    }
}

/// A proposal with its slots and what participants said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "spr_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Kick-off", "description": null,
    "organizer_agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "participant_agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "agt_01jn8r6v9ke0bt3m5qz2c7xwdk"],
    "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "status": "pending", "expires_at": "2026-03-03T10:00:00Z",
    "hold_slots": false, "skip_taken": false, "resolved_slot_id": null, "created_event_id": null, "reason": null,
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
    /// What lists show.
    #[serde(flatten)]
    pub summary: ProposalSummary,
    /// The times that are offered, in the order given.
    pub slots: Vec<ProposalSlot>,
    /// What participants have said, in that order.
    pub responses: Vec<ProposalResponse>,
}

impl Proposal {
    /// The proposal as it is at `now`.
    pub fn of(proposal: &domain::Proposal, now: Timestamp) -> Self {
        Self {
            summary: ProposalSummary::of(proposal, now),
            slots: proposal.slots.iter().map(ProposalSlot::from).collect(),
            responses: proposal.responses.iter().map(ProposalResponse::from).collect(),
        }
    }
}

/// A time that a proposal offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProposalSlot {
    /// `slt_…`
    #[schema(value_type = String)]
    pub id: SlotId,
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
    /// How much the organizer likes it: 0 to 10.
    pub weight: f64,
    /// Where the event is to stand; null means the proposal's calendar.
    #[schema(value_type = Option<String>)]
    pub calendar_id: Option<CalendarId>,
}

impl From<&domain::Slot> for ProposalSlot {
    fn from(slot: &domain::Slot) -> Self {
        Self {
            id: slot.id,
            start_time: slot.span.start(),
            end_time: slot.span.end(),
            weight: slot.weight.as_f64(),
            calendar_id: slot.calendar,
        }
    }
}

/// What a participant said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalResponse {
    /// `rsp_…`
    #[schema(value_type = String)]
    pub id: ResponseId,
    /// Who said it.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// `accept`, `decline` or `counter`.
    #[schema(value_type = ResponseName)]
    pub response: Cow<'static, str>,
    /// The slot in question.
    #[schema(value_type = Option<String>)]
    pub selected_slot_id: Option<SlotId>,
    /// Times that would be better.
    pub counter_slots: Vec<CounterSlot>,
    /// Words for the organizer.
    pub message: Option<String>,
    /// When it was said.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<&domain::Response> for ProposalResponse {
    fn from(response: &domain::Response) -> Self {
        Self {
            id: response.id,
            agent_id: response.agent,
            response: response.kind.as_str().into(),
            selected_slot_id: response.selected,
            counter_slots: response.counter_slots.iter().map(CounterSlot::from).collect(),
            message: response.message.clone(),
            created_at: response.created_at,
        }
    }
}

/// A time that a participant would like better.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CounterSlot {
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
}

impl From<&Span> for CounterSlot {
    fn from(span: &Span) -> Self {
        Self { start_time: span.start(), end_time: span.end() }
    }
}

/// What resolving or cancelling a proposal came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "status": "confirmed",
    "resolved_slot": {
        "id": "slt_01jn8r6v9ke0bt3m5qz2c7xwdm", "start_time": "2026-03-03T10:00:00Z", "end_time": "2026-03-03T10:30:00Z",
        "weight": 1.0, "calendar_id": null
    },
    "created_event_id": "evt_01jn8r8f4h3gyqz7s9c1b5wnkd"
}))]
pub struct Resolution {
    /// `confirmed` or `cancelled`.
    #[schema(value_type = ResolutionStatus)]
    pub status: Cow<'static, str>,
    /// The slot that won; only where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub resolved_slot: Option<ProposalSlot>,
    /// The event that it became; only where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub created_event_id: Option<EventId>,
    /// `all_declined`; only where whoever responded declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ResolutionReason>, nullable = false)]
    pub reason: Option<Cow<'static, str>>,
}

impl Resolution {
    /// A slot won.
    pub fn confirmed(proposal: &domain::Proposal, slot: &domain::Slot) -> Self {
        Self {
            status: Status::Confirmed.as_str().into(),
            resolved_slot: Some(slot.into()),
            created_event_id: created_event(proposal),
            reason: None,
        }
    }

    /// Whoever responded declined.
    pub fn all_declined() -> Self {
        Self { reason: Some(CancelReason::AllDeclined.as_str().into()), ..Self::cancelled() }
    }

    /// The organizer gave it up.
    pub fn cancelled() -> Self {
        Self { status: Status::Cancelled.as_str().into(), resolved_slot: None, created_event_id: None, reason: None }
    }
}

fn created_event(proposal: &domain::Proposal) -> Option<EventId> {
    match proposal.state {
        State::Confirmed { event, .. } => Some(event),
        State::Pending | State::Cancelled(_) | State::Expired => None,
    }
}

/// The payload of `proposal.responded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalResponded {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// Who responded.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// `accept`, `decline` or `counter`.
    #[schema(value_type = ResponseName)]
    pub response: Cow<'static, str>,
}

impl ProposalResponded {
    /// That of a response.
    pub fn of(proposal: &domain::Proposal, response: &domain::Response) -> Self {
        Self { proposal_id: proposal.id, agent_id: response.agent, response: response.kind.as_str().into() }
    }
}

/// The payload of `proposal.confirmed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProposalConfirmed {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// The slot that won.
    pub resolved_slot: ProposalSlot,
    /// The event that it became.
    #[schema(value_type = Option<String>)]
    pub created_event_id: Option<EventId>,
}

impl ProposalConfirmed {
    /// That of a proposal which `slot` won.
    pub fn of(proposal: &domain::Proposal, slot: &domain::Slot) -> Self {
        Self { proposal_id: proposal.id, resolved_slot: slot.into(), created_event_id: created_event(proposal) }
    }
}

/// The payload of `proposal.cancelled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalCancelled {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
    /// `organizer_cancelled` or `all_declined`.
    #[schema(value_type = ProposalCancelReason)]
    pub reason: Cow<'static, str>,
}

impl ProposalCancelled {
    /// That of a proposal.
    pub fn of(proposal: &domain::Proposal, reason: CancelReason) -> Self {
        Self { proposal_id: proposal.id, reason: reason.as_str().into() }
    }
}

/// The payload of `proposal.expired`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalExpired {
    /// The proposal.
    #[schema(value_type = String)]
    pub proposal_id: ProposalId,
}

/// What is needed to offer agents some times.
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
    /// 1-500 characters: also the event's.
    #[schema(min_length = 1, max_length = 500)]
    pub title: String,
    /// Free text of at most 5,000 characters: also the event's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 5000)]
    pub description: Option<String>,
    /// Whose proposal it is, `agt_…`.
    pub organizer_agent_id: String,
    /// Who is asked: 1-50 agents, each once. The organizer may be one of them.
    #[schema(min_items = 1, max_items = 50)]
    pub participant_agent_ids: Vec<String>,
    /// Where the event is to stand, `cal_…`.
    pub calendar_id: String,
    /// The times that are offered: 1-20.
    #[schema(min_items = 1, max_items = 20)]
    pub slots: Vec<OfferedSlot>,
    /// When the proposal expires, RFC 3339 with an offset; by default when the last slot starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Keeps the slots free while the proposal is pending: others find them taken.
    #[serde(default)]
    pub hold_slots: bool,
    /// Passes over slots that are taken by the time it is resolved.
    #[serde(default)]
    pub skip_taken: bool,
    /// Your own data, at most 16 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// A time that is to be offered.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedSlot {
    /// RFC 3339 with an offset, in the future.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// RFC 3339 with an offset. Exclusive.
    #[schema(format = DateTime)]
    pub end_time: String,
    /// How much you like it: 0 to 10, 1 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10)]
    pub weight: Option<f64>,
    /// Where the event is to stand, if not on the proposal's calendar, `cal_…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar_id: Option<String>,
}

/// A checked wish for a proposal, its identifiers as written.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedProposal {
    /// 1-500 characters.
    pub title: String,
    /// Free text.
    pub description: Option<String>,
    /// Whose proposal it is.
    pub organizer: String,
    /// Who is asked.
    pub participants: Vec<String>,
    /// Where the event is to stand.
    pub calendar: String,
    /// The times that are offered.
    pub slots: Vec<WantedSlot>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// Whether its slots are kept free.
    pub hold_slots: bool,
    /// Whether resolving passes over what is taken.
    pub skip_taken: bool,
    /// The caller's own data.
    pub metadata: Metadata,
}

/// A checked time that is to be offered.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedSlot {
    /// When.
    pub span: Span,
    /// How much the organizer likes it.
    pub weight: Weight,
    /// Where the event is to stand.
    pub calendar: Option<String>,
}

impl CreateProposal {
    /// Checks every field that can be checked without the clock and the store.
    ///
    /// # Errors
    /// All fields at fault.
    pub fn parse(self) -> Result<WantedProposal, FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.take(bounded_text("title", &self.title, 1, TITLE_MAX));
        let description = errors.take(optional_text("description", self.description.as_deref(), DESCRIPTION_MAX));
        let participants = errors.take(participants(self.participant_agent_ids));
        let slots = errors.take_all(slots(self.slots));
        let expires_at = errors.take(self.expires_at.as_deref().map(|text| instant("expires_at", text)).transpose());
        let metadata = errors.take(metadata(self.metadata));
        match (title, description, participants, slots, expires_at, metadata) {
            (Some(title), Some(description), Some(participants), Some(slots), Some(expires_at), Some(metadata)) => {
                Ok(WantedProposal {
                    title,
                    description,
                    organizer: self.organizer_agent_id,
                    participants,
                    calendar: self.calendar_id,
                    slots,
                    expires_at,
                    hold_slots: self.hold_slots,
                    skip_taken: self.skip_taken,
                    metadata,
                })
            }
            _ => Err(errors),
        }
    }
}

/// As many as may be looked up, and each once: an identifier has one written form, so that comparing the text compares
/// the agent.
fn participants(ids: Vec<String>) -> Result<Vec<String>, FieldError> {
    if !(1..=PARTICIPANTS_MAX).contains(&ids.len()) {
        let message = format!("must name 1 to {PARTICIPANTS_MAX} agents, got {}", ids.len());
        return Err(FieldError::new("participant_agent_ids", message));
    }
    let repeated = ids.iter().enumerate().find(|(index, id)| ids.iter().take(*index).any(|earlier| earlier == *id));
    match repeated {
        Some((index, _)) => {
            Err(FieldError::new(format!("participant_agent_ids[{index}]"), "names an agent for a second time"))
        }
        None => Ok(ids),
    }
}

fn slots(slots: Vec<OfferedSlot>) -> Result<Vec<WantedSlot>, FieldErrors> {
    if !(1..=SLOTS_MAX).contains(&slots.len()) {
        return Err(FieldError::new("slots", format!("must hold 1 to {SLOTS_MAX} slots, got {}", slots.len())).into());
    }
    let mut errors = FieldErrors::default();
    let mut wanted = Vec::with_capacity(slots.len());
    for (index, slot) in slots.into_iter().enumerate() {
        let name = |field: &str| format!("slots[{index}].{field}");
        let span = span(name, (&slot.start_time, &slot.end_time), &mut errors);
        let weight = errors.take(slot.weight.map_or(Ok(Weight::ONE), |number| Weight::parse(&name("weight"), number)));
        if let (Some(span), Some(weight)) = (span, weight) {
            wanted.push(WantedSlot { span, weight, calendar: slot.calendar_id });
        }
    }
    errors.finish()?;
    Ok(wanted)
}

/// The time from one text to the other, whose fields `name` names.
fn span(name: impl Fn(&str) -> String, (start, end): (&str, &str), errors: &mut FieldErrors) -> Option<Span> {
    let start = errors.take(instant(&name("start_time"), start));
    let end = errors.take(instant(&name("end_time"), end));
    let span = Span::new(start?, end?);
    errors.take(
        span.map_err(|error| FieldError::new(name("end_time"), error.to_string()).with_code(Code::EndBeforeStart)),
    )
}

/// Which proposals a list holds.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListProposals {
    /// Only those of this status.
    #[param(value_type = Option<ProposalStatus>)]
    pub status: Option<String>,
    /// Only those that this agent organizes, `agt_…`.
    pub organizer_agent_id: Option<String>,
    /// How many, 1-200; 50 by default.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<i64>,
    /// How many to pass over.
    #[param(minimum = 0)]
    pub offset: Option<i64>,
}

/// A checked question for proposals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedProposals {
    /// Only those of this status.
    pub status: Option<Status>,
    /// Only those that this agent organizes.
    pub organizer: Option<String>,
}

impl ListProposals {
    /// Checks every parameter.
    ///
    /// # Errors
    /// All parameters at fault.
    pub fn parse(self) -> Result<(WantedProposals, Page), FieldErrors> {
        let mut errors = FieldErrors::default();
        let status = self.status.map(|name| {
            Status::from_name(&name).ok_or_else(|| {
                let message = format!("must be pending, confirmed, expired or cancelled, got {name:?}");
                FieldError::new("status", message)
            })
        });
        let status = errors.take(status.transpose());
        let page = errors.take_all(Page::parse(self.limit, self.offset));
        match (status, page) {
            (Some(status), Some(page)) => Ok((WantedProposals { status, organizer: self.organizer_agent_id }, page)),
            _ => Err(errors),
        }
    }
}

/// What a participant says.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdj", "response": "accept",
    "selected_slot_id": "slt_01jn8r6v9ke0bt3m5qz2c7xwdm"
}))]
pub struct RespondToProposal {
    /// The participant, `agt_…`.
    pub agent_id: String,
    /// `accept` a slot, `decline` all of them, or `counter` with other times.
    #[schema(value_type = ResponseName)]
    pub response: String,
    /// The slot in question, `slt_…`; required to accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_slot_id: Option<String>,
    /// Up to 20 times that would be better, for the organizer to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 20)]
    pub counter_slots: Option<Vec<OfferedCounterSlot>>,
    /// At most 2,000 characters for the organizer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub message: Option<String>,
}

/// A time that a participant would like better.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedCounterSlot {
    /// RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// RFC 3339 with an offset. Exclusive.
    #[schema(format = DateTime)]
    pub end_time: String,
}

impl RespondToProposal {
    /// Checks every field that can be checked without the proposal, and tells who responds.
    ///
    /// # Errors
    /// All fields at fault.
    pub fn parse(self) -> Result<(String, NewResponse), FieldErrors> {
        let mut errors = FieldErrors::default();
        let kind = errors.take(ResponseKind::from_name(&self.response).ok_or_else(|| {
            FieldError::new("response", format!("must be accept, decline or counter, got {:?}", self.response))
        }));
        // No other text is a slot of any proposal.
        let selected = self.selected_slot_id.as_deref().map(|id| {
            id.parse().map_err(|_| FieldError::new("selected_slot_id", "must be a slot of this proposal (slt_…)"))
        });
        let mut selected = errors.take(selected.transpose());
        if kind == Some(ResponseKind::Accept) && selected == Some(None) {
            errors.push(FieldError::new("selected_slot_id", "is required to accept: a slot of this proposal"));
            selected = None;
        }
        let counter_slots = errors.take_all(counter_slots(self.counter_slots.as_deref().unwrap_or_default()));
        let message = errors.take(optional_text("message", self.message.as_deref(), MESSAGE_MAX));
        match (kind, selected, counter_slots, message) {
            (Some(kind), Some(selected), Some(counter_slots), Some(message)) => {
                Ok((self.agent_id, NewResponse { kind, selected, counter_slots, message }))
            }
            _ => Err(errors),
        }
    }
}

fn counter_slots(slots: &[OfferedCounterSlot]) -> Result<Vec<Span>, FieldErrors> {
    if slots.len() > COUNTER_SLOTS_MAX {
        let message = format!("must hold at most {COUNTER_SLOTS_MAX} slots, got {}", slots.len());
        return Err(FieldError::new("counter_slots", message).into());
    }
    let mut errors = FieldErrors::default();
    let mut spans = Vec::with_capacity(slots.len());
    for (index, slot) in slots.iter().enumerate() {
        let name = |field: &str| format!("counter_slots[{index}].{field}");
        spans.extend(span(name, (&slot.start_time, &slot.end_time), &mut errors));
    }
    errors.finish()?;
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn wanted(changed: &Value) -> Result<WantedProposal, FieldErrors> {
        let mut body = json!({
            "title": "Kick-off", "organizer_agent_id": "agt_a", "participant_agent_ids": ["agt_b"],
            "calendar_id": "cal_a", "slots": [{ "start_time": "2026-03-03T10:00:00Z", "end_time": "2026-03-03T11:00:00Z" }]
        });
        body.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        serde_json::from_value::<CreateProposal>(body).unwrap().parse()
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let wanted = wanted(&json!({})).unwrap();
        assert_eq!((wanted.hold_slots, wanted.skip_taken, wanted.expires_at), (false, false, None));
        assert_eq!((wanted.slots[0].weight, &wanted.slots[0].calendar), (Weight::ONE, &None));
    }

    #[rstest]
    #[case(json!({ "title": "" }), &["title"])]
    #[case(json!({ "title": "x".repeat(501), "description": "x".repeat(5001) }), &["title", "description"])]
    #[case(json!({ "participant_agent_ids": [] }), &["participant_agent_ids"])]
    #[case(json!({ "participant_agent_ids": ["agt_b", "agt_c", "agt_b"] }), &["participant_agent_ids[2]"])]
    #[case(json!({ "slots": [] }), &["slots"])]
    #[case(json!({ "slots": [{ "start_time": "tomorrow", "end_time": "2026-03-03T11:00:00" }] }),
        &["slots[0].start_time", "slots[0].end_time"])]
    #[case(json!({ "slots": [{ "start_time": "2026-03-03T11:00:00Z", "end_time": "2026-03-03T11:00:00Z", "weight": 11 }] }),
        &["slots[0].end_time", "slots[0].weight"])]
    #[case(json!({ "expires_at": "2026-03-03" }), &["expires_at"])]
    #[case(json!({ "metadata": [] }), &["metadata"])]
    fn fields_at_fault_are_named(#[case] changed: Value, #[case] params: &[&str]) {
        let errors = wanted(&changed).unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
    }

    #[rstest]
    #[case(json!({ "response": "maybe" }), &["response"])]
    #[case(json!({ "response": "accept" }), &["selected_slot_id"])]
    #[case(json!({ "response": "accept", "selected_slot_id": "the first" }), &["selected_slot_id"])]
    #[case(json!({ "response": "decline", "message": "x".repeat(2001) }), &["message"])]
    #[case(json!({ "response": "counter", "counter_slots": vec![json!({ "start_time": "", "end_time": "" }); 21] }),
        &["counter_slots"])]
    #[case(json!({ "response": "counter", "counter_slots": [{ "start_time": "2026-03-03T11:00:00Z", "end_time": "x" }] }),
        &["counter_slots[0].end_time"])]
    fn a_response_at_fault_is_told_why(#[case] mut body: Value, #[case] params: &[&str]) {
        body["agent_id"] = json!("agt_b");
        let errors = serde_json::from_value::<RespondToProposal>(body).unwrap().parse().unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
    }
}
