//! Subscriptions of calendars to feeds.

use kalends_calendars::Patch;
use kalends_kernel::{AgentId, CalendarId, Entropy, OrgId, SubscriptionId, Version};
use kalends_remote::RemoteUrl;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::sync::{Memory, SyncState};

/// The maximum number of characters of a label.
pub const LABEL_MAX: usize = 255;

/// The status of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubscriptionStatus {
    /// It is synced.
    Active,
    /// The last sync failed. It will be tried again.
    Error,
    /// It is paused.
    Paused,
}

impl SubscriptionStatus {
    /// Every status.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Error, Self::Paused];

    /// The status of a subscription, given whether it is paused and whether its last sync failed.
    pub const fn of(paused: bool, failed: bool) -> Self {
        if paused {
            Self::Paused
        } else if failed {
            Self::Error
        } else {
            Self::Active
        }
    }

    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Error => "error",
            Self::Paused => "paused",
        }
    }

    /// The status with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == name)
    }
}

/// A subscription of a calendar to a feed, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    /// The identifier.
    pub id: SubscriptionId,
    /// The organization.
    pub org: OrgId,
    /// The agent that owns the calendar.
    pub agent: AgentId,
    /// The calendar into which the feed's events are imported.
    pub calendar: CalendarId,
    /// The address of the feed. Paths and queries may contain secrets, so it is sealed at rest and never logged.
    pub url: RemoteUrl,
    /// The label, 1-255 characters.
    pub label: Option<String>,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether only the times of events are imported, without titles or any other text.
    pub busy_only: bool,
    /// The results of syncs. Only the end of a sync changes it.
    pub state: SyncState,
    /// The subscription under which its items are kept: itself, or the one whose events it took over.
    pub origin: SubscriptionId,
    /// Its number within its calendar, counted from 1. Existing subscriptions have distinct numbers. So if two requests
    /// read the same subscriptions, one of them becomes stale. Subscriptions that earlier versions of the program
    /// created have 0.
    pub place: i64,
    /// If it is deleted, whether its events are kept. A deleted subscription is not visible.
    pub remains: Option<Remains>,
    /// The row's version, which a sync does not increment.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting syncs.
    pub updated_at: Timestamp,
}

/// What happens to the events of a deleted subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remains {
    /// They stay. A new subscription of the same calendar to the same address takes them over.
    Kept,
    /// The worker that claims the subscription next deletes them.
    Removed,
}

impl Remains {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Kept, Self::Removed];

    /// The name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Removed => "removed",
        }
    }

    /// The value with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|remains| remains.as_str() == name)
    }
}

/// The maximum number of deleted subscriptions of one calendar and host that a store searches for an address, latest
/// first.
pub const LEFT_MAX: u32 = 10_000;

/// The subscriptions of a calendar that are relevant to a decision about an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The highest number of a subscription of the calendar, to any address; 0 if there is none.
    pub last: i64,
    /// The subscriptions to the address: all that are not deleted, and the deleted ones whose events are kept.
    pub same: Vec<Neighbour>,
}

/// A subscription to the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// The identifier.
    pub id: SubscriptionId,
    /// [`Subscription::origin`].
    pub origin: SubscriptionId,
    /// [`Subscription::place`].
    pub place: i64,
    /// Whether it is deleted and its events are kept.
    pub left: bool,
}

/// The place of a new subscription among the subscriptions of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The number of the next subscription of the calendar.
    pub place: i64,
    /// The last deleted subscription to that address whose events are kept, and its [`Subscription::origin`].
    pub left: Option<(SubscriptionId, SubscriptionId)>,
}

/// The calendar is already subscribed to that address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the calendar is already subscribed to this url, by {0}; change or sync that subscription, or delete it first")]
pub struct AlreadySubscribed(pub SubscriptionId);

impl Placement {
    /// Finds the place. The subscription `myself` is ignored.
    ///
    /// # Errors
    /// [`AlreadySubscribed`] if another subscription to the address is not deleted.
    pub fn find(neighbours: &Neighbours, myself: Option<SubscriptionId>) -> Result<Self, AlreadySubscribed> {
        let others = || neighbours.same.iter().filter(|other| Some(other.id) != myself);
        if let Some(live) = others().find(|other| !other.left) {
            return Err(AlreadySubscribed(live.id));
        }
        let left = others().max_by_key(|other| other.place);
        Ok(Self { place: neighbours.last.saturating_add(1), left: left.map(|left| (left.id, left.origin)) })
    }
}

/// The fields of a new subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// The address of the feed.
    pub url: RemoteUrl,
    /// The label.
    pub label: Option<String>,
    /// Whether only the times of events are imported.
    pub busy_only: bool,
}

/// The changes of a PATCH.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubscriptionPatch {
    /// The address of the feed.
    pub url: Patch<RemoteUrl>,
    /// The label; `None` removes it.
    pub label: Patch<Option<String>>,
    /// Whether it is paused.
    pub paused: Patch<bool>,
    /// Whether only the times of events are imported.
    pub busy_only: Patch<bool>,
}

impl Subscription {
    /// A new subscription, due at once. It takes over the events that a deleted one to the same address left
    /// ([`Placement::left`]).
    pub fn create(
        (org, agent, calendar): (OrgId, AgentId, CalendarId),
        new: NewSubscription,
        placement: Placement,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        let id = SubscriptionId::new(now, entropy);
        Self {
            id,
            org,
            agent,
            calendar,
            url: new.url,
            label: new.label,
            paused: false,
            busy_only: new.busy_only,
            state: SyncState {
                memory: Memory { adopted: placement.left.is_some(), ..Memory::default() },
                ..SyncState::default()
            },
            origin: placement.left.map_or(id, |(_, origin)| origin),
            place: placement.place,
            remains: None,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The subscription after `patch`.
    #[must_use]
    pub fn patched(&self, patch: SubscriptionPatch, now: Timestamp) -> Self {
        let mut changed = Self { version: self.version.next(), updated_at: now, ..self.clone() };
        patch.url.apply_to(&mut changed.url);
        patch.label.apply_to(&mut changed.label);
        patch.paused.apply_to(&mut changed.paused);
        patch.busy_only.apply_to(&mut changed.busy_only);
        changed
    }

    /// The status.
    pub const fn status(&self) -> SubscriptionStatus {
        SubscriptionStatus::of(self.paused, self.state.last_error.is_some())
    }

    /// Identifies the host of the feed without revealing it.
    pub fn host(&self) -> HostHash {
        HostHash::of(&self.url)
    }

    /// Its entry in [`Neighbours`]; `None` if its events are to be removed.
    pub fn neighbour(&self) -> Option<Neighbour> {
        let left = self.remains == Some(Remains::Kept);
        let seen = left || self.remains.is_none();
        seen.then_some(Neighbour { id: self.id, origin: self.origin, place: self.place, left })
    }
}

/// The SHA-256 of a host and port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostHash(pub [u8; 32]);

impl HostHash {
    /// The hash of the host and port of an address.
    pub fn of(url: &RemoteUrl) -> Self {
        let (host, port) = url.destination();
        Self(Sha256::digest(format!("{host}:{port}")).into())
    }
}

/// The fields of a subscription that stores seal, as one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidential {
    /// The address of the feed.
    pub url: RemoteUrl,
    /// The label.
    pub label: Option<String>,
}

/// The plain form of [`Confidential`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    url: String,
    label: Option<String>,
}

/// The document is not one of a subscription. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of a subscription")]
pub struct ConfidentialError;

impl Confidential {
    /// Writes the document.
    pub fn write(subscription: &Subscription) -> Vec<u8> {
        let plain = Plain { url: subscription.url.as_str().to_owned(), label: subscription.label.clone() };
        // Serializing two strings cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`ConfidentialError`].
    pub fn read(document: &[u8]) -> Result<Self, ConfidentialError> {
        let Plain { url, label } = serde_json::from_slice(document).map_err(|_| ConfidentialError)?;
        let url = RemoteUrl::from_stored(&url).map_err(|_| ConfidentialError)?;
        Ok(Self { url, label })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(std::sync::atomic::AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
    const FIRST: Placement = Placement { place: 1, left: None };

    fn url(text: &str) -> RemoteUrl {
        RemoteUrl::from_stored(text).unwrap()
    }

    fn one(address: &str, place: i64, remains: Option<Remains>, entropy: &Counting) -> Subscription {
        let of = (
            OrgId::from_uuid(Default::default()),
            AgentId::from_uuid(Default::default()),
            CalendarId::from_uuid(Default::default()),
        );
        let new = NewSubscription { url: url(address), label: None, busy_only: false };
        Subscription { remains, ..Subscription::create(of, new, Placement { place, ..FIRST }, NOW, entropy) }
    }

    fn neighbours_of(of: &[&Subscription], last: i64) -> Neighbours {
        Neighbours { last, same: of.iter().filter_map(|other| other.neighbour()).collect() }
    }

    #[test]
    fn a_second_subscription_to_an_address_is_refused() {
        let (entropy, address) = (Counting(1.into()), "https://a.example/");
        let (live, other) = (one(address, 1, None, &entropy), one("https://b.example/", 2, None, &entropy));
        let left = one(address, 3, Some(Remains::Kept), &entropy);
        let found = |myself| Placement::find(&neighbours_of(&[&left, &live], 3), myself);
        let (refused, alone) =
            (Err(AlreadySubscribed(live.id)), Placement { place: 4, left: Some((left.id, left.id)) });
        assert_eq!((found(None), found(Some(other.id)), found(Some(live.id))), (refused, refused, Ok(alone)));
        assert_eq!(Placement::find(&neighbours_of(&[], 3), None), Ok(Placement { place: 4, left: None }));
        assert_eq!(Placement::find(&Neighbours::default(), None), Ok(FIRST));
    }

    #[test]
    fn a_new_subscription_takes_over_events_of_the_last_deleted_one() {
        let (entropy, address) = (Counting(1.into()), "https://a.example/");
        let kept = Some(Remains::Kept);
        let others = [
            one(address, 1, kept, &entropy),
            one(address, 2, kept, &entropy),
            one(address, 3, Some(Remains::Removed), &entropy),
        ];
        let neighbours = neighbours_of(&[&others[2], &others[1], &others[0]], 4);
        let found = Placement::find(&neighbours, None).unwrap();
        assert_eq!(found, Placement { place: 5, left: Some((others[1].id, others[1].id)) });
        let of = (others[0].org, others[0].agent, others[0].calendar);
        let new = NewSubscription { url: url(address), label: None, busy_only: false };
        let adopting = Subscription::create(of, new, found, NOW, &entropy);
        assert!(adopting.state.memory.adopted && !others[1].state.memory.adopted);
        assert_eq!((adopting.origin, adopting.place), (others[1].id, 5));
        // The events that it leaves in turn are still kept under the first one.
        let left = Subscription { remains: kept, ..adopting };
        let found = Placement::find(&neighbours_of(&[&left], 5), None).unwrap();
        assert_eq!(found.left, Some((left.id, others[1].id)));
    }
}
