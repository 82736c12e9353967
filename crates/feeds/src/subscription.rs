//! Subscriptions: which feed is kept in step with which calendar.

use kalends_calendars::Patch;
use kalends_kernel::{AgentId, CalendarId, Entropy, Instant, OrgId, RemoteUrl, SubscriptionId, Version};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::sync::SyncState;

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
    /// The row's version, which syncing does not raise.
    pub version: Version,
    /// When it was made.
    pub created_at: Instant,
    /// When it was last changed, not counting syncs.
    pub updated_at: Instant,
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
    /// A fresh subscription, due at once.
    pub fn create(
        (org, agent, calendar): (OrgId, AgentId, CalendarId),
        new: NewSubscription,
        now: Instant,
        entropy: &dyn Entropy,
    ) -> Self {
        Self {
            id: SubscriptionId::new(now, entropy),
            org,
            agent,
            calendar,
            url: new.url,
            label: new.label,
            paused: false,
            state: SyncState::default(),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The subscription with these changes.
    #[must_use]
    pub fn patched(&self, patch: SubscriptionPatch, now: Instant) -> Self {
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
        let (host, port) = self.url.destination();
        HostHash(Sha256::digest(format!("{host}:{port}")).into())
    }
}

/// The SHA-256 of a host and port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostHash(pub [u8; 32]);

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
