//! Connections: accounts of humans at providers of calendars.

use std::fmt;

use kalends_accounts::oauth::Provider;
use kalends_kernel::{ConnectionId, Entropy, OrgId, Timestamp, UserId, Version};
use serde::{Deserialize, Serialize};

use crate::refresh::RefreshState;

/// The most characters of a label.
pub const LABEL_MAX: usize = 255;

/// What opens an account at its provider, as far as the human consented. Sealed at rest, and deleted with the connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    /// What a request is made with.
    pub access: String,
    /// Until when.
    pub access_until: Timestamp,
    /// What another one is asked for with.
    pub refresh: String,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("access_until", &self.access_until).finish_non_exhaustive()
    }
}

/// Their plain form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainTokens {
    access: String,
    /// Microseconds.
    until: i64,
    refresh: String,
}

/// The document is not one of tokens that was written here. What it says is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of tokens")]
pub struct TokensError;

impl Tokens {
    /// The document that stores seal.
    pub fn write(&self) -> Vec<u8> {
        let plain = PlainTokens {
            access: self.access.clone(),
            until: self.access_until.as_micros(),
            refresh: self.refresh.clone(),
        };
        // Texts and a number cannot fail to be written.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`TokensError`].
    pub fn read(document: &[u8]) -> Result<Self, TokensError> {
        let PlainTokens { access, until, refresh } = serde_json::from_slice(document).map_err(|_| TokensError)?;
        Ok(Self { access, access_until: Timestamp::from_micros(until), refresh })
    }
}

/// How a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionStatus {
    /// It is refreshed.
    Active,
    /// The last refresh failed; it is tried again.
    Error,
    /// The provider lets us in no more: the human has to consent again.
    ReauthorizationRequired,
    /// The human paused it: it is not refreshed, and its calendars do not count.
    Paused,
}

impl ConnectionStatus {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Error, Self::ReauthorizationRequired, Self::Paused];

    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Error => "error",
            Self::ReauthorizationRequired => "reauthorization_required",
            Self::Paused => "paused",
        }
    }
}

/// A human's account at a provider, connected to an organization, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The identifier.
    pub id: ConnectionId,
    /// The organization for whose agents it is.
    pub org: OrgId,
    /// The human who connected it.
    pub human: UserId,
    /// Where the account is.
    pub provider: Provider,
    /// What the human calls it, 1-255 characters. Sealed at rest.
    pub label: Option<String>,
    /// What opens it. Sealed at rest.
    pub tokens: Tokens,
    /// Whether the human paused it.
    pub paused: bool,
    /// What came of refreshing. No change of a use case writes it but a new consent; what a refresh records does.
    pub refresh: RefreshState,
    /// The row's version, which refreshing does not raise.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting refreshes.
    pub updated_at: Timestamp,
}

/// What a human changes of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionPatch {
    /// What it is called; `None` takes the label away.
    Label(Option<String>),
    /// Whether it is paused.
    Paused(bool),
}

impl Connection {
    /// A fresh connection, to be refreshed at once.
    pub fn create(
        (org, human, provider): (OrgId, UserId, Provider),
        tokens: Tokens,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        Self {
            id: ConnectionId::new(now, entropy),
            org,
            human,
            provider,
            label: None,
            tokens,
            paused: false,
            refresh: RefreshState::default(),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The connection with that change.
    #[must_use]
    pub fn patched(&self, patch: ConnectionPatch, now: Timestamp) -> Self {
        let mut changed = Self { version: self.version.next(), updated_at: now, ..self.clone() };
        match patch {
            ConnectionPatch::Label(label) => changed.label = label,
            ConnectionPatch::Paused(paused) => changed.paused = paused,
        }
        changed
    }

    /// The connection, to which its human has consented again.
    #[must_use]
    pub fn reauthorized(&self, tokens: Tokens, now: Timestamp) -> Self {
        let (version, refresh) = (self.version.next(), self.refresh.reauthorized());
        Self { tokens, refresh, version, updated_at: now, ..self.clone() }
    }

    /// How it does.
    pub const fn status(&self) -> ConnectionStatus {
        if self.paused {
            ConnectionStatus::Paused
        } else if self.refresh.lapsed {
            ConnectionStatus::ReauthorizationRequired
        } else if self.refresh.last_error.is_some() {
            ConnectionStatus::Error
        } else {
            ConnectionStatus::Active
        }
    }

    /// Whether refreshing it may do any good.
    pub const fn is_refreshed(&self) -> bool {
        !self.paused && !self.refresh.lapsed
    }
}
