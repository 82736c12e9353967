//! API keys: a prefix and 32 random bytes. Only their SHA-256 is stored.

use std::fmt;

use kalends_kernel::{AgentId, Entropy, KeyId, OrgId, base64url, random_bytes};
use kalends_time::{CivilDate, Timestamp};
use sha2::{Digest, Sha256};

use crate::{ApprovalPolicy, ConnectorAccess, KeyLabel, Scopes};

/// The kind of an organization's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// An organization's key.
    Org,
    /// The key of an agent that signed up. It has the reach of an organization's key, within the limits of its plan.
    Restricted,
    /// The key of an organization that was created for tests.
    Test,
}

impl KeyKind {
    /// The prefix of the key's text.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Org | Self::Restricted => "svc_sk_",
            Self::Test => "svc_sk_test_",
        }
    }

    /// The name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Org => "org",
            Self::Restricted => "restricted",
            Self::Test => "test",
        }
    }

    /// The kind with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Org, Self::Restricted, Self::Test].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The SHA-256 of a key's whole text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    /// The hash of a key from a caller.
    pub fn of(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// A key as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The row's identifier.
    pub id: KeyId,
    /// The organization that the key belongs to.
    pub org: OrgId,
    /// The kind.
    pub kind: KeyKind,
    /// The hash that the key is found by.
    pub hash: KeyHash,
    /// The first characters of the text, to distinguish keys.
    pub prefix: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The parts of a key in force that may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyView {
    /// The row's identifier.
    pub id: KeyId,
    /// The agent that it speaks for, if any.
    pub agent: Option<AgentId>,
    /// The label, if it has one.
    pub label: Option<KeyLabel>,
    /// What it reaches beyond its agent. A key of the organization has none.
    pub scopes: Scopes,
    /// Which of its writes need approval; `None` if none does.
    pub approval: Option<ApprovalPolicy>,
    /// The client that holds it, if it was granted by OAuth.
    pub connector: Option<ConnectorAccess>,
    /// The first characters of the text.
    pub prefix: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Who created it, as [`crate::AuditEntry::actor_key_prefix`] names callers; `None` for a key of the organization,
    /// and for one of an earlier release.
    pub created_by: Option<String>,
    /// The UTC day of the last use that was recorded ([`crate::ports::KeyUses`]); `None` if there is none.
    pub last_used_on: Option<CivilDate>,
}

/// A key that no longer works, because it was revoked or its agent is decommissioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedKey {
    /// The organization.
    pub org: OrgId,
    /// The agent that it spoke for, if any.
    pub agent: Option<AgentId>,
    /// The first characters of the text.
    pub prefix: String,
}

/// A new key: its row, and the text, which is shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The row.
    pub key: ApiKey,
    /// The text.
    pub text: String,
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("key", &self.key).finish_non_exhaustive()
    }
}

impl NewKey {
    /// The number of characters of a key that are stored in the clear.
    pub const PREFIX_LEN: usize = 20;

    /// A key with 256 random bits.
    pub fn generate(org: OrgId, kind: KeyKind, now: Timestamp, entropy: &dyn Entropy) -> Self {
        let text = format!("{}{}", kind.prefix(), base64url(&random_bytes::<32>(entropy)));
        let key = ApiKey {
            id: KeyId::new(now, entropy),
            org,
            kind,
            hash: KeyHash::of(&text),
            prefix: text.chars().take(Self::PREFIX_LEN).collect(),
            created_at: now,
        };
        Self { key, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sevens;
    impl Entropy for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[test]
    fn a_key_is_a_prefix_and_43_characters() {
        let now = Timestamp::from_micros(0);
        for (kind, prefix) in [(KeyKind::Org, "svc_sk_"), (KeyKind::Test, "svc_sk_test_")] {
            let fresh = NewKey::generate(OrgId::new(now, &Sevens), kind, now, &Sevens);
            assert_eq!(fresh.text.strip_prefix(prefix).map(str::len), Some(43));
            assert_eq!(fresh.key.hash, KeyHash::of(&fresh.text));
            assert!(fresh.text.starts_with(&fresh.key.prefix));
            assert!(!format!("{fresh:?}").contains(&fresh.text), "a key is never logged");
        }
    }
}
