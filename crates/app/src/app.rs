//! The application: its ports, its settings and its caches.

use std::sync::Arc;

use kalends_accounts::{AdminToken, PublicMailDomains, SignUps, Terms, origins_of};
use kalends_calendars::RecurrenceDefault;
use kalends_kernel::Entropy;
use kalends_plans::{IpLimits, MailLimits, Plan, TrustedProxies};
use kalends_time::{Clock, Timestamp};
use tokio::sync::Semaphore;

use crate::{
    busy_cache::{AnswerCache, BusyCache},
    deployment::Deployment,
    failures::Failures,
    feed_cache::FeedCache,
    feed_waits::FeedWaits,
    key_uses::KeyUses,
    meter::Meter,
    nudges::Nudges,
    ports::{
        CalendarProviders, FeedFetcher, HumanCalendars, Mailer, PasswordHasher, RateLimiter, SessionTokens,
        SignInProviders, Store, WebhookSender,
    },
    principal_cache::PrincipalCache,
    questions::{AvailabilityQuestion, PageQuestion},
    running::Running,
    sampler::Sampler,
    series_cache::SeriesCache,
    striped_locks::StripedLocks,
    write_health::WriteHealth,
};

/// How many feeds and files are read at once.
const READ_AT_ONCE: usize = 1;

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The URL of the service, without a trailing slash.
    pub base_url: String,
    /// The URL at which users sign in, without a trailing slash.
    pub console_url: String,
    /// The terms now in force.
    pub terms: Terms,
    /// The operator's text of the terms, in Markdown. Without it, the page of the terms has no text.
    pub terms_text: Option<String>,
    /// The rates per client address for requests that need no key.
    pub ip_limits: IpLimits,
    /// The limits on email to people outside the organization.
    pub mail_limits: MailLimits,
    /// The zone of series that name none, on calendars without a default of their own.
    pub recurrence_default: RecurrenceDefault,
    /// The mail domains whose sign-ups are counted by domain and network together.
    pub public_mail_domains: PublicMailDomains,
    /// The proxies that are trusted to name the client's address.
    pub trusted_proxies: TrustedProxies,
    /// The origins whose pages may read every answer, as browsers write them. Pages of other origins may read only
    /// public answers.
    pub cors_origins: Vec<String>,
    /// The token for the administration routes. Without it they do not exist.
    pub admin_token: Option<AdminToken>,
    /// The plan of organizations that sign up themselves, once their address is verified: `free`, `pro` or `custom`.
    pub sign_up_plan: Plan,
    /// Who may sign up.
    pub sign_ups: SignUps,
    /// Whether users who sign up in the console must prove their address before they hold it and leave the sandbox.
    pub email_proof: bool,
    /// The page on which callers choose or request another plan. Without it no answer links to one.
    pub upgrade_url: Option<String>,
    /// What the operator's pages say about the process.
    pub deployment: Deployment,
}

/// The parts of an [`App`].
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// Sends email.
    pub mailer: Arc<dyn Mailer>,
    /// Limits how fast callers may call.
    pub limiter: Arc<dyn RateLimiter>,
    /// Hashes and checks passwords.
    pub passwords: Arc<dyn PasswordHasher>,
    /// Signs and reads session tokens.
    pub tokens: Arc<dyn SessionTokens>,
    /// The providers that users can sign in with instead of a password.
    pub providers: Arc<dyn SignInProviders>,
    /// The providers of the human calendars that users connect.
    pub calendar_providers: Arc<dyn CalendarProviders>,
    /// Posts to webhook endpoints.
    pub sender: Arc<dyn WebhookSender>,
    /// Fetches the feeds of subscriptions.
    pub fetcher: Arc<dyn FeedFetcher>,
    /// The operator's settings.
    pub settings: Settings,
}

/// The application. Its methods are the use cases, in modules named after their subject.
pub struct App {
    pub(crate) parts: Parts,
    /// The busy times of connected human calendars.
    pub(crate) human: Arc<dyn HumanCalendars>,
    /// Limits how many feeds and files are read at once, because each is held in memory as a whole.
    pub(crate) reading: Semaphore,
    pub(crate) nudges: Nudges,
    pub(crate) origins: Vec<String>,
    pub(crate) meter: Meter,
    pub(crate) principals: PrincipalCache,
    pub(crate) key_uses: KeyUses,
    pub(crate) busy: BusyCache,
    pub(crate) series: SeriesCache,
    pub(crate) answers: AnswerCache<AvailabilityQuestion>,
    pub(crate) page_answers: AnswerCache<PageQuestion>,
    pub(crate) feeds: FeedCache,
    /// The readers of change feeds that wait on this node.
    pub(crate) feed_waits: FeedWaits,
    pub(crate) running: Running,
    /// Locks by calendar, which requests for holds, bookings and proposals take.
    pub(crate) holding: StripedLocks,
    /// Locks by identifier, which requests that change an event or a calendar take.
    pub(crate) changing: StripedLocks,
    /// Locks by organization, which searches take.
    pub(crate) searching: StripedLocks,
    pub(crate) writes: WriteHealth,
    pub(crate) sampler: Sampler,
    pub(crate) failures: Failures,
}

impl App {
    /// Builds an application from its parts.
    pub fn new(parts: Parts) -> Arc<Self> {
        let human = Arc::<dyn Store>::clone(&parts.store);
        Self::with_human_calendars(parts, human)
    }

    /// Builds an application that reads the busy times of human calendars from `human` instead of from its store. Tests
    /// use this to control what is read, and when.
    pub fn with_human_calendars(parts: Parts, human: Arc<dyn HumanCalendars>) -> Arc<Self> {
        let origins = [&parts.settings.base_url, &parts.settings.console_url];
        Arc::new(Self {
            origins: origins.into_iter().flat_map(|url| origins_of(url)).collect(),
            parts,
            human,
            reading: Semaphore::new(READ_AT_ONCE),
            nudges: Nudges::default(),
            meter: Meter::new(),
            principals: PrincipalCache::new(),
            key_uses: KeyUses::new(),
            busy: BusyCache::new(),
            series: SeriesCache::new(),
            answers: AnswerCache::new(),
            page_answers: AnswerCache::new(),
            feeds: FeedCache::new(),
            feed_waits: FeedWaits::default(),
            running: Running::default(),
            holding: StripedLocks::new(),
            changing: StripedLocks::new(),
            searching: StripedLocks::new(),
            writes: WriteHealth::new(),
            sampler: Sampler::new(),
            failures: Failures::new(),
        })
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// Random bytes, for identifiers.
    pub fn entropy(&self) -> &dyn Entropy {
        self.parts.entropy.as_ref()
    }

    /// The operator's settings.
    pub const fn settings(&self) -> &Settings {
        &self.parts.settings
    }
}
