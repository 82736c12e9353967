//! What a use case changes of webhooks: plain data.

use kalends_kernel::{DeliveryId, OrgId, Timestamp, Version, WebhookId};

use crate::{Claim, Delivery, DeliveryState, HealthChange, Message, WebhookEndpoint};

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Makes an endpoint and its empty queue.
    CreateEndpoint(Box<WebhookEndpoint>),
    /// Writes an endpoint over the row that had the version `seen`; otherwise the change-set is stale.
    UpdateEndpoint {
        /// The endpoint as it shall be.
        endpoint: Box<WebhookEndpoint>,
        /// The version that the decision saw.
        seen: Version,
        /// Whether what failed so far is forgotten.
        heals: bool,
    },
    /// Removes an endpoint and its queue, where it still has the version `seen`. Its deliveries are out of sight, and
    /// removed when their time is over.
    DeleteEndpoint {
        /// The organization.
        org: OrgId,
        /// The endpoint.
        webhook: WebhookId,
        /// The version that the decision saw.
        seen: Version,
    },
    /// Keeps a message that went to one endpoint alone, with its delivery. Stale where the endpoint is gone.
    AddDelivery {
        /// The message; nobody else hears of it.
        message: Box<Message>,
        /// The delivery, which is over.
        delivery: Box<Delivery>,
    },
    /// Sends a delivery again, where it still stands as it was seen; wakes the endpoint's queue.
    RetryDelivery {
        /// The delivery as it shall be.
        delivery: Box<Delivery>,
        /// How it stood.
        seen: DeliveryState,
        /// When it was asked for.
        at: Timestamp,
    },
    /// Writes what came of deliveries and what that says of the endpoint's health, and renews the claim under which
    /// they were sent. Stale where the claim is lost.
    Record(Record),
}

/// What came of deliveries of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The claim under which they were sent.
    pub claim: Claim,
    /// What came of each.
    pub recorded: Vec<Recorded>,
    /// What that says of the endpoint.
    pub health: HealthChange,
    /// The present instant: the claim lasts anew from here on.
    pub at: Timestamp,
}

/// What came of one delivery. One that does not stand as it was seen stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// The delivery.
    pub id: DeliveryId,
    /// How it stood when it was read.
    pub seen: DeliveryState,
    /// How it stands now.
    pub state: DeliveryState,
}
