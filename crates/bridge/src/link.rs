//! Connection links, with which agents ask users to connect a calendar.

use std::fmt;

use kalends_accounts::TokenHash;
use kalends_calendars::PublicationPolicy;
use kalends_kernel::{
    AgentId, CalendarId, ConnectionId, ConnectionLinkId, Entropy, OrgId, UserId, Version, base64url, random_bytes,
};
use kalends_time::{SignedDuration, Timestamp};

use crate::{CalendarProvider, Connection, ConnectionStatus, Grant};

/// How long a link waits for a user to open it.
pub const LINK_LASTS: SignedDuration = SignedDuration::minutes(15);

/// How long a user who has opened a link may take to connect a calendar.
pub const SETUP_LASTS: SignedDuration = SignedDuration::minutes(30);

/// How long a link is kept after its `expires_at`, whatever its status.
pub const LINKS_KEPT: SignedDuration = SignedDuration::days(30);

/// The status of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkStatus {
    /// Nobody has opened it yet.
    AwaitingHuman,
    /// A user has opened it and is connecting a calendar.
    InProgress,
    /// A calendar is connected and counts.
    Completed,
    /// The user declined.
    Declined,
    /// It expired.
    Expired,
    /// The agent cancelled it.
    Cancelled,
}

impl LinkStatus {
    /// Every status.
    pub const ALL: &'static [Self] =
        &[Self::AwaitingHuman, Self::InProgress, Self::Completed, Self::Declined, Self::Expired, Self::Cancelled];

    /// The name in the API and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingHuman => "awaiting_human",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == name)
    }

    /// Whether the link can still be completed.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::AwaitingHuman | Self::InProgress)
    }
}

/// The secret in the address of a link: 256 random bits. Only its hash is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkSecret(String);

impl LinkSecret {
    /// The text for the address.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash by which a store looks the link up.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for LinkSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkSecret(…)")
    }
}

/// The consent that an agent asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewLink {
    /// Whether it asks to publish events too. It always asks for busy times.
    pub publishing: bool,
    /// The events to publish.
    pub policy: PublicationPolicy,
}

impl NewLink {
    /// Whether a provider supports this.
    pub const fn suits(self, provider: CalendarProvider) -> bool {
        !self.publishing || provider.takes_copies()
    }
}

/// A connection link, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLink {
    /// The identifier.
    pub id: ConnectionLinkId,
    /// The organization.
    pub org: OrgId,
    /// The agent that owns the calendar; `None` for a shared calendar.
    pub agent: Option<AgentId>,
    /// The calendar for which human calendars are to count.
    pub calendar: CalendarId,
    /// The hash of the secret in its address.
    pub secret: TokenHash,
    /// The consent that is asked for.
    pub requested: NewLink,
    /// The stored status, which does not take its expiry into account. See [`status`](Self::status).
    pub state: LinkStatus,
    /// The user who opened it.
    pub human: Option<UserId>,
    /// The connection that was made.
    pub connection: Option<ConnectionId>,
    /// When it expires, unless it ends before.
    pub expires_at: Timestamp,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Why an operation on a link is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LinkError {
    /// It has ended.
    #[error("the link is {status} and can no longer be used; have the agent make another one", status = .0.as_str())]
    Ended(LinkStatus),
    /// Another user has opened it. A link is for one user.
    #[error("another user has already opened the link; have the agent make another one")]
    OtherHuman,
    /// Nobody has opened it yet.
    #[error("nobody has opened the link yet; open it first")]
    NotOpened,
    /// The calendar of the link was deleted, or its agent decommissioned.
    #[error("the calendar of the link has been removed, so the link can no longer be used")]
    Removed,
}

/// Why a grant does not complete a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IncompleteError {
    /// The human calendars would not count for the calendar of the link.
    #[error("the grant does not cover the calendar of the link")]
    NotCovered,
    /// The connection is not refreshed.
    #[error("the connection is {}", .0.as_str())]
    NotRefreshed(ConnectionStatus),
    /// The provider does not support what the link asks for.
    #[error("events cannot be published to {} calendars", .0.title())]
    NotSuited(CalendarProvider),
    /// The link cannot be completed.
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl ConnectionLink {
    /// A new link, and its secret. The secret is shown only in the response to the request that creates the link.
    pub fn create(
        (org, agent, calendar): (OrgId, Option<AgentId>, CalendarId),
        requested: NewLink,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> (Self, LinkSecret) {
        let secret = LinkSecret(base64url(&random_bytes::<32>(entropy)));
        let link = Self {
            id: ConnectionLinkId::new(now, entropy),
            org,
            agent,
            calendar,
            secret: secret.hash(),
            requested,
            state: LinkStatus::AwaitingHuman,
            human: None,
            connection: None,
            expires_at: now + LINK_LASTS,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        };
        (link, secret)
    }

    /// The status at `now`.
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        if self.state.is_open() && now >= self.expires_at { LinkStatus::Expired } else { self.state }
    }

    /// The link after a user opens it. From then on, only that user can open it, any number of times.
    ///
    /// # Errors
    /// [`LinkError::Ended`], [`LinkError::OtherHuman`].
    pub fn open(&self, human: UserId, now: Timestamp) -> Result<Self, LinkError> {
        match self.status(now) {
            LinkStatus::AwaitingHuman => Ok(Self {
                human: Some(human),
                expires_at: now + SETUP_LASTS,
                ..self.changed(LinkStatus::InProgress, now)
            }),
            LinkStatus::InProgress => self.followed_by(human, now).map(|()| self.clone()),
            ended => Err(LinkError::Ended(ended)),
        }
    }

    /// The link after its user has connected an account. The account replaces one that the user connected before. The
    /// user chooses from the new account's calendars next.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn connect(&self, human: UserId, connection: ConnectionId, now: Timestamp) -> Result<Self, LinkError> {
        self.followed_by(human, now)?;
        Ok(Self { connection: Some(connection), ..self.changed(LinkStatus::InProgress, now) })
    }

    /// The link after its user has made a grant for calendars of `connection`. It is completed if these calendars count
    /// for the calendar of the link.
    ///
    /// # Errors
    /// [`IncompleteError`].
    pub fn complete(&self, grant: &Grant, connection: &Connection, now: Timestamp) -> Result<Self, IncompleteError> {
        if !grant.covers(self.agent) {
            return Err(IncompleteError::NotCovered);
        }
        if !connection.is_refreshed() {
            return Err(IncompleteError::NotRefreshed(connection.status()));
        }
        if !self.requested.suits(connection.provider) {
            return Err(IncompleteError::NotSuited(connection.provider));
        }
        self.followed_by(grant.human, now)?;
        Ok(Self { connection: Some(connection.id), ..self.changed(LinkStatus::Completed, now) })
    }

    /// The link after its user declines.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn decline(&self, human: UserId, now: Timestamp) -> Result<Self, LinkError> {
        self.followed_by(human, now)?;
        Ok(self.changed(LinkStatus::Declined, now))
    }

    /// Whether this user has declined it.
    pub fn is_declined_by(&self, human: UserId) -> bool {
        self.state == LinkStatus::Declined && self.human == Some(human)
    }

    /// The link after the agent cancels it.
    ///
    /// # Errors
    /// [`LinkError::Ended`].
    pub fn cancel(&self, now: Timestamp) -> Result<Self, LinkError> {
        match self.status(now) {
            status if status.is_open() => Ok(self.changed(LinkStatus::Cancelled, now)),
            ended => Err(LinkError::Ended(ended)),
        }
    }

    /// The link with the stored status `expired`.
    #[must_use]
    pub fn expired(&self, now: Timestamp) -> Self {
        self.changed(LinkStatus::Expired, now)
    }

    /// Checks that the link is in progress, and that this user has opened it.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn followed_by(&self, human: UserId, now: Timestamp) -> Result<(), LinkError> {
        match self.status(now) {
            LinkStatus::AwaitingHuman => Err(LinkError::NotOpened),
            LinkStatus::InProgress if self.human == Some(human) => Ok(()),
            LinkStatus::InProgress => Err(LinkError::OtherHuman),
            ended => Err(LinkError::Ended(ended)),
        }
    }

    fn changed(&self, state: LinkStatus, now: Timestamp) -> Self {
        Self { state, version: self.version.next(), updated_at: now, ..self.clone() }
    }
}
