from enum import StrEnum


class EventName(StrEnum):
    AGENT_CREATED = "agent.created"
    AGENT_UPDATED = "agent.updated"
    APPROVAL_DECIDED = "approval.decided"
    APPROVAL_REQUESTED = "approval.requested"
    CONNECTION_NEEDS_ATTENTION = "connection.needs_attention"
    EVENT_ATTENDEE_RESPONDED = "event.attendee_responded"
    EVENT_CREATED = "event.created"
    EVENT_DELETED = "event.deleted"
    EVENT_ENDED = "event.ended"
    EVENT_HOLD_CONFIRMED = "event.hold_confirmed"
    EVENT_HOLD_CREATED = "event.hold_created"
    EVENT_HOLD_EXPIRED = "event.hold_expired"
    EVENT_HOLD_RELEASED = "event.hold_released"
    EVENT_REMINDER = "event.reminder"
    EVENT_STARTED = "event.started"
    EVENT_UPDATED = "event.updated"
    PROPOSAL_CANCELLED = "proposal.cancelled"
    PROPOSAL_CONFIRMED = "proposal.confirmed"
    PROPOSAL_CREATED = "proposal.created"
    PROPOSAL_EXPIRED = "proposal.expired"
    PROPOSAL_RESPONDED = "proposal.responded"
    VALUE_22 = "*"
    WEBHOOK_DEACTIVATED = "webhook.deactivated"

    def __str__(self) -> str:
        return str(self.value)
