//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_kernel::{EventId, FieldError, FieldErrors, Metadata, Page, bounded_text, optional_text};
use kalends_proposals::{
    self as domain, COUNTER_SLOTS_MAX, CancelReason, DESCRIPTION_MAX, MESSAGE_MAX, NewResponse, PARTICIPANTS_MAX,
    Placement, ProposalError, ResponseKind, SLOTS_MAX, State, Status, TITLE_MAX, Weight,
};
use kalends_time::{Span, Timestamp};

use super::{
    CounterSlot, CreateProposal, CreatedEvent, ListProposals, OfferedCounterSlot, OfferedSlot, Proposal,
    ProposalCancelled, ProposalConfirmed, ProposalResponded, ProposalResponse, ProposalSlot, ProposalSummary,
    Resolution, RespondToProposal,
};
use crate::{
    Notice,
    fields::{instant, metadata, span},
};

/// The key in an event's metadata that contains the identifier of its proposal.
pub const PROPOSAL_ID: &str = "proposal_id";

impl ProposalSummary {
    /// Builds the proposal as it is at `now`.
    pub fn of(proposal: &domain::Proposal, now: Timestamp) -> Self {
        let state = proposal.state_at(now);
        let (won, reason) = state.details();
        let (resolved_slot_id, created_event_id) = won.unzip();
        Self {
            id: proposal.id(),
            title: proposal.title().to_owned(),
            description: proposal.description().map(str::to_owned),
            organizer_agent_id: proposal.organizer(),
            participant_agent_ids: proposal.participants().to_vec(),
            calendar_id: proposal.calendar(),
            status: state.status().as_str().into(),
            expires_at: proposal.expires_at(),
            hold_slots: proposal.hold_slots(),
            skip_taken: proposal.skip_taken(),
            min_accepts: proposal.min_accepts(),
            placement: proposal.placement().as_str().into(),
            resolved_slot_id,
            created_event_id,
            created_events: created_events(proposal),
            reason: reason.map(|reason| reason.as_str().into()),
            metadata: proposal.metadata().as_map().clone(),
            created_at: proposal.created_at(),
            updated_at: proposal.updated_at(),
        }
    }
}

impl Proposal {
    /// Builds the proposal as it is at `now`.
    pub fn of(proposal: &domain::Proposal, now: Timestamp) -> Self {
        Self {
            summary: ProposalSummary::of(proposal, now),
            slots: proposal.slots().iter().map(ProposalSlot::from).collect(),
            responses: proposal.responses().iter().map(ProposalResponse::from).collect(),
            notices: notices(proposal, now),
        }
    }
}

/// Why an answered proposal is pending, and which participants get no event for lack of a calendar.
fn notices(proposal: &domain::Proposal, now: Timestamp) -> Vec<Notice> {
    let notice = |code: &'static str, message| Notice { code: code.into(), message };
    let pending = proposal.state_at(now) == State::Pending;
    let mut notices = Vec::new();
    if pending && proposal.is_answered() {
        match proposal.verdict(now) {
            Err(error @ ProposalError::TooFewAccepts(_)) => {
                notices.push(notice("too_few_accepts", error.to_string()));
            }
            Err(error @ ProposalError::NoSlotLeft) => notices.push(notice("no_slot_left", error.to_string())),
            // Otherwise the last response would have confirmed one.
            Ok(domain::Verdict::Ranked(_)) => {
                let message = "no slot could be used at the last response, because each was taken or its calendar deleted; \
                               free a slot and resolve the proposal, or cancel it";
                notices.push(notice("slot_taken", message.to_owned()));
            }
            _ => {}
        }
    }
    if pending || matches!(proposal.state(), State::Confirmed { .. }) {
        let has_event = |agent| proposal.participant_events().iter().any(|created| created.agent == agent);
        let responded_without = proposal.responses().iter().filter(|response| response.calendar().is_none());
        for agent in responded_without.map(domain::Response::agent).filter(|agent| !has_event(*agent)) {
            if proposal.invited().any(|invited| invited == agent) {
                let what = if pending {
                    "named no calendar; it gets an event only if it has exactly one when the proposal is resolved"
                } else {
                    "got no event, because it named no calendar and did not have exactly one"
                };
                notices.push(notice("no_calendar", format!("{agent} {what}")));
            }
        }
    }
    notices
}

impl From<&domain::Slot> for ProposalSlot {
    fn from(slot: &domain::Slot) -> Self {
        Self {
            id: slot.id(),
            start_time: slot.span().start(),
            end_time: slot.span().end(),
            weight: slot.weight().as_f64(),
            calendar_id: slot.calendar(),
        }
    }
}

impl From<&domain::Response> for ProposalResponse {
    fn from(response: &domain::Response) -> Self {
        Self {
            id: response.id(),
            agent_id: response.agent(),
            response: response.kind().as_str().into(),
            selected_slot_id: response.selected(),
            counter_slots: response.counter_slots().iter().map(CounterSlot::from).collect(),
            message: response.message().map(str::to_owned),
            calendar_id: response.calendar(),
            created_at: response.created_at(),
        }
    }
}

impl From<&Span> for CounterSlot {
    fn from(span: &Span) -> Self {
        Self { start_time: span.start(), end_time: span.end() }
    }
}

impl Resolution {
    /// The outcome if a slot won.
    pub fn confirmed(proposal: &domain::Proposal, slot: &domain::Slot) -> Self {
        Self {
            status: Status::Confirmed.as_str().into(),
            resolved_slot: Some(slot.into()),
            created_event_id: created_event(proposal),
            created_events: created_events(proposal),
            reason: None,
        }
    }

    /// The outcome if everyone who responded declined.
    pub fn all_declined() -> Self {
        Self { reason: Some(CancelReason::AllDeclined.as_str().into()), ..Self::cancelled() }
    }

    /// The outcome if the organizer cancelled the proposal.
    pub fn cancelled() -> Self {
        Self {
            status: Status::Cancelled.as_str().into(),
            resolved_slot: None,
            created_event_id: None,
            created_events: Vec::new(),
            reason: None,
        }
    }
}

fn created_event(proposal: &domain::Proposal) -> Option<EventId> {
    match proposal.state() {
        State::Confirmed { event, .. } => Some(event),
        State::Pending | State::Cancelled(_) | State::Expired => None,
    }
}

/// The organizer's event, then those of participants.
fn created_events(proposal: &domain::Proposal) -> Vec<CreatedEvent> {
    let organizers =
        created_event(proposal).map(|event| CreatedEvent { agent_id: proposal.organizer(), event_id: event });
    let others = proposal.participant_events().iter();
    let others = others.map(|created| CreatedEvent { agent_id: created.agent, event_id: created.event });
    organizers.into_iter().chain(others).collect()
}

impl ProposalResponded {
    /// Builds the payload for a response.
    pub fn of(proposal: &domain::Proposal, response: &domain::Response) -> Self {
        Self { proposal_id: proposal.id(), agent_id: response.agent(), response: response.kind().as_str().into() }
    }
}

impl ProposalConfirmed {
    /// Builds the payload for a proposal that `slot` won.
    pub fn of(proposal: &domain::Proposal, slot: &domain::Slot) -> Self {
        Self {
            proposal_id: proposal.id(),
            resolved_slot: slot.into(),
            created_event_id: created_event(proposal),
            created_events: created_events(proposal),
        }
    }
}

impl ProposalCancelled {
    /// Builds the payload for a cancelled proposal.
    pub fn of(proposal: &domain::Proposal, reason: CancelReason) -> Self {
        Self { proposal_id: proposal.id(), reason: reason.as_str().into() }
    }
}

/// A checked request for a proposal, with identifiers as written.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedProposal {
    /// The title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
    /// The agent that organizes the proposal.
    pub organizer: String,
    /// The agents to ask.
    pub participants: Vec<String>,
    /// The calendar on which the event is created.
    pub calendar: String,
    /// The slots to offer.
    pub slots: Vec<WantedSlot>,
    /// When the proposal expires.
    pub expires_at: Option<Timestamp>,
    /// Whether the slots are reserved.
    pub hold_slots: bool,
    /// Whether resolving the proposal skips taken slots.
    pub skip_taken: bool,
    /// How many responses must accept a slot before it can be confirmed.
    pub min_accepts: u32,
    /// Who gets an event when a slot is confirmed.
    pub placement: Placement,
    /// The caller's own data.
    pub metadata: Metadata,
}

/// A checked slot to offer.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedSlot {
    /// The time of the slot.
    pub span: Span,
    /// The organizer's preference.
    pub weight: Weight,
    /// The calendar on which the event is created, if not the proposal's.
    pub calendar: Option<String>,
}

impl CreateProposal {
    /// Checks every field that can be checked without the clock and the store.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<WantedProposal, FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.take(bounded_text("title", &self.title, 1, TITLE_MAX));
        let description = errors.take(optional_text("description", self.description.as_deref(), DESCRIPTION_MAX));
        let participants = errors.take(participants(self.participant_agent_ids));
        let slots = errors.take_all(slots(self.slots));
        let expires_at = errors.take(self.expires_at.as_deref().map(|text| instant("expires_at", text)).transpose());
        let min_accepts = errors.take(min_accepts(self.min_accepts));
        let placement = errors.take(placement(self.placement.as_deref()));
        let metadata = errors.take(metadata(self.metadata));
        let texts = title.zip(description).zip(metadata);
        match (texts, participants.zip(slots), expires_at, min_accepts.zip(placement)) {
            (
                Some(((title, description), metadata)),
                Some((participants, slots)),
                Some(expires_at),
                Some((min_accepts, placement)),
            ) => Ok(WantedProposal {
                title,
                description,
                organizer: self.organizer_agent_id,
                participants,
                calendar: self.calendar_id,
                slots,
                expires_at,
                hold_slots: self.hold_slots,
                skip_taken: self.skip_taken,
                min_accepts,
                placement,
                metadata,
            }),
            _ => Err(errors),
        }
    }
}

/// At most as many acceptances as there can be participants. The proposal checks how many there are.
fn min_accepts(number: Option<i64>) -> Result<u32, FieldError> {
    let number = number.unwrap_or_default();
    let accepts = u32::try_from(number).ok().filter(|accepts| *accepts as usize <= PARTICIPANTS_MAX);
    accepts.ok_or_else(|| {
        let message = format!("must be 0 to the number of participants, at most {PARTICIPANTS_MAX}, got {number}");
        FieldError::new("min_accepts", message)
    })
}

fn placement(name: Option<&str>) -> Result<Placement, FieldError> {
    name.map_or(Ok(Placement::default()), |name| {
        let message = || format!("must be organizer or all, got {name:?}");
        Placement::from_name(name).ok_or_else(|| FieldError::new("placement", message()))
    })
}

/// Checks that there are not too many participants to look up, and no duplicates. An identifier has only one written
/// form, so equal texts mean equal agents.
fn participants(ids: Vec<String>) -> Result<Vec<String>, FieldError> {
    if !(1..=PARTICIPANTS_MAX).contains(&ids.len()) {
        let message = format!("must name 1 to {PARTICIPANTS_MAX} agents, got {}", ids.len());
        return Err(FieldError::new("participant_agent_ids", message));
    }
    let repeated = ids.iter().enumerate().find(|(index, id)| ids.iter().take(*index).any(|earlier| earlier == *id));
    match repeated {
        Some((index, _)) => Err(FieldError::new(format!("participant_agent_ids[{index}]"), "repeats an agent")),
        None => Ok(ids),
    }
}

fn slots(slots: Vec<OfferedSlot>) -> Result<Vec<WantedSlot>, FieldErrors> {
    if !(1..=SLOTS_MAX).contains(&slots.len()) {
        return Err(
            FieldError::new("slots", format!("must contain 1 to {SLOTS_MAX} slots, got {}", slots.len())).into()
        );
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

/// A checked query for proposals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedProposals {
    /// Only proposals with this status.
    pub status: Option<Status>,
    /// Only proposals that this agent organizes.
    pub organizer: Option<String>,
}

impl ListProposals {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Lists every invalid parameter.
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

/// A checked response, with identifiers as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedResponse {
    /// The participant that responds.
    pub agent: String,
    /// The calendar for its event.
    pub calendar: Option<String>,
    /// The response, without its calendar.
    pub response: NewResponse,
}

impl RespondToProposal {
    /// Checks every field that can be checked without the proposal and the store.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<WantedResponse, FieldErrors> {
        let mut errors = FieldErrors::default();
        let kind = errors.take(ResponseKind::from_name(&self.response).ok_or_else(|| {
            FieldError::new("response", format!("must be accept, decline or counter, got {:?}", self.response))
        }));
        // Any other text is not a slot of this proposal.
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
                let response = NewResponse::new(kind, selected).with_counter_slots(counter_slots).with_message(message);
                Ok(WantedResponse { agent: self.agent_id, calendar: self.calendar_id, response })
            }
            _ => Err(errors),
        }
    }
}

fn counter_slots(slots: &[OfferedCounterSlot]) -> Result<Vec<Span>, FieldErrors> {
    if slots.len() > COUNTER_SLOTS_MAX {
        let message = format!("must contain at most {COUNTER_SLOTS_MAX} slots, got {}", slots.len());
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
    use serde_json::{Value, json};

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
    fn fields_left_out_have_their_defaults() {
        let wanted = wanted(&json!({})).unwrap();
        assert_eq!((wanted.hold_slots, wanted.skip_taken, wanted.expires_at), (false, false, None));
        assert_eq!((wanted.min_accepts, wanted.placement), (0, Placement::Organizer));
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
    #[case(json!({ "min_accepts": -1, "placement": "everyone" }), &["min_accepts", "placement"])]
    #[case(json!({ "min_accepts": 51, "placement": "" }), &["min_accepts", "placement"])]
    fn every_invalid_field_is_named(#[case] changed: Value, #[case] params: &[&str]) {
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
    fn invalid_fields_of_a_response_are_named(#[case] mut body: Value, #[case] params: &[&str]) {
        body["agent_id"] = json!("agt_b");
        let errors = serde_json::from_value::<RespondToProposal>(body).unwrap().parse().unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
    }
}
