//! iCalendar text (RFC 5545) to and from events.
//!
//! [`read`] reads third-party feeds with a bounded amount of work, whatever they contain. [`sync`] keeps a calendar in
//! step with a feed. [`mod@write`] renders a calendar as a feed. All are pure: no clock, no network, no storage.

mod change;
pub mod limits;
pub mod ports;
pub mod read;
mod subscription;
pub mod sync;
pub mod write;

pub use change::{Change, Fence, Origin, SyncClaim};
pub use subscription::{
    AlreadySubscribed, Confidential, ConfidentialError, HostHash, LABEL_MAX, LEFT_MAX, Neighbour, Neighbours,
    NewSubscription, Placement, Remains, Subscription, SubscriptionPatch, SubscriptionStatus,
};
