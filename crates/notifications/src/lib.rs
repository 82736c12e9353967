//! The events that Kalends tells the world.
//!
//! [`EventType`] is the one list of webhook event types; [`Message`] is what a change-set carries so
//! that a change and its announcement cannot be separated by a crash (ruling 7.3). What becomes of it is
//! decided here and done elsewhere: who hears it ([`Subscription`]), how it is signed ([`headers`]), when
//! it is sent again ([`DeliveryState`]), and when an endpoint is given up ([`Health`]).

mod cause;
mod delivery;
mod retry;
mod signature;
mod subscription;

pub use cause::{Cause, Due, EventChange, EventSort, HoldEnd, Payload, is_addressed};
pub use delivery::{BeingSent, CLAIM_LASTS, ClaimLost, DeliveryState, DeliveryStatus, Fence};
pub use retry::{ANSWER_MAX, ATTEMPT_WITHIN, Deactivation, FAILING_LASTS, Health, Outcome, SCHEDULE, wait_after};
pub use signature::{
    Header, Outgoing, ROTATION_LASTS, SECRET_PREFIX, Secret, Secrets, TOLERANCE, headers, verify_plain, verify_standard,
};
pub use subscription::{EVERYTHING, Subscription};

use kalends_kernel::{Instant, MessageId, OrgId, Version};

macro_rules! event_types {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What a webhook message announces: the 18 types of ruling 7.1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventType { $($(#[$doc])* $name,)* }

        impl EventType {
            /// Every type.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in `X-Service-Event-Type` and in subscriptions.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The type of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

event_types! {
    /// An event was created, or a booking made.
    EventCreated = "event.created",
    /// An event was changed.
    EventUpdated = "event.updated",
    /// An event was deleted.
    EventDeleted = "event.deleted",
    /// A reminder of an event is due.
    EventReminder = "event.reminder",
    /// A confirmed event's start is reached.
    EventStarted = "event.started",
    /// A confirmed event's end is reached.
    EventEnded = "event.ended",
    /// A hold was placed.
    EventHoldCreated = "event.hold_created",
    /// A hold was confirmed.
    EventHoldConfirmed = "event.hold_confirmed",
    /// A hold was released.
    EventHoldReleased = "event.hold_released",
    /// A hold expired or was pre-empted.
    EventHoldExpired = "event.hold_expired",
    /// An agent was created.
    AgentCreated = "agent.created",
    /// An agent was changed.
    AgentUpdated = "agent.updated",
    /// A proposal was created.
    ProposalCreated = "proposal.created",
    /// A participant responded.
    ProposalResponded = "proposal.responded",
    /// A proposal was resolved to a slot.
    ProposalConfirmed = "proposal.confirmed",
    /// A proposal was cancelled.
    ProposalCancelled = "proposal.cancelled",
    /// A proposal expired.
    ProposalExpired = "proposal.expired",
    /// A webhook endpoint was switched off after lasting failure.
    WebhookDeactivated = "webhook.deactivated",
}

/// An announcement, stored in the transaction of the change that it announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The identifier.
    pub id: MessageId,
    /// The organization whose endpoints hear it.
    pub org: OrgId,
    /// What it announces.
    pub event_type: EventType,
    /// The body: the resource as the REST API shows it, as JSON text.
    pub payload: String,
    /// The version of the resource, sent as `X-Resource-Version`.
    pub resource_version: Version,
    /// When the change was made.
    pub created_at: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_eighteen_types_and_their_names_round_trip() {
        assert_eq!(EventType::ALL.len(), 18);
        for event_type in EventType::ALL {
            assert_eq!(EventType::from_name(event_type.as_str()), Some(*event_type));
        }
    }
}
