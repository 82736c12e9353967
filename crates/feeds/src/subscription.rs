//! Subscriptions: which feed is kept in step with which calendar.

use kalends_calendars::Patch;
use kalends_kernel::{AgentId, CalendarId, Entropy, OrgId, RemoteUrl, SubscriptionId, Timestamp, Version};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::sync::{Memory, SyncState};

/// The most characters of a label.
pub const LABEL_MAX: usize = 255;

/// Whether a subscription is kept in step (service, "iCal subscription status").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubscriptionStatus {
    /// It is.
    Active,
    /// The last sync failed; it is tried again.
    Error,
    /// Somebody paused it.
    Paused,
}

impl SubscriptionStatus {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Error, Self::Paused];

    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Error => "error",
            Self::Paused => "paused",
        }
    }

    /// The status of that name.
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
    /// Onto which calendar the feed's events are imported.
    pub calendar: CalendarId,
    /// Where the feed is. Paths and queries carry secrets: sealed at rest, never logged.
    pub url: RemoteUrl,
    /// What it is called, 1-255 characters.
    pub label: Option<String>,
    /// Whether somebody paused it.
    pub paused: bool,
    /// What came of syncing. No change of a use case writes it; what a sync records does.
    pub state: SyncState,
    /// Under which subscription its items are kept: itself, or the one whose events it took over.
    pub origin: SubscriptionId,
    /// Which one of its calendar it is, counted from 1. No two that are there at once have the same number, so that of
    /// two requests that saw the same subscriptions one is stale. Subscriptions of earlier versions have 0.
    pub place: i64,
    /// What becomes of its events, where it is deleted. Such a subscription is out of everybody's sight.
    pub remains: Option<Remains>,
    /// The row's version, which syncing does not raise.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting syncs.
    pub updated_at: Timestamp,
}

/// What becomes of the events of a deleted subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remains {
    /// They stay. A new subscription of the same address to the same calendar takes them over.
    Kept,
    /// The worker that claims the subscription next deletes them.
    Removed,
}

impl Remains {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Kept, Self::Removed];

    /// The name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Removed => "removed",
        }
    }

    /// What has that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|remains| remains.as_str() == name)
    }
}

/// Through how many deleted subscriptions of one calendar and host a store looks for an address, the last ones first.
pub const LEFT_MAX: u32 = 10_000;

/// What the decision about an address needs to know of the subscriptions of a calendar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The highest number that a subscription of the calendar has, whatever its address; 0 without one.
    pub last: i64,
    /// Those to the address: all that are there, and the deleted ones whose events are kept.
    pub same: Vec<Neighbour>,
}

/// A subscription to the address.
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

/// What an address meets among the subscriptions of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// The number that the next subscription of the calendar has.
    pub place: i64,
    /// The deleted subscription to that address whose events are still there, the last one.
    pub left: Option<(SubscriptionId, SubscriptionId)>,
}

/// The calendar is subscribed to that address already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the calendar is subscribed to this url already, by {0}; change or sync that subscription, or delete it first")]
pub struct AlreadySubscribed(pub SubscriptionId);

impl Beside {
    /// What the address meets, `myself` left out.
    ///
    /// # Errors
    /// [`AlreadySubscribed`] by another one that is not deleted.
    pub fn find(neighbours: &Neighbours, myself: Option<SubscriptionId>) -> Result<Self, AlreadySubscribed> {
        let others = || neighbours.same.iter().filter(|other| Some(other.id) != myself);
        if let Some(live) = others().find(|other| !other.left) {
            return Err(AlreadySubscribed(live.id));
        }
        let left = others().max_by_key(|other| other.place);
        Ok(Self { place: neighbours.last.saturating_add(1), left: left.map(|left| (left.id, left.origin)) })
    }
}

/// What is needed to make a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// Where the feed is.
    pub url: RemoteUrl,
    /// What it is called.
    pub label: Option<String>,
}

/// What is changed of a subscription.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubscriptionPatch {
    /// Where the feed is.
    pub url: Patch<RemoteUrl>,
    /// What it is called; `None` takes the label away.
    pub label: Patch<Option<String>>,
    /// Whether it is paused.
    pub paused: Patch<bool>,
}

impl Subscription {
    /// A fresh subscription, due at once. It takes over what a deleted one to the same address left ([`Beside::left`]).
    pub fn create(
        (org, agent, calendar): (OrgId, AgentId, CalendarId),
        new: NewSubscription,
        beside: Beside,
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
            state: SyncState {
                memory: Memory { adopted: beside.left.is_some(), ..Memory::default() },
                ..SyncState::default()
            },
            origin: beside.left.map_or(id, |(_, origin)| origin),
            place: beside.place,
            remains: None,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The subscription with these changes.
    #[must_use]
    pub fn patched(&self, patch: SubscriptionPatch, now: Timestamp) -> Self {
        let mut changed = Self { version: self.version.next(), updated_at: now, ..self.clone() };
        patch.url.apply_to(&mut changed.url);
        patch.label.apply_to(&mut changed.label);
        patch.paused.apply_to(&mut changed.paused);
        changed
    }

    /// Whether it is kept in step.
    pub const fn status(&self) -> SubscriptionStatus {
        if self.paused {
            SubscriptionStatus::Paused
        } else if self.state.last_error.is_some() {
            SubscriptionStatus::Error
        } else {
            SubscriptionStatus::Active
        }
    }

    /// What tells the host apart that is asked, without telling which it is.
    pub fn host(&self) -> HostHash {
        HostHash::of(&self.url)
    }

    /// What a decision about an address on its calendar sees of it, or nothing where its events are removed.
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
    /// That of an address.
    pub fn of(url: &RemoteUrl) -> Self {
        let (host, port) = url.destination();
        Self(Sha256::digest(format!("{host}:{port}")).into())
    }
}

/// What of a subscription stores seal: one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidential {
    /// Where the feed is.
    pub url: RemoteUrl,
    /// What the subscription is called.
    pub label: Option<String>,
}

/// Its plain form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    url: String,
    label: Option<String>,
}

/// The document is not one that was written here. What it says is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of a subscription")]
pub struct ConfidentialError;

impl Confidential {
    /// The document.
    pub fn write(subscription: &Subscription) -> Vec<u8> {
        let plain = Plain { url: subscription.url.as_str().to_owned(), label: subscription.label.clone() };
        // Two texts cannot fail to be written.
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
    const FIRST: Beside = Beside { place: 1, left: None };

    fn url(text: &str) -> RemoteUrl {
        RemoteUrl::from_stored(text).unwrap()
    }

    fn one(address: &str, place: i64, remains: Option<Remains>, entropy: &Counting) -> Subscription {
        let of = (
            OrgId::from_uuid(Default::default()),
            AgentId::from_uuid(Default::default()),
            CalendarId::from_uuid(Default::default()),
        );
        let new = NewSubscription { url: url(address), label: None };
        Subscription { remains, ..Subscription::create(of, new, Beside { place, ..FIRST }, NOW, entropy) }
    }

    fn beside(of: &[&Subscription], last: i64) -> Neighbours {
        Neighbours { last, same: of.iter().filter_map(|other| other.neighbour()).collect() }
    }

    #[test]
    fn a_live_subscription_of_the_address_is_named() {
        let (entropy, address) = (Counting(1.into()), "https://a.example/");
        let (live, other) = (one(address, 1, None, &entropy), one("https://b.example/", 2, None, &entropy));
        let left = one(address, 3, Some(Remains::Kept), &entropy);
        let found = |myself| Beside::find(&beside(&[&left, &live], 3), myself);
        let (refused, alone) = (Err(AlreadySubscribed(live.id)), Beside { place: 4, left: Some((left.id, left.id)) });
        assert_eq!((found(None), found(Some(other.id)), found(Some(live.id))), (refused, refused, Ok(alone)));
        assert_eq!(Beside::find(&beside(&[], 3), None), Ok(Beside { place: 4, left: None }));
        assert_eq!(Beside::find(&Neighbours::default(), None), Ok(FIRST));
    }

    #[test]
    fn what_the_last_deleted_one_left_is_taken_over() {
        let (entropy, address) = (Counting(1.into()), "https://a.example/");
        let kept = Some(Remains::Kept);
        let others = [
            one(address, 1, kept, &entropy),
            one(address, 2, kept, &entropy),
            one(address, 3, Some(Remains::Removed), &entropy),
        ];
        let neighbours = beside(&[&others[2], &others[1], &others[0]], 4);
        let found = Beside::find(&neighbours, None).unwrap();
        assert_eq!(found, Beside { place: 5, left: Some((others[1].id, others[1].id)) });
        let of = (others[0].org, others[0].agent, others[0].calendar);
        let new = NewSubscription { url: url(address), label: None };
        let adopting = Subscription::create(of, new, found, NOW, &entropy);
        assert!(adopting.state.memory.adopted && !others[1].state.memory.adopted);
        assert_eq!((adopting.origin, adopting.place), (others[1].id, 5));
        // And so on: what it leaves is still found under the first one.
        let left = Subscription { remains: kept, ..adopting };
        let found = Beside::find(&beside(&[&left], 5), None).unwrap();
        assert_eq!(found.left, Some((left.id, others[1].id)));
    }
}
