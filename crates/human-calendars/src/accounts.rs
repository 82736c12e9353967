//! The configured providers, as a port of the application.

use std::{future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_app::ports::{
    CalendarProviders, FoundCopy, PROVIDER_WITHIN, ProviderError, PublishStep, PublishedStep, TheirBusy,
};
use kalends_bridge::{TheirCalendar, Tokens};
use kalends_egress::Egress;
use kalends_kernel::CalendarId;
use kalends_time::{Span, Timestamp};
use tokio::time::timeout;

use crate::{
    ProviderSettings,
    account::{Account, post_form},
    google,
    microsoft::{self, publishing},
    tokens,
};

/// The accounts of users at the configured providers, reached through the guarded client.
///
/// A call takes at most [`PROVIDER_WITHIN`], and each of its exchanges at most 15 s.
pub struct CalendarAccounts {
    egress: Arc<Egress>,
    configured: Vec<ProviderSettings>,
    within: Duration,
}

impl CalendarAccounts {
    /// Creates the set of providers. Each provider may occur only once.
    pub const fn new(egress: Arc<Egress>, configured: Vec<ProviderSettings>) -> Self {
        Self { egress, configured, within: PROVIDER_WITHIN }
    }

    fn of(&self, provider: Provider) -> Option<&ProviderSettings> {
        self.configured.iter().find(|configured| configured.client.provider == provider)
    }

    fn configured(&self, provider: Provider) -> Result<&ProviderSettings, ProviderError> {
        self.of(provider).ok_or_else(|| ProviderError::Unavailable("it is not configured".into()))
    }

    fn account(&self, provider: Provider, tokens: &Tokens) -> Result<Account<'_>, ProviderError> {
        Account::new(&self.egress, &self.configured(provider)?.api, tokens)
    }

    /// Runs a call with a limit on its total time.
    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, ProviderError>> + Send,
    ) -> Result<T, ProviderError> {
        let late = || format!("no complete answer within {} s", self.within.as_secs_f64());
        timeout(self.within, call).await.unwrap_or_else(|_| Err(ProviderError::Unavailable(late().into())))
    }
}

/// The error of a provider that users can only sign in with.
fn no_calendars() -> ProviderError {
    ProviderError::Unavailable("it has no calendars".into())
}

/// The error of a provider to whose calendars events cannot be published.
fn no_publishing() -> ProviderError {
    ProviderError::Unavailable("events cannot be published to it".into())
}

#[async_trait]
impl CalendarProviders for CalendarAccounts {
    fn client(&self, provider: Provider) -> Option<&Client> {
        self.of(provider).map(|settings| &settings.client)
    }

    async fn authorize(
        &self,
        provider: Provider,
        request: TokenRequest,
        now: Timestamp,
    ) -> Result<Tokens, ProviderError> {
        let settings = self.configured(provider)?;
        let form = tokens::authorizing(settings, &request);
        let answer = self.in_time(post_form(&self.egress, &settings.token_endpoint, form)).await?;
        let granted = tokens::granted(answer.status, &answer.body, None, now)?;
        tokens::suffices(provider, &answer.body).map(|()| granted)
    }

    async fn renew(&self, provider: Provider, tokens: &Tokens, now: Timestamp) -> Result<Tokens, ProviderError> {
        let settings = self.configured(provider)?;
        let form = tokens::renewing(settings, tokens);
        let answer = self.in_time(post_form(&self.egress, &settings.token_endpoint, form)).await?;
        tokens::granted(answer.status, &answer.body, Some(tokens), now)
    }

    async fn calendars(&self, provider: Provider, tokens: &Tokens) -> Result<Vec<TheirCalendar>, ProviderError> {
        let account = self.account(provider, tokens)?;
        match provider {
            Provider::Google => self.in_time(google::calendars(&account)).await,
            Provider::Microsoft => self.in_time(microsoft::calendars(&account)).await,
            Provider::Oidc => Err(no_calendars()),
        }
    }

    async fn busy(
        &self,
        provider: Provider,
        tokens: &Tokens,
        references: &[String],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError> {
        let account = self.account(provider, tokens)?;
        match provider {
            Provider::Google => self.in_time(google::busy(&account, references, window)).await,
            Provider::Microsoft => self.in_time(microsoft::busy(&account, references, window, tokens.publishing)).await,
            Provider::Oidc => Err(no_calendars()),
        }
    }

    async fn copies(
        &self,
        provider: Provider,
        tokens: &Tokens,
        target: &str,
        calendar: CalendarId,
        since: Timestamp,
    ) -> Result<Vec<FoundCopy>, ProviderError> {
        let account = self.account(provider, tokens)?;
        match provider {
            Provider::Microsoft => self.in_time(publishing::copies(&account, target, calendar, since)).await,
            Provider::Google => Err(no_publishing()),
            Provider::Oidc => Err(no_calendars()),
        }
    }

    async fn publish(
        &self,
        provider: Provider,
        tokens: &Tokens,
        target: &str,
        calendar: CalendarId,
        steps: &[PublishStep],
    ) -> Result<Vec<PublishedStep>, ProviderError> {
        let account = self.account(provider, tokens)?;
        match provider {
            Provider::Microsoft => self.in_time(publishing::publish(&account, target, calendar, steps)).await,
            Provider::Google => Err(no_publishing()),
            Provider::Oidc => Err(no_calendars()),
        }
    }

    async fn revoke(&self, provider: Provider, tokens: &Tokens) -> Result<(), ProviderError> {
        let Some(endpoint) = &self.configured(provider)?.revocation_endpoint else { return Ok(()) };
        let answer = self.in_time(post_form(&self.egress, endpoint, tokens::revoking(tokens))).await?;
        tokens::revoked(answer.status, &answer.body)
    }
}

#[cfg(test)]
impl CalendarAccounts {
    pub(crate) fn egress(&self) -> Arc<Egress> {
        Arc::clone(&self.egress)
    }

    /// The same accounts with a shorter time limit.
    pub(crate) const fn limited(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }
}
