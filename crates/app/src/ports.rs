//! The ports that only the application needs. Those of the domain stand in the domain crates'
//! `ports` modules.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_accounts::{
    Email, Limited, Password, PasswordHash, SessionClaims,
    oauth::{Client, IdentityClaims, Provider, TokenRequest},
};
use kalends_availability::{HumanBusy, HumanSource};
use kalends_bridge::{TheirCalendar, Tokens};
use kalends_calendars::{
    HumanFor,
    ports::{BusySource, LivingAgent},
};
use kalends_feeds::sync::Validators;
use kalends_kernel::{
    DataKeyId, KeyId, OrgId, RemoteUrl, Revision, SignedDuration, Span, StoreError, Timestamp, UserId,
};
use kalends_notifications::Outcome;
use kalends_quotas::{Debit, IpKey, IpLane, Metric, Period, Rate, Refund};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub use kalends_feeds::write::Method as CalendarMethod;

use crate::{ChangeSet, StoredAnswer};

/// Why a change-set was not applied. Nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Something that the decision looked at has changed since: read and decide again.
    #[error("the decision is stale")]
    Stale,
    /// A limit of the plan would be passed.
    #[error("the plan's limit of {limit} {metric} is reached", metric = .metric.as_str())]
    LimitReached {
        /// Which one.
        metric: Metric,
        /// The limit.
        limit: u64,
    },
    /// What is allowed so often, whatever the plan, is used up.
    #[error("{limited}")]
    TooMany {
        /// Which one.
        limited: Limited,
        /// After how long as much is allowed again.
        retry_after: SignedDuration,
    },
    /// An organization, or a human, with that address exists.
    #[error("the address is taken")]
    EmailTaken,
    /// The organization does not exist, or has been deleted since the request began.
    #[error("the organization does not exist")]
    NoOrganization,
    /// Another request with the same `Idempotency-Key` has been answered meanwhile: replay that.
    #[error("the request has already been answered")]
    AlreadyAnswered,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Applies change-sets, all or nothing, durably: what returned `Ok` survives a crash.
///
/// The change-set of a caller that stops waiting may still be applied.
#[async_trait]
pub trait Commit: Send + Sync {
    /// Applies `changes` in one transaction. Where the organization does not exist nothing is written, unless the
    /// change-set makes it: once its deletion is committed, no change-set adds a row to it.
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError>;
}

/// Finds the answers to earlier requests, and forgets them in time.
#[async_trait]
pub trait StoredAnswers: Send + Sync {
    /// The answer stored under `scope` that is still kept at `now`.
    async fn find_answer(&self, scope: [u8; 32], now: Timestamp) -> Result<Option<StoredAnswer>, StoreError>;

    /// Removes up to `limit` answers that have expired at `now`, and says how many.
    async fn forget_answers(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// What became of a debit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Debited {
    /// It is charged.
    Granted {
        /// What the counter shows now.
        used: u64,
    },
    /// It would have passed its ceiling; nothing is charged.
    Refused {
        /// What the counter shows.
        used: u64,
    },
}

/// The counters of use that all nodes share: nodes debit blocks of units before they spend them (ruling 3.4).
#[async_trait]
pub trait Metering: Send + Sync {
    /// Adds the debit's amount to the counter where it shows at most the debit's ceiling afterwards, in one
    /// step: however many nodes debit at once, none of the ceilings is passed. What is granted survives a crash.
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError>;

    /// Subtracts units that were debited and not spent. A counter never falls below 0.
    async fn refund(&self, org: OrgId, metric: Metric, refund: Refund) -> Result<(), StoreError>;

    /// What the organization uses, in one snapshot: the counters of the month, and what exists at `now`. Each
    /// metric comes at most once; one that is left out is not used.
    async fn usage(&self, org: OrgId, period: Period, now: Timestamp) -> Result<Vec<(Metric, u64)>, StoreError>;
}

/// Who is limited in how fast it calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateKey {
    /// The holder of a key.
    Key(KeyId),
    /// A human in the console, over all of their sessions.
    User(UserId),
    /// An account at which somebody tries a password.
    Account(AccountKey),
    /// An address, for one kind of request that needs no key.
    Address(IpLane, IpKey),
}

/// What attempts at one account are counted under: a hash of the mail address as it was given, so that an account that
/// exists and one that does not are counted alike, and the limiter keeps no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccountKey([u8; 16]);

impl From<&Email> for AccountKey {
    fn from(email: &Email) -> Self {
        let hash = Sha256::digest(email.as_str());
        let mut key = [0; 16];
        key.copy_from_slice(&hash[..16]);
        Self(key)
    }
}

/// Whether a request comes slowly enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may pass, and is remembered.
    Admitted,
    /// It may not; nothing is remembered of it.
    Refused {
        /// After how long one request could pass.
        retry_after: SignedDuration,
    },
}

/// Limits how fast callers may call.
pub trait RateLimiter: Send + Sync {
    /// The gate before whoever `key` names, through which requests pass at `rate`. All gates of a key know of the
    /// same requests; whoever comes often keeps theirs.
    fn gate(&self, key: RateKey, rate: Rate) -> Arc<dyn Gate>;
}

/// Where the requests of one caller pass.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Whether a request at `now` stays within the rate. A gate that shares what it knows with other nodes and
    /// cannot reach it decides by what it knows itself.
    async fn admit(&self, now: Timestamp) -> Admission;

    /// Takes back one request that was admitted, as if it had never come.
    async fn give_back(&self);
}

/// Tells whether the store answers.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// `Ok` if a trivial read succeeds.
    async fn ready(&self) -> Result<(), StoreError>;

    /// `Ok` if a trivial write is committed: it changes nothing, and takes as much room as any small change.
    async fn writable(&self) -> Result<(), StoreError>;
}

/// Everything that a store offers to the use cases.
pub trait Store:
    kalends_accounts::ports::Principals
    + kalends_accounts::ports::Organizations
    + kalends_accounts::ports::ScopedKeys
    + kalends_accounts::ports::People
    + kalends_accounts::ports::Sessions
    + kalends_accounts::ports::PasswordResets
    + kalends_accounts::ports::AuditLog
    + kalends_accounts::ports::Allowances
    + kalends_accounts::ports::Claims
    + kalends_accounts::ports::OauthAttempts
    + kalends_accounts::ports::Identities
    + kalends_accounts::ports::AccountData
    + kalends_accounts::ports::Deletions
    + kalends_calendars::ports::Agents
    + kalends_calendars::ports::Calendars
    + kalends_calendars::ports::Events
    + kalends_calendars::ports::Instances
    + kalends_calendars::ports::Holds
    + kalends_calendars::ports::BusyTimes
    + kalends_calendars::ports::RulesOfCalendars
    + kalends_calendars::ports::ChangesOfCalendars
    + kalends_calendars::ports::Timers
    + kalends_calendars::ports::Feeds
    + kalends_feeds::ports::Subscriptions
    + kalends_feeds::ports::ImportedItems
    + kalends_proposals::ports::Proposals
    + kalends_bookings::ports::BookingPages
    + kalends_bridge::ports::ConnectionLinks
    + kalends_bridge::ports::ConnectAttempts
    + kalends_bridge::ports::Connections
    + kalends_bridge::ports::Grants
    + kalends_notifications::ports::Webhooks
    + kalends_notifications::ports::Deliveries
    + kalends_notifications::ports::DeliveryQueue
    + kalends_notifications::ports::Letters
    + Commit
    + StoredAnswers
    + Metering
    + Readiness
{
}

impl<T> Store for T where
    T: kalends_accounts::ports::Principals
        + kalends_accounts::ports::Organizations
        + kalends_accounts::ports::ScopedKeys
        + kalends_accounts::ports::People
        + kalends_accounts::ports::Sessions
        + kalends_accounts::ports::PasswordResets
        + kalends_accounts::ports::AuditLog
        + kalends_accounts::ports::Allowances
        + kalends_accounts::ports::Claims
        + kalends_accounts::ports::OauthAttempts
        + kalends_accounts::ports::Identities
        + kalends_accounts::ports::AccountData
        + kalends_accounts::ports::Deletions
        + kalends_calendars::ports::Agents
        + kalends_calendars::ports::Calendars
        + kalends_calendars::ports::Events
        + kalends_calendars::ports::Instances
        + kalends_calendars::ports::Holds
        + kalends_calendars::ports::BusyTimes
        + kalends_calendars::ports::RulesOfCalendars
        + kalends_calendars::ports::ChangesOfCalendars
        + kalends_calendars::ports::Timers
        + kalends_calendars::ports::Feeds
        + kalends_feeds::ports::Subscriptions
        + kalends_feeds::ports::ImportedItems
        + kalends_proposals::ports::Proposals
        + kalends_bookings::ports::BookingPages
        + kalends_bridge::ports::ConnectionLinks
        + kalends_bridge::ports::ConnectAttempts
        + kalends_bridge::ports::Connections
        + kalends_bridge::ports::Grants
        + kalends_notifications::ports::Webhooks
        + kalends_notifications::ports::Deliveries
        + kalends_notifications::ports::DeliveryQueue
        + kalends_notifications::ports::Letters
        + Commit
        + StoredAnswers
        + Metering
        + Readiness
{
}

/// A human calendar that counts for one of our calendars or agents, as it was last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HumanSeen {
    /// What it counts for.
    pub of: HumanFor,
    /// The human calendar.
    pub source: HumanSource,
    /// Raised whenever what it says differs from what was read before.
    pub revision: Revision,
    /// When it was last read in full; `None` before the first time.
    pub read_at: Option<Timestamp>,
}

/// Reads the busy times of connected human calendars.
///
/// All methods answer from what was read before: none of them asks a provider.
#[async_trait]
pub trait HumanCalendars: Send + Sync {
    /// The human calendars that count for each of the given calendars, in any order. It is asked for every
    /// question about availability, also for one that is answered from a cache. Whatever could change an answer
    /// changes a revision or `read_at` here. A store does not look for any if nothing is granted.
    async fn human_sources(&self, org: OrgId, calendars: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError>;

    /// The human calendars that count for each of the given agents that lives, whether or not it has a calendar, as
    /// [`HumanCalendars::human_sources`] has them for calendars.
    async fn human_sources_of_agents(&self, org: OrgId, agents: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError>;

    /// What each of the sources said when it was last read, at least as new as it was seen, and all that
    /// it said of `window`. A source that is not connected any more is left out.
    async fn human_busy(&self, org: OrgId, sources: &[HumanSource], window: Span)
    -> Result<Vec<HumanBusy>, StoreError>;
}

/// The place of a sealed value. It is bound to the seal: a value moved elsewhere does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The row.
    pub id: Uuid,
}

/// What every sealed value begins with, whichever key sealed it.
pub const SEALED: &str = "v1.";

/// Why a sealed value does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Not of the form `v1.<key id>.<base64>`.
    #[error("not a sealed value")]
    Malformed,
    /// Sealed under a key that this process does not hold.
    #[error("sealed under the unknown data key {0}")]
    UnknownKey(String),
    /// Altered, or moved from another place.
    #[error("altered, or sealed for another place")]
    Forged,
}

/// Seals fields at rest: `v1.<key id>.<base64 of nonce and ciphertext>`, the place as associated data.
pub trait FieldCipher: Send + Sync {
    /// Seals `plain` for `place` under the present writing key.
    fn seal(&self, place: Place, plain: &[u8]) -> String;

    /// Opens what was sealed for `place`.
    fn open(&self, place: Place, sealed: &str) -> Result<Vec<u8>, OpenError>;

    /// What every value sealed under the present writing key begins with: `v1.<key id>.`.
    fn writing_prefix(&self) -> String;
}

/// Whether a data key only opens or also seals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKeyState {
    /// Published, so that every node can open what another will soon seal; and old keys.
    Reading,
    /// The one that seals.
    Writing,
}

/// A data key as the key table holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedDataKey {
    /// The identifier, part of every value that it seals.
    pub id: DataKeyId,
    /// Which master key wraps it.
    pub master: String,
    /// The wrapped key.
    pub wrapped: String,
    /// What it is used for.
    pub state: DataKeyState,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The table of data keys.
#[async_trait]
pub trait KeyTable: Send + Sync {
    /// All data keys, the oldest first.
    async fn data_keys(&self) -> Result<Vec<WrappedDataKey>, StoreError>;

    /// Adds a data key; `false`, and nothing changes, where `only_if_empty` is set and there is one.
    async fn add_data_key(&self, key: &WrappedDataKey, only_if_empty: bool) -> Result<bool, StoreError>;

    /// Makes `key` the one that seals and all others reading ones, in one transaction.
    async fn write_with(&self, key: DataKeyId) -> Result<(), StoreError>;

    /// Replaces the wrapping of a data key.
    async fn rewrap(&self, key: DataKeyId, master: &str, wrapped: &str) -> Result<(), StoreError>;

    /// Removes a data key under which nothing is sealed any more.
    async fn remove_data_key(&self, key: DataKeyId) -> Result<(), StoreError>;
}

/// Seals stored fields anew while the service runs.
#[async_trait]
pub trait Reseal: Send + Sync {
    /// Seals up to `limit` values that the present writing key has not sealed anew with it, and says
    /// how many it looked at; 0 means that none is left. A value that changes meanwhile is left alone.
    async fn reseal(&self, limit: u32) -> Result<u64, StoreError>;
}

/// A mail to one address. As JSON it is what stores keep of a letter that waits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// The recipient.
    #[serde(with = "stored_address")]
    pub to: Email,
    /// The subject line.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The same as HTML.
    pub html: String,
    /// What calendars read of it, if anything.
    pub calendar: Option<CalendarPart>,
}

/// A part of a mail that calendars read: an iCalendar object with a method (RFC 6047).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalendarPart {
    /// The method: what the object says too.
    pub method: CalendarMethod,
    /// The object.
    pub text: String,
}

/// The address of a mail as JSON.
mod stored_address {
    use kalends_accounts::Email;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(address: &Email, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(address.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Email, D::Error> {
        String::deserialize(from).map(Email::from_stored)
    }
}

impl std::fmt::Debug for Mail {
    /// Leaves the body out: it may carry a code.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mail").field("to", &self.to).field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// A mail was not accepted for delivery.
#[derive(Debug, thiserror::Error)]
#[error("the mail was not accepted")]
pub struct MailError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Hands one mail over; `Ok` once it is accepted.
    async fn send(&self, mail: Mail) -> Result<(), MailError>;

    /// The address from which mail is sent; nobody reads what is sent there.
    fn sender(&self) -> String;
}

/// Why a password could not be hashed or checked, or a token not be signed.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// Too many wait already.
    #[error("too many passwords wait to be checked")]
    Busy,
    /// It failed.
    #[error("a credential could not be processed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl CredentialsError {
    /// A failure of what the adapter uses.
    pub fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(error.into())
    }
}

/// What became of a password that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is the one.
    Right {
        /// Whether its hash was made in another way than today's, and is to be replaced.
        outdated: bool,
    },
    /// It is another.
    Wrong,
}

/// Hashes and checks passwords. It is slow on purpose, and bounded in how much of it happens at once.
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// A fresh hash of the password.
    async fn hash(&self, password: Password) -> Result<PasswordHash, CredentialsError>;

    /// Whether the password is that of the hash. Without a hash the answer is [`Verdict::Wrong`], and takes as
    /// long as with one.
    async fn verify(&self, password: Password, known: Option<PasswordHash>) -> Result<Verdict, CredentialsError>;
}

/// Signs what a session's token claims, and reads it back.
pub trait SessionTokens: Send + Sync {
    /// The token of these claims.
    fn sign(&self, claims: &SessionClaims) -> Result<String, CredentialsError>;

    /// The claims of a token that was signed here, or by a node with the same key; `None` for any other text.
    /// What they are worth is told by [`SessionClaims::check`].
    fn read(&self, token: &str) -> Option<SessionClaims>;
}

/// One attempt at a delivery: where it goes, and with what.
#[derive(Clone)]
pub struct WebhookPost {
    /// The endpoint's address.
    pub url: RemoteUrl,
    /// All headers that are ours.
    pub headers: Vec<kalends_notifications::Header>,
    /// The body, exactly as it was signed.
    pub body: bytes::Bytes,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookReply {
    /// The outcome.
    pub outcome: Outcome,
    /// Why there was no answer, in words for whoever named the address; `None` where there was one.
    pub problem: Option<String>,
}

/// Posts messages to the addresses that callers name.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Whether the operator lets that host and port be reached although private, and over plain http.
    fn exempts(&self, host: &str, port: u16) -> bool;

    /// Posts a message and reads the beginning of the answer, within
    /// [`ATTEMPT_WITHIN`](kalends_notifications::ATTEMPT_WITHIN) in all. Whatever fails is an outcome.
    async fn post(&self, post: WebhookPost) -> WebhookReply;
}

/// What a server says of a feed.
#[derive(Debug, Clone)]
pub enum FetchedFeed {
    /// It is as it was when the validators were told.
    Unchanged,
    /// The feed.
    Whole {
        /// Its bytes, decompressed.
        body: bytes::Bytes,
        /// By what it is recognized.
        validators: Validators,
    },
}

/// Why a feed could not be fetched, in words for whoever named the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);

/// Fetches feeds from the addresses that callers name (ruling 8.2).
#[async_trait]
pub trait FeedFetcher: Send + Sync {
    /// The feed, unless it is what `validators` tell; within 30 s in all, at most
    /// [`BYTES_MAX`](kalends_feeds::limits::BYTES_MAX) bytes, over at most 3 redirects, from the public internet alone.
    async fn fetch(&self, url: &RemoteUrl, validators: &Validators) -> Result<FetchedFeed, FetchError>;
}

/// Why a provider's code was not exchanged for an identity.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The provider refuses, with this error of its own.
    #[error("the provider refuses the code: {0}")]
    Refused(String),
    /// The provider does not answer, or not in time.
    #[error("the provider does not answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The provider's answer makes no sense.
    #[error("the provider's answer makes no sense")]
    Malformed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The providers with which humans sign in, as far as they are configured.
#[async_trait]
pub trait SignInProviders: Send + Sync {
    /// Where and as whom a provider is asked; `None` for one that is not configured.
    fn client(&self, provider: Provider) -> Option<&Client>;

    /// Exchanges the code of a callback for an identity, at the provider's token endpoint and over TLS. What the
    /// identity is worth is told by [`IdentityClaims::check`].
    async fn exchange(&self, provider: Provider, request: TokenRequest) -> Result<IdentityClaims, ExchangeError>;
}

/// Why a provider of calendars did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It lets us in no more, with this error of its own: the human has to consent again.
    #[error("the provider lets the service in no more: {0}")]
    Lapsed(String),
    /// It does not answer, not in time, or not now.
    #[error("the provider does not answer as it should")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Its answer makes no sense.
    #[error("the provider's answer makes no sense")]
    Malformed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What is busy in one calendar of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TheirBusy {
    /// These spans: in any order, possibly overlapping, possibly reaching out of the window.
    Known(Vec<Span>),
    /// The provider does not tell of this calendar, for this reason.
    Untold(String),
}

/// The providers of human calendars, as far as they are configured (ruling 9).
///
/// Each call ends within [`PROVIDER_WITHIN`], whatever the provider does.
#[async_trait]
pub trait CalendarProviders: Send + Sync {
    /// Where and as whom a provider is asked for consent; `None` for one that is not configured.
    fn client(&self, provider: Provider) -> Option<&Client>;

    /// Exchanges the code of a callback for tokens.
    async fn authorize(
        &self,
        provider: Provider,
        request: TokenRequest,
        now: Timestamp,
    ) -> Result<Tokens, ProviderError>;

    /// Other tokens for those, whose access token has ended or is about to.
    async fn renew(&self, provider: Provider, tokens: &Tokens, now: Timestamp) -> Result<Tokens, ProviderError>;

    /// The calendars of the account, the account's own first: all of them, also those that its human hides, or an error.
    async fn calendars(&self, provider: Provider, tokens: &Tokens) -> Result<Vec<TheirCalendar>, ProviderError>;

    /// When each of the calendars is busy within the window, in the order of the references.
    async fn busy(
        &self,
        provider: Provider,
        tokens: &Tokens,
        references: &[String],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError>;

    /// Has the provider forget the consent, where it can be asked to.
    async fn revoke(&self, provider: Provider, tokens: &Tokens) -> Result<(), ProviderError>;
}

/// How long a call of [`CalendarProviders`] takes at most.
pub const PROVIDER_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);
