//! The ports that only the application needs. The ports of a domain are in the `ports` module of its crate.

mod glance;
mod names;

use std::sync::Arc;

use async_trait::async_trait;
use kalends_accounts::{
    Credential, Email, Limited, Password, PasswordHash, SessionClaims,
    oauth::{Client, IdentityClaims, Provider, TokenRequest},
};
use kalends_bridge::HumanBusy;
use kalends_bridge::{TheirCalendar, Tokens};
use kalends_calendars::{
    HumanFor,
    ports::{BusySource, LivingAgent},
};
use kalends_feeds::sync::Validators;
use kalends_kernel::HumanSource;
use kalends_kernel::{DataKeyId, KeyId, OrgId, Revision, StoreError, UserId};
pub use kalends_notifications::LETTER_CLAIM_LASTS;
use kalends_notifications::Outcome;
use kalends_plans::{IpLane, Metric};
use kalends_quotas::{Debit, IpKey, Period, Rate, Refund};
use kalends_remote::RemoteUrl;
use kalends_time::{SignedDuration, Span, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub use kalends_feeds::write::Method as CalendarMethod;

pub use self::glance::{GLANCE_AHEAD, Glance, Glances, Waits};
pub use self::names::{
    AgentName, AuditKey, AuditSubjects, CalendarName, NAMES_MAX, NamedForAudit, Names, subscription_name,
};

use crate::{ChangeSet, StoredAnswer};

/// Why a change-set was not applied. None of its writes were applied.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Something that the decision read has changed: read and decide again.
    #[error("the decision is stale")]
    Stale,
    /// The change would exceed a limit of the plan.
    #[error("the plan's limit of {limit} {metric} is reached", metric = .metric.as_str())]
    LimitReached {
        /// The metric.
        metric: Metric,
        /// The limit.
        limit: u64,
    },
    /// An allowance is used up. It does not depend on the plan.
    #[error("{limited}")]
    TooMany {
        /// Which allowance.
        limited: Limited,
        /// The time until the use is allowed again.
        retry_after: SignedDuration,
    },
    /// An organization or a user with that address exists.
    #[error("the address is taken")]
    EmailTaken,
    /// Another booking page has that slug, or had it when it was deleted.
    #[error("the slug is taken")]
    SlugTaken,
    /// The organization does not exist, or has been deleted since the request began.
    #[error("the organization does not exist")]
    NoOrganization,
    /// Another request with the same `Idempotency-Key` has been answered in the meantime: replay that answer.
    #[error("the request has already been answered")]
    AlreadyAnswered,
    /// The change-set is a dry run. All of its conditions hold and all of its writes were applied, and then rolled back.
    #[error("the change was applied and rolled back, as it asks for")]
    RolledBack,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Applies change-sets atomically and durably: a change-set for which `commit` returned `Ok` survives a crash.
///
/// If the caller stops waiting, its change-set may still be applied.
#[async_trait]
pub trait Commit: Send + Sync {
    /// Applies `changes` in one transaction. If the organization does not exist, nothing is written unless the
    /// change-set creates it. So once a deletion is committed, no change-set adds a row to the organization.
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError>;
}

/// Finds the answers to earlier requests, and removes expired ones.
#[async_trait]
pub trait StoredAnswers: Send + Sync {
    /// The answer stored under `scope`, unless it has expired at `now`.
    async fn find_answer(&self, scope: [u8; 32], now: Timestamp) -> Result<Option<StoredAnswer>, StoreError>;

    /// Removes up to `limit` answers that have expired at `now`, and returns how many.
    async fn forget_answers(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// The outcome of a debit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Debited {
    /// The debit is charged.
    Granted {
        /// The counter after the debit.
        used: u64,
    },
    /// The debit would have exceeded its ceiling; nothing is charged.
    Refused {
        /// The counter.
        used: u64,
    },
}

/// The usage counters that all nodes share. Nodes debit blocks of units before they spend them.
#[async_trait]
pub trait Metering: Send + Sync {
    /// Adds the debit's amount to the counter, if the counter is then at most the debit's ceiling. This is atomic:
    /// however many nodes debit at once, no ceiling is exceeded. A granted debit survives a crash.
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError>;

    /// Subtracts units that were debited but not spent. A counter never falls below 0.
    async fn refund(&self, org: OrgId, metric: Metric, refund: Refund) -> Result<(), StoreError>;

    /// The organization's usage in one snapshot: the counters of the month, and what exists at `now`. Each metric
    /// appears at most once; a missing metric is unused.
    async fn usage(&self, org: OrgId, period: Period, now: Timestamp) -> Result<Vec<(Metric, u64)>, StoreError>;
}

/// What a rate is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateKey {
    /// The holder of a key.
    Key(KeyId),
    /// A user in the console, across all sessions of the user.
    User(UserId),
    /// An account at which a password is tried.
    Account(AccountKey),
    /// A network address, for one kind of request that needs no key.
    Address(IpLane, IpKey),
}

impl From<&Credential> for RateKey {
    fn from(credential: &Credential) -> Self {
        match *credential {
            Credential::Key(key) => Self::Key(key),
            Credential::Session { user, .. } => Self::User(user),
        }
    }
}

/// The key for sign-in attempts at one account: a hash of the email address as given. Accounts that exist and accounts
/// that do not are counted alike, and the limiter stores no address.
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

/// Whether a request is within its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may pass, and it is counted.
    Admitted,
    /// It may not pass, and it is not counted.
    Refused {
        /// The time until one request could pass.
        retry_after: SignedDuration,
    },
}

/// Limits how fast callers may call.
pub trait RateLimiter: Send + Sync {
    /// The gate for `key`, which admits requests at `rate`. All gates of a key share one count. A caller that sends
    /// many requests should keep its gate.
    fn gate(&self, key: RateKey, rate: Rate) -> Arc<dyn Gate>;
}

/// Admits the requests of one caller.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Whether a request at `now` is within the rate. If a gate shares its count with other nodes and cannot reach
    /// it, the gate decides by its local count.
    async fn admit(&self, now: Timestamp) -> Admission;

    /// Takes back one admitted request, as if it had never arrived.
    async fn give_back(&self);
}

/// Checks whether the store works.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// `Ok` if a trivial read succeeds.
    async fn ready(&self) -> Result<(), StoreError>;

    /// `Ok` if a trivial write commits. It changes nothing, but takes as much space as any small change.
    async fn writable(&self) -> Result<(), StoreError>;

    /// The size of the database in bytes; `None` if it has none. The write-ahead log is not counted.
    async fn database_bytes(&self) -> Result<Option<u64>, StoreError>;
}

/// Remembers when the operator last made a backup. The server makes none itself.
#[async_trait]
pub trait Backups: Send + Sync {
    /// Records that a backup was made at `at`. This replaces what was recorded, even if that is later: a clock may have
    /// been wrong.
    async fn record_backup(&self, at: Timestamp) -> Result<(), StoreError>;

    /// When the backup was made that was recorded last.
    async fn last_backup(&self) -> Result<Option<Timestamp>, StoreError>;
}

/// Declares the trait that a store implements by implementing each of these ports.
macro_rules! all_of {
    ($(#[$about:meta])* pub trait $name:ident: $($port:path,)*) => {
        $(#[$about])*
        pub trait $name: $($port +)* {}

        impl<T: $($port +)*> $name for T {}
    };
}

all_of! {
    /// Everything that a store offers to the use cases.
    pub trait Store:
        kalends_accounts::ports::Principals,
        kalends_accounts::ports::Organizations,
        kalends_accounts::ports::OrganizationLists,
        kalends_accounts::ports::ScopedKeys,
        kalends_accounts::ports::KeyUses,
        kalends_accounts::ports::People,
        kalends_accounts::ports::MemberInvitations,
        kalends_accounts::ports::Sessions,
        kalends_accounts::ports::UserTokens,
        kalends_accounts::ports::SecondFactors,
        kalends_accounts::ports::AuditLog,
        kalends_accounts::ports::Allowances,
        kalends_accounts::ports::Connectors,
        kalends_accounts::ports::Claims,
        kalends_accounts::ports::OauthAttempts,
        kalends_accounts::ports::Identities,
        kalends_accounts::ports::AccountData,
        kalends_accounts::ports::Deletions,
        kalends_calendars::ports::Agents,
        kalends_calendars::ports::Calendars,
        kalends_calendars::ports::Events,
        kalends_calendars::ports::Instances,
        kalends_calendars::ports::Holds,
        kalends_calendars::ports::BusyTimes,
        kalends_calendars::ports::RulesOfCalendars,
        kalends_calendars::ports::ChangesOfCalendars,
        kalends_calendars::ports::MetadataIndex,
        kalends_calendars::ports::Timers,
        kalends_calendars::ports::Feeds,
        kalends_feeds::ports::Subscriptions,
        kalends_feeds::ports::ImportedItems,
        kalends_proposals::ports::Proposals,
        kalends_bookings::ports::BookingPages,
        kalends_runs::ports::Runs,
        kalends_approvals::ports::Approvals,
        kalends_bridge::ports::ConnectionLinks,
        kalends_bridge::ports::ConnectAttempts,
        kalends_bridge::ports::Connections,
        kalends_bridge::ports::Grants,
        kalends_notifications::ports::Webhooks,
        kalends_notifications::ports::Deliveries,
        kalends_notifications::ports::DeliveryHistory,
        kalends_notifications::ports::DeliveryQueue,
        kalends_notifications::ports::Letters,
        kalends_notifications::ports::ChangeFeeds,
        Commit,
        StoredAnswers,
        Metering,
        Readiness,
        SealingKeys,
        Backups,
        HumanCalendars,
        Names,
        Glances,
}

/// A human calendar that counts for one of our calendars or agents, as of its last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HumanSeen {
    /// What the human calendar counts for.
    pub of: HumanFor,
    /// The human calendar.
    pub source: HumanSource,
    /// Raised whenever a read returns different busy times.
    pub revision: Revision,
    /// When it was last read in full; `None` before the first read.
    pub read_at: Option<Timestamp>,
}

/// Reads the busy times of connected human calendars.
///
/// All methods answer from stored data. None of them calls a provider.
#[async_trait]
pub trait HumanCalendars: Send + Sync {
    /// The human calendars that count for each of the given calendars, in any order. Every availability query calls
    /// this, even if its answer comes from a cache. Whatever could change an answer changes a `revision` or `read_at`
    /// here. A store skips the lookup if nothing is granted.
    async fn human_sources(&self, org: OrgId, calendars: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError>;

    /// The human calendars that count for each of the given living agents, as [`HumanCalendars::human_sources`]
    /// returns them for calendars. An agent need not have a calendar.
    async fn human_sources_of_agents(&self, org: OrgId, agents: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError>;

    /// The busy times of each source in `window`, as of its last read, and at least as new as the revision that the
    /// caller saw. A source that is no longer connected is left out.
    async fn human_busy(&self, org: OrgId, sources: &[HumanSource], window: Span)
    -> Result<Vec<HumanBusy>, StoreError>;
}

/// The location of a sealed value. The seal is bound to it: a value moved elsewhere does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The row.
    pub id: Uuid,
}

/// The prefix of every sealed value, whichever key sealed it.
pub const SEALED: &str = "v1.";

/// Why a sealed value cannot be opened.
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

/// Seals fields at rest: `v1.<key id>.<base64 of nonce and ciphertext>`, with the place as associated data.
pub trait FieldCipher: Send + Sync {
    /// Seals `plain` for `place` under the current writing key.
    fn seal(&self, place: Place, plain: &[u8]) -> String;

    /// Opens a value that was sealed for `place`.
    fn open(&self, place: Place, sealed: &str) -> Result<Vec<u8>, OpenError>;

    /// The prefix of every value sealed under the current writing key: `v1.<key id>.`.
    fn writing_prefix(&self) -> String;

    /// A hash of `plain` by which a store finds equal values, keyed with the current writing key. It reveals nothing
    /// without the key, except that equal values have equal hashes.
    fn digest(&self, plain: &[u8]) -> i64;

    /// The hash of `plain` under every key under which a value may be stored.
    fn digests(&self, plain: &[u8]) -> Vec<i64>;
}

/// Whether a data key seals or only opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKeyState {
    /// Opens only: an old key, or a new one that is published so that every node can open what another node will
    /// soon seal.
    Reading,
    /// The key that seals.
    Writing,
}

/// A data key as the key table holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedDataKey {
    /// The identifier, which is part of every value that the key seals.
    pub id: DataKeyId,
    /// The master key that wraps it.
    pub master: String,
    /// The wrapped key.
    pub wrapped: String,
    /// Whether it seals or only opens.
    pub state: DataKeyState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When every value had been sealed with it, since it last became the writing key; `None` if that was not recorded.
    pub resealed_at: Option<Timestamp>,
}

/// The table of data keys.
#[async_trait]
pub trait KeyTable: Send + Sync {
    /// All data keys, the oldest first.
    async fn data_keys(&self) -> Result<Vec<WrappedDataKey>, StoreError>;

    /// Adds a data key. If `only_if_empty` is set and a key exists, changes nothing and returns `false`.
    async fn add_data_key(&self, key: &WrappedDataKey, only_if_empty: bool) -> Result<bool, StoreError>;

    /// Makes `key` the writing key and all others reading keys, in one transaction. If it was a reading key, its
    /// `resealed_at` is removed. That of the others stays.
    async fn write_with(&self, key: DataKeyId) -> Result<(), StoreError>;

    /// Records that every value had been sealed with `key` at `at`. If it is not the writing key, changes nothing and
    /// returns `false`.
    async fn record_resealed(&self, key: DataKeyId, at: Timestamp) -> Result<bool, StoreError>;

    /// Replaces the wrapping of a data key.
    async fn rewrap(&self, key: DataKeyId, master: &str, wrapped: &str) -> Result<(), StoreError>;

    /// Removes a data key under which nothing is sealed any more.
    async fn remove_data_key(&self, key: DataKeyId) -> Result<(), StoreError>;
}

/// Reseals stored fields while the service runs.
#[async_trait]
pub trait Reseal: Send + Sync {
    /// Reseals up to `limit` values that the current writing key did not seal, and returns how many it looked at. 0
    /// means that none is left. A value that changes concurrently is skipped.
    async fn reseal(&self, limit: u32) -> Result<u64, StoreError>;
}

/// A data key as the operator may see it: without the key itself, wrapped or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKeyView {
    /// The identifier, which is part of every value that the key seals.
    pub id: DataKeyId,
    /// The fingerprint of the master key that wraps it.
    pub master: String,
    /// Whether it seals or only opens.
    pub state: DataKeyState,
    /// When it was made.
    pub created_at: Timestamp,
    /// As in [`WrappedDataKey`].
    pub resealed_at: Option<Timestamp>,
}

impl From<WrappedDataKey> for DataKeyView {
    fn from(key: WrappedDataKey) -> Self {
        let WrappedDataKey { id, master, wrapped: _, state, created_at, resealed_at } = key;
        Self { id, master, state, created_at, resealed_at }
    }
}

/// Shows the operator which keys seal the stored fields.
#[async_trait]
pub trait SealingKeys: Send + Sync {
    /// All data keys, the oldest first. A store that seals nothing has none.
    async fn sealing_keys(&self) -> Result<Vec<DataKeyView>, StoreError>;
}

/// An email to one address. Stores keep its JSON while it waits to be sent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// The recipient.
    #[serde(with = "kalends_accounts::stored_address")]
    pub to: Email,
    /// The subject line.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The same as HTML.
    pub html: String,
    /// The part for calendar programs, if any.
    pub calendar: Option<CalendarPart>,
    /// Whether the recipient agreed to emails of this kind. The limits for email to strangers do not apply then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agreed: bool,
    /// From this time on it is not worth sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The address that replies go to. It is that of the organization when the email is sent, so it is not stored.
    #[serde(skip)]
    pub reply_to: Option<Email>,
}

/// A part of an email that calendar programs read: an iCalendar object with a method (RFC 6047).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalendarPart {
    /// The method, which the object also names.
    pub method: CalendarMethod,
    /// The object.
    pub text: String,
}

impl std::fmt::Debug for Mail {
    /// Omits the body: it may contain a code.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mail").field("to", &self.to).field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// An email was not accepted for delivery.
#[derive(Debug, thiserror::Error)]
#[error("the email was not accepted")]
pub struct MailError {
    source: Box<dyn std::error::Error + Send + Sync>,
    /// Whether the recipient will never get it.
    lasting: bool,
    /// Whether the recipient may have got it all the same.
    maybe_delivered: bool,
    reply: MailReply,
}

/// What became of an email at the mail server, for the organization that sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailReply {
    /// The server's reply code (RFC 5321 section 4.2); `None` if there was no reply.
    pub code: Option<u16>,
    /// The text of the reply, or a sentence that says why there was none.
    pub text: String,
}

impl MailError {
    /// A failure that may end.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let reply = MailReply { code: None, text: "The email could not be handed over.".to_owned() };
        Self { source: source.into(), lasting: false, maybe_delivered: false, reply }
    }

    /// A failure that sending the email again does not end: there is no such mailbox.
    pub fn lasting(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { lasting: true, ..Self::new(source) }
    }

    /// The same failure with what the organization sees of it.
    #[must_use]
    pub fn with_reply(self, reply: MailReply) -> Self {
        Self { reply, ..self }
    }

    /// The same failure after the whole email was sent: nobody knows whether it was accepted.
    #[must_use]
    pub fn maybe_delivered(self) -> Self {
        Self { maybe_delivered: true, ..self }
    }

    /// Whether the recipient may have got the email.
    pub const fn is_maybe_delivered(&self) -> bool {
        self.maybe_delivered
    }

    /// What the organization sees of the failure.
    pub const fn reply(&self) -> &MailReply {
        &self.reply
    }

    /// Whether sending the email again makes no sense.
    pub const fn is_lasting(&self) -> bool {
        self.lasting
    }
}

/// Sends email.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Hands over one email. Returns `Ok` once it is accepted, with the server's reply if there is a server. It takes less
    /// than [`LETTER_CLAIM_LASTS`], so that no other worker sends the same letter at the same time.
    async fn send(&self, mail: Mail) -> Result<Option<MailReply>, MailError>;

    /// The address that email is sent from. Replies to it are not read.
    fn sender(&self) -> String;
}

/// Why a password could not be hashed or checked, or a token could not be signed.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// Too many requests are already waiting.
    #[error("too many passwords are waiting to be checked")]
    Busy,
    /// The operation failed.
    #[error("a credential could not be processed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl CredentialsError {
    /// Wraps an error of the adapter.
    pub fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(error.into())
    }
}

/// The result of checking a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The password is right.
    Right {
        /// Whether the hash was made with outdated parameters and should be replaced.
        outdated: bool,
    },
    /// The password is wrong.
    Wrong,
}

/// Hashes and checks passwords. Hashing is slow on purpose, and the number of concurrent hashes is bounded.
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// A fresh hash of the password.
    async fn hash(&self, password: Password) -> Result<PasswordHash, CredentialsError>;

    /// Checks the password against the hash. Without a hash the result is [`Verdict::Wrong`], after the same time as
    /// with one.
    async fn verify(&self, password: Password, known: Option<PasswordHash>) -> Result<Verdict, CredentialsError>;
}

/// Signs the claims of session tokens, and reads them back.
pub trait SessionTokens: Send + Sync {
    /// Signs these claims as a token.
    fn sign(&self, claims: &SessionClaims) -> Result<String, CredentialsError>;

    /// The claims of a token that this node, or a node with the same key, signed; `None` for any other text. Check
    /// them with [`SessionClaims::check`].
    fn read(&self, token: &str) -> Option<SessionClaims>;
}

/// One attempt at a delivery: its address, headers and body.
#[derive(Clone)]
pub struct WebhookPost {
    /// The endpoint's address.
    pub url: RemoteUrl,
    /// All headers that Kalends sets.
    pub headers: Vec<kalends_notifications::Header>,
    /// The body, exactly as it was signed.
    pub body: bytes::Bytes,
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookReply {
    /// The outcome.
    pub outcome: Outcome,
    /// Why there was no response, worded for the caller who named the address; `None` if there was one.
    pub problem: Option<String>,
}

/// Posts messages to the addresses that callers name.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Whether the operator allows connections to that host and port even if the address is private, and over plain
    /// HTTP.
    fn exempts(&self, host: &str, port: u16) -> bool;

    /// Posts a message and reads the beginning of the response, within
    /// [`ATTEMPT_WITHIN`](kalends_notifications::ATTEMPT_WITHIN) in total. Every failure is an outcome.
    async fn post(&self, post: WebhookPost) -> WebhookReply;
}

/// The response of a server to a request for a feed.
#[derive(Debug, Clone)]
pub enum FetchedFeed {
    /// The feed matches the validators.
    Unchanged,
    /// The feed.
    Full {
        /// Its bytes, decompressed.
        body: bytes::Bytes,
        /// The validators for the next request.
        validators: Validators,
    },
}

/// Why a feed could not be fetched, worded for the caller who named the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);

/// Fetches feeds from the addresses that callers name.
#[async_trait]
pub trait FeedFetcher: Send + Sync {
    /// Fetches the feed unless it still matches `validators`. A fetch takes at most 30 s in total, at most
    /// [`BYTES_MAX`](kalends_feeds::limits::BYTES_MAX) bytes and at most 3 redirects, and reaches only the public
    /// internet.
    async fn fetch(&self, url: &RemoteUrl, validators: &Validators) -> Result<FetchedFeed, FetchError>;
}

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

/// Why a calendar provider did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The provider no longer grants access, with this error. The user has to consent again.
    #[error("the provider no longer grants access: {0}")]
    Lapsed(String),
    /// The provider does not answer, answers too late, or cannot answer at present.
    #[error("the provider does not answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The provider's answer cannot be understood.
    #[error("the provider's answer cannot be understood")]
    Malformed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The busy times of one calendar at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TheirBusy {
    /// These spans, in any order. They may overlap and extend beyond the window.
    Known(Vec<Span>),
    /// The provider does not return the busy times of this calendar, for this reason.
    Unknown(String),
}

/// The configured providers of human calendars.
///
/// Each call ends within [`PROVIDER_WITHIN`], whatever the provider does.
#[async_trait]
pub trait CalendarProviders: Send + Sync {
    /// The client registration for consent at a provider; `None` if the provider is not configured.
    fn client(&self, provider: Provider) -> Option<&Client>;

    /// Exchanges the code of a callback for tokens.
    async fn authorize(
        &self,
        provider: Provider,
        request: TokenRequest,
        now: Timestamp,
    ) -> Result<Tokens, ProviderError>;

    /// Renews tokens whose access token has expired or is about to.
    async fn renew(&self, provider: Provider, tokens: &Tokens, now: Timestamp) -> Result<Tokens, ProviderError>;

    /// All calendars of the account, including hidden ones, the account's own calendar first. An incomplete list is
    /// an error.
    async fn calendars(&self, provider: Provider, tokens: &Tokens) -> Result<Vec<TheirCalendar>, ProviderError>;

    /// The busy times of each calendar within the window, in the order of `references`.
    async fn busy(
        &self,
        provider: Provider,
        tokens: &Tokens,
        references: &[String],
        window: Span,
    ) -> Result<Vec<TheirBusy>, ProviderError>;

    /// Revokes the consent at the provider, if the provider supports that.
    async fn revoke(&self, provider: Provider, tokens: &Tokens) -> Result<(), ProviderError>;
}

/// The longest time that a call of [`CalendarProviders`] takes.
pub const PROVIDER_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);
