//! Connections: accounts of users at calendar providers.

use std::fmt;

use kalends_accounts::oauth::Provider;
use kalends_kernel::{ConnectionId, CorruptRow, Entropy, OrgId, UserId, Version};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::refresh::RefreshState;

/// The maximum number of characters of a label.
pub const LABEL_MAX: usize = 255;

/// What the user can do about a connection that cannot be read.
pub const UNREADABLE_CONNECTION: &str =
    "what is stored about this connection cannot be read; delete the connection, and connect the account again";

/// The OAuth tokens of an account, which allow what the user consented to. Sealed at rest, and deleted with the
/// connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    /// The access token, for requests.
    pub access: String,
    /// When the access token expires.
    pub access_until: Timestamp,
    /// The refresh token, for new access tokens.
    pub refresh: String,
    /// Whether they allow to write events.
    pub publishing: bool,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("access_until", &self.access_until).finish_non_exhaustive()
    }
}

/// The plain form of [`Tokens`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainTokens {
    access: String,
    /// Microseconds.
    until: i64,
    refresh: String,
    /// Absent in documents that were written before publishing existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    publishing: bool,
}

/// The document does not contain tokens. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of tokens")]
pub struct TokensError;

impl Tokens {
    /// Writes the document that stores seal.
    pub fn write(&self) -> Vec<u8> {
        let plain = PlainTokens {
            access: self.access.clone(),
            until: self.access_until.as_micros(),
            refresh: self.refresh.clone(),
            publishing: self.publishing,
        };
        // Serializing strings and a number cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`TokensError`].
    pub fn read(document: &[u8]) -> Result<Self, TokensError> {
        let PlainTokens { access, until, refresh, publishing } =
            serde_json::from_slice(document).map_err(|_| TokensError)?;
        Ok(Self { access, access_until: Timestamp::from_micros(until), refresh, publishing })
    }
}

/// The status of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionStatus {
    /// It is refreshed.
    Active,
    /// The last refresh failed or was incomplete. It will be tried again.
    Error,
    /// The provider no longer accepts the tokens. The user must consent again.
    ReauthorizationRequired,
    /// The user paused it. It is not refreshed, and its calendars do not count.
    Paused,
}

impl ConnectionStatus {
    /// Every status.
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

/// A user's account at a provider that is connected to an organization, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The identifier.
    pub id: ConnectionId,
    /// The organization.
    pub org: OrgId,
    /// The user who connected it.
    pub human: UserId,
    /// The provider of the account.
    pub provider: Provider,
    /// The user's label for it, 1-255 characters. Sealed at rest.
    pub label: Option<String>,
    /// The tokens. Sealed at rest.
    pub tokens: Tokens,
    /// Whether the user paused it.
    pub paused: bool,
    /// The results of refreshes. Only the end of a refresh and a new consent change them.
    pub refresh: RefreshState,
    /// The row's version, which a refresh does not increment.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting refreshes.
    pub updated_at: Timestamp,
}

/// A connection in a list. One that cannot be read is still listed, so that its user sees it and can delete it.
pub type ListedConnection = Result<Connection, UnreadableConnection>;

/// What is known of a connection whose sealed columns cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableConnection {
    /// The identifier.
    pub id: ConnectionId,
    /// The provider of the account.
    pub provider: Provider,
    /// When the last successful or partial refresh ended.
    pub refreshed_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting refreshes.
    pub updated_at: Timestamp,
    /// What cannot be read, for the operator.
    pub cause: CorruptRow,
}

/// A change that a user makes to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionPatch {
    /// A new label; `None` removes it.
    Label(Option<String>),
    /// Whether it is paused.
    Paused(bool),
}

impl Connection {
    /// A new connection, to be refreshed at once.
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

    /// The connection after `patch`.
    #[must_use]
    pub fn patched(&self, patch: ConnectionPatch, now: Timestamp) -> Self {
        let mut changed = Self { version: self.version.next(), updated_at: now, ..self.clone() };
        match patch {
            ConnectionPatch::Label(label) => changed.label = label,
            ConnectionPatch::Paused(paused) => changed.paused = paused,
        }
        changed
    }

    /// The connection after its user has consented again.
    #[must_use]
    pub fn reauthorized(&self, tokens: Tokens, now: Timestamp) -> Self {
        let (version, refresh) = (self.version.next(), self.refresh.reauthorized());
        Self { tokens, refresh, version, updated_at: now, ..self.clone() }
    }

    /// The status.
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

    /// Whether it is refreshed: neither paused nor lapsed.
    pub const fn is_refreshed(&self) -> bool {
        !self.paused && !self.refresh.lapsed
    }
}
