//! The providers that users sign in with.

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, IdentityClaims, Provider, TokenRequest};

/// Why a provider's code was not exchanged for an identity.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The provider refuses the code, with this error.
    #[error("the provider refuses the code: {0}")]
    Refused(String),
    /// The provider does not answer, or answers too late.
    #[error("the provider does not answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The provider's answer cannot be understood.
    #[error("the provider's answer cannot be understood")]
    Malformed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A provider that users can sign in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedProvider {
    /// The provider.
    pub provider: Provider,
    /// The name that people know.
    pub title: String,
}

/// The identity for which a provider exchanged a code.
#[derive(Debug)]
pub struct Exchanged {
    /// The claims of the identity token, with those of the UserInfo endpoint if it was asked and answered.
    pub claims: IdentityClaims,
    /// Why the claims of the UserInfo endpoint are missing, if it was asked. They have the address, which a user who is
    /// known by the subject does not need.
    pub incomplete: Option<ExchangeError>,
}

/// The configured providers that users sign in with.
#[async_trait]
pub trait SignInProviders: Send + Sync {
    /// Every configured provider, in the order of [`Provider::ALL`], even one that does not answer at present.
    fn offered(&self) -> &[OfferedProvider];

    /// The client registration at a provider; `None` if the provider is not configured. The endpoints of an operator's
    /// own provider come from its discovery document, which is kept for an hour.
    ///
    /// # Errors
    /// [`ExchangeError::Unavailable`] if there is no valid discovery document.
    async fn client(&self, provider: Provider) -> Result<Option<Client>, ExchangeError>;

    /// Exchanges the code of a callback for an identity, at the provider's token endpoint over TLS. Check it with
    /// [`IdentityClaims::check`]. If the identity token of an operator's own provider has no address, the address comes
    /// from its UserInfo endpoint (OpenID Connect Core section 5.4).
    async fn exchange(&self, provider: Provider, request: TokenRequest) -> Result<Exchanged, ExchangeError>;
}
