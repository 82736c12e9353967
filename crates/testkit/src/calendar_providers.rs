//! Calendar providers that return what a test sets.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_app::ports::{CalendarProviders, ProviderError, TheirBusy};
use kalends_bridge::{TheirCalendar, Tokens};
use kalends_time::{SignedDuration, Span, Timestamp};

/// Calendar providers in memory. Clones share their state.
#[derive(Debug, Clone)]
pub struct TestCalendarProviders {
    clients: Arc<[Client]>,
    accounts: Arc<Mutex<Accounts>>,
}

#[derive(Debug, Default)]
struct Accounts {
    /// Accounts by the code that a callback brings. The account's refresh token is the same code.
    by_code: BTreeMap<String, Account>,
    failure: Option<Failing>,
    revoked: Vec<String>,
    renewed: usize,
}

#[derive(Debug, Clone, Default)]
struct Account {
    calendars: Vec<TheirCalendar>,
    busy: BTreeMap<String, Vec<Span>>,
    hushed: Vec<String>,
}

/// How calls to the providers fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// The providers do not answer.
    Away,
    /// The providers do not accept the consent any more.
    Lapsed,
    /// Only the access token has ended: a new one works.
    Access,
    /// The providers do not return the list of calendars. Everything else works.
    Calendars,
}

/// How long an access token is valid.
const ACCESS_LASTS: SignedDuration = SignedDuration::hours(1);

impl TestCalendarProviders {
    /// Creates the providers. Their pages are at `https://PROVIDER.example/authorize`.
    ///
    /// # Panics
    /// Never: the URLs are constant and valid.
    #[expect(clippy::unwrap_used, reason = "the URLs are constant and valid")]
    pub fn offering(providers: impl IntoIterator<Item = Provider>, base_url: &str) -> Self {
        let client = |provider: Provider| Client {
            provider,
            authorization_endpoint: format!("https://{}.example/authorize", provider.as_str()).parse().unwrap(),
            issuer: format!("https://{}.example", provider.as_str()),
            client_id: "kalends".to_owned(),
            redirect_uri: format!("{base_url}/v1/calendar-connections/oauth/{}/callback", provider.as_str()),
        };
        Self { clients: providers.into_iter().map(client).collect(), accounts: Arc::default() }
    }

    /// Makes callbacks with this code belong to an account with these calendars. The first is the account's primary
    /// calendar.
    pub fn account(&self, code: &str, names: &[&str]) {
        let calendar = |(place, name): (usize, &&str)| TheirCalendar {
            reference: format!("{name}@{code}"),
            name: (*name).to_owned(),
            primary: place == 0,
        };
        let calendars = names.iter().enumerate().map(calendar).collect();
        self.lock().by_code.entry(code.to_owned()).or_default().calendars = calendars;
    }

    /// Makes the calendar of the account busy at these times, and at no others.
    pub fn busy(&self, code: &str, name: &str, spans: Vec<Span>) {
        let mut accounts = self.lock();
        accounts.by_code.entry(code.to_owned()).or_default().busy.insert(format!("{name}@{code}"), spans);
    }

    /// Makes the provider refuse to return busy times of the calendar. The account still lists the calendar.
    pub fn hush(&self, code: &str, name: &str) {
        self.lock().by_code.entry(code.to_owned()).or_default().hushed.push(format!("{name}@{code}"));
    }

    /// Makes calls fail in this way from now on, or succeed again. Revoking a consent always succeeds.
    pub fn fail(&self, failure: Option<Failing>) {
        self.lock().failure = failure;
    }

    /// The codes of the consents that were revoked, in order.
    pub fn revoked(&self) -> Vec<String> {
        self.lock().revoked.clone()
    }

    /// How often tokens were renewed.
    pub fn renewed(&self) -> usize {
        self.lock().renewed
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The account that the tokens open, unless everything fails.
    fn opened(&self, tokens: &Tokens) -> Result<Account, ProviderError> {
        let accounts = self.lock();
        let fresh = tokens.access.ends_with(" again");
        match accounts.failure {
            Some(Failing::Away) => Err(ProviderError::Unavailable("the provider is away".into())),
            Some(Failing::Lapsed) => Err(ProviderError::Lapsed("invalid_grant".to_owned())),
            Some(Failing::Access) if !fresh => Err(ProviderError::Lapsed("invalid_token".to_owned())),
            Some(Failing::Access | Failing::Calendars) | None => accounts
                .by_code
                .get(&tokens.refresh)
                .cloned()
                .ok_or_else(|| ProviderError::Lapsed("invalid_grant".to_owned())),
        }
    }
}

#[async_trait]
impl CalendarProviders for TestCalendarProviders {
    fn client(&self, provider: Provider) -> Option<&Client> {
        self.clients.iter().find(|client| client.provider == provider)
    }

    async fn authorize(&self, _: Provider, request: TokenRequest, now: Timestamp) -> Result<Tokens, ProviderError> {
        let tokens = Tokens { access: "first".to_owned(), access_until: now + ACCESS_LASTS, refresh: request.code };
        self.opened(&tokens).map(|_| tokens)
    }

    async fn renew(&self, _: Provider, tokens: &Tokens, now: Timestamp) -> Result<Tokens, ProviderError> {
        let renewed = Tokens {
            access: "once again".to_owned(),
            access_until: now + ACCESS_LASTS,
            refresh: tokens.refresh.clone(),
        };
        self.opened(&renewed)?;
        self.lock().renewed += 1;
        Ok(renewed)
    }

    async fn calendars(&self, _: Provider, tokens: &Tokens) -> Result<Vec<TheirCalendar>, ProviderError> {
        if self.lock().failure == Some(Failing::Calendars) {
            return Err(ProviderError::Unavailable("the provider lists no calendars".into()));
        }
        Ok(self.opened(tokens)?.calendars)
    }

    async fn busy(
        &self,
        _: Provider,
        tokens: &Tokens,
        references: &[String],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError> {
        let account = self.opened(tokens)?;
        let busy_of = |reference: &String| {
            if account.hushed.contains(reference) {
                return TheirBusy::Unknown("forbidden".to_owned());
            }
            if !account.calendars.iter().any(|calendar| calendar.reference == *reference) {
                return TheirBusy::Unknown("notFound".to_owned());
            }
            let spans = account.busy.get(reference).cloned().unwrap_or_default();
            TheirBusy::Known(spans.into_iter().filter(|span| span.overlaps(window)).collect())
        };
        Ok(references.iter().map(busy_of).collect())
    }

    async fn revoke(&self, _: Provider, tokens: &Tokens) -> Result<(), ProviderError> {
        let code = tokens.refresh.clone();
        self.lock().revoked.push(code);
        Ok(())
    }
}
