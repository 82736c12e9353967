//! What Kalends says no with: the one closed list of reasons that a use case may give.
//!
//! Every reason maps to exactly one error of the specification's table, in `kalends-http`, without a
//! wildcard arm.

use kalends_accounts::{Limited, reach::Denied};
use kalends_availability::Block;
use kalends_bridge::ConnectionStatus;
use kalends_calendars::ports::BusySource;
use kalends_feeds::AlreadySubscribed;
use kalends_kernel::{CalendarId, FieldErrors, Span, StoreError};
use kalends_quotas::{Feature, Metric, Rate};

use crate::ports::CredentialsError;

/// What a request names that is not there, or not for this caller's organization.
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
    /// A provider of identities.
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
    /// A booking page.
    BookingPage,
    /// What a guest has booked.
    Booking,
    /// A link by which a human connects a calendar.
    ConnectionLink,
    /// A connected account of a human.
    Connection,
    /// A calendar of such an account.
    ExternalCalendar,
    /// What has calendars of a human count.
    Grant,
    /// A provider of calendars.
    CalendarProvider,
}

impl Missing {
    /// The thing's name.
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
            Self::BookingPage => "booking page",
            Self::Booking => "booking",
            Self::Organization => "organization",
            Self::Provider => "provider to sign in with",
            Self::Claim => "claim with this revocation token",
            Self::ConnectionLink => "connection link of this organization",
            Self::Connection => "calendar connection",
            Self::ExternalCalendar => "external calendar",
            Self::Grant => "availability grant",
            Self::CalendarProvider => "provider of calendars",
        }
    }
}

/// What stands in the way of a hold, and what else is free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacles {
    /// The time that was wanted.
    pub wanted: Span,
    /// What stands in the way, by calendar and start; at most 20, and of each calendar something.
    pub conflicts: Vec<(CalendarId, Block)>,
    /// Up to three times of the same length that are free on all calendars, the nearest first. Looked for last,
    /// when nobody waits for it.
    pub nearest_free: Vec<Span>,
    /// The calendars on which it has to be free.
    pub(crate) sources: Vec<BusySource>,
}

/// The most conflicts that a refusal tells.
pub(crate) const CONFLICTS_MAX: usize = 20;

impl std::fmt::Display for Obstacles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (start, end) = (self.wanted.start(), self.wanted.end());
        write!(f, "the time from {start} to {end}")?;
        match self.conflicts.first() {
            Some((calendar, block)) => {
                let kind = kalends_availability::ReasonKind::from(block.kind).as_str();
                let (from, to) = (block.span.start(), block.span.end());
                write!(f, " meets something of the kind {kind} from {from} to {to} on {calendar}")?;
            }
            None => write!(f, " may be offered by other rules")?,
        }
        match self.nearest_free.first() {
            Some(free) => write!(f, "; the nearest free time is from {} to {}", free.start(), free.end()),
            None => write!(f, "; nothing near is free"),
        }
    }
}

/// Why a use case did not do what it was asked. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The request is not valid.
    #[error("{0}")]
    Invalid(FieldErrors),
    /// No key, or none that is in force.
    #[error("the API key is missing, malformed or revoked; send it as `Authorization: Bearer <key>`")]
    Unauthorized,
    /// No console session, or none that is in force.
    #[error(
        "no console session, or none in force: sign in at POST /v1/auth/signin, and send its cookie or its token as \
         `Authorization: Bearer <token>`; API keys do not count here"
    )]
    NotSignedIn,
    /// Nobody has that address and password.
    #[error("the address or the password is wrong")]
    WrongPassword,
    /// The request comes from another site.
    #[error(transparent)]
    CrossSite(#[from] kalends_accounts::CrossSite),
    /// The organization waits to be let in.
    #[error("the organization is on the waiting list; you get a mail when it is activated")]
    Waitlisted,
    /// The key does not reach that far.
    #[error("an agent's key reaches its own agent only; use a key of the organization")]
    OutOfReach,
    /// The agent of the key is paused.
    #[error("the agent is paused, so that its keys may only read; set its status to active first")]
    AgentPaused,
    /// The plan lacks a feature.
    #[error("the plan does not include {feature}; the plan pro does", feature = .0.as_str())]
    PlanRequired(Feature),
    /// The caller calls too fast.
    #[error("more than {count} requests in {seconds} s; wait {retry_after} s", count = .rate.count(), seconds = .rate.seconds())]
    TooFast {
        /// How fast it may call.
        rate: Rate,
        /// Whole seconds after which it may call again.
        retry_after: i64,
    },
    /// A limit of the plan is reached.
    #[error("the plan's limit of {limit} {metric} is reached", metric = .metric.as_str())]
    LimitReached {
        /// Which one.
        metric: Metric,
        /// The limit.
        limit: u64,
        /// Whole seconds to the start of the next UTC month.
        retry_after: i64,
    },
    /// The organization has many bytes of feeds whose readers are slow, in versions that are not cached any more.
    #[error(
        "{} MiB of this organization's feeds are still being read, in versions that have changed since; repeat the request \
         when their readers are done",
        crate::feeds::UNREAD_MAX >> 20
    )]
    FeedsUnread,
    /// The calendar is too large for a file.
    #[error(
        "as an iCalendar file the calendar would take more than {} MiB; delete events that are not needed, or read them \
         with GET /v1/calendars/{{cal_id}}/events",
        crate::feeds::FEED_MAX >> 20
    )]
    FeedTooLarge,
    /// What is allowed so often, whatever the plan, is used up.
    #[error("{limited}; come back in {retry_after} seconds")]
    TooMany {
        /// Which one.
        limited: Limited,
        /// Whole seconds after which one more is allowed.
        retry_after: i64,
    },
    /// There is no such thing.
    #[error("no such {missing}: {id}", missing = .missing.as_str())]
    NotFound {
        /// What is missing.
        missing: Missing,
        /// The identifier as the caller wrote it, cut to a bearable length.
        id: String,
    },
    /// Imported events are read-only.
    #[error("{0}")]
    ReadOnly(kalends_calendars::EventError),
    /// The agent's state does not allow it.
    #[error(transparent)]
    AgentState(#[from] kalends_calendars::AgentError),
    /// The event is no hold, or not any more.
    #[error(transparent)]
    Hold(#[from] kalends_calendars::HoldError),
    /// A hold of a set is none any more.
    #[error(transparent)]
    HoldSet(#[from] kalends_calendars::HoldSetError),
    /// Something cannot be done with a proposal.
    #[error("{0}")]
    Proposal(kalends_proposals::ProposalError),
    /// Something blocks the time that a hold wants.
    #[error("{0}")]
    SlotTaken(Box<Obstacles>),
    /// The slot that a guest wants is one of the page's, and taken.
    #[error("the slot from {} to {} is taken{}", .wanted.start(), .wanted.end(), nearest_slot(.nearest))]
    BookingTaken {
        /// The slot.
        wanted: Span,
        /// Up to three that are offered, the nearest first.
        nearest: Vec<Span>,
    },
    /// The owner of a booking page has used up the month's events.
    #[error("booking is closed for now; come back in {retry_after} seconds")]
    BookingClosed {
        /// Whole seconds to the start of the next UTC month.
        retry_after: i64,
    },
    /// A booking cannot be moved or cancelled any more.
    #[error("the booking cannot be changed any more: {0}")]
    BookingOver(&'static str),
    /// The state on which a hold was decided is not the present one.
    #[error("since that as_of something changed that matters: {0}")]
    Outdated(Box<Obstacles>),
    /// The calendar still holds events.
    #[error("the calendar still holds {0} events; delete them first, or leave if_empty out to delete all")]
    CalendarHasEvents(u64),
    /// The calendar is subscribed to the address already.
    #[error(transparent)]
    AlreadySubscribed(AlreadySubscribed),
    /// `If-Match` names another version.
    #[error("the resource has changed: If-Match does not name its present version {current}; read it again")]
    Stale {
        /// The present `ETag`.
        current: String,
    },
    /// A copy of a calendar has to begin anew.
    #[error(transparent)]
    Resync(#[from] kalends_calendars::Resync),
    /// The accepted terms are not the current ones.
    #[error(transparent)]
    StaleTerms(#[from] kalends_accounts::StaleTerms),
    /// The address belongs to another organization, or to a human.
    #[error("an account with that address exists")]
    EmailTaken,
    /// The code of a claim is right, but another claim is on hold, or the organization has an owner.
    #[error("{}", kalends_accounts::ClaimError::Taken)]
    ClaimTaken,
    /// The hold of a claim is over.
    #[error("{}", kalends_accounts::RevokeError::TooLate)]
    ClaimOver,
    /// Nothing becomes of a connection link in this way.
    #[error(transparent)]
    Link(#[from] kalends_bridge::LinkError),
    /// A provider of calendars takes nothing that is published.
    #[error("{} calendars are read for availability alone; choose another provider, or have the agent ask without publishing", .0.title())]
    NotPublished(kalends_accounts::oauth::Provider),
    /// A connection is not refreshed as long as that is its status.
    #[error("the connection is not refreshed while its status is {status}; {remedy}", status = .0.as_str(), remedy = remedy(*.0))]
    NotRefreshed(ConnectionStatus),
    /// A worker is sending the delivery.
    #[error(transparent)]
    BeingSent(#[from] kalends_notifications::BeingSent),
    /// Nothing is sent to an endpoint that is switched off.
    #[error("the webhook is switched off; set active to true first, so that something can be sent to it")]
    WebhookInactive,
    /// A mail without which nothing may change was not accepted.
    #[error("the mail that has to go out first could not be sent; nothing has changed, repeat the request in a while")]
    Undelivered,
    /// The key was used for another request.
    #[error("the Idempotency-Key was used for another request within 24 hours; use a new key for a new request")]
    IdempotencyMismatch,
    /// The first request with that key has not been answered yet.
    #[error("the first request with this Idempotency-Key is still running; repeat it in a moment")]
    StillRunning,
    /// The same request has been answered meanwhile: its answer is to be replayed.
    #[error("the request has been answered meanwhile")]
    AlreadyAnswered,
    /// Others kept changing the same thing.
    #[error("too many others are changing the same thing; repeat the request")]
    Contended,
    /// A password could not be looked at, or a token not be signed.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What has a connection refreshed again.
const fn remedy(status: ConnectionStatus) -> &'static str {
    match status {
        ConnectionStatus::Paused => "resume it first",
        ConnectionStatus::ReauthorizationRequired => "consent again by its /reauthorize first",
        ConnectionStatus::Active | ConnectionStatus::Error => "repeat the request",
    }
}

/// The end of what is said of a slot that is taken.
fn nearest_slot(nearest: &[Span]) -> String {
    match nearest.first() {
        Some(slot) => format!("; the nearest that is offered begins at {}", slot.start()),
        None => "; none near it is offered".to_owned(),
    }
}

impl From<kalends_bridge::IncompleteError> for Refusal {
    fn from(error: kalends_bridge::IncompleteError) -> Self {
        use kalends_bridge::IncompleteError::{Link, NotCovered, NotRefreshed, NotSuited};
        match error {
            NotCovered => kalends_kernel::FieldError::new(
                "audience",
                "must cover the agent that asks, or be all where the calendar is one that the organization shares; or leave \
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
    /// There is no such thing under the identifier that the caller wrote.
    pub fn missing(missing: Missing, id: &str) -> Self {
        Self::NotFound { missing, id: id.chars().take(64).collect() }
    }
}
