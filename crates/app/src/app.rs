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

/// How often a use case reads and decides again when others changed the same thing meanwhile.
pub(crate) const ATTEMPTS: u32 = 24;
/// How long the service is not ready after a change could not be written, unless another one was.
const WRITES_FAIL: SignedDuration = SignedDuration::seconds(10);
/// An instant at which nothing happened.
const NEVER: Timestamp = Timestamp::from_micros(i64::MIN);

/// The store answers and takes no changes.
#[derive(Debug, thiserror::Error)]
#[error("the last change could not be written")]
struct WritesFail;

/// How long the store may take over a trivial read and still count as ready.
const READY_WITHIN: Duration = Duration::from_secs(3);
/// How long an answer is kept for repetitions of its request (ruling 2.8).
const ANSWER_KEPT: SignedDuration = SignedDuration::hours(24);

/// What the operator of the service chose.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the service is reached, without a slash at the end.
    pub base_url: String,
    /// Where humans sign in, without a slash at the end.
    pub console_url: String,
    /// The terms now in force.
    pub terms: Terms,
    /// How fast an address may call what needs no key.
    pub ip_limits: IpLimits,
    /// How much mail may go to others.
    pub mail_limits: MailLimits,
    /// Where sign-ups are counted by mail domain and network together.
    pub public_mail_domains: PublicMailDomains,
    /// Whose word counts about the address from which a request comes.
    pub trusted_proxies: TrustedProxies,
    /// The origins whose pages may read every answer, as browsers write them; those of others read what is public.
    pub cors_origins: Vec<String>,
    /// What opens the administration routes; without it they do not exist.
    pub admin_token: Option<AdminToken>,
    /// The plan of organizations that sign themselves up, once their address is proved: `free`, `pro` or `custom`.
    pub sign_up_plan: Plan,
    /// Where callers choose or ask for another plan; without it no answer links to such a page.
    pub upgrade_url: Option<String>,
}

/// What an [`App`] is made of.
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The mail.
    pub mailer: Arc<dyn Mailer>,
    /// The busy times of connected human calendars.
    pub human: Arc<dyn HumanCalendars>,
    /// How fast callers may call.
    pub limiter: Arc<dyn RateLimiter>,
    /// How passwords are hashed.
    pub passwords: Arc<dyn PasswordHasher>,
    /// How sessions are told.
    pub tokens: Arc<dyn SessionTokens>,
    /// With whom humans sign in beside a password.
    pub providers: Arc<dyn SignInProviders>,
    /// Where humans have the calendars that they connect.
    pub calendar_providers: Arc<dyn CalendarProviders>,
    /// Who posts to webhook endpoints.
    pub sender: Arc<dyn WebhookSender>,
    /// Who fetches the feeds to which calendars are subscribed.
    pub fetcher: Arc<dyn FeedFetcher>,
    /// The operator's choices.
    pub settings: Settings,
}

/// The application. Its methods are the use cases; they stand in the modules named after what they
/// concern.
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
    /// How many feeds and files are read at once: each is in memory as a whole.
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
    /// Taken by requests that place holds, by calendar.
    pub(crate) holding: StripedLocks,
    /// Taken by requests that change an event or a calendar, by its identifier.
    pub(crate) changing: StripedLocks,
    /// When the store last failed to take a change, in microseconds; [`NEVER`] if a change was taken since.
    write_failed_at: AtomicI64,
    pub(crate) sampler: Sampler,
    pub(crate) failures: Failures,
}

/// What a change concerns, for the audit log.
pub(crate) struct Subject {
    /// The organization whose log it is.
    pub org: OrgId,
    /// The agent concerned.
    pub agent: Option<AgentId>,
    /// The identifier of what changes.
    pub resource: String,
}

/// Why one attempt at a use case ended.
pub(crate) enum Attempt {
    /// Somebody changed what was read: read and decide again.
    Stale,
    /// The final word.
    Refused(Refusal),
}

impl Attempt {
    /// The refusal, where nothing was read that could be read again.
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
    /// An application over these parts.
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

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Random bytes, for identifiers.
    pub fn entropy(&self) -> &dyn Entropy {
        self.entropy.as_ref()
    }

    /// The operator's choices.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the store answers. After a change could not be written, because the disk is full for example, also whether
    /// it takes writes again.
    ///
    /// # Errors
    /// [`Refusal::Store`] if it does not.
    pub async fn ready(&self) -> Result<(), Refusal> {
        let ready = async {
            self.store.ready().await?;
            let failed_at = Timestamp::from_micros(self.write_failed_at.load(Ordering::Relaxed));
            if failed_at != NEVER {
                // A small write may succeed where a larger one has just failed.
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

    /// Adds the audit entry and the answer to `changes` and commits them.
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
            // In this process the cache is told at once; other nodes see the epoch within their lease.
            self.refresh_principals().await;
        }
        if revokes {
            self.wait_out_principals().await;
        }
        Ok(answer)
    }

    /// Commits `changes`, and tells the workers of this process where they have something to do.
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
            // As of any request that comes after the deletion: its key opens nothing any more.
            CommitError::NoOrganization => Attempt::Refused(Refusal::Unauthorized),
            CommitError::AlreadyAnswered => Attempt::Refused(Refusal::AlreadyAnswered),
            CommitError::Store(error) => Attempt::Refused(Refusal::Store(error)),
        }
    }

    /// A message to the organization's webhook endpoints about `resource`.
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

/// Limits `changes` to what the caller's plan grants of `metric`, `amount` more being used.
pub(crate) fn limit(actor: &Actor, changes: &mut ChangeSet, metric: Metric, amount: u64, now: Timestamp) {
    let limit = actor.limit(metric);
    match metric.counted() {
        Counted::Existing => changes.guards.extend(limit.map(|limit| Guard::AtMost { metric, limit })),
        Counted::Monthly => changes.charges.push(Charge { metric, period: Period::of(now), amount, limit }),
    }
}

/// The answer of an operation that shows a resource.
pub(crate) fn shown(actor: &Actor, resource: &impl Serialize, version: Option<Version>) -> Answer {
    Answer { status: actor.request.operation.status, body: Some(json(resource)), version }
}

/// The answer of an operation that shows nothing.
pub(crate) const fn nothing(actor: &Actor) -> Answer {
    Answer { status: actor.request.operation.status, body: None, version: None }
}

/// Wire types have string keys only and no failing serializers, so that this cannot fail; should one
/// ever, the answer is `null` rather than a panic.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        tracing::error!(%error, "a resource could not be written as JSON");
        "null".to_owned()
    })
}

/// How many attempts follow each other at once. A request that meets only one other has got through by then.
const AT_ONCE: u32 = 2;
/// The longest wait between two attempts.
const WAIT_MAX: Duration = Duration::from_millis(128);

/// How long to wait before the attempt of that number, from 0: any time up to a bound that doubles, so that those who want
/// the same thing come one by one.
fn wait_before(attempt: u32, random: u64) -> Duration {
    let Some(doubled) = attempt.checked_sub(AT_ONCE) else { return Duration::ZERO };
    let bound = Duration::from_millis(2u64.saturating_pow(doubled + 1)).min(WAIT_MAX);
    // A remainder by a thousand fits.
    bound * u32::try_from(random % 1_000).unwrap_or(0) / 1_000
}

/// Runs `attempt` until it is not stale, at first without waiting, and [`ATTEMPTS`] times at most.
pub(crate) async fn retry_stale<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, Refusal>
where
    F: Future<Output = Result<T, Attempt>>,
{
    for number in 0..ATTEMPTS {
        // It keeps no secret, and no rule depends on it.
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

    /// At once, then up to a bound that doubles, up to a bound which stays.
    #[test]
    fn who_comes_in_vain_waits() {
        let cases = [(0, 999, 0), (1, 999, 0), (2, 0, 0), (2, 500, 1_000), (5, 500, 8_000), (8, 500, 64_000)];
        for (attempt, random, micros) in cases.into_iter().chain([(ATTEMPTS, 1_500, 64_000)]) {
            assert_eq!(wait_before(attempt, random), Duration::from_micros(micros), "attempt {attempt}");
        }
    }
}
