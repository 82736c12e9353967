//! Where messages go: a webhook endpoint of an organization.

use kalends_kernel::{Entropy, OrgId, RemoteUrl, Timestamp, Version, WebhookId};
use serde::{Deserialize, Serialize};

use crate::{Deactivation, Secret, Secrets, Subscription};

/// A webhook endpoint as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookEndpoint {
    /// The identifier.
    pub id: WebhookId,
    /// The organization.
    pub org: OrgId,
    /// Where messages are posted. Paths and queries carry secrets: sealed at rest, never logged.
    pub url: RemoteUrl,
    /// What it hears of.
    pub subscription: Subscription,
    /// What signs.
    pub secrets: Secrets,
    /// Whether messages are addressed to it.
    pub active: bool,
    /// Why it was switched off, where the service did that and nobody has switched it on again.
    pub deactivated: Option<Deactivation>,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What is needed to make an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// Where messages are posted.
    pub url: RemoteUrl,
    /// What it hears of.
    pub subscription: Subscription,
}

/// What is changed of an endpoint; `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    /// Where messages are posted.
    pub url: Option<RemoteUrl>,
    /// What it hears of.
    pub subscription: Option<Subscription>,
    /// Whether messages are addressed to it.
    pub active: Option<bool>,
}

impl EndpointPatch {
    /// Whether what failed so far says nothing about the endpoint from now on: somebody vouches for it, or it is
    /// another place.
    pub const fn heals(&self) -> bool {
        self.url.is_some() || matches!(self.active, Some(true))
    }
}

impl WebhookEndpoint {
    /// A fresh endpoint that is switched on.
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

    /// The endpoint with these changes. Whoever says whether it is on takes back what the service said.
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

    /// The endpoint, switched off because of what its receiver does; `None` where it is off already.
    pub fn deactivated(&self, why: Deactivation, now: Timestamp) -> Option<Self> {
        self.active.then(|| Self { active: false, deactivated: Some(why), ..self.changed(now) })
    }

    /// The endpoint with a fresh secret, the present one signing too for a while.
    #[must_use]
    pub fn rotated(&self, now: Timestamp, entropy: &dyn Entropy) -> Self {
        Self { secrets: self.secrets.rotate(Secret::generate(entropy), now), ..self.changed(now) }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { version: self.version.next(), updated_at: now, ..self.clone() }
    }
}

/// What of an endpoint stores seal: one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidential {
    /// Where messages are posted.
    pub url: RemoteUrl,
    /// What signs.
    pub secrets: Secrets,
}

/// Its plain form. No instants beside the secret's end, in microseconds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    url: String,
    secret: String,
    previous_secret: Option<String>,
    previous_until: Option<i64>,
}

/// The document is not one that was written here.
#[derive(Debug, thiserror::Error)]
pub enum ConfidentialError {
    /// It is not JSON of that form. What it says is not repeated.
    #[error("not a document of that form")]
    Form,
    /// A field holds something else.
    #[error("{0} is none")]
    Field(&'static str),
}

impl Confidential {
    /// The document.
    pub fn write(endpoint: &WebhookEndpoint) -> Vec<u8> {
        let previous = endpoint.secrets.previous.as_ref();
        let plain = Plain {
            url: endpoint.url.as_str().to_owned(),
            secret: endpoint.secrets.current.reveal().to_owned(),
            previous_secret: previous.map(|(secret, _)| secret.reveal().to_owned()),
            previous_until: previous.map(|(_, until)| until.as_micros()),
        };
        // Texts and a number cannot fail to be written.
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

    /// Each draw is another.
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
    fn patches_change_what_they_name() {
        let (made, _) = endpoint();
        let url = RemoteUrl::parse("url", "https://example.org/", |_, _| false).unwrap();
        let moved = made.patched(EndpointPatch { url: Some(url.clone()), ..EndpointPatch::default() }, LATER);
        assert_eq!((moved.url.clone(), moved.version, moved.updated_at), (url, Version(2), LATER));
        let same = WebhookEndpoint { url: made.url.clone(), version: made.version, updated_at: NOW, ..moved };
        assert_eq!(same, made);
    }

    #[test]
    fn whoever_switches_it_on_takes_the_reason_back() {
        let (made, _) = endpoint();
        let off = made.deactivated(Deactivation::Gone, LATER).unwrap();
        assert_eq!((off.active, off.deactivated), (false, Some(Deactivation::Gone)));
        assert_eq!(off.deactivated(Deactivation::Failing, LATER), None, "once");
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
    fn what_is_sealed_comes_back() {
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
    fn a_rotation_keeps_the_present_secret_for_a_day() {
        let (made, entropy) = endpoint();
        let rotated = made.rotated(LATER, &entropy);
        assert_ne!(rotated.secrets.current, made.secrets.current);
        assert_eq!(rotated.secrets.previous.map(|(secret, _)| secret), Some(made.secrets.current));
        assert_eq!(rotated.version, Version(2));
    }
}
