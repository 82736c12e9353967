//! The application: its ports, its caches, and the frame in which every use case runs.

use std::{
    future::Future,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use kalends_accounts::{AdminToken, PublicMailDomains, Terms, origin_of};
use kalends_kernel::{AgentId, Clock, Entropy, MessageId, OrgId, SignedDuration, StoreError, Timestamp, Version};
use kalends_notifications::{EventType, Message};
use kalends_quotas::{
    Counted, IpLimits, MailLimits, Metric, Period, Plan, TrustedProxies, headers::retry_after_seconds,
};
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::{
    Actor, Answer, ChangeSet, Charge, Guard, Refusal, Request, StoredAnswer,
    audit::{By, Sampler},
    busy_cache::{AnswerCache, BusyCache},
    failures::Failures,
    feeds::FeedCache,
    idempotency::Running,
    metering::Meter,
    ports::{
        CalendarProviders, CommitError, FeedFetcher, HumanCalendars, Mailer, PasswordHasher, RateLimiter,
        SessionTokens, SignInProviders, Store, WebhookSender,
    },
    principals::PrincipalCache,
    refreshing::makes_refresh_due,
    sending::Nudges,
    series_cache::SeriesCache,
    striped_locks::StripedLocks,
    syncing::{READ_AT_ONCE, makes_due},
};

/// How many times a use case reads and decides, if others keep changing the same rows.
pub(crate) const ATTEMPTS: u32 = 24;
/// How long the service counts as not ready after a failed write, unless a later write succeeds.
const WRITES_FAIL: SignedDuration = SignedDuration::seconds(10);
/// Stands for "no write has failed".
const NEVER: Timestamp = Timestamp::from_micros(i64::MIN);

/// The store answers reads but takes no writes.
#[derive(Debug, thiserror::Error)]
#[error("the last change could not be written")]
struct WritesFail;

/// How long the store may take over a trivial read and still count as ready.
const READY_WITHIN: Duration = Duration::from_secs(3);
/// How long an answer is kept for repetitions of its request.
const ANSWER_KEPT: SignedDuration = SignedDuration::hours(24);

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The URL of the service, without a trailing slash.
    pub base_url: String,
    /// The URL at which users sign in, without a trailing slash.
    pub console_url: String,
    /// The terms now in force.
    pub terms: Terms,
    /// The rates for requests by address that need no key.
    pub ip_limits: IpLimits,
    /// The limits on mail to people outside the organization.
    pub mail_limits: MailLimits,
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
    /// The page on which callers choose or request another plan. Without it no answer links to one.
    pub upgrade_url: Option<String>,
}

/// The parts of an [`App`].
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The mail.
    pub mailer: Arc<dyn Mailer>,
    /// The busy times of connected human calendars.
    pub human: Arc<dyn HumanCalendars>,
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
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) mailer: Arc<dyn Mailer>,
    pub(crate) human: Arc<dyn HumanCalendars>,
    pub(crate) limiter: Arc<dyn RateLimiter>,
    pub(crate) passwords: Arc<dyn PasswordHasher>,
    pub(crate) tokens: Arc<dyn SessionTokens>,
    pub(crate) providers: Arc<dyn SignInProviders>,
    pub(crate) calendar_providers: Arc<dyn CalendarProviders>,
    pub(crate) sender: Arc<dyn WebhookSender>,
    pub(crate) fetcher: Arc<dyn FeedFetcher>,
    /// Limits how many feeds and files are read at once, because each is held in memory as a whole.
    pub(crate) reading: Semaphore,
    pub(crate) nudges: Nudges,
    pub(crate) origins: Vec<String>,
    pub(crate) meter: Meter,
    pub(crate) settings: Settings,
    pub(crate) principals: PrincipalCache,
    pub(crate) busy: BusyCache,
    pub(crate) series: SeriesCache,
    pub(crate) answers: AnswerCache<crate::availability::AvailabilityQuestion>,
    pub(crate) page_answers: AnswerCache<crate::bookings::PageQuestion>,
    pub(crate) feeds: FeedCache,
    pub(crate) running: Running,
    /// Held by requests that place holds, by calendar.
    pub(crate) holding: StripedLocks,
    /// Held by requests that change an event or a calendar, by its identifier.
    pub(crate) changing: StripedLocks,
    /// When the store last failed to take a write, in microseconds; [`NEVER`] if a write has succeeded since.
    write_failed_at: AtomicI64,
    pub(crate) sampler: Sampler,
    pub(crate) failures: Failures,
}

/// The subject of a change, for the audit log.
pub(crate) struct Subject {
    /// The organization whose audit log records it.
    pub org: OrgId,
    /// The agent concerned.
    pub agent: Option<AgentId>,
    /// The identifier of the changed resource.
    pub resource: String,
}

/// Why one attempt at a use case ended.
pub(crate) enum Attempt {
    /// What was read has changed: read and decide again.
    Stale,
    /// The final outcome.
    Refused(Refusal),
}

impl Attempt {
    /// The refusal, for callers that do not retry.
    pub(crate) fn last_word(self) -> Refusal {
        match self {
            Self::Stale => Refusal::Contended,
            Self::Refused(refusal) => refusal,
        }
    }
}

impl<T: Into<Refusal>> From<T> for Attempt {
    fn from(refusal: T) -> Self {
        Self::Refused(refusal.into())
    }
}

impl App {
    /// Builds an application from its parts.
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            store: parts.store,
            clock: parts.clock,
            entropy: parts.entropy,
            mailer: parts.mailer,
            human: parts.human,
            limiter: parts.limiter,
            passwords: parts.passwords,
            tokens: parts.tokens,
            providers: parts.providers,
            calendar_providers: parts.calendar_providers,
            sender: parts.sender,
            fetcher: parts.fetcher,
            reading: Semaphore::new(READ_AT_ONCE),
            nudges: Nudges::default(),
            origins: [&parts.settings.base_url, &parts.settings.console_url]
                .into_iter()
                .filter_map(|url| origin_of(url))
                .collect(),
            meter: Meter::new(),
            settings: parts.settings,
            principals: PrincipalCache::new(),
            busy: BusyCache::new(),
            series: SeriesCache::new(),
            answers: AnswerCache::new(),
            page_answers: AnswerCache::new(),
            feeds: FeedCache::new(),
            running: Running::default(),
            holding: StripedLocks::new(),
            changing: StripedLocks::new(),
            write_failed_at: AtomicI64::new(NEVER.as_micros()),
            sampler: Sampler::new(),
            failures: Failures::new(),
        })
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Random bytes, for identifiers.
    pub fn entropy(&self) -> &dyn Entropy {
        self.entropy.as_ref()
    }

    /// The operator's settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Checks that the store answers. After a failed write (for example, because the disk is full), also checks that
    /// the store takes writes again.
    ///
    /// # Errors
    /// [`Refusal::Store`] if it does not.
    pub async fn ready(&self) -> Result<(), Refusal> {
        let ready = async {
            self.store.ready().await?;
            let failed_at = Timestamp::from_micros(self.write_failed_at.load(Ordering::Relaxed));
            if failed_at != NEVER {
                // A small write may succeed when a larger one has just failed.
                if self.now() - failed_at < WRITES_FAIL {
                    return Err(StoreError::Unavailable(Box::new(WritesFail)));
                }
                self.store.writable().await?;
                // Another write may have failed since.
                let (failed, never) = (failed_at.as_micros(), NEVER.as_micros());
                let _ = self.write_failed_at.compare_exchange(failed, never, Ordering::Relaxed, Ordering::Relaxed);
            }
            Ok::<(), StoreError>(())
        };
        tokio::time::timeout(READY_WITHIN, ready).await.map_err(|late| StoreError::Unavailable(Box::new(late)))??;
        Ok(())
    }

    /// Adds the audit entry and the answer to `changes`, and commits them.
    pub(crate) async fn commit(
        &self,
        request: &Request,
        key_prefix: Option<&str>,
        subject: Subject,
        mut changes: ChangeSet,
        answer: Answer,
    ) -> Result<Answer, Attempt> {
        let now = self.clock.now();
        if let Some(action) = request.operation.action {
            let by = By::Request { request, key_prefix };
            changes.audit = Some(self.audit_entry(action, subject, &by, answer.status, now));
        }
        changes.answer = request.idempotency.map(|idempotency| StoredAnswer {
            scope: idempotency.scope,
            fingerprint: idempotency.fingerprint,
            answer: answer.clone(),
            created_at: now,
            expires_at: now + ANSWER_KEPT,
        });
        let (alters_principals, revokes) = (changes.alters_principals(), changes.revokes_keys());
        self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
        if alters_principals {
            // This process refreshes its cache at once. Other nodes see the new epoch within their lease.
            self.refresh_principals().await;
        }
        if revokes {
            self.wait_out_principals().await;
        }
        Ok(answer)
    }

    /// Commits `changes`, and wakes the workers of this process that have work because of it.
    pub(crate) async fn store_changes(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let (announces, resends) = (!changes.messages.is_empty(), !changes.webhooks.is_empty());
        let (syncs, refreshes) = (makes_due(&changes), makes_refresh_due(&changes));
        let writes = !changes.letters.is_empty();
        let committed = self.store.commit(changes).await;
        match &committed {
            Err(CommitError::Store(StoreError::Unavailable(_))) => {
                self.write_failed_at.store(self.now().as_micros(), Ordering::Relaxed);
            }
            Ok(()) if self.write_failed_at.load(Ordering::Relaxed) != NEVER.as_micros() => {
                self.write_failed_at.store(NEVER.as_micros(), Ordering::Relaxed);
            }
            _ => {}
        }
        committed?;
        if announces {
            self.nudges.fan_out.notify_one();
        }
        if resends {
            self.nudges.send.notify_one();
        }
        if writes {
            self.nudges.letters.notify_one();
        }
        if syncs {
            self.nudges.sync.notify_one();
        }
        if refreshes {
            self.nudges.refresh.notify_one();
        }
        Ok(())
    }

    /// [`Self::commit`] on behalf of an authenticated caller.
    pub(crate) async fn commit_for(
        &self,
        actor: &Actor,
        agent: Option<AgentId>,
        resource: String,
        changes: ChangeSet,
        answer: Answer,
    ) -> Result<Answer, Attempt> {
        let subject = Subject { org: actor.org(), agent, resource };
        self.commit(&actor.request, Some(&actor.principal.key_prefix), subject, changes, answer).await
    }

    pub(crate) fn refused_commit(&self, error: CommitError) -> Attempt {
        match error {
            CommitError::Stale => Attempt::Stale,
            CommitError::LimitReached { metric, limit } => Attempt::Refused(Refusal::LimitReached {
                metric,
                limit,
                retry_after: Period::of(self.now()).seconds_left(self.now()),
            }),
            CommitError::TooMany { limited, retry_after } => {
                Attempt::Refused(Refusal::TooMany { limited, retry_after: retry_after_seconds(retry_after) })
            }
            CommitError::EmailTaken => Attempt::Refused(Refusal::EmailTaken),
            // As for any request after the deletion: the key is no longer valid.
            CommitError::NoOrganization => Attempt::Refused(Refusal::Unauthorized),
            CommitError::AlreadyAnswered => Attempt::Refused(Refusal::AlreadyAnswered),
            CommitError::Store(error) => Attempt::Refused(Refusal::Store(error)),
        }
    }

    /// Builds a message about `resource` to the organization's webhook endpoints.
    pub(crate) fn message(
        &self,
        org: OrgId,
        event_type: EventType,
        resource: &impl Serialize,
        version: Version,
        now: Timestamp,
    ) -> Message {
        Message {
            id: MessageId::new(now, self.entropy()),
            org,
            event_type,
            payload: json(resource),
            resource_version: version,
            about: None,
            created_at: now,
        }
    }
}

/// Limits the use of `metric` to what the caller's plan grants, if `changes` uses `amount` more.
pub(crate) fn limit(actor: &Actor, changes: &mut ChangeSet, metric: Metric, amount: u64, now: Timestamp) {
    let limit = actor.limit(metric);
    match metric.counted() {
        Counted::Existing => changes.guards.extend(limit.map(|limit| Guard::AtMost { metric, limit })),
        Counted::Monthly => changes.charges.push(Charge { metric, period: Period::of(now), amount, limit }),
    }
}

/// The answer of an operation that returns a resource.
pub(crate) fn shown(actor: &Actor, resource: &impl Serialize, version: Option<Version>) -> Answer {
    Answer { status: actor.request.operation.status, body: Some(json(resource)), version }
}

/// The answer of an operation that returns nothing.
pub(crate) const fn nothing(actor: &Actor) -> Answer {
    Answer { status: actor.request.operation.status, body: None, version: None }
}

/// Serialization cannot fail: wire types have only string keys and infallible serializers. If it ever does, the
/// answer is `null` rather than a panic.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        tracing::error!(%error, "a resource could not be serialized as JSON");
        "null".to_owned()
    })
}

/// How many attempts follow each other immediately. A request that competes with only one other has succeeded by
/// then.
const AT_ONCE: u32 = 2;
/// The longest wait between two attempts.
const WAIT_MAX: Duration = Duration::from_millis(128);

/// How long to wait before an attempt, numbered from 0: a random time up to a bound that doubles, so that competing
/// requests spread out.
fn wait_before(attempt: u32, random: u64) -> Duration {
    let Some(doubled) = attempt.checked_sub(AT_ONCE) else { return Duration::ZERO };
    let bound = Duration::from_millis(2u64.saturating_pow(doubled + 1)).min(WAIT_MAX);
    // The conversion cannot fail: a remainder by 1,000 fits in a `u32`.
    bound * u32::try_from(random % 1_000).unwrap_or(0) / 1_000
}

/// Runs `attempt` until it is not stale, at most [`ATTEMPTS`] times. The first retries do not wait.
pub(crate) async fn retry_stale<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, Refusal>
where
    F: Future<Output = Result<T, Attempt>>,
{
    for number in 0..ATTEMPTS {
        // This jitter need not be secret, and no rule depends on it.
        let wait = wait_before(number, RandomState::new().hash_one(number));
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        match attempt().await {
            Ok(done) => return Ok(done),
            Err(Attempt::Refused(refusal)) => return Err(refusal),
            Err(Attempt::Stale) => {}
        }
    }
    Err(Refusal::Contended)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first attempts do not wait. Then the bound doubles up to [`WAIT_MAX`].
    #[test]
    fn stale_attempts_wait_longer_each_time() {
        let cases = [(0, 999, 0), (1, 999, 0), (2, 0, 0), (2, 500, 1_000), (5, 500, 8_000), (8, 500, 64_000)];
        for (attempt, random, micros) in cases.into_iter().chain([(ATTEMPTS, 1_500, 64_000)]) {
            assert_eq!(wait_before(attempt, random), Duration::from_micros(micros), "attempt {attempt}");
        }
    }
}
