//! The changes that use cases make to webhooks, as plain data.

use kalends_kernel::{DeliveryId, OrgId, Version, WebhookId};
use kalends_time::Timestamp;

use crate::{Claim, Delivery, DeliveryState, HealthChange, Message, WebhookEndpoint};

/// One change to webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Creates an endpoint and its empty queue.
    CreateEndpoint(Box<WebhookEndpoint>),
    /// Writes an endpoint over the row with the version `seen`. If the row has another version, the change-set is
    /// stale.
    UpdateEndpoint {
        /// The new endpoint.
        endpoint: Box<WebhookEndpoint>,
        /// The version that the decision saw.
        seen: Version,
        /// Whether past failures are forgotten.
        heals: bool,
    },
    /// Removes an endpoint and its queue if it still has the version `seen`. Its deliveries become invisible, and are
    /// removed when their retention ends.
    DeleteEndpoint {
        /// The organization.
        org: OrgId,
        /// The endpoint.
        webhook: WebhookId,
        /// The version that the decision saw.
        seen: Version,
    },
    /// Stores a message for one endpoint only, with its delivery. The change-set is stale if the endpoint no longer
    /// exists.
    AddDelivery {
        /// The message. No other endpoint receives it.
        message: Box<Message>,
        /// The delivery, which is finished.
        delivery: Box<Delivery>,
    },
    /// Makes a delivery due again and wakes the endpoint's queue. The change-set is stale if the delivery's state is no
    /// longer `seen`.
    RetryDelivery {
        /// The new delivery.
        delivery: Box<Delivery>,
        /// The state that the decision saw.
        seen: DeliveryState,
        /// When the retry was requested.
        at: Timestamp,
    },
    /// Records the outcomes of deliveries and their effect on the endpoint's health, and renews the claim under which
    /// they were sent. The change-set is stale if the claim is lost.
    Record(Record),
}

/// The outcomes of deliveries to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The claim under which the deliveries were sent.
    pub claim: Claim,
    /// The outcome of each delivery.
    pub recorded: Vec<Recorded>,
    /// The effect on the endpoint's health.
    pub health: HealthChange,
    /// The current time. The claim is renewed from this time.
    pub at: Timestamp,
}

/// The outcome of one delivery. If its state is no longer `seen`, it is left unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// The delivery.
    pub id: DeliveryId,
    /// The state when it was read.
    pub seen: DeliveryState,
    /// The new state.
    pub state: DeliveryState,
}
