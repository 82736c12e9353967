//! iCalendar text (RFC 5545) to and from events.
//!
//! [`read`] understands the feeds of others: whatever is in them, in bounded work. [`sync`] keeps a calendar in step with
//! one. [`mod@write`] renders a calendar for others to read. All are pure: no clock, no network, no storage.

mod change;
pub mod limits;
pub mod ports;
pub mod read;
mod subscription;
pub mod sync;
pub mod write;

pub use change::{Change, Fence, Origin, SyncClaim};
pub use subscription::{
    AlreadySubscribed, Beside, Confidential, ConfidentialError, HostHash, LABEL_MAX, LEFT_MAX, Neighbour, Neighbours,
    NewSubscription, Remains, Subscription, SubscriptionPatch, SubscriptionStatus,
};
