//! The configured providers, as a port of the application.

use std::{future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_app::ports::{
    AskedCalendar, CaldavLogin, CalendarProviders, DiscoveryError, PROVIDER_WITHIN, ProviderError, PublishedStep,
    TheirBusy,
};
use kalends_bridge::{Access, CaldavAccount, CalendarProvider, Drawing, FoundCopy, Step, TheirCalendar, Tokens};
use kalends_egress::Egress;
use kalends_kernel::CalendarId;
use kalends_time::{Span, Timestamp};
use tokio::time::{Instant, timeout};

use crate::{
    ProviderSettings,
    account::{Account, post_form},
    answer::{known, listed, unknown},
    caldav, google,
    microsoft::{self, publishing},
    tokens,
};

/// The accounts of users at the configured providers, reached through the guarded client.
///
/// A call takes at most [`PROVIDER_WITHIN`], and each of its exchanges at most 15 s.
pub struct CalendarAccounts {
    egress: Arc<Egress>,
    configured: Vec<ProviderSettings>,
    /// Whether the stand-in is offered.
    standin: bool,
    within: Duration,
}

impl CalendarAccounts {
    /// Creates the set of providers: the configured ones, each at most once, CalDAV, and the stand-in if `standin` is
    /// set.
    pub const fn new(egress: Arc<Egress>, configured: Vec<ProviderSettings>, standin: bool) -> Self {
        Self { egress, configured, standin, within: PROVIDER_WITHIN }
    }

    fn of(&self, provider: Provider) -> Option<&ProviderSettings> {
        self.configured.iter().find(|configured| configured.client.provider == provider)
    }

    fn configured(&self, provider: Provider) -> Result<&ProviderSettings, ProviderError> {
        self.of(provider).ok_or_else(|| ProviderError::Unavailable("it is not configured".into()))
    }

    /// The account that the access opens.
    fn opened<'a>(&'a self, provider: CalendarProvider, access: &'a Access) -> Result<Opened<'a>, ProviderError> {
        let account = |provider, tokens| Account::new(&self.egress, &self.configured(provider)?.api, tokens);
        match (provider, access) {
            (CalendarProvider::Google, Access::Consent(tokens)) => {
                account(Provider::Google, tokens).map(Opened::Google)
            }
            (CalendarProvider::Microsoft, Access::Consent(tokens)) => {
                account(Provider::Microsoft, tokens).map(|account| Opened::Microsoft(account, tokens))
            }
            (CalendarProvider::Caldav, Access::Password(account)) => Ok(Opened::Caldav(account)),
            (CalendarProvider::Example, Access::Drawn(drawing)) if self.standin => Ok(Opened::Example(drawing)),
            (CalendarProvider::Example, Access::Drawn(_)) => {
                let off = "example calendars are switched off on this server (KALENDS_STANDIN_PROVIDER)";
                Err(ProviderError::Unavailable(off.into()))
            }
            _ => Err(ProviderError::Malformed("the stored access is that of another provider".into())),
        }
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

/// An account that can be read.
enum Opened<'a> {
    Google(Account<'a>),
    Microsoft(Account<'a>, &'a Tokens),
    Caldav(&'a CaldavAccount),
    Example(&'a Drawing),
}

/// The error of a provider to whose calendars events cannot be published.
fn no_publishing() -> ProviderError {
    ProviderError::Unavailable("events cannot be published to it".into())
}

#[async_trait]
impl CalendarProviders for CalendarAccounts {
    fn offers(&self, provider: CalendarProvider) -> bool {
        match provider {
            CalendarProvider::Google => self.of(Provider::Google).is_some(),
            CalendarProvider::Microsoft => self.of(Provider::Microsoft).is_some(),
            CalendarProvider::Caldav => true,
            CalendarProvider::Example => self.standin,
        }
    }

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

    async fn discover(&self, login: &CaldavLogin) -> Result<(CaldavAccount, Vec<TheirCalendar>), DiscoveryError> {
        let found = self.in_time(async { Ok(caldav::discover(&self.egress, login).await) }).await?;
        let (account, calendars) = found?;
        let calendars = listed(calendars);
        if calendars.is_empty() { Err(DiscoveryError::NoCalendars) } else { Ok((account, calendars)) }
    }

    async fn calendars(
        &self,
        provider: CalendarProvider,
        access: &Access,
    ) -> Result<Vec<TheirCalendar>, ProviderError> {
        match self.opened(provider, access)? {
            Opened::Google(account) => self.in_time(google::calendars(&account)).await,
            Opened::Microsoft(account, _) => self.in_time(microsoft::calendars(&account)).await,
            Opened::Caldav(account) => self.in_time(caldav::calendars(&self.egress, account)).await.map(listed),
            Opened::Example(drawing) => Ok(drawing.listed()),
        }
    }

    async fn busy(
        &self,
        provider: CalendarProvider,
        access: &Access,
        calendars: &[AskedCalendar],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError> {
        let references: Vec<String> = calendars.iter().map(|asked| asked.reference.clone()).collect();
        match self.opened(provider, access)? {
            Opened::Google(account) => self.in_time(google::busy(&account, &references, window)).await,
            Opened::Microsoft(account, tokens) => {
                self.in_time(microsoft::busy(&account, &references, window, tokens.publishing)).await
            }
            Opened::Caldav(account) => {
                // It ends before the call does, so that what was read by then is returned.
                let until = Instant::now() + self.within * 5 / 6;
                self.in_time(caldav::busy(&self.egress, account, calendars, window, until)).await
            }
            Opened::Example(drawing) => {
                let busy = |reference: &String| match drawing.busy(reference) {
                    Some(spans) => known(spans.to_vec()),
                    None => unknown("not_found"),
                };
                Ok(references.iter().map(busy).collect())
            }
        }
    }

    async fn copies(
        &self,
        provider: CalendarProvider,
        access: &Access,
        target: &str,
        calendar: CalendarId,
        since: Timestamp,
    ) -> Result<Vec<FoundCopy>, ProviderError> {
        match self.opened(provider, access)? {
            Opened::Microsoft(account, _) => self.in_time(publishing::copies(&account, target, calendar, since)).await,
            Opened::Google(_) | Opened::Caldav(_) | Opened::Example(_) => Err(no_publishing()),
        }
    }

    async fn publish(
        &self,
        provider: CalendarProvider,
        access: &Access,
        target: &str,
        calendar: CalendarId,
        steps: &[Step],
    ) -> Result<Vec<PublishedStep>, ProviderError> {
        match self.opened(provider, access)? {
            Opened::Microsoft(account, _) => self.in_time(publishing::publish(&account, target, calendar, steps)).await,
            Opened::Google(_) | Opened::Caldav(_) | Opened::Example(_) => Err(no_publishing()),
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
