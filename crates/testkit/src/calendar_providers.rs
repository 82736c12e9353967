//! Calendar providers that return what a test sets.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider, TokenRequest};
use kalends_app::ports::{
    AskedCalendar, CaldavLogin, CalendarProviders, DiscoveryError, ProviderError, PublishedStep, TheirBusy,
};
use kalends_bridge::{
    Access, CaldavAccount, CalendarProvider, CopyContent, CopyKey, FoundCopy, STEPS_AT_ONCE, Step, TheirCalendar,
    Tokens,
};
use kalends_kernel::CalendarId;
use kalends_time::{SignedDuration, Span, Timestamp};

/// Calendar providers in memory. Clones share their state.
#[derive(Debug, Clone)]
pub struct TestCalendarProviders {
    clients: Arc<[Client]>,
    /// The other providers that are offered.
    without_consent: Arc<[CalendarProvider]>,
    accounts: Arc<Mutex<Accounts>>,
}

#[derive(Debug, Default)]
struct Accounts {
    /// Accounts by the code that a callback brings. The account's refresh token is the same code.
    by_code: BTreeMap<String, Account>,
    failure: Option<Failing>,
    revoked: Vec<String>,
    renewed: usize,
    /// How the next calls of `publish` fail, one for each.
    faults: VecDeque<PublishFault>,
    publishings: usize,
    listings: usize,
    readings: usize,
    /// The number of copies ever created, for their identifiers.
    created: usize,
}

#[derive(Debug, Clone, Default)]
struct Account {
    calendars: Vec<TheirCalendar>,
    busy: BTreeMap<String, Vec<Span>>,
    hushed: Vec<String>,
    /// Whether the account's owner consents to publishing.
    publishing: bool,
    /// The copies in each calendar.
    copies: BTreeMap<String, Vec<TestCopy>>,
    /// The password, if the account is one at a CalDAV server. Its user name is the code.
    password: Option<String>,
    /// The tag of each calendar at a CalDAV server, which changes with its busy times.
    tags: BTreeMap<String, u8>,
    /// The number of events that cannot be read.
    unread: usize,
}

/// A copy in a calendar of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCopy {
    /// The provider's identifier.
    pub reference: String,
    /// Our calendar.
    pub calendar: CalendarId,
    /// What it is a copy of.
    pub key: CopyKey,
    /// What it shows now.
    pub content: CopyContent,
    /// [`CopyContent::visible`] of what was written.
    pub visible: [u8; 32],
}

/// How a call of [`CalendarProviders::publish`] fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishFault {
    /// Every step is done, but the answer is lost.
    Interrupted,
    /// Nothing is done, and there is no answer.
    Away,
    /// The provider does not accept the access token.
    Lapsed,
    /// The account may not write to the calendar.
    Forbidden,
    /// Every step may be done later, after this time.
    Later(Option<Duration>),
    /// The first step may be done later, and the others are done.
    FirstLater,
    /// The provider refuses every step, with this code.
    Refused(String),
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
    /// Creates the providers. The pages of those at which users consent are at `https://PROVIDER.example/authorize`.
    ///
    /// # Panics
    /// Never: the URLs are constant and valid.
    #[expect(clippy::unwrap_used, reason = "the URLs are constant and valid")]
    pub fn offering(providers: impl IntoIterator<Item = CalendarProvider>, base_url: &str) -> Self {
        let client = |provider: Provider| Client {
            provider,
            authorization_endpoint: format!("https://{}.example/authorize", provider.as_str()).parse().unwrap(),
            issuer: format!("https://{}.example", provider.as_str()),
            client_id: "kalends".to_owned(),
            redirect_uri: format!("{base_url}/v1/calendar-connections/oauth/{}/callback", provider.as_str()),
        };
        let (consented, others): (Vec<_>, Vec<_>) =
            providers.into_iter().partition(|provider| provider.oauth().is_some());
        Self {
            clients: consented.into_iter().filter_map(CalendarProvider::oauth).map(client).collect(),
            without_consent: others.into(),
            accounts: Arc::default(),
        }
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

    /// Makes the account one at a CalDAV server, with this password. Its user name is the code.
    pub fn password(&self, code: &str, password: &str) {
        self.lock().by_code.entry(code.to_owned()).or_default().password = Some(password.to_owned());
    }

    /// Sets how many events of each calendar of the account cannot be read.
    pub fn garble(&self, code: &str, events: usize) {
        self.lock().by_code.entry(code.to_owned()).or_default().unread = events;
    }

    /// How often busy times of a calendar were read in full.
    pub fn readings(&self) -> usize {
        self.lock().readings
    }

    /// Makes the calendar of the account busy at these times, and at no others.
    pub fn busy(&self, code: &str, name: &str, spans: Vec<Span>) {
        let mut accounts = self.lock();
        let account = accounts.by_code.entry(code.to_owned()).or_default();
        let reference = format!("{name}@{code}");
        *account.tags.entry(reference.clone()).or_default() += 1;
        account.busy.insert(reference, spans);
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

    /// Sets whether tokens of the account that are issued from now on allow publishing. At first, they do not.
    pub fn allow_publishing(&self, code: &str, allowed: bool) {
        self.lock().by_code.entry(code.to_owned()).or_default().publishing = allowed;
    }

    /// Makes the next calls of [`CalendarProviders::publish`] fail, one for each fault. Later calls succeed.
    pub fn fail_publishing(&self, faults: impl IntoIterator<Item = PublishFault>) {
        self.lock().faults.extend(faults);
    }

    /// The copies in a calendar of the account, in the order in which they were created.
    pub fn copies_in(&self, code: &str, name: &str) -> Vec<TestCopy> {
        let accounts = self.lock();
        let copies = accounts.by_code.get(code).and_then(|account| account.copies.get(&format!("{name}@{code}")));
        copies.cloned().unwrap_or_default()
    }

    /// A person edits the copies of this event or occurrence.
    pub fn edit_copy(&self, code: &str, name: &str, key: CopyKey, edit: impl Fn(&mut CopyContent)) {
        let mut accounts = self.lock();
        let account = accounts.by_code.entry(code.to_owned()).or_default();
        let copies = account.copies.entry(format!("{name}@{code}")).or_default();
        for copy in copies.iter_mut().filter(|copy| copy.key == key) {
            edit(&mut copy.content);
        }
    }

    /// A person deletes the copies of this event or occurrence.
    pub fn delete_copy(&self, code: &str, name: &str, key: CopyKey) {
        let mut accounts = self.lock();
        let account = accounts.by_code.entry(code.to_owned()).or_default();
        account.copies.entry(format!("{name}@{code}")).or_default().retain(|copy| copy.key != key);
    }

    /// The number of calls of [`CalendarProviders::publish`].
    pub fn publishings(&self) -> usize {
        self.lock().publishings
    }

    /// The number of calls of [`CalendarProviders::copies`].
    pub fn listings(&self) -> usize {
        self.lock().listings
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The account that opens, unless everything fails.
    fn opened(&self, access: &Access) -> Result<Account, ProviderError> {
        let lapsed = || ProviderError::Lapsed("invalid_grant".to_owned());
        let accounts = self.lock();
        let fresh = access.tokens().is_none_or(|tokens| tokens.access.ends_with(" again"));
        match accounts.failure {
            Some(Failing::Away) => return Err(ProviderError::Unavailable("the provider is away".into())),
            Some(Failing::Lapsed) => return Err(lapsed()),
            Some(Failing::Access) if !fresh => return Err(ProviderError::Lapsed("invalid_token".to_owned())),
            Some(Failing::Access | Failing::Calendars) | None => {}
        }
        match access {
            Access::Consent(tokens) => accounts.by_code.get(&tokens.refresh).cloned().ok_or_else(lapsed),
            Access::Password(CaldavAccount { username, password, .. }) => {
                let account = accounts.by_code.get(username).filter(|known| known.password.as_ref() == Some(password));
                account.cloned().ok_or_else(lapsed)
            }
            Access::Drawn(drawing) => Ok(Account {
                calendars: drawing.listed(),
                busy: drawing.calendars.iter().map(|drawn| (drawn.name.clone(), drawn.busy.clone())).collect(),
                ..Account::default()
            }),
        }
    }

    /// The account that opens, if the access allows publishing.
    fn opened_to_publish(&self, provider: CalendarProvider, access: &Access) -> Result<Account, ProviderError> {
        if !provider.takes_copies() {
            return Err(ProviderError::Unavailable("events cannot be published to it".into()));
        }
        let account = self.opened(access)?;
        let allowed = access.publishing() && account.publishing;
        if allowed { Ok(account) } else { Err(ProviderError::Lapsed("insufficient_scope".to_owned())) }
    }
}

/// Does one step on the copies of a calendar.
fn played(copies: &mut Vec<TestCopy>, created: &mut usize, calendar: CalendarId, step: &Step) -> PublishedStep {
    match step {
        Step::Create { key, content } => {
            if let Some(known) = copies.iter().find(|copy| (copy.calendar, copy.key) == (calendar, *key)) {
                return PublishedStep::Done(known.reference.clone());
            }
            *created += 1;
            let reference = format!("copy {created}");
            let (content, visible) = (content.clone(), content.visible());
            copies.push(TestCopy { reference: reference.clone(), calendar, key: *key, content, visible });
            PublishedStep::Done(reference)
        }
        Step::Update { reference, visible, content, .. } => {
            match copies.iter_mut().find(|copy| copy.reference == *reference) {
                Some(copy) if copy.content.visible() == *visible => {
                    copy.content = content.clone();
                    copy.visible = content.visible();
                    PublishedStep::Done(reference.clone())
                }
                Some(_) | None => PublishedStep::Diverged,
            }
        }
        Step::Delete { reference, visible, .. } => {
            let known = copies.iter().position(|copy| copy.reference == *reference);
            match known {
                Some(place) if copies[place].content.visible() != *visible => PublishedStep::Diverged,
                Some(place) => {
                    copies.remove(place);
                    PublishedStep::Done(reference.clone())
                }
                // A person deleted it.
                None => PublishedStep::Done(reference.clone()),
            }
        }
    }
}

#[async_trait]
impl CalendarProviders for TestCalendarProviders {
    fn offers(&self, provider: CalendarProvider) -> bool {
        match provider.oauth() {
            Some(provider) => self.client(provider).is_some(),
            None => self.without_consent.contains(&provider),
        }
    }

    fn client(&self, provider: Provider) -> Option<&Client> {
        self.clients.iter().find(|client| client.provider == provider)
    }

    async fn authorize(&self, _: Provider, request: TokenRequest, now: Timestamp) -> Result<Tokens, ProviderError> {
        let tokens = Tokens {
            access: "first".to_owned(),
            access_until: now + ACCESS_LASTS,
            refresh: request.code,
            publishing: false,
        };
        self.opened(&Access::Consent(tokens.clone())).map(|account| Tokens { publishing: account.publishing, ..tokens })
    }

    async fn renew(&self, _: Provider, tokens: &Tokens, now: Timestamp) -> Result<Tokens, ProviderError> {
        let renewed = Tokens {
            access: "once again".to_owned(),
            access_until: now + ACCESS_LASTS,
            refresh: tokens.refresh.clone(),
            publishing: false,
        };
        let account = self.opened(&Access::Consent(renewed.clone()))?;
        self.lock().renewed += 1;
        Ok(Tokens { publishing: account.publishing, ..renewed })
    }

    async fn discover(&self, login: &CaldavLogin) -> Result<(CaldavAccount, Vec<TheirCalendar>), DiscoveryError> {
        let account = CaldavAccount {
            server: login.url.clone(),
            home: format!("{}/{}/", login.url, login.username),
            username: login.username.clone(),
            password: login.password.clone(),
            addresses: Vec::new(),
        };
        let calendars = match self.opened(&Access::Password(account.clone())) {
            Ok(account) => account.calendars,
            Err(ProviderError::Lapsed(_)) => return Err(DiscoveryError::Refused),
            Err(error) => return Err(error.into()),
        };
        if calendars.is_empty() { Err(DiscoveryError::NoCalendars) } else { Ok((account, calendars)) }
    }

    async fn calendars(&self, _: CalendarProvider, access: &Access) -> Result<Vec<TheirCalendar>, ProviderError> {
        if self.lock().failure == Some(Failing::Calendars) {
            return Err(ProviderError::Unavailable("the provider lists no calendars".into()));
        }
        Ok(self.opened(access)?.calendars)
    }

    async fn busy(
        &self,
        _: CalendarProvider,
        access: &Access,
        calendars: &[AskedCalendar],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError> {
        let account = self.opened(access)?;
        let busy_of = |AskedCalendar { reference, known }: &AskedCalendar| {
            if account.hushed.contains(reference) {
                return TheirBusy::Unknown("forbidden".to_owned());
            }
            if !account.calendars.iter().any(|calendar| calendar.reference == *reference) {
                return TheirBusy::Unknown("notFound".to_owned());
            }
            let tag = account.password.is_some().then(|| {
                let mut tag = [0; 32];
                tag[0] = account.tags.get(reference).copied().unwrap_or_default();
                tag
            });
            if tag.is_some() && *known == tag {
                return TheirBusy::Unchanged;
            }
            self.lock().readings += 1;
            let mut spans = account.busy.get(reference).cloned().unwrap_or_default();
            let blocking = account.copies.get(reference).into_iter().flatten().filter(|copy| !copy.content.transparent);
            let mut copies: Vec<_> = blocking.map(|copy| (copy.calendar, copy.content.span)).collect();
            if !access.publishing() {
                spans.extend(copies.drain(..).map(|(_, span)| span));
            }
            spans.retain(|span| span.overlaps(window));
            copies.retain(|(_, span)| span.overlaps(window));
            TheirBusy::Known { spans, copies, tag, unread: account.unread }
        };
        Ok(calendars.iter().map(busy_of).collect())
    }

    async fn copies(
        &self,
        provider: CalendarProvider,
        access: &Access,
        target: &str,
        calendar: CalendarId,
        since: Timestamp,
    ) -> Result<Vec<FoundCopy>, ProviderError> {
        self.lock().listings += 1;
        let account = self.opened_to_publish(provider, access)?;
        let ours = account.copies.get(target).into_iter().flatten().filter(|copy| copy.calendar == calendar);
        let found = ours.filter(|copy| copy.content.span.end() >= since).map(|copy| FoundCopy {
            key: copy.key,
            reference: copy.reference.clone(),
            visible: copy.visible,
            ends_at: copy.content.span.end(),
            changed: copy.content.visible() != copy.visible,
        });
        Ok(found.collect())
    }

    async fn publish(
        &self,
        provider: CalendarProvider,
        access: &Access,
        target: &str,
        calendar: CalendarId,
        steps: &[Step],
    ) -> Result<Vec<PublishedStep>, ProviderError> {
        self.lock().publishings += 1;
        self.opened_to_publish(provider, access)?;
        if steps.len() > STEPS_AT_ONCE {
            return Err(ProviderError::Unavailable("too many steps at once".into()));
        }
        let mut accounts = self.lock();
        let fault = accounts.faults.pop_front();
        let away = || Err(ProviderError::Unavailable("the answer was lost".into()));
        match fault {
            Some(PublishFault::Away) => return away(),
            Some(PublishFault::Lapsed) => return Err(ProviderError::Lapsed("invalid_token".to_owned())),
            Some(PublishFault::Forbidden) => return Err(ProviderError::Lapsed("insufficient_scope".to_owned())),
            Some(PublishFault::Later(after)) => return Ok(vec![PublishedStep::Later(after); steps.len()]),
            Some(PublishFault::Refused(code)) => return Ok(vec![PublishedStep::Refused(code); steps.len()]),
            Some(PublishFault::Interrupted | PublishFault::FirstLater) | None => {}
        }
        let left_out = usize::from(matches!(fault, Some(PublishFault::FirstLater)));
        let Accounts { by_code, created, .. } = &mut *accounts;
        let code = access.tokens().map(|tokens| tokens.refresh.clone()).unwrap_or_default();
        let account = by_code.entry(code).or_default();
        let copies = account.copies.entry(target.to_owned()).or_default();
        let later = steps.iter().take(left_out).map(|_| PublishedStep::Later(None));
        let mut results: Vec<PublishedStep> = later.collect();
        results.extend(steps.iter().skip(left_out).map(|step| played(copies, created, calendar, step)));
        if matches!(fault, Some(PublishFault::Interrupted)) { away() } else { Ok(results) }
    }

    async fn revoke(&self, _: Provider, tokens: &Tokens) -> Result<(), ProviderError> {
        let code = tokens.refresh.clone();
        self.lock().revoked.push(code);
        Ok(())
    }
}
