//! An approval and its decision.

use kalends_kernel::{AgentId, ApprovalId, CalendarId, KeyId, OrgId, Version};
use kalends_time::{SignedDuration, Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Seen, WaitingRequest};

/// How long an approval waits unless its key says otherwise.
pub const APPROVAL_LASTS: SignedDuration = SignedDuration::hours(24);
/// The longest time for which an approval may wait.
pub const APPROVAL_LASTS_MOST: SignedDuration = SignedDuration::days(7);
/// How long an approval is kept after its decision.
pub const APPROVALS_KEPT: SignedDuration = SignedDuration::days(30);
/// The most approvals of one key that wait at a time.
pub const PENDING_MAX: u64 = 20;

/// Times of a calendar that are reserved until the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    /// The calendar.
    pub calendar: CalendarId,
    /// The times, in order.
    pub spans: Vec<Span>,
}

/// A request that waits for a decision, or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The identifier.
    pub id: ApprovalId,
    /// The organization.
    pub org: OrgId,
    /// The key that asked.
    pub key: KeyId,
    /// The first characters of its text.
    pub key_prefix: String,
    /// The agent that it speaks for.
    pub agent: AgentId,
    /// The operation, by the name in the API's description.
    pub operation: String,
    /// What would happen, in one plain sentence.
    pub summary: String,
    /// The request. Its body is dropped with a decision after which it is not made.
    pub request: WaitingRequest,
    /// The resources that it would change.
    pub seen: Vec<Seen>,
    /// The times that are reserved for it, one entry for each calendar.
    pub reserved: Vec<Reserved>,
    /// Hashes of the addresses to which an email asks for the decision.
    pub mailed: Vec<[u8; 32]>,
    /// Its state as stored. [`Self::status`] also knows what has expired.
    pub state: State,
    /// The version. Each write raises it by one.
    pub version: Version,
    /// When the caller asked.
    pub created_at: Timestamp,
    /// From this instant on, it can no longer be decided.
    pub expires_at: Timestamp,
}

/// What became of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nobody has decided it.
    Pending,
    /// The request was made, with this outcome.
    Approved {
        /// Who decided, as the audit log names callers.
        by: String,
        /// When.
        at: Timestamp,
        /// The answer to the request.
        outcome: Outcome,
    },
    /// It was approved, and the request was refused.
    Failed {
        /// Who decided, as the audit log names callers.
        by: String,
        /// When.
        at: Timestamp,
        /// The refusal.
        outcome: Outcome,
    },
    /// Somebody denied it.
    Denied {
        /// Who decided, as the audit log names callers.
        by: String,
        /// When.
        at: Timestamp,
        /// Why, if they said so.
        reason: Option<String>,
    },
    /// The caller no longer wants it.
    Cancelled {
        /// Who cancelled it, as the audit log names callers.
        by: String,
        /// When.
        at: Timestamp,
    },
    /// Nobody decided it in time, and that was announced.
    Expired,
}

/// The answer to a request that was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The HTTP status.
    pub status: u16,
    /// The body as JSON text. `None` if there is none, or if it is longer than [`BODY_MAX`](crate::BODY_MAX).
    pub body: Option<String>,
}

/// The status of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It waits for a decision.
    Pending,
    /// It was approved, and the request was made.
    Approved,
    /// It was approved, and the request was refused.
    Failed,
    /// It was denied.
    Denied,
    /// The caller cancelled it.
    Cancelled,
    /// Nobody decided it in time.
    Expired,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Approved, Self::Failed, Self::Denied, Self::Cancelled, Self::Expired];

    /// The name in requests, answers and rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// The status at `now` of an approval that is stored with this one.
    pub fn at(self, now: Timestamp, expires_at: Timestamp) -> Self {
        if self == Self::Pending && expires_at <= now { Self::Expired } else { self }
    }

    /// Whether the request was not made, and will not be.
    pub const fn is_without_effect(self) -> bool {
        matches!(self, Self::Denied | Self::Cancelled | Self::Expired)
    }

    /// The status with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// The approval is not pending, so it cannot be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the approval is no longer pending: it is {}", .0.as_str())]
pub struct Decided(pub Status);

impl State {
    /// The status in rows.
    pub const fn status(&self) -> Status {
        match self {
            Self::Pending => Status::Pending,
            Self::Approved { .. } => Status::Approved,
            Self::Failed { .. } => Status::Failed,
            Self::Denied { .. } => Status::Denied,
            Self::Cancelled { .. } => Status::Cancelled,
            Self::Expired => Status::Expired,
        }
    }
}

impl Approval {
    /// The status at `now`.
    pub fn status(&self, now: Timestamp) -> Status {
        self.state.status().at(now, self.expires_at)
    }

    /// The approval after its request was made. `by` approved it.
    ///
    /// # Errors
    /// [`Decided`] unless it is pending at `now`.
    pub fn approved(&self, by: &str, outcome: Outcome, now: Timestamp) -> Result<Self, Decided> {
        self.decided(now, State::Approved { by: by.to_owned(), at: now, outcome })
    }

    /// The approval after `by` approved it and its request was refused.
    ///
    /// # Errors
    /// [`Decided`] unless it is pending at `now`.
    pub fn failed(&self, by: &str, outcome: Outcome, now: Timestamp) -> Result<Self, Decided> {
        self.decided(now, State::Failed { by: by.to_owned(), at: now, outcome })
    }

    /// The approval after `by` denied it.
    ///
    /// # Errors
    /// [`Decided`] unless it is pending at `now`.
    pub fn denied(&self, by: &str, reason: Option<String>, now: Timestamp) -> Result<Self, Decided> {
        self.decided(now, State::Denied { by: by.to_owned(), at: now, reason })
    }

    /// The approval after its caller, or somebody who may decide it, cancelled it.
    ///
    /// # Errors
    /// [`Decided`] unless it is pending at `now`.
    pub fn cancelled(&self, by: &str, now: Timestamp) -> Result<Self, Decided> {
        self.decided(now, State::Cancelled { by: by.to_owned(), at: now })
    }

    /// The approval as one that nobody decided in time; `None` if it has not expired at `now`, or is decided.
    pub fn expired(&self, now: Timestamp) -> Option<Self> {
        let is_overdue = self.state == State::Pending && self.expires_at <= now;
        is_overdue.then(|| self.with(State::Expired))
    }

    fn decided(&self, now: Timestamp, state: State) -> Result<Self, Decided> {
        match self.status(now) {
            Status::Pending => Ok(self.with(state)),
            status => Err(Decided(status)),
        }
    }

    fn with(&self, state: State) -> Self {
        let mut next = Self { state, version: self.version.next(), ..self.clone() };
        if next.state.status().is_without_effect() {
            next.request.body = String::new();
        }
        next
    }
}
