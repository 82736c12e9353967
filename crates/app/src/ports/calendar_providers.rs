//! The providers of human calendars.

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_bridge::{CopyContent, CopyKey, TheirCalendar, Tokens};
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

/// The busy times of one calendar at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TheirBusy {
    /// These times, in any order. They may overlap and extend beyond the window.
    Known {
        /// The busy times of everything but copies.
        spans: Vec<Span>,
        /// The busy times of copies of our calendars.
        copies: Vec<(CalendarId, Span)>,
    },
    /// The provider does not return the busy times of this calendar, for this reason.
    Unknown(String),
}

/// A copy that exists at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCopy {
    /// What it is a copy of.
    pub key: CopyKey,
    /// The provider's identifier.
    pub reference: String,
    /// [`kalends_bridge::CopyContent::visible`] of what we wrote, from its property.
    pub visible: [u8; 32],
    /// When it ends.
    pub ends_at: Timestamp,
    /// Whether a person has changed it since.
    pub changed: bool,
}

/// One step of publishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishStep {
    /// Creates a copy.
    Create {
        /// What it is a copy of.
        key: CopyKey,
        /// What to write.
        content: CopyContent,
    },
    /// Changes a copy.
    Update {
        /// What it is a copy of.
        key: CopyKey,
        /// The provider's identifier.
        reference: String,
        /// [`CopyContent::visible`] of what we wrote before.
        visible: [u8; 32],
        /// What to write.
        content: CopyContent,
    },
    /// Deletes a copy.
    Delete {
        /// The provider's identifier.
        reference: String,
        /// [`CopyContent::visible`] of what we wrote before.
        visible: [u8; 32],
    },
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
/// Each call ends within [`PROVIDER_WITHIN`], whatever the provider does.
#[async_trait]
pub trait CalendarProviders: Send + Sync {
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

    /// All calendars of the account, including hidden ones, the account's own calendar first. An incomplete list is
    /// an error.
    async fn calendars(&self, provider: Provider, tokens: &Tokens) -> Result<Vec<TheirCalendar>, ProviderError>;

    /// The busy times of each calendar within the window, in the order of `references`.
    async fn busy(
        &self,
        provider: Provider,
        tokens: &Tokens,
        references: &[String],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError>;

    /// The copies of a calendar of ours that exist in the calendar `target` (its reference) and end at `since` or later,
    /// found by the property that [`Self::publish`] gives them. Copies of whole days may be left out if they end less
    /// than a day later. For after an attempt that did not end.
    async fn copies(
        &self,
        provider: Provider,
        tokens: &Tokens,
        target: &str,
        calendar: CalendarId,
        since: Timestamp,
    ) -> Result<Vec<FoundCopy>, ProviderError>;

    /// Sends at most [`kalends_bridge::STEPS_AT_ONCE`] steps, and returns the result of each, in their order. Steps of
    /// one call concern different keys. Before it changes or deletes a copy, it reads it, and leaves it alone if a person
    /// has changed it. A step that was sent twice creates one copy.
    async fn publish(
        &self,
        provider: Provider,
        tokens: &Tokens,
        target: &str,
        calendar: CalendarId,
        steps: &[PublishStep],
    ) -> Result<Vec<PublishedStep>, ProviderError>;

    /// Revokes the consent at the provider, if the provider supports that.
    async fn revoke(&self, provider: Provider, tokens: &Tokens) -> Result<(), ProviderError>;
}

/// The longest time that a call of [`CalendarProviders`] takes.
pub const PROVIDER_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);
