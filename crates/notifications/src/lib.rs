//! Webhook messages and letters, with which Kalends announces what has happened.
//!
//! [`EventType`] is the list of webhook event types. A change-set carries a [`Message`], so that a crash cannot
//! separate a change from its announcement. The decisions about a message are made here and carried out elsewhere:
//! which endpoints receive it ([`address`]), how it is signed ([`headers`]), when it is sent again
//! ([`DeliveryState`]) and by which worker ([`Queue`]), and when an endpoint is given up ([`Health`]).
//!
//! A change-set can also carry a [`Letter`] to a person outside the organization.
//!
//! Programs that do not run a server follow the same announcements, and changes that no message announces, in the
//! change feed of their organization ([`FeedEntry`]).

mod cause;
mod change;
mod change_feed;
mod delivery;
mod endpoint;
mod failed_letter;
mod fan_out;
mod letter;
mod letter_record;
pub mod ports;
mod queue;
mod retry;
mod signature;
mod subscription;

pub use cause::{Cause, Due, EventChange, EventSort, HoldEnd, Payload, is_addressed};
pub use change::{Change, Record, Recorded};
pub use change_feed::{
    CHANGES_KEPT, ChangeType, ENTRIES_LOOKED_AT, FEED_PAGE_BYTES, FeedEntry, FeedHead, FeedPage, FeedPosition,
    FeedRead, FeedResync, FeedToken, READS_NOTED_EVERY, TypesError, UNREAD_FEED_LASTS, WantedTypes,
};
pub use delivery::{
    BeingSent, DELIVERIES_KEPT, Delivery, DeliveryState, DeliveryStatus, MESSAGES_KEPT, least_delivery_id,
};
pub use endpoint::{Confidential, ConfidentialError, EndpointPatch, NewEndpoint, WebhookEndpoint};
pub use failed_letter::FailedLetter;
pub use fan_out::{DELIVERIES_AT_ONCE, Listener, Waiting, address, charged, over_quota, skip};
pub use letter::{About, ClaimedLetter, LETTER_CLAIM_LASTS, LETTER_KEPT, Letter, Withdrawn};
pub use letter_record::{
    DropReason, Envelope, LETTER_RECORDS_KEPT, LetterEnd, LetterRecord, LetterStatus, LetterWork, RecordSearch,
    ServerReply,
};
pub use queue::{CLAIM_LASTS, Claim, ClaimLost, Fence, Places, Queue};
pub use retry::{
    ANSWER_MAX, ATTEMPT_WITHIN, Deactivation, FAILING_LASTS, Health, HealthChange, Outcome, SCHEDULE, wait_after,
};
pub use signature::{
    Header, Outgoing, ROTATION_LASTS, SECRET_PREFIX, Secret, Secrets, TOLERANCE, headers, verify_plain, verify_standard,
};
pub use subscription::{EVERYTHING, Subscription};

use kalends_kernel::{MessageId, OrgId, Version, WebhookId};
use kalends_time::Timestamp;

/// The name of [`EventType::WebhookTest`].
const TEST: &str = "webhook.test";

macro_rules! event_types {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)*) => {
        /// What a webhook message announces: one of 22 types that endpoints can subscribe to, or a requested test.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventType {
            $($(#[doc = $doc])+ $name,)*
            /// A test of an endpoint. Nothing happened, and no endpoint can subscribe to it.
            WebhookTest,
        }

        impl EventType {
            /// Every type that can be subscribed to.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in `X-Service-Event-Type` and in subscriptions.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* Self::WebhookTest => TEST }
            }

            /// What happened, in one sentence.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)*
                    Self::WebhookTest => "An endpoint is tested.",
                }
            }

            /// The type with that name, if endpoints can subscribe to it.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }

            /// The type with that name, from a store.
            pub fn from_stored(name: &str) -> Option<Self> {
                if name == TEST { Some(Self::WebhookTest) } else { Self::from_name(name) }
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
    /// An attendee replied to an invitation.
    EventAttendeeResponded = "event.attendee_responded",
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
    /// A write waits for approval.
    ApprovalRequested = "approval.requested",
    /// A write that waited was approved, denied or cancelled, it failed, or nobody decided it in time.
    ApprovalDecided = "approval.decided",
    /// A connection needs its user, because the provider no longer grants access or refreshes keep failing.
    ConnectionNeedsAttention = "connection.needs_attention",
    /// A webhook endpoint was switched off after lasting failure.
    WebhookDeactivated = "webhook.deactivated",
}

/// An announcement. It is stored in the same transaction as the change that it announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The identifier.
    pub id: MessageId,
    /// The organization whose endpoints receive it.
    pub org: OrgId,
    /// What it announces.
    pub event_type: EventType,
    /// The body as JSON text. [`EventType::payload`] returns what it contains.
    pub payload: String,
    /// The version of the resource, sent as `X-Resource-Version`.
    pub resource_version: Version,
    /// The endpoint that the message is about. That endpoint does not receive it.
    pub about: Option<WebhookId>,
    /// When the change was made.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_two_types_and_their_names_round_trip() {
        assert_eq!(EventType::ALL.len(), 22);
        for event_type in EventType::ALL {
            assert_eq!(EventType::from_name(event_type.as_str()), Some(*event_type));
            assert_eq!(EventType::from_stored(event_type.as_str()), Some(*event_type));
        }
        assert_eq!(EventType::from_stored("webhook.test"), Some(EventType::WebhookTest));
        assert_eq!(EventType::from_name("webhook.test"), None, "no endpoint can subscribe to tests");
    }
}
