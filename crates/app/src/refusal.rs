//! Refusals: the closed list of reasons for which a use case may fail.
//!
//! `kalends-http` maps every reason to exactly one documented error, without a wildcard arm.

use kalends_accounts::{Limited, SecondStepToken, reach::Denied};
use kalends_bridge::ConnectionStatus;
use kalends_calendars::ports::BusySource;
use kalends_calendars::{Block, PLACED_HOLDS_MAX};
use kalends_feeds::AlreadySubscribed;
use kalends_kernel::{CalendarId, FieldErrors, StoreError};
use kalends_plans::{Feature, Metric};
use kalends_quotas::Rate;
use kalends_runs::{Reason, Resource, RunName, WRITES_MAX};
use kalends_time::Span;

use crate::{
    operations::{Operation, UNDOABLE},
    ports::CredentialsError,
};

/// The kind of thing that a request names and that does not exist, or that belongs to another organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// An agent.
    Agent,
    /// A calendar.
    Calendar,
    /// An event.
    Event,
    /// A hold set.
    HoldSet,
    /// The rules of a calendar.
    AvailabilityRules,
    /// An agent's key.
    Key,
    /// An organization (operators only).
    Organization,
    /// A claim on an organization.
    Claim,
    /// A sign-in provider.
    Provider,
    /// A webhook endpoint.
    Webhook,
    /// A delivery of a webhook endpoint.
    Delivery,
    /// The feed of a calendar.
    Feed,
    /// A subscription to a feed.
    Subscription,
    /// A scheduling proposal.
    Proposal,
    /// An approval.
    Approval,
    /// A booking page.
    BookingPage,
    /// A booking of a guest.
    Booking,
    /// An invitation of an attendee.
    Invitation,
    /// The question to an address whether replies may go to it.
    ReplyLink,
    /// A connection link.
    ConnectionLink,
    /// A connection.
    Connection,
    /// A calendar of a connection.
    ExternalCalendar,
    /// A grant.
    Grant,
    /// The destination of a calendar.
    Destination,
    /// A calendar provider.
    CalendarProvider,
    /// A member of the organization, or an open invitation.
    Member,
    /// A run.
    Run,
}

impl Missing {
    /// The name of the thing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Calendar => "calendar",
            Self::Event => "event",
            Self::HoldSet => "hold set",
            Self::AvailabilityRules => "availability rules of",
            Self::Key => "key",
            Self::Webhook => "webhook",
            Self::Delivery => "delivery of this webhook",
            Self::Feed => "feed",
            Self::Subscription => "iCal subscription",
            Self::Proposal => "proposal",
            Self::Approval => "approval",
            Self::BookingPage => "booking page",
            Self::Booking => "booking",
            Self::Invitation => "invitation",
            Self::ReplyLink => "question about replies",
            Self::Organization => "organization",
            Self::Provider => "provider to sign in with",
            Self::Claim => "claim with this revocation token",
            Self::ConnectionLink => "connection link of this organization",
            Self::Connection => "calendar connection",
            Self::ExternalCalendar => "external calendar",
            Self::Grant => "availability grant",
            Self::Destination => "external destination of yours for",
            Self::CalendarProvider => "calendar provider",
            Self::Member => "member or open invitation",
            Self::Run => "run of this owner",
        }
    }
}

/// The conflicts of a hold or of an event whose time must be free, and the nearest free times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacles {
    /// The wanted time.
    pub wanted: Span,
    /// The conflicts, by calendar and start: at most 20, and at least one for each calendar with conflicts that the
    /// caller may see.
    pub conflicts: Vec<(CalendarId, Block)>,
    /// Up to three times of the same length that are free on all calendars, the nearest first. Computed last, after
    /// all locks are released.
    pub nearest_free: Vec<Span>,
    /// The occurrences of a series that have a conflict, by start: at most 20. `wanted` is the first of them. Empty for
    /// anything else.
    pub occurrences: Vec<Span>,
    /// The index of the event, if the request has several.
    pub item: Option<usize>,
    /// The calendars on which the time must be free. Empty if the caller may not see all of them, so that no free times
    /// are offered.
    pub(crate) sources: Vec<BusySource>,
}

impl std::fmt::Display for Obstacles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (start, end) = (self.wanted.start(), self.wanted.end());
        write!(f, "the time from {start} to {end}")?;
        match self.conflicts.first() {
            Some((calendar, block)) => {
                let kind = block.kind.as_str();
                let (from, to) = (block.span.start(), block.span.end());
                write!(f, " conflicts with a block of kind {kind} from {from} to {to} on {calendar}")?;
            }
            None if self.sources.is_empty() => write!(f, " is taken on a calendar of another agent")?,
            None => write!(f, " may be subject to other rules now")?,
        }
        if self.sources.is_empty() {
            return Ok(());
        }
        match self.nearest_free.first() {
            Some(free) => write!(f, "; the nearest free time is from {} to {}", free.start(), free.end()),
            None => write!(f, "; no time near it is free"),
        }
    }
}

/// A resource that keeps a run from being taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InTheWay {
    /// The resource.
    pub resource: Resource,
    /// Its identifier, as callers know it.
    pub id: String,
    /// Why it is in the way.
    pub reason: Reason,
}

/// How many resources a message names.
const NAMED_MAX: usize = 3;

/// The first resources that are in the way, in words.
fn obstacles_in_words(resources: &[InTheWay]) -> String {
    let words = |found: &InTheWay| {
        let why = match found.reason {
            Reason::Changed => "was changed by something else",
            Reason::TimeTaken => "needs a time that is taken",
            Reason::CalendarGone => "was on a calendar that is deleted",
        };
        format!("{} {why}", found.id)
    };
    let named: Vec<String> = resources.iter().take(NAMED_MAX).map(words).collect();
    let more = resources.len().saturating_sub(NAMED_MAX);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{rest}", named.join("; "))
}

/// The operations whose writes can be taken back, in words.
fn undoable() -> String {
    UNDOABLE.iter().map(|operation| operation.id).collect::<Vec<_>>().join(", ")
}

/// Why a use case did not do what was requested. Nothing has changed, unless the use case says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The request is not valid.
    #[error("{0}")]
    Invalid(FieldErrors),
    /// The API key is missing or not valid.
    #[error("the API key is missing, malformed or revoked; send it as `Authorization: Bearer <key>`")]
    Unauthorized,
    /// This server does not let the person or the agent sign up.
    #[error("sign-up is not open on this server; ask its operator, or a member of an organization for an invitation")]
    SignUpClosed,
    /// The console session is missing or has ended.
    #[error(
        "the console session is missing or has ended: sign in at POST /v1/auth/signin, and send its cookie or token as \
         `Authorization: Bearer <token>`; API keys are not accepted here"
    )]
    NotSignedIn,
    /// The address or the password is wrong.
    #[error("the address or the password is wrong")]
    WrongPassword,
    /// The password is right, and the second factor is on. The token continues the sign-in on a page.
    #[error("the second factor is on: send a code of the authenticator app or a recovery code as `code` too")]
    SecondFactorRequired(SecondStepToken),
    /// The password is right, and the code is not.
    #[error("the code is wrong, used or too old; wait for the next one, or use a recovery code")]
    SecondFactorWrong,
    /// The second factor is on already.
    #[error("the second factor is on already; turn it off first with DELETE /v1/auth/second-factor")]
    SecondFactorOn,
    /// The second factor is not on, or does not wait for a first code.
    #[error("the second factor is not set up; begin with POST /v1/auth/second-factor")]
    SecondFactorOff,
    /// The user has no password.
    #[error("the account has no password; set one by email first, with POST /v1/auth/password/forgot")]
    PasswordRequired,
    /// The request comes from another site.
    #[error(transparent)]
    CrossSite(#[from] kalends_accounts::CrossSite),
    /// The organization is on the waiting list.
    #[error("the organization is on the waiting list; you will get an email when it is activated")]
    Waitlisted,
    /// The key has no access to what is requested.
    #[error("{}", Denied::OutOfReach)]
    OutOfReach,
    /// The user's role does not allow this.
    #[error("{}", Denied::RoleTooLow)]
    RoleTooLow,
    /// A rule about members of organizations does not allow this.
    #[error(transparent)]
    Member(#[from] kalends_accounts::MemberError),
    /// The agent of the key is paused.
    #[error("the agent is paused, so its keys may only read; set its status to active first")]
    AgentPaused,
    /// The plan lacks a feature.
    #[error("the plan does not include {feature}; the pro plan does", feature = .0.as_str())]
    PlanRequired(Feature),
    /// The caller exceeds its rate.
    #[error("more than {count} requests in {seconds} s; wait {retry_after} s", count = .rate.count(), seconds = .rate.seconds())]
    TooFast {
        /// The allowed rate.
        rate: Rate,
        /// Whole seconds after which it may call again.
        retry_after: i64,
    },
    /// A limit of the plan is reached.
    #[error("the plan's limit of {limit} {metric} is reached", metric = .metric.as_str())]
    LimitReached {
        /// Which limit.
        metric: Metric,
        /// The limit.
        limit: u64,
        /// Whole seconds to the start of the next UTC month.
        retry_after: i64,
    },
    /// Too many bytes of the organization's feeds are held in memory for slow readers, in versions that are no longer
    /// cached.
    #[error(
        "{} MiB of outdated feeds of this organization are still being read; repeat the request \
         when their readers have finished",
        crate::feed_cache::UNREAD_MAX >> 20
    )]
    FeedsUnread,
    /// The calendar is too large for an iCalendar file.
    #[error(
        "as an iCalendar file the calendar would take more than {} MiB; delete events that are not needed, or read them \
         with GET /v1/calendars/{{cal_id}}/events",
        crate::feed_cache::FEED_MAX >> 20
    )]
    FeedTooLarge,
    /// An allowance is used up. It does not depend on the plan.
    #[error("{limited}; try again in {retry_after} seconds")]
    TooMany {
        /// Which allowance.
        limited: Limited,
        /// Whole seconds after which one more is allowed.
        retry_after: i64,
    },
    /// The thing does not exist.
    #[error("no such {missing}: {id}", missing = .missing.as_str())]
    NotFound {
        /// What is missing.
        missing: Missing,
        /// The identifier as the caller wrote it, truncated.
        id: String,
    },
    /// Imported events are read-only.
    #[error("{0}")]
    ReadOnly(kalends_calendars::EventError),
    /// The agent's state does not allow this.
    #[error(transparent)]
    AgentState(#[from] kalends_calendars::AgentError),
    /// The event is not a hold, or is no longer one.
    #[error(transparent)]
    Hold(#[from] kalends_calendars::HoldError),
    /// A hold of a set is no longer live.
    #[error(transparent)]
    HoldSet(#[from] kalends_calendars::HoldSetError),
    /// The agent of the key has placed too many holds on calendars of others.
    #[error(
        "your agent has {alive} live holds on calendars of others, and at most {PLACED_HOLDS_MAX} are allowed; confirm \
         or release some of them, or wait until they expire"
    )]
    PlacedHolds {
        /// How many of them are live.
        alive: u64,
    },
    /// The proposal does not allow this.
    #[error("{0}")]
    Proposal(kalends_proposals::ProposalError),
    /// Something blocks the time of a hold.
    #[error("{0}")]
    SlotTaken(Box<Obstacles>),
    /// The slot is one of the page's, but it is taken.
    #[error("the slot from {} to {} is taken{}", .wanted.start(), .wanted.end(), nearest_slot(.nearest))]
    BookingTaken {
        /// The slot.
        wanted: Span,
        /// Up to three offered slots, the nearest first.
        nearest: Vec<Span>,
    },
    /// The owner of a booking page has used up the month's events.
    #[error("booking is closed for now; try again in {retry_after} seconds")]
    BookingClosed {
        /// Whole seconds to the start of the next UTC month.
        retry_after: i64,
    },
    /// A booking can no longer be moved or cancelled.
    #[error("the booking can no longer be changed: {0}")]
    BookingOver(&'static str),
    /// An attendee can no longer reply.
    #[error("the event no longer takes replies: {0}")]
    InvitationOver(&'static str),
    /// The organization has not proved an address, so it sends no mail to others.
    #[error(
        "the organization has not verified its email address, so it cannot send its own words to others: verify it \
         with POST /v1/agent/verify, or leave out send_invitations, the host_name, location and conference_url of a \
         booking page, and the reason of a cancellation"
    )]
    Unverified,
    /// The state that the caller decided on has changed.
    #[error("the state has changed since that as_of: {0}")]
    Outdated(Box<Obstacles>),
    /// The calendar still has events.
    #[error("the calendar still has {0} events; delete them first, or leave if_empty out to delete them with it")]
    CalendarHasEvents(u64),
    /// The calendar is already subscribed to the address.
    #[error(transparent)]
    AlreadySubscribed(AlreadySubscribed),
    /// `If-Match` names another version.
    #[error("the resource has changed: If-Match does not name its current version {current}; read it again")]
    Stale {
        /// The current `ETag`.
        current: String,
    },
    /// What an approved request would change is not as it was when it was asked for.
    #[error("the resource has changed since the request was made, so nothing was changed; make a new request")]
    ApprovalStale,
    /// A copy of a calendar must start over.
    #[error(transparent)]
    Resync(#[from] kalends_calendars::Resync),
    /// A reader of the organization's changes must start over.
    #[error(transparent)]
    FeedResync(#[from] kalends_notifications::FeedResync),
    /// The key waits for changes in too many requests at once.
    #[error(
        "the key already waits for changes in {most} requests; let one of them end first, or send wait=0; several \
         programs need a key each"
    )]
    TooManyWaits {
        /// How many may wait.
        most: usize,
    },
    /// The accepted terms are not the current ones.
    #[error(transparent)]
    StaleTerms(#[from] kalends_accounts::StaleTerms),
    /// The address belongs to another organization or to a user.
    #[error("an account with that address exists")]
    EmailTaken,
    /// The slug belongs to another booking page, of any organization.
    #[error("another booking page has that slug; choose another one, or leave it out to get a random one")]
    SlugTaken,
    /// The code of a claim is right, but another claim is on hold, or the organization has an owner.
    #[error("{}", kalends_accounts::ClaimError::Taken)]
    ClaimTaken,
    /// The hold of a claim has ended.
    #[error("{}", kalends_accounts::RevokeError::TooLate)]
    ClaimOver,
    /// The state of a connection link does not allow this.
    #[error(transparent)]
    Link(#[from] kalends_bridge::LinkError),
    /// The calendar provider does not support publishing.
    #[error(
        "{} calendars are only read for availability; choose another provider, or have the agent create a link without \
         publishing",
        .0.title()
    )]
    NotPublished(kalends_bridge::CalendarProvider),
    /// The events of a calendar cannot be published there.
    #[error(transparent)]
    Destination(#[from] kalends_bridge::DestinationError),
    /// A connection with this status is not refreshed.
    #[error("the connection is not refreshed while its status is {status}; {remedy}", status = .0.as_str(), remedy = remedy(*.0))]
    NotRefreshed(ConnectionStatus),
    /// The calendar server does not answer, or its answer cannot be understood.
    #[error(
        "the calendar server does not answer, or its answer cannot be understood, so nothing was connected; check the \
         address, or repeat the request later"
    )]
    CalendarServer,
    /// The user has as many connections to example calendars as are allowed.
    #[error(
        "you have {most} connections to example calendars in this organization, and no more are allowed; delete one of \
         them first",
        most = kalends_bridge::EXAMPLES_MAX
    )]
    TooManyExamples,
    /// What is stored about the connection cannot be read, so it can only be deleted.
    #[error("{}", kalends_bridge::UNREADABLE_CONNECTION)]
    UnreadableConnection,
    /// The delivery is being sent.
    #[error(transparent)]
    BeingSent(#[from] kalends_notifications::BeingSent),
    /// The endpoint is switched off, so nothing is sent to it.
    #[error("the webhook is switched off; set active to true first")]
    WebhookInactive,
    /// A required email was not accepted, so nothing has changed.
    #[error("a required email could not be sent, so nothing has changed; repeat the request later")]
    Undelivered,
    /// Events of an earlier release are not in the index of metadata yet.
    #[error(
        "older events cannot be found by their metadata yet, because they are still being indexed after an upgrade; \
         repeat the request in a minute"
    )]
    MetadataNotIndexed,
    /// The idempotency key was used for another request.
    #[error("the Idempotency-Key was used for another request within 24 hours; use a new key for a new request")]
    IdempotencyMismatch,
    /// The first request with this idempotency key is still running.
    #[error("the first request with this Idempotency-Key is still running; repeat it in a moment")]
    StillRunning,
    /// The same request has been answered in the meantime: its answer must be replayed.
    #[error("the request has already been answered")]
    AlreadyAnswered,
    /// The request names a run, but the writes of its operation cannot be taken back.
    #[error(
        "{id} cannot be taken back, so it takes no Kalends-Run; leave it out. These take it: {list}",
        id = .0.id,
        list = undoable()
    )]
    NotUndoable(&'static Operation),
    /// The run has as many writes as a run can have.
    #[error("the run {0} would have more than {most} writes, and no more can be taken back; use another name", most = WRITES_MAX)]
    RunFull(RunName),
    /// Some writes of a run cannot be taken back, so none was.
    #[error("the run {run} cannot be taken back, so nothing was changed: {}", obstacles_in_words(.resources))]
    InTheWay {
        /// The run.
        run: RunName,
        /// The resources that keep it from being taken back.
        resources: Vec<InTheWay>,
    },
    /// The access token of a connector came to another route than that of the tools.
    #[error(
        "the access token of a connector is accepted only at {tools}; use an API key here",
        tools = crate::operations::MCP.path
    )]
    ConnectorElsewhere,
    /// The write waits for approval. This is not an error: it is answered with 202.
    #[error("the write waits for approval {}", .0.id)]
    AwaitsApproval(Box<kalends_wire::Approval>),
    /// The key's writes need approval, and this one cannot wait for it.
    #[error("{0}")]
    ApprovalNotPossible(String),
    /// The approval is not pending any more.
    #[error("the approval is no longer pending: it is {}", .0.as_str())]
    ApprovalDecided(kalends_approvals::Status),
    /// The key has as many writes that wait for approval as it may have.
    #[error(
        "the key already has {most} writes that wait for approval; cancel one, or wait for a decision",
        most = kalends_approvals::PENDING_MAX
    )]
    TooManyPending,
    /// Other requests kept changing the same thing.
    #[error("too many requests are changing the same thing; repeat the request")]
    Contended,
    /// A password could not be checked, or a token could not be signed.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How to get a connection refreshed again.
const fn remedy(status: ConnectionStatus) -> &'static str {
    match status {
        ConnectionStatus::Paused => "resume it first",
        ConnectionStatus::ReauthorizationRequired => {
            "renew the consent with its /reauthorize, or connect the account again with its new password, first"
        }
        ConnectionStatus::Active | ConnectionStatus::Error => "repeat the request",
    }
}

/// The end of the message about a taken slot.
fn nearest_slot(nearest: &[Span]) -> String {
    match nearest.first() {
        Some(slot) => format!("; the nearest offered slot begins at {}", slot.start()),
        None => "; no slot near it is offered".to_owned(),
    }
}

impl From<kalends_bridge::IncompleteError> for Refusal {
    fn from(error: kalends_bridge::IncompleteError) -> Self {
        use kalends_bridge::IncompleteError::{Link, NotCovered, NotRefreshed, NotSuited};
        match error {
            NotCovered => kalends_kernel::FieldError::new(
                "audience",
                "must cover the agent of the link, or be all if the calendar is shared by the organization; or leave \
                 connection_link_id out",
            )
            .into(),
            NotRefreshed(status) => Self::NotRefreshed(status),
            NotSuited(provider) => Self::NotPublished(provider),
            Link(error) => Self::Link(error),
        }
    }
}

impl From<FieldErrors> for Refusal {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors)
    }
}

impl From<kalends_kernel::FieldError> for Refusal {
    fn from(error: kalends_kernel::FieldError) -> Self {
        Self::Invalid(error.into())
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Unauthorized => Self::Unauthorized,
            Denied::OutOfReach => Self::OutOfReach,
            Denied::RoleTooLow => Self::RoleTooLow,
            Denied::AgentPaused => Self::AgentPaused,
            Denied::Waitlisted => Self::Waitlisted,
        }
    }
}

impl From<kalends_calendars::EventError> for Refusal {
    fn from(error: kalends_calendars::EventError) -> Self {
        match error {
            kalends_calendars::EventError::Invalid(errors) => Self::Invalid(errors),
            kalends_calendars::EventError::Hold(error) => Self::Hold(error),
            read_only @ kalends_calendars::EventError::ReadOnly(_) => Self::ReadOnly(read_only),
        }
    }
}

impl Refusal {
    /// The refusal for an unknown identifier. `id` is the identifier as the caller wrote it.
    pub fn missing(missing: Missing, id: &str) -> Self {
        Self::NotFound { missing, id: id.chars().take(64).collect() }
    }
}
