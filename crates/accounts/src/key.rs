//! API keys: a prefix and 32 random bytes, kept only as their SHA-256 (ruling 3.1).

use std::fmt;

use kalends_kernel::{AgentId, Entropy, KeyId, OrgId, SessionId, Timestamp, UserId, base64url, random_bytes};
use kalends_quotas::{Limits, LimitsError, Plan};
use sha2::{Digest, Sha256};

use crate::{
    KeyLabel, Organization, Session, Waitlist,
    reach::{Caller, CallerKind, ScopedAgent},
};

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// An organization's key.
    Org,
    /// The key of an agent's self-signup: the reach of an organization's key, the caps of its plan.
    Restricted,
    /// The key of an organization made for tests.
    Test,
}

impl KeyKind {
    /// What the key's text begins with.
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

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Org, Self::Restricted, Self::Test].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The SHA-256 of a key's whole text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    /// The hash of a key as a caller presents it.
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
    /// The organization that the key opens.
    pub org: OrgId,
    /// What it is for.
    pub kind: KeyKind,
    /// The hash by which it is found.
    pub hash: KeyHash,
    /// The first characters of the text, to tell keys apart.
    pub prefix: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What may be shown of a key that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyView {
    /// The row's identifier.
    pub id: KeyId,
    /// The agent that it speaks for, if it speaks for one.
    pub agent: Option<AgentId>,
    /// What it is called, if it has a name.
    pub label: Option<KeyLabel>,
    /// The first characters of the text.
    pub prefix: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A key that once opened something: it was revoked, or its agent is decommissioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedKey {
    /// The organization.
    pub org: OrgId,
    /// The agent for which it spoke, if it spoke for one.
    pub agent: Option<AgentId>,
    /// The first characters of the text.
    pub prefix: String,
}

/// A fresh key: its row, and the text that is shown once.
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
    /// How many characters of a key are kept in the clear.
    pub const SHOWN: usize = 20;

    /// A key with 256 random bits.
    pub fn generate(org: OrgId, kind: KeyKind, now: Timestamp, entropy: &dyn Entropy) -> Self {
        let text = format!("{}{}", kind.prefix(), base64url(&random_bytes::<32>(entropy)));
        let key = ApiKey {
            id: KeyId::new(now, entropy),
            org,
            kind,
            hash: KeyHash::of(&text),
            prefix: text.chars().take(Self::SHOWN).collect(),
            created_at: now,
        };
        Self { key, text }
    }
}

/// How far a key reaches inside its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Everything.
    Organization,
    /// One agent and what hangs on it.
    Agent(ScopedAgent),
}

/// What was presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Credential {
    /// An API key.
    Key(KeyId),
    /// A console session.
    Session {
        /// Which one.
        session: SessionId,
        /// The human who signed in.
        user: UserId,
    },
}

impl Credential {
    /// Whose failures are told apart by: the key's identifier, or the human's.
    pub const fn bytes(&self) -> [u8; 16] {
        match self {
            Self::Key(key) => key.uuid().into_bytes(),
            Self::Session { user, .. } => user.uuid().into_bytes(),
        }
    }
}

/// Who a key or a session speaks for: all that a request needs to know of its caller, so that it can be cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The key or the session.
    pub credential: Credential,
    /// The first characters of the key; of a session those of the human's identifier. The audit log tells by
    /// them who it was.
    pub key_prefix: String,
    /// The organization.
    pub org: OrgId,
    /// What kind of credential it is.
    pub kind: CallerKind,
    /// How far it reaches.
    pub reach: Reach,
    /// Whether the organization is on the waiting list.
    pub waitlisted: bool,
    /// The organization's plan.
    pub plan: Plan,
    /// The plan's limits with the organization's own overrides.
    pub limits: Limits,
    /// The terms that the organization accepted last.
    pub accepted_terms: Option<String>,
}

impl Principal {
    /// What the audit log tells of a human: as many characters as of a key.
    pub fn shown_of(user: UserId) -> String {
        user.to_string().chars().take(NewKey::SHOWN).collect()
    }

    /// Who a session speaks for that is in force and opens `organization`.
    ///
    /// # Errors
    /// [`LimitsError`] where the stored overrides are damaged.
    pub fn of_session(session: &Session, organization: &Organization) -> Result<Self, LimitsError> {
        Ok(Self {
            credential: Credential::Session { session: session.id, user: session.user },
            key_prefix: Self::shown_of(session.user),
            org: organization.id,
            kind: CallerKind::Session,
            reach: Reach::Organization,
            waitlisted: organization.waitlist != Waitlist::Active,
            plan: organization.plan,
            limits: organization.limits()?,
            accepted_terms: organization.accepted.as_ref().map(|acceptance| acceptance.version.clone()),
        })
    }

    /// The principal as the table of reaches knows it.
    pub const fn caller(&self) -> Caller {
        let agent = match self.reach {
            Reach::Organization => None,
            Reach::Agent(agent) => Some(agent),
        };
        Caller { kind: self.kind, agent, waitlisted: self.waitlisted }
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
            assert!(!format!("{fresh:?}").contains(&fresh.text), "a key never shows in a log");
        }
    }
}
