//! The caller and its request: the context that every use case begins with.

use std::{net::IpAddr, sync::Arc};

use kalends_accounts::{
    Credential, Principal, Scope, SignedIn,
    reach::{self, Passage, Subject},
};
use kalends_calendars::{HOLD_MOST, LONG_HOLD_MOST, ReservationOwner};
use kalends_kernel::{AgentId, OrgId, ProposalId, RequestId, SessionId, UserId, Version};
use kalends_plans::{Feature, Metric, Plan};
use kalends_proposals::Proposal;
use kalends_runs::RunName;
use kalends_time::{SignedDuration, Timestamp};

use crate::{Approving, Refusal, operations::Operation};

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The identifier, shown in every answer.
    pub id: RequestId,
    /// The caller's address.
    pub ip: Option<IpAddr>,
    /// The operation that the request calls.
    pub operation: &'static Operation,
    /// When it arrived.
    pub started: Timestamp,
    /// The idempotency key that its answer is kept under, if any.
    pub idempotency: Option<Idempotency>,
    /// Whether the events in the answer also show local times in their calendar's zone.
    pub local: bool,
    /// Whether everything is checked and answered as usual, but nothing is committed.
    pub dry_run: bool,
    /// The run that its writes belong to, if any.
    pub run: Option<RunName>,
    /// What it has to do with an approval; `None` for most requests.
    pub approving: Option<Approving>,
}

impl Request {
    /// A request as it arrives: it is not repeated, its answer shows no local times, it belongs to no run, and needs no
    /// approval.
    pub const fn new(id: RequestId, ip: Option<IpAddr>, operation: &'static Operation, started: Timestamp) -> Self {
        Self { id, ip, operation, started, idempotency: None, local: false, dry_run: false, run: None, approving: None }
    }
}

/// The identity of a request that may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idempotency {
    /// SHA-256 of caller, operation and idempotency key.
    pub scope: [u8; 32],
    /// SHA-256 of the full path, the query and the body.
    pub fingerprint: [u8; 32],
}

/// An authenticated caller and its request, admitted by the access table.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The organization, agent or user that the key or the session acts for.
    pub principal: Arc<Principal>,
    /// The request.
    pub request: Request,
    passage: Passage,
}

impl Actor {
    /// Admits the caller to the operation of its request, according to the access table (`docs/use/keys.md`). There is
    /// no other way to create an actor, so every use case has been checked.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`], [`Refusal::Waitlisted`], [`Refusal::OutOfReach`] or [`Refusal::AgentPaused`],
    /// checked in this order.
    pub fn enter(principal: Arc<Principal>, request: Request) -> Result<Self, Refusal> {
        let passage = reach::enter(&principal.caller(), request.operation.touch, request.operation.writes())?;
        Ok(Self { principal, request, passage })
    }

    /// The same caller. Its answers show local times if `local` is set.
    #[must_use]
    pub const fn showing(mut self, local: bool) -> Self {
        self.request.local = local;
        self
    }

    /// Whether the access table admits the caller to that operation.
    pub fn may(&self, operation: &Operation) -> bool {
        reach::enter(&self.principal.caller(), operation.touch, operation.writes()).is_ok()
    }

    /// The caller's organization.
    pub fn org(&self) -> OrgId {
        self.principal.org
    }

    /// The session and its user, if the caller has one.
    pub fn human(&self) -> Option<(SessionId, UserId)> {
        match self.principal.credential {
            Credential::Session { session, user } => Some((session, user)),
            Credential::Key(_) => None,
        }
    }

    /// The signed-in user and the organization of the session, as they were when the request began.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the caller has a key. Pages and operations of the console need a session.
    pub fn signed_in(&self) -> Result<&SignedIn, Refusal> {
        self.principal.signed_in.as_deref().ok_or(Refusal::NotSignedIn)
    }

    /// Allows access to what concerns the organization as a whole.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub fn for_organization(&self) -> Result<(), Refusal> {
        if self.narrowed_to().is_none() { Ok(()) } else { Err(Refusal::OutOfReach) }
    }

    /// Allows access to what belongs to `agent`; `None` is shared by the organization.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for another agent's key.
    pub fn for_agent(&self, agent: Option<AgentId>) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::Of(agent))?)
    }

    /// Allows access to when `agent` is busy; `None` is shared by the organization.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for another agent's key without the scope.
    pub fn for_busy_times(&self, agent: Option<AgentId>) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::BusyTimes(agent))?)
    }

    /// Allows access to the name of `agent`; `None` for something that the organization shares.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for another agent's key without the scope.
    pub fn for_name(&self, agent: Option<AgentId>) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::Name(agent))?)
    }

    /// Allows a hold of a set on a calendar of `agent`; `None` is shared by the organization.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for another agent's key without the scope.
    pub fn for_new_hold(&self, agent: Option<AgentId>) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::NewHold(agent))?)
    }

    /// Allows access to a hold set on calendars of others that the key of `placer` placed.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for the key of another agent, and for one without the scope.
    pub fn for_placed_by(&self, placer: Option<AgentId>) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::PlacedBy(placer))?)
    }

    /// The agent of the key, if the scope opens something of others in this operation.
    pub fn widened_by(&self, scope: Scope) -> Option<AgentId> {
        self.passage.widened_by(scope)
    }

    /// Whether the caller may ask when others are free, in this operation or another one.
    pub(crate) fn may_see_free_times_of_others(&self) -> bool {
        self.narrowed_to().is_none() || self.principal.scopes().contains(Scope::FreebusyOrg)
    }

    /// Whether what belongs to `agent` is shown without what a scope hides; `None` is shared by the organization.
    pub fn sees_all_of(&self, agent: Option<AgentId>) -> bool {
        self.passage.covers(Subject::Of(agent)).is_ok()
    }

    /// Allows access to a proposal, including one that is about to be created.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for the key of an agent that does not have the required role in the proposal.
    pub fn for_proposal(&self, proposal: &Proposal) -> Result<(), Refusal> {
        let (organizer, participants) = (proposal.organizer(), proposal.participants());
        Ok(self.passage.covers(Subject::Proposal { organizer, participants })?)
    }

    /// Allows a response to a proposal on behalf of `by`.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for the key of another agent, or of an agent that does not participate.
    pub fn for_response(&self, by: AgentId, proposal: &Proposal) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::Response { by, participants: proposal.participants() })?)
    }

    /// The agent that lists are restricted to; `None` if they show everything in the organization.
    pub const fn narrowed_to(&self) -> Option<AgentId> {
        self.passage.narrowed_to()
    }

    /// Allows operations that need a feature of the plan.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`].
    pub fn needs(&self, feature: Feature) -> Result<(), Refusal> {
        if self.principal.plan.has(feature) { Ok(()) } else { Err(Refusal::PlanRequired(feature)) }
    }

    /// Allows mail to people that the request names.
    ///
    /// # Errors
    /// [`Refusal::Unverified`].
    pub fn may_invite(&self) -> Result<(), Refusal> {
        let unverified = self.principal.waitlisted || self.principal.plan == Plan::FreeAgentUnverified;
        if unverified { Err(Refusal::Unverified) } else { Ok(()) }
    }

    /// The longest time for which a hold can be placed or prolonged.
    pub fn longest_hold(&self) -> SignedDuration {
        if self.principal.plan.has_long_holds() { LONG_HOLD_MOST } else { HOLD_MOST }
    }

    /// Whose reservations do not block a write of this request: those of `proposal`, and those of the approval with which
    /// the request is made.
    pub(crate) fn owners(&self, proposal: Option<ProposalId>) -> Vec<ReservationOwner> {
        let approval = match &self.request.approving {
            Some(Approving::Make(approved)) => Some(approved.approval.id.into()),
            Some(Approving::Ask(_)) | None => None,
        };
        proposal.map(ReservationOwner::from).into_iter().chain(approval).collect()
    }

    /// The plan's limit of a metric.
    pub fn limit(&self, metric: Metric) -> Option<u64> {
        self.principal.limits.get(metric)
    }
}

/// The condition of `If-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// No condition: the header is absent or `*`.
    Any,
    /// One of these versions.
    OneOf(Vec<Version>),
    /// No version: the row must not exist yet. No header says so; pages with forms do.
    Absent,
    /// One of these versions of an occurrence, and one of these of its series if more than one occurrence changes. A
    /// changed occurrence has a version of its own, which other changes of its series do not raise. Only the console says
    /// so.
    WithSeries {
        /// The versions of the occurrence.
        own: Vec<Version>,
        /// The versions of its series.
        series: Vec<Version>,
    },
}

impl IfMatch {
    /// Allows a change to a row at that version.
    ///
    /// # Errors
    /// [`Refusal::Stale`] with the current `ETag`.
    pub fn check(&self, version: Version) -> Result<(), Refusal> {
        match self {
            Self::Any => Ok(()),
            Self::OneOf(versions) | Self::WithSeries { own: versions, .. } if versions.contains(&version) => Ok(()),
            Self::OneOf(_) | Self::WithSeries { .. } | Self::Absent => Err(Refusal::Stale { current: etag(version) }),
        }
    }

    /// Allows a change to more than one occurrence of a series at that version.
    ///
    /// # Errors
    /// [`Refusal::Stale`] with the `ETag` of the series.
    pub(crate) fn check_series(&self, version: Version) -> Result<(), Refusal> {
        match self {
            Self::WithSeries { series, .. } if !series.contains(&version) => {
                Err(Refusal::Stale { current: etag(version) })
            }
            Self::Any | Self::OneOf(_) | Self::WithSeries { .. } | Self::Absent => Ok(()),
        }
    }

    /// Allows the creation of a row that does not exist yet.
    ///
    /// # Errors
    /// [`Refusal::Stale`] if the header names a version.
    pub fn check_absent(&self) -> Result<(), Refusal> {
        match self {
            Self::Any | Self::Absent => Ok(()),
            Self::OneOf(_) | Self::WithSeries { .. } => Err(Refusal::Stale { current: "(there is none)".to_owned() }),
        }
    }
}

/// A row's version as an entity tag.
pub fn etag(version: Version) -> String {
    format!("\"{}\"", version.0)
}
