//! The payload of each type of webhook message.

use kalends_notifications::EventType;
use utoipa::ToSchema;

use crate::{
    Agent, Approval, AttendeeResponded, ConnectionNeedsAttention, EndedHold, Event, Proposal, ProposalCancelled,
    ProposalConfirmed, ProposalExpired, ProposalResponded, Webhook, WebhookDeactivated,
};

/// The name of the schema for the payload of messages of this type.
pub fn payload_of(event_type: EventType) -> String {
    match event_type {
        EventType::EventCreated
        | EventType::EventUpdated
        | EventType::EventDeleted
        | EventType::EventReminder
        | EventType::EventStarted
        | EventType::EventEnded
        | EventType::EventHoldCreated
        | EventType::EventHoldConfirmed
        | EventType::EventHoldReleased => Event::name(),
        EventType::EventHoldExpired => EndedHold::name(),
        EventType::EventAttendeeResponded => AttendeeResponded::name(),
        EventType::AgentCreated | EventType::AgentUpdated => Agent::name(),
        EventType::ProposalCreated => Proposal::name(),
        EventType::ProposalResponded => ProposalResponded::name(),
        EventType::ProposalConfirmed => ProposalConfirmed::name(),
        EventType::ProposalCancelled => ProposalCancelled::name(),
        EventType::ProposalExpired => ProposalExpired::name(),
        EventType::ApprovalRequested | EventType::ApprovalDecided => Approval::name(),
        EventType::ConnectionNeedsAttention => ConnectionNeedsAttention::name(),
        EventType::WebhookDeactivated => WebhookDeactivated::name(),
        EventType::WebhookTest => Webhook::name(),
    }
    .into_owned()
}
