//! What a use case changes of subscriptions and of what was imported: plain data.

use kalends_kernel::{CalendarId, OrgId, SubscriptionId, Timestamp, Version};
use uuid::Uuid;

use crate::{
    subscription::{Remains, Subscription},
    sync::{ItemKey, KnownItem, SyncState},
};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Makes a subscription, due at its creation. Stale where its calendar is out of sight, or where another one of it
    /// has the same place.
    CreateSubscription(Box<Subscription>),
    /// Writes the settings of a subscription over the row that had the version `seen`; otherwise the change-set is
    /// stale. One that is paused is due no more; one that goes on, or has another address, is due at once.
    UpdateSubscription {
        /// The subscription as it shall be. Its state stays what it is.
        subscription: Box<Subscription>,
        /// The version that the decision saw.
        seen: Version,
        /// Whether the address is another: what was seen at the one before says nothing then.
        moved: bool,
        /// When it is due, where the change makes it due.
        due: Option<Timestamp>,
    },
    /// Takes a subscription that still has the version `seen` out of sight for good, and its claim away. One whose events
    /// are removed is due at once; one whose events are kept is due again after [`crate::sync::LEFT_KEPT`], or gone at
    /// once where it has no items.
    DeleteSubscription {
        /// The organization.
        org: OrgId,
        /// The subscription.
        subscription: SubscriptionId,
        /// The version that the decision saw.
        seen: Version,
        /// What becomes of its events.
        remains: Remains,
        /// The present instant.
        at: Timestamp,
    },
    /// Forgets a deleted subscription whose items another takes over. Stale where it is gone, or its events are to be
    /// removed.
    AdoptRemains {
        /// The organization.
        org: OrgId,
        /// The deleted subscription.
        subscription: SubscriptionId,
    },
    /// Has the events of a deleted subscription removed that were to stay: it is due at once, and its claim is taken
    /// away. Stale where it is gone, or its events are to be removed already.
    RemoveRemains {
        /// The organization.
        org: OrgId,
        /// The deleted subscription.
        subscription: SubscriptionId,
        /// The present instant.
        at: Timestamp,
    },
    /// Forgets a deleted subscription and what is known of its items. Stale where the claim is lost.
    ForgetSubscription {
        /// The claim.
        claim: SyncClaim,
    },
    /// Makes a subscription due at once, also one that is paused: for one sync. One that is being synced is synced once
    /// more. Stale where it is gone.
    AskSync {
        /// The organization.
        org: OrgId,
        /// The subscription.
        subscription: SubscriptionId,
        /// When it was asked for.
        at: Timestamp,
    },
    /// Renews a claim. Stale where it is lost, so that whatever stands in the same change-set is written under it.
    RenewClaim {
        /// The claim.
        claim: SyncClaim,
        /// The present instant: the claim lasts anew from here on.
        at: Timestamp,
        /// How many events the sync is still going to add. They count as imported events from here on, until the claim
        /// ends or is renewed with another number.
        reserved: u64,
    },
    /// Writes what came of a sync and gives the claim up. Stale where it is lost.
    EndSync {
        /// The claim.
        claim: SyncClaim,
        /// What came of it.
        state: Box<SyncState>,
        /// When the next one is due, unless it was paused meanwhile; at once where somebody asked meanwhile.
        next: Timestamp,
        /// When it ended.
        at: Timestamp,
    },
    /// Writes which events hold which items, over what was known of them.
    KeepItems {
        /// The organization.
        org: OrgId,
        /// Where they come from.
        origin: Origin,
        /// The items.
        items: Vec<KnownItem>,
    },
    /// Forgets items.
    ForgetItems {
        /// The organization.
        org: OrgId,
        /// Where they came from.
        origin: Origin,
        /// The items.
        keys: Vec<ItemKey>,
    },
}

/// Where imported items come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A feed: [`Subscription::origin`] of the one that is subscribed to it.
    Subscription(SubscriptionId),
    /// Files that were imported into a calendar.
    Files(CalendarId),
}

impl Origin {
    /// The identifier under which stores keep it. No subscription has that of a calendar.
    pub const fn uuid(self) -> Uuid {
        match self {
            Self::Subscription(id) => id.uuid(),
            Self::Files(id) => id.uuid(),
        }
    }
}

/// The number of a claim: whoever commits must bring the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// A subscription that this worker syncs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyncClaim {
    /// The organization.
    pub org: OrgId,
    /// The subscription.
    pub subscription: SubscriptionId,
    /// The number of the claim.
    pub fence: Fence,
}
