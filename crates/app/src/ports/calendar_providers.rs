//! The providers of human calendars.

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_bridge::{Access, CaldavAccount, CalendarProvider, FoundCopy, Step, TheirCalendar, Tokens};
use kalends_kernel::CalendarId;
use kalends_time::{Span, Timestamp};

/// Why a calendar provider did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The provider no longer grants access, with this error. The user has to consent again.
    #[error("the provider no longer grants access: {0}")]
    Lapsed(String),
    /// The provider does not answer, answers too late, or cannot answer at present.
    #[error("the provider does not answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The provider's answer cannot be understood.
    #[error("the provider's answer cannot be understood")]
    Malformed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A calendar whose busy times are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCalendar {
    /// The provider's identifier.
    pub reference: String,
    /// The digest of the tag with which the same window was read before, if it was. See [`TheirBusy::Unchanged`].
    pub known: Option<[u8; 32]>,
}

/// The busy times of one calendar at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TheirBusy {
    /// These times, in any order. They may overlap and extend beyond the window.
    Known {
        /// The busy times of everything but copies.
        spans: Vec<Span>,
        /// The busy times of copies of our calendars.
        copies: Vec<(CalendarId, Span)>,
        /// A digest of the provider's tag for this state, if it has one.
        tag: Option<[u8; 32]>,
        /// The number of events that cannot be read, and are left out.
        unread: usize,
    },
    /// The calendar still has the tag [`AskedCalendar::known`], so its busy times are those that were read before.
    Unchanged,
    /// The provider does not return the busy times of this calendar, for this reason.
    Unknown(String),
}

/// What a user enters to connect an account at a CalDAV server.
#[derive(Clone, PartialEq, Eq)]
pub struct CaldavLogin {
    /// The address of the server, or of something in it: `https://` and at most
    /// [`kalends_bridge::SERVER_URL_MAX`] bytes.
    pub url: String,
    /// The user name, 1 to [`kalends_bridge::USERNAME_MAX`] characters.
    pub username: String,
    /// The password, 1 to [`kalends_bridge::PASSWORD_MAX`] characters.
    pub password: String,
}

impl std::fmt::Debug for CaldavLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaldavLogin").finish_non_exhaustive()
    }
}

/// Why no calendars were found at a CalDAV server. No error repeats the user name, the password or an answer.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The service must not send requests to this address, for this reason.
    #[error("{0}")]
    NotAllowed(String),
    /// The server answers, but nothing there speaks CalDAV.
    #[error("no CalDAV server answers at this address")]
    NoServer,
    /// The server leads to a host to which the user did not entrust the password.
    #[error("the server leads to another domain")]
    Elsewhere,
    /// The server refuses the user name and the password.
    #[error("the server refuses this user name and password")]
    Refused,
    /// The account has no calendars with events.
    #[error("the account has no calendars")]
    NoCalendars,
    /// The server does not answer, or its answer cannot be understood.
    #[error(transparent)]
    Provider(#[from] ProviderError),
}

/// The result of one step of publishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishedStep {
    /// The copy is as it should be. It has this identifier; for a deleted copy, the one that it had.
    Done(String),
    /// A person has changed or deleted the copy. It was left alone.
    Diverged,
    /// It was not done, and may be done later: after this time, if the provider named one.
    Later(Option<std::time::Duration>),
    /// The provider refuses this event, for this reason: its own code. Another attempt would not help until the event
    /// changes.
    Refused(String),
}

/// The configured providers of human calendars.
///
/// Each call ends within [`PROVIDER_WITHIN`], whatever the provider does. An [`Access`] always suits the provider.
#[async_trait]
pub trait CalendarProviders: Send + Sync {
    /// Whether users can connect accounts at a provider.
    fn offers(&self, provider: CalendarProvider) -> bool;

    /// The client registration for consent at a provider; `None` if the provider is not configured.
    fn client(&self, provider: Provider) -> Option<&Client>;

    /// Exchanges the code of a callback for tokens.
    async fn authorize(
        &self,
        provider: Provider,
        request: TokenRequest,
        now: Timestamp,
    ) -> Result<Tokens, ProviderError>;

    /// Renews tokens whose access token has expired or is about to.
    async fn renew(&self, provider: Provider, tokens: &Tokens, now: Timestamp) -> Result<Tokens, ProviderError>;

    /// Revokes the consent at the provider, if the provider supports that.
    async fn revoke(&self, provider: Provider, tokens: &Tokens) -> Result<(), ProviderError>;

    /// Finds the calendars of an account at a CalDAV server: the account, and its calendars as in [`Self::calendars`].
    async fn discover(&self, login: &CaldavLogin) -> Result<(CaldavAccount, Vec<TheirCalendar>), DiscoveryError>;

    /// All calendars of the account, including hidden ones, the account's own calendar first. An incomplete list is
    /// an error.
    async fn calendars(&self, provider: CalendarProvider, access: &Access)
    -> Result<Vec<TheirCalendar>, ProviderError>;

    /// The busy times of each calendar within the window, in the order of `calendars`.
    async fn busy(
        &self,
        provider: CalendarProvider,
        access: &Access,
        calendars: &[AskedCalendar],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError>;

    /// The copies of a calendar of ours that exist in the calendar `target` (its reference) and end at `since` or later,
    /// found by the property that [`Self::publish`] gives them. Copies of whole days may be left out if they end less
    /// than a day later. For after an attempt that did not end.
    async fn copies(
        &self,
        provider: CalendarProvider,
        access: &Access,
        target: &str,
        calendar: CalendarId,
        since: Timestamp,
    ) -> Result<Vec<FoundCopy>, ProviderError>;

    /// Sends at most [`kalends_bridge::STEPS_AT_ONCE`] steps, and returns the result of each, in their order. Steps of
    /// one call concern different copies. Before it changes or deletes a copy, it reads it, and leaves it alone if a
    /// person has changed it. A step that was sent twice creates one copy.
    async fn publish(
        &self,
        provider: CalendarProvider,
        access: &Access,
        target: &str,
        calendar: CalendarId,
        steps: &[Step],
    ) -> Result<Vec<PublishedStep>, ProviderError>;
}

/// The longest time that a call of [`CalendarProviders`] takes.
pub const PROVIDER_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);
