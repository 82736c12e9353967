//! The providers of human calendars.

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_bridge::{TheirCalendar, Tokens};
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
    /// These spans, in any order. They may overlap and extend beyond the window.
    Known(Vec<Span>),
    /// The provider does not return the busy times of this calendar, for this reason.
    Unknown(String),
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

    /// Revokes the consent at the provider, if the provider supports that.
    async fn revoke(&self, provider: Provider, tokens: &Tokens) -> Result<(), ProviderError>;
}

/// The longest time that a call of [`CalendarProviders`] takes.
pub const PROVIDER_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);
