//! Webhook endpoints of an organization, to which messages are sent.

use kalends_kernel::{Entropy, OrgId, Version, WebhookId};
use kalends_remote::RemoteUrl;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Deactivation, Secret, Secrets, Subscription};

/// A webhook endpoint as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookEndpoint {
    /// The identifier.
    pub id: WebhookId,
    /// The organization.
    pub org: OrgId,
    /// The URL that messages are posted to. Its path and query may carry secrets: it is sealed at rest and never
    /// logged.
    pub url: RemoteUrl,
    /// The event types that the endpoint is subscribed to.
    pub subscription: Subscription,
    /// The secrets that sign its deliveries.
    pub secrets: Secrets,
    /// Whether the endpoint is switched on. Messages are only addressed to active endpoints.
    pub active: bool,
    /// Why the server switched it off; `None` if it did not, or if a caller has set `active` since.
    pub deactivated: Option<Deactivation>,
    /// The row's version.
    pub version: Version,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The data to create an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// The URL that messages are posted to.
    pub url: RemoteUrl,
    /// The event types that the endpoint is subscribed to.
    pub subscription: Subscription,
}

/// Changes to an endpoint. A field that is `None` stays unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    /// The new URL that messages are posted to.
    pub url: Option<RemoteUrl>,
    /// The new event types that the endpoint is subscribed to.
    pub subscription: Option<Subscription>,
    /// Whether the endpoint is switched on.
    pub active: Option<bool>,
}

impl EndpointPatch {
    /// Whether past failures no longer count: a caller switched the endpoint on, or it has a new URL.
    pub const fn heals(&self) -> bool {
        self.url.is_some() || matches!(self.active, Some(true))
    }
}

impl WebhookEndpoint {
    /// A new endpoint that is switched on.
    pub fn create(org: OrgId, new: NewEndpoint, now: Timestamp, entropy: &dyn Entropy) -> Self {
        Self {
            id: WebhookId::new(now, entropy),
            org,
            url: new.url,
            subscription: new.subscription,
            secrets: Secrets::first(Secret::generate(entropy)),
            active: true,
            deactivated: None,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The endpoint with these changes. Setting `active` clears the reason for which the server switched it off.
    #[must_use]
    pub fn patched(&self, patch: EndpointPatch, now: Timestamp) -> Self {
        Self {
            url: patch.url.unwrap_or_else(|| self.url.clone()),
            subscription: patch.subscription.unwrap_or_else(|| self.subscription.clone()),
            deactivated: if patch.active.is_some() { None } else { self.deactivated },
            active: patch.active.unwrap_or(self.active),
            ..self.changed(now)
        }
    }

    /// The endpoint as the server switches it off for the reason `why`; `None` if it is already off.
    pub fn deactivated(&self, why: Deactivation, now: Timestamp) -> Option<Self> {
        self.active.then(|| Self { active: false, deactivated: Some(why), ..self.changed(now) })
    }

    /// The endpoint with a new secret. The previous one also signs for a while.
    #[must_use]
    pub fn rotated(&self, now: Timestamp, entropy: &dyn Entropy) -> Self {
        Self { secrets: self.secrets.rotate(Secret::generate(entropy), now), ..self.changed(now) }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { version: self.version.next(), updated_at: now, ..self.clone() }
    }
}

/// The part of an endpoint that stores seal, as one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidential {
    /// The URL that messages are posted to.
    pub url: RemoteUrl,
    /// The secrets that sign its deliveries.
    pub secrets: Secrets,
}

/// The document before it is sealed. `previous_until` is in microseconds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    url: String,
    secret: String,
    previous_secret: Option<String>,
    previous_until: Option<i64>,
}

/// Why a document is invalid.
#[derive(Debug, thiserror::Error)]
pub enum ConfidentialError {
    /// It is not JSON of that form. Its content is not repeated, because it contains secrets.
    #[error("not a sealed endpoint document")]
    Form,
    /// A field has an invalid value.
    #[error("the field {0} is invalid")]
    Field(&'static str),
}

impl Confidential {
    /// Writes the document.
    pub fn write(endpoint: &WebhookEndpoint) -> Vec<u8> {
        let previous = endpoint.secrets.previous.as_ref();
        let plain = Plain {
            url: endpoint.url.as_str().to_owned(),
            secret: endpoint.secrets.current.reveal().to_owned(),
            previous_secret: previous.map(|(secret, _)| secret.reveal().to_owned()),
            previous_until: previous.map(|(_, until)| until.as_micros()),
        };
        // Serializing strings and a number cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`ConfidentialError`].
    pub fn read(document: &[u8]) -> Result<Self, ConfidentialError> {
        let plain: Plain = serde_json::from_slice(document).map_err(|_| ConfidentialError::Form)?;
        let secret = |text: &str, field| Secret::from_stored(text).ok_or(ConfidentialError::Field(field));
        let previous = match (plain.previous_secret, plain.previous_until) {
            (None, None) => None,
            (Some(text), Some(until)) => Some((secret(&text, "previous_secret")?, Timestamp::from_micros(until))),
            _ => return Err(ConfidentialError::Field("previous_until")),
        };
        let url = RemoteUrl::from_stored(&plain.url).map_err(|_| ConfidentialError::Field("url"))?;
        Ok(Self { url, secrets: Secrets { current: secret(&plain.secret, "secret")?, previous } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns different bytes on each call.
    #[derive(Default)]
    struct Counting(std::sync::atomic::AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
    const LATER: Timestamp = Timestamp::from_micros(1_800_000_060_000_000);

    fn endpoint() -> (WebhookEndpoint, Counting) {
        let entropy = Counting::default();
        let url = RemoteUrl::parse("url", "https://example.com/hook", |_, _| false).unwrap();
        let new = NewEndpoint { url, subscription: Subscription::ALL };
        (WebhookEndpoint::create(OrgId::from_bytes([1; 16]), new, NOW, &entropy), entropy)
    }

    #[test]
    fn a_patch_changes_only_its_fields() {
        let (made, _) = endpoint();
        let url = RemoteUrl::parse("url", "https://example.org/", |_, _| false).unwrap();
        let moved = made.patched(EndpointPatch { url: Some(url.clone()), ..EndpointPatch::default() }, LATER);
        assert_eq!((moved.url.clone(), moved.version, moved.updated_at), (url, Version(2), LATER));
        let same = WebhookEndpoint { url: made.url.clone(), version: made.version, updated_at: NOW, ..moved };
        assert_eq!(same, made);
    }

    #[test]
    fn setting_active_clears_the_reason() {
        let (made, _) = endpoint();
        let off = made.deactivated(Deactivation::Gone, LATER).unwrap();
        assert_eq!((off.active, off.deactivated), (false, Some(Deactivation::Gone)));
        assert_eq!(off.deactivated(Deactivation::Failing, LATER), None, "it is already off");
        for active in [true, false] {
            let patch = EndpointPatch { active: Some(active), ..EndpointPatch::default() };
            assert_eq!(patch.heals(), active);
            let patched = off.patched(patch, LATER);
            assert_eq!((patched.active, patched.deactivated), (active, None));
        }
        let heard = EndpointPatch { subscription: Some(Subscription::ALL), ..EndpointPatch::default() };
        assert_eq!(off.patched(heard, LATER).deactivated, Some(Deactivation::Gone));
    }

    #[test]
    fn a_sealed_document_is_read_back() {
        let (made, entropy) = endpoint();
        for endpoint in [made.clone(), made.rotated(LATER, &entropy)] {
            let read = Confidential::read(&Confidential::write(&endpoint)).unwrap();
            assert_eq!(read, Confidential { url: endpoint.url, secrets: endpoint.secrets });
        }
        for broken in ["", "{}", r#"{"url":"https://a.b/","secret":"x","previous_secret":null,"previous_until":null}"#]
        {
            assert!(Confidential::read(broken.as_bytes()).is_err());
        }
    }

    #[test]
    fn a_rotation_keeps_the_previous_secret() {
        let (made, entropy) = endpoint();
        let rotated = made.rotated(LATER, &entropy);
        assert_ne!(rotated.secrets.current, made.secrets.current);
        assert_eq!(rotated.secrets.previous.map(|(secret, _)| secret), Some(made.secrets.current));
        assert_eq!(rotated.version, Version(2));
    }
}
