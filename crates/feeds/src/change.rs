//! The writes of a use case to subscriptions and imported items, as plain data.

use kalends_kernel::{CalendarId, OrgId, SubscriptionId, Version};
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::{
    subscription::{Remains, Subscription},
    sync::{ItemKey, KnownItem, SyncState},
};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new subscription, due for a sync at its creation. Stale if its calendar is not visible, or if another
    /// subscription of the calendar has the same place.
    CreateSubscription(Box<Subscription>),
    /// New settings of a subscription. Stale if the row no longer has the version `seen`. A paused subscription is no
    /// longer due. One that is resumed or gets another address is due at once.
    UpdateSubscription {
        /// The row to write. Its sync state changes only if `moved` is set: it is then [`SyncState::elsewhere`] or
        /// [`SyncState::reread`].
        subscription: Box<Subscription>,
        /// The version that was read.
        seen: Version,
        /// Whether its address changes, or what is read of its feed. If so, the results of earlier syncs are replaced by
        /// those of the row, except when the last one ended, and the claim on it ends.
        moved: bool,
        /// When it is due, if the change makes it due.
        due: Option<Timestamp>,
    },
    /// Hides a subscription for good and ends the claim on it. Stale if the row no longer has the version `seen`. If
    /// its events are removed, it is due at once. If they are kept, it is due after [`crate::sync::LEFT_KEPT`], or
    /// removed at once if it has no items.
    DeleteSubscription {
        /// The organization.
        org: OrgId,
        /// The subscription.
        subscription: SubscriptionId,
        /// The version that was read.
        seen: Version,
        /// Whether its events are kept.
        remains: Remains,
        /// The present instant.
        at: Timestamp,
    },
    /// Removes the row of a deleted subscription, because another one takes its items over. Stale if it is gone, or if
    /// its events are to be removed.
    AdoptRemains {
        /// The organization.
        org: OrgId,
        /// The deleted subscription.
        subscription: SubscriptionId,
    },
    /// Decides that the kept events of a deleted subscription are removed after all. The subscription is due at once,
    /// and the claim on it ends. Stale if it is gone, or if its events are already to be removed.
    RemoveRemains {
        /// The organization.
        org: OrgId,
        /// The deleted subscription.
        subscription: SubscriptionId,
        /// The present instant.
        at: Timestamp,
    },
    /// Removes the row of a deleted subscription and its known items. Stale if the claim was lost.
    ForgetSubscription {
        /// The claim.
        claim: SyncClaim,
    },
    /// Makes a subscription due at once. A paused one is synced once. One that is being synced is synced once more.
    /// Stale if it is gone.
    AskSync {
        /// The organization.
        org: OrgId,
        /// The subscription.
        subscription: SubscriptionId,
        /// When the sync was requested.
        at: Timestamp,
    },
    /// Renews a claim. Stale if it was lost, so that everything in the same change-set is written only under the claim.
    RenewClaim {
        /// The claim.
        claim: SyncClaim,
        /// The present instant, from which the claim is extended.
        at: Timestamp,
        /// The number of events that the sync is still going to add. They count as imported events until the claim ends
        /// or is renewed with another number.
        reserved: u64,
    },
    /// The result of a sync, which also ends the claim. Stale if the claim was lost.
    EndSync {
        /// The claim.
        claim: SyncClaim,
        /// The new sync state.
        state: Box<SyncState>,
        /// When the next sync is due. If the subscription was paused during the sync, it is not due; if another sync
        /// was requested, it is due at once.
        next: Timestamp,
        /// When it ended.
        at: Timestamp,
    },
    /// The known items and their events. Replaces the entries with the same keys.
    KeepItems {
        /// The organization.
        org: OrgId,
        /// The origin of the items.
        origin: Origin,
        /// The items.
        items: Vec<KnownItem>,
    },
    /// Removes known items.
    ForgetItems {
        /// The organization.
        org: OrgId,
        /// The origin of the items.
        origin: Origin,
        /// The items.
        keys: Vec<ItemKey>,
    },
}

/// The origin of imported items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A feed, by the [`Subscription::origin`] of its subscription.
    Subscription(SubscriptionId),
    /// Files that were imported into a calendar.
    Files(CalendarId),
}

impl Origin {
    /// The calendar on which an event must be to be known as an item of this origin: an event of a file can move to
    /// another calendar, and then the file has it no longer. `None` for a feed, whose events do not move.
    pub const fn stays_on(self) -> Option<CalendarId> {
        match self {
            Self::Subscription(_) => None,
            Self::Files(calendar) => Some(calendar),
        }
    }

    /// The identifier under which stores keep it. Identifiers of subscriptions and calendars are distinct.
    pub const fn uuid(self) -> Uuid {
        match self {
            Self::Subscription(id) => id.uuid(),
            Self::Files(id) => id.uuid(),
        }
    }
}

/// The number of a claim. A commit must have the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// The claim of a worker on the sync of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyncClaim {
    /// The organization.
    pub org: OrgId,
    /// The subscription.
    pub subscription: SubscriptionId,
    /// The claim number.
    pub fence: Fence,
}
