//! Connection links: how a human is asked to connect a calendar (ruling 9.1).

use std::fmt;

use kalends_accounts::{TokenHash, oauth::Provider};
use kalends_kernel::{
    AgentId, CalendarId, ConnectionId, ConnectionLinkId, Entropy, OrgId, SignedDuration, Timestamp, UserId, Version,
    base64url, random_bytes,
};

use crate::{Connection, ConnectionStatus, Grant};

/// How long a link waits for its human (ruling 9.1).
pub const LINK_LASTS: SignedDuration = SignedDuration::minutes(15);

/// How long a human who has followed a link may take to connect a calendar.
pub const SETUP_LASTS: SignedDuration = SignedDuration::minutes(30);

/// For how long a link can be read after it ended.
pub const LINKS_KEPT: SignedDuration = SignedDuration::days(30);

/// Which events of ours a human may have published to a calendar of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PublicationPolicy {
    /// None.
    #[default]
    None,
    /// Those that are confirmed.
    Confirmed,
    /// Those that are confirmed or tentative.
    ConfirmedTentative,
}

impl PublicationPolicy {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::None, Self::Confirmed, Self::ConfirmedTentative];

    /// The name in the API and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Confirmed => "confirmed",
            Self::ConfirmedTentative => "confirmed_tentative",
        }
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|policy| policy.as_str() == name)
    }
}

/// How far a link is (ruling 9.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkStatus {
    /// Nobody has followed it yet.
    AwaitingHuman,
    /// A human has, and is at it.
    InProgress,
    /// A calendar is connected and counts.
    Completed,
    /// The human does not want to.
    Declined,
    /// It took too long.
    Expired,
    /// The agent took it back.
    Cancelled,
}

impl LinkStatus {
    /// All of them.
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

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == name)
    }

    /// Whether something may still become of it.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::AwaitingHuman | Self::InProgress)
    }
}

/// What the address ends with that a human follows: 256 random bits, of which only the hash is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkSecret(String);

impl LinkSecret {
    /// The text, for the address.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the link is found by.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for LinkSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkSecret(…)")
    }
}

/// What an agent asks of a human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewLink {
    /// Whether events may be published too, if the human wants it; busy times are always meant.
    pub publishing: bool,
    /// Which events that would be.
    pub policy: PublicationPolicy,
}

impl NewLink {
    /// Whether a provider can give what is asked: Google's calendars take nothing that is published (ruling 9.2).
    pub const fn suits(self, provider: Provider) -> bool {
        match provider {
            Provider::Google => !self.publishing,
            Provider::Microsoft => true,
        }
    }
}

/// A connection link, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLink {
    /// The identifier.
    pub id: ConnectionLinkId,
    /// The organization.
    pub org: OrgId,
    /// The agent that owns the calendar; `None` for one that the organization shares.
    pub agent: Option<AgentId>,
    /// For which of our calendars a human's is wanted.
    pub calendar: CalendarId,
    /// The hash of what the human's address ends with.
    pub secret: TokenHash,
    /// What is asked of the human.
    pub asked: NewLink,
    /// How far it is, but for the time: see [`status`](Self::status).
    pub state: LinkStatus,
    /// Who follows it.
    pub human: Option<UserId>,
    /// What was connected.
    pub connection: Option<ConnectionId>,
    /// When it ends, if nothing becomes of it until then.
    pub expires_at: Timestamp,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Why something does not become of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LinkError {
    /// It has ended.
    #[error("the link is {status}, and nothing can become of it any more; have the agent make another one", status = .0.as_str())]
    Ended(LinkStatus),
    /// Another human has followed it: a link is for one.
    #[error("somebody else has followed the link already; have the agent make another one")]
    OtherHuman,
    /// Nobody has followed it yet.
    #[error("nobody has followed the link yet; open it first")]
    NotOpened,
    /// The calendar that it is of has been deleted, or its agent decommissioned.
    #[error("the calendar that the link is of has been removed, so that nothing can become of the link any more")]
    Removed,
}

/// Why a grant does not complete a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IncompleteError {
    /// The calendars would not count for the one that the link is of.
    #[error("the grant does not cover the calendar that the link is of")]
    NotCovered,
    /// The connection is not refreshed.
    #[error("the connection is {}", .0.as_str())]
    NotRefreshed(ConnectionStatus),
    /// The provider does not do what the link asks for.
    #[error("{} calendars take nothing that is published", .0.title())]
    NotSuited(Provider),
    /// Nothing becomes of the link.
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl ConnectionLink {
    /// A fresh link, and the secret that only the answer to its maker tells.
    pub fn create(
        (org, agent, calendar): (OrgId, Option<AgentId>, CalendarId),
        asked: NewLink,
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
            asked,
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

    /// How far it is at `now`.
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        if self.state.is_open() && now >= self.expires_at { LinkStatus::Expired } else { self.state }
    }

    /// A human follows the link. It is theirs from then on: nobody else opens it, they themselves may once more.
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

    /// The human has connected an account, from which they choose next; one that they connected before is in its place.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn connect(&self, human: UserId, connection: ConnectionId, now: Timestamp) -> Result<Self, LinkError> {
        self.followed_by(human, now)?;
        Ok(Self { connection: Some(connection), ..self.changed(LinkStatus::InProgress, now) })
    }

    /// The human who follows it has said which calendars of `connection` count, and for whom: it is done, where they count
    /// for the link's own calendar from now on.
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
        if !self.asked.suits(connection.provider) {
            return Err(IncompleteError::NotSuited(connection.provider));
        }
        self.followed_by(grant.human, now)?;
        Ok(Self { connection: Some(connection.id), ..self.changed(LinkStatus::Completed, now) })
    }

    /// The human does not want to.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn decline(&self, human: UserId, now: Timestamp) -> Result<Self, LinkError> {
        self.followed_by(human, now)?;
        Ok(self.changed(LinkStatus::Declined, now))
    }

    /// The agent takes it back.
    ///
    /// # Errors
    /// [`LinkError::Ended`].
    pub fn cancel(&self, now: Timestamp) -> Result<Self, LinkError> {
        match self.status(now) {
            status if status.is_open() => Ok(self.changed(LinkStatus::Cancelled, now)),
            ended => Err(LinkError::Ended(ended)),
        }
    }

    /// The link as one that took too long, written down.
    #[must_use]
    pub fn expired(&self, now: Timestamp) -> Self {
        self.changed(LinkStatus::Expired, now)
    }

    /// Demands that it goes on, and that the human is the one who follows it.
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
