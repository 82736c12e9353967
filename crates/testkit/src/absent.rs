//! Outgoing ports behind which there is nothing, for tests that do not use them.

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_app::ports::{
    AskedCalendar, CaldavLogin, CalendarProviders, DiscoveryError, ExchangeError, Exchanged, FeedFetcher, FetchError,
    FetchedFeed, OfferedProvider, ProviderError, PublishedStep, SignInProviders, TheirBusy, WebhookPost, WebhookReply,
    WebhookSender,
};
use kalends_bridge::{Access, CaldavAccount, CalendarProvider, FoundCopy, Step, TheirCalendar, Tokens};
use kalends_feeds::sync::Validators;
use kalends_kernel::CalendarId;
use kalends_notifications::Outcome;
use kalends_remote::RemoteUrl;
use kalends_time::{Span, Timestamp};

/// A fetcher that fetches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFetcher;

#[async_trait]
impl FeedFetcher for NoFetcher {
    async fn fetch(&self, _: &RemoteUrl, _: &Validators) -> Result<FetchedFeed, FetchError> {
        Err(FetchError("this process fetches nothing".to_owned()))
    }
}

/// A sender that sends nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSender;

#[async_trait]
impl WebhookSender for NoSender {
    fn exempts(&self, _: &str, _: u16) -> bool {
        false
    }

    async fn post(&self, _: WebhookPost) -> WebhookReply {
        WebhookReply { outcome: Outcome::Unanswered, problem: Some("this process sends nothing".to_owned()) }
    }
}

/// A service without sign-in providers.
#[derive(Debug, Clone, Copy)]
pub struct NoProviders;

#[async_trait]
impl SignInProviders for NoProviders {
    fn offered(&self) -> &[OfferedProvider] {
        &[]
    }

    async fn client(&self, _: Provider) -> Result<Option<Client>, ExchangeError> {
        Ok(None)
    }

    async fn exchange(&self, _: Provider, _: TokenRequest) -> Result<Exchanged, ExchangeError> {
        Err(ExchangeError::Unavailable("no provider is configured".into()))
    }
}

/// A service without calendar providers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCalendarProviders;

/// The result of every call of [`NoCalendarProviders`].
fn unconfigured<T>() -> Result<T, ProviderError> {
    Err(ProviderError::Unavailable("no calendar provider is configured".into()))
}

#[async_trait]
impl CalendarProviders for NoCalendarProviders {
    fn offers(&self, _: CalendarProvider) -> bool {
        false
    }

    fn client(&self, _: Provider) -> Option<&Client> {
        None
    }

    async fn authorize(&self, _: Provider, _: TokenRequest, _: Timestamp) -> Result<Tokens, ProviderError> {
        unconfigured()
    }

    async fn discover(&self, _: &CaldavLogin) -> Result<(CaldavAccount, Vec<TheirCalendar>), DiscoveryError> {
        Ok(unconfigured()?)
    }

    async fn renew(&self, _: Provider, _: &Tokens, _: Timestamp) -> Result<Tokens, ProviderError> {
        unconfigured()
    }

    async fn calendars(&self, _: CalendarProvider, _: &Access) -> Result<Vec<TheirCalendar>, ProviderError> {
        unconfigured()
    }

    async fn busy(
        &self,
        _: CalendarProvider,
        _: &Access,
        _: &[AskedCalendar],
        _: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError> {
        unconfigured()
    }

    async fn copies(
        &self,
        _: CalendarProvider,
        _: &Access,
        _: &str,
        _: CalendarId,
        _: Timestamp,
    ) -> Result<Vec<FoundCopy>, ProviderError> {
        unconfigured()
    }

    async fn publish(
        &self,
        _: CalendarProvider,
        _: &Access,
        _: &str,
        _: CalendarId,
        _: &[Step],
    ) -> Result<Vec<PublishedStep>, ProviderError> {
        unconfigured()
    }

    async fn revoke(&self, _: Provider, _: &Tokens) -> Result<(), ProviderError> {
        unconfigured()
    }
}
