//! The table of the causes of each event type, and the decisions that the table does not contain.

use kalends_kernel::WebhookId;

use crate::{EventType, Subscription};

/// The cause of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An operation of the API, by method and route template.
    Operation(&'static str, &'static str),
    /// Any write of a key that requires approval for it.
    WaitingWrite,
    /// Something that falls due.
    Due(Due),
}

/// The things that fall due without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Due {
    /// The reminder time of an event or occurrence.
    Reminder,
    /// The start of a confirmed event or occurrence.
    Start,
    /// The end of a confirmed event or occurrence.
    End,
    /// The expiry of a hold.
    HoldExpiry,
    /// The expiry of a proposal.
    ProposalExpiry,
    /// The expiry of a write that waits for approval.
    ApprovalExpiry,
    /// The refresh of a connection that ends with a lapse, or as one of many failures in a row.
    Refresh,
    /// A 410 from an endpoint, or five days of uninterrupted failures.
    EndpointFailure,
}

/// The body of a message: the resource as the REST API shows it, or an object of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Payload {
    /// An Event. After a booking, it has `booking_page_id`.
    Event,
    /// An Event with `reason`: `expired` or `preempted`.
    EventWithReason,
    /// `event_id`, `calendar_id`, `attendee`, `note`.
    AttendeeResponse,
    /// An Agent.
    Agent,
    /// A proposal's summary.
    Proposal,
    /// `proposal_id`, `agent_id`, `response`.
    ProposalResponse,
    /// `proposal_id`, `resolved_slot`, `created_event_id`.
    ProposalResolution,
    /// `proposal_id`, `reason`.
    ProposalCancellation,
    /// `proposal_id`.
    ProposalExpiry,
    /// An Approval, without its `result`.
    Approval,
    /// `connection_id`, `provider`, `status`.
    ConnectionAttention,
    /// A webhook endpoint with `reason`: `gone` or `failing`.
    WebhookWithReason,
    /// A webhook endpoint.
    Webhook,
}

const POST_EVENT: Cause = Cause::Operation("POST", "/v1/calendars/{cal_id}/events");
const POST_EVENTS: Cause = Cause::Operation("POST", "/v1/calendars/{cal_id}/events/batch");
const POST_HOLD_SET: Cause = Cause::Operation("POST", "/v1/hold-sets");
const PATCH_EVENT: Cause = Cause::Operation("PATCH", "/v1/events/{id}");
const PATCH_CALENDAR_EVENT: Cause = Cause::Operation("PATCH", "/v1/calendars/{cal_id}/events/{id}");
const MOVE_EVENT: Cause = Cause::Operation("POST", "/v1/events/{id}/move");
const POST_PROPOSAL: Cause = Cause::Operation("POST", "/v1/scheduling/proposals");
const RESPOND: Cause = Cause::Operation("POST", "/v1/scheduling/proposals/{id}/respond");
const RESOLVE: Cause = Cause::Operation("POST", "/v1/scheduling/proposals/{id}/resolve");
const UNDO: Cause = Cause::Operation("POST", "/v1/runs/{name}/undo");

impl EventType {
    /// The causes that emit the type. Deleting an agent or calendar emits nothing for its events, webhooks or other
    /// dependents. Events that a subscription imported emit nothing.
    pub const fn causes(self) -> &'static [Cause] {
        match self {
            // Confirming a proposal creates an event like any other, and an undo restores one that was deleted.
            Self::EventCreated => {
                &[POST_EVENT, POST_EVENTS, Cause::Operation("POST", "/book/{slug}"), RESPOND, RESOLVE, UNDO]
            }
            Self::EventUpdated => &[
                PATCH_CALENDAR_EVENT,
                PATCH_EVENT,
                MOVE_EVENT,
                // Deleting one occurrence of a series changes the series.
                Cause::Operation("DELETE", "/v1/calendars/{cal_id}/events/{id}"),
                Cause::Operation("DELETE", "/v1/events/{id}"),
                Cause::Operation("POST", "/book/{slug}/bookings/{token}/move"),
                UNDO,
            ],
            Self::EventDeleted => &[
                Cause::Operation("DELETE", "/v1/calendars/{cal_id}/events/{id}"),
                Cause::Operation("DELETE", "/v1/events/{id}"),
                Cause::Operation("POST", "/book/{slug}/bookings/{token}/cancel"),
                Cause::Operation("POST", "/v1/bookings/{id}/cancel"),
                UNDO,
            ],
            Self::EventReminder => &[Cause::Due(Due::Reminder)],
            Self::EventStarted => &[Cause::Due(Due::Start)],
            Self::EventEnded => &[Cause::Due(Due::End)],
            Self::EventHoldCreated => &[POST_EVENT, POST_HOLD_SET, UNDO],
            Self::EventHoldConfirmed => &[
                Cause::Operation("PUT", "/v1/events/{id}/confirm"),
                Cause::Operation("PUT", "/v1/hold-sets/{id}/confirm"),
            ],
            Self::EventHoldReleased => &[
                Cause::Operation("PUT", "/v1/events/{id}/release"),
                Cause::Operation("PUT", "/v1/hold-sets/{id}/release"),
            ],
            // Whatever takes time ends the holds that must give way: the weaker ones, and those that have expired.
            Self::EventHoldExpired => &[
                Cause::Due(Due::HoldExpiry),
                POST_EVENT,
                POST_HOLD_SET,
                PATCH_CALENDAR_EVENT,
                PATCH_EVENT,
                MOVE_EVENT,
                POST_PROPOSAL,
                RESPOND,
                RESOLVE,
                UNDO,
            ],
            Self::EventAttendeeResponded => &[Cause::Operation("POST", "/rsvp/{token}")],
            Self::AgentCreated => {
                &[Cause::Operation("POST", "/v1/agents"), Cause::Operation("POST", "/v1/agent/sign-up")]
            }
            Self::AgentUpdated => &[Cause::Operation("PATCH", "/v1/agents/{id}")],
            Self::ProposalCreated => &[POST_PROPOSAL],
            Self::ProposalResponded => &[RESPOND],
            Self::ProposalConfirmed => &[RESPOND, RESOLVE],
            Self::ProposalCancelled => {
                &[Cause::Operation("POST", "/v1/scheduling/proposals/{id}/cancel"), RESPOND, RESOLVE, UNDO]
            }
            Self::ProposalExpired => &[Cause::Due(Due::ProposalExpiry)],
            Self::ApprovalRequested => &[Cause::WaitingWrite],
            Self::ApprovalDecided => &[
                Cause::Operation("POST", "/v1/approvals/{id}/approve"),
                Cause::Operation("POST", "/v1/approvals/{id}/deny"),
                Cause::Operation("POST", "/v1/approvals/{id}/cancel"),
                Cause::Due(Due::ApprovalExpiry),
            ],
            Self::ConnectionNeedsAttention => &[Cause::Due(Due::Refresh)],
            Self::WebhookDeactivated => &[Cause::Due(Due::EndpointFailure)],
            Self::WebhookTest => &[Cause::Operation("POST", "/v1/webhooks/{id}/test")],
        }
    }

    /// The content of the body.
    pub const fn payload(self) -> Payload {
        match self {
            Self::EventCreated
            | Self::EventUpdated
            | Self::EventDeleted
            | Self::EventReminder
            | Self::EventStarted
            | Self::EventEnded
            | Self::EventHoldCreated
            | Self::EventHoldConfirmed
            | Self::EventHoldReleased => Payload::Event,
            Self::EventHoldExpired => Payload::EventWithReason,
            Self::EventAttendeeResponded => Payload::AttendeeResponse,
            Self::AgentCreated | Self::AgentUpdated => Payload::Agent,
            Self::ProposalCreated => Payload::Proposal,
            Self::ProposalResponded => Payload::ProposalResponse,
            Self::ProposalConfirmed => Payload::ProposalResolution,
            Self::ProposalCancelled => Payload::ProposalCancellation,
            Self::ProposalExpired => Payload::ProposalExpiry,
            Self::ApprovalRequested | Self::ApprovalDecided => Payload::Approval,
            Self::ConnectionNeedsAttention => Payload::ConnectionAttention,
            Self::WebhookDeactivated => Payload::WebhookWithReason,
            Self::WebhookTest => Payload::Webhook,
        }
    }

    /// The type that announces a change to an event of that sort; `None` if the change is not announced.
    pub const fn of_change(change: EventChange, sort: EventSort) -> Option<Self> {
        match (sort, change) {
            // Imported events belong to somebody else.
            (EventSort::Imported, _) => None,
            (EventSort::Plain, EventChange::Created) => Some(Self::EventCreated),
            (EventSort::Plain | EventSort::Hold, EventChange::Updated) => Some(Self::EventUpdated),
            (EventSort::Plain | EventSort::Hold, EventChange::Deleted) => Some(Self::EventDeleted),
            (EventSort::Hold, EventChange::Created) => Some(Self::EventHoldCreated),
            (EventSort::Hold, EventChange::Confirmed) => Some(Self::EventHoldConfirmed),
            (EventSort::Hold, EventChange::Released) => Some(Self::EventHoldReleased),
            (EventSort::Hold, EventChange::HoldEnded(_)) => Some(Self::EventHoldExpired),
            // An event that is not a hold cannot be confirmed, released or expired.
            (EventSort::Plain, EventChange::Confirmed | EventChange::Released | EventChange::HoldEnded(_)) => None,
        }
    }
}

/// The sort of an event before the change. A new event has its own sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventSort {
    /// A native event that is not a hold. This includes bookings.
    Plain,
    /// A hold.
    Hold,
    /// An event that was imported from a feed.
    Imported,
}

/// A change to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventChange {
    /// It was created.
    Created,
    /// It was changed in any other way.
    Updated,
    /// It was deleted.
    Deleted,
    /// A hold was confirmed.
    Confirmed,
    /// A hold was released.
    Released,
    /// A hold ended without being confirmed, released or deleted.
    HoldEnded(HoldEnd),
}

/// Why a hold ended without being confirmed, released or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HoldEnd {
    /// Its time ran out.
    Expired,
    /// A hold of a higher priority took its place.
    Preempted,
}

impl HoldEnd {
    /// The `reason` in `event.hold_expired`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Preempted => "preempted",
        }
    }
}

/// Whether a message goes to an endpoint: the endpoint is active, subscribed, and not the one that the message is
/// about. So `webhook.deactivated` goes to the organization's other endpoints.
pub fn is_addressed(
    endpoint: WebhookId,
    active: bool,
    subscription: &Subscription,
    event_type: EventType,
    about: Option<WebhookId>,
) -> bool {
    active && subscription.hears(event_type) && about != Some(endpoint)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn emitted_by(cause: Cause) -> Vec<&'static str> {
        let emits = |event_type: &&EventType| event_type.causes().contains(&cause);
        EventType::ALL.iter().filter(emits).map(|event_type| event_type.as_str()).collect()
    }

    /// The table from the other side: the types that an operation may emit.
    #[rstest]
    #[case("POST", "/v1/agents", &["agent.created"])]
    #[case("PATCH", "/v1/agents/{id}", &["agent.updated"])]
    #[case("DELETE", "/v1/agents/{id}", &[])]
    #[case("DELETE", "/v1/calendars/{id}", &[])]
    #[case("POST", "/v1/calendars/{cal_id}/events", &["event.created", "event.hold_created", "event.hold_expired"])]
    #[case("POST", "/v1/calendars/{cal_id}/events/batch", &["event.created"])]
    #[case("POST", "/v1/hold-sets", &["event.hold_created", "event.hold_expired"])]
    #[case("PUT", "/v1/hold-sets/{id}/confirm", &["event.hold_confirmed"])]
    #[case("PUT", "/v1/hold-sets/{id}/release", &["event.hold_released"])]
    #[case("PATCH", "/v1/events/{id}", &["event.updated", "event.hold_expired"])]
    #[case("POST", "/v1/events/{id}/move", &["event.updated", "event.hold_expired"])]
    #[case("DELETE", "/v1/events/{id}", &["event.updated", "event.deleted"])]
    #[case("PUT", "/v1/events/{id}/confirm", &["event.hold_confirmed"])]
    #[case("PUT", "/v1/events/{id}/release", &["event.hold_released"])]
    #[case("POST", "/book/{slug}", &["event.created"])]
    #[case("POST", "/book/{slug}/bookings/{token}/move", &["event.updated"])]
    #[case("POST", "/book/{slug}/bookings/{token}/cancel", &["event.deleted"])]
    #[case("POST", "/rsvp/{token}", &["event.attendee_responded"])]
    #[case("POST", "/v1/scheduling/proposals", &["event.hold_expired", "proposal.created"])]
    #[case(
        "POST",
        "/v1/scheduling/proposals/{id}/respond",
        &["event.created", "event.hold_expired", "proposal.responded", "proposal.confirmed", "proposal.cancelled"]
    )]
    #[case(
        "POST",
        "/v1/scheduling/proposals/{id}/resolve",
        &["event.created", "event.hold_expired", "proposal.confirmed", "proposal.cancelled"]
    )]
    #[case("POST", "/v1/scheduling/proposals/{id}/cancel", &["proposal.cancelled"])]
    #[case(
        "POST",
        "/v1/runs/{name}/undo",
        &[
            "event.created", "event.updated", "event.deleted", "event.hold_created", "event.hold_expired",
            "proposal.cancelled",
        ]
    )]
    fn operations_emit_their_types(#[case] method: &'static str, #[case] path: &'static str, #[case] emits: &[&str]) {
        assert_eq!(emitted_by(Cause::Operation(method, path)), emits);
    }

    #[rstest]
    #[case(Due::Reminder, "event.reminder")]
    #[case(Due::Start, "event.started")]
    #[case(Due::End, "event.ended")]
    #[case(Due::HoldExpiry, "event.hold_expired")]
    #[case(Due::ProposalExpiry, "proposal.expired")]
    #[case(Due::Refresh, "connection.needs_attention")]
    #[case(Due::EndpointFailure, "webhook.deactivated")]
    fn due_things_emit_their_types(#[case] due: Due, #[case] emits: &str) {
        assert_eq!(emitted_by(Cause::Due(due)), [emits]);
    }

    #[test]
    fn every_type_has_a_cause() {
        for event_type in EventType::ALL {
            assert!(!event_type.causes().is_empty(), "{event_type:?}");
            let of_events = event_type.as_str().starts_with("event.");
            let payload = event_type.payload();
            assert_eq!(
                of_events,
                matches!(payload, Payload::Event | Payload::EventWithReason | Payload::AttendeeResponse)
            );
        }
    }

    #[test]
    fn each_sort_of_event_emits_its_own_types() {
        let changes = [
            EventChange::Created,
            EventChange::Updated,
            EventChange::Deleted,
            EventChange::Confirmed,
            EventChange::Released,
            EventChange::HoldEnded(HoldEnd::Expired),
            EventChange::HoldEnded(HoldEnd::Preempted),
        ];
        let types = |sort| changes.map(|change| EventType::of_change(change, sort).map(EventType::as_str));
        assert_eq!(
            types(EventSort::Plain),
            [Some("event.created"), Some("event.updated"), Some("event.deleted"), None, None, None, None]
        );
        assert_eq!(
            types(EventSort::Hold),
            [
                Some("event.hold_created"),
                Some("event.updated"),
                Some("event.deleted"),
                Some("event.hold_confirmed"),
                Some("event.hold_released"),
                Some("event.hold_expired"),
                Some("event.hold_expired"),
            ]
        );
        assert_eq!(types(EventSort::Imported), [None; 7]);
    }

    #[test]
    fn messages_go_to_active_subscribed_endpoints() {
        let (one, other) = (WebhookId::from_bytes([1; 16]), WebhookId::from_bytes([2; 16]));
        let deactivated = EventType::WebhookDeactivated;
        let narrow = Subscription::parse("events", &["event.created".to_owned()]).unwrap();
        assert!(is_addressed(one, true, &Subscription::ALL, deactivated, Some(other)));
        assert!(!is_addressed(one, true, &Subscription::ALL, deactivated, Some(one)), "not to itself");
        assert!(!is_addressed(one, false, &Subscription::ALL, deactivated, None), "not while it is off");
        assert!(!is_addressed(one, true, &narrow, deactivated, None));
        assert!(is_addressed(one, true, &narrow, EventType::EventCreated, None));
    }
}
