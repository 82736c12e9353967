//! Who asks, and for what: the context that every use case begins with.

use std::{net::IpAddr, sync::Arc};

use kalends_accounts::{
    Credential, Principal,
    reach::{self, Passage, Subject},
};
use kalends_kernel::{AgentId, OrgId, RequestId, SessionId, Timestamp, UserId, Version};
use kalends_proposals::Proposal;
use kalends_quotas::{Feature, Metric};

use crate::{Refusal, operations::Operation};

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its identifier, shown in every answer.
    pub id: RequestId,
    /// The caller's address.
    pub ip: Option<IpAddr>,
    /// What is asked for.
    pub operation: &'static Operation,
    /// When it arrived.
    pub started: Timestamp,
    /// Under which key its answer is kept, if it is.
    pub idempotency: Option<Idempotency>,
    /// Whether the events of its answer also tell their times in their calendar's zone.
    pub local: bool,
}

/// The identity of a request that may be repeated (ruling 2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idempotency {
    /// SHA-256 of caller, route and key.
    pub scope: [u8; 32],
    /// SHA-256 of the concrete address and body.
    pub fingerprint: [u8; 32],
}

/// An authenticated caller and its request, which the table of reaches lets in.
#[derive(Debug, Clone)]
pub struct Actor {
    /// Whom the key or the session speaks for.
    pub principal: Arc<Principal>,
    /// The request.
    pub request: Request,
    passage: Passage,
}

impl Actor {
    /// Lets the caller in for the operation of its request, as far as the table of ruling 3.7 says. There is
    /// no other way to become an actor, so that no use case runs without.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`], [`Refusal::Waitlisted`], [`Refusal::OutOfReach`], [`Refusal::AgentPaused`], in
    /// this order.
    pub fn enter(principal: Arc<Principal>, request: Request) -> Result<Self, Refusal> {
        let passage = reach::enter(&principal.caller(), request.operation.touch, request.operation.writes())?;
        Ok(Self { principal, request, passage })
    }

    /// The same caller, whose answer shows local times where `local` is set.
    #[must_use]
    pub const fn showing(mut self, local: bool) -> Self {
        self.request.local = local;
        self
    }

    /// The caller's organization.
    pub fn org(&self) -> OrgId {
        self.principal.org
    }

    /// The session and its human, where the caller has one.
    pub fn human(&self) -> Option<(SessionId, UserId)> {
        match self.principal.credential {
            Credential::Session { session, user } => Some((session, user)),
            Credential::Key(_) => None,
        }
    }

    /// Allows what concerns the organization as a whole.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub fn for_organization(&self) -> Result<(), Refusal> {
        if self.narrowed_to().is_none() { Ok(()) } else { Err(Refusal::OutOfReach) }
    }

    /// Allows what belongs to `agent`; `None` is what the organization shares.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for another agent's key.
    pub fn for_agent(&self, agent: Option<AgentId>) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::Of(agent))?)
    }

    /// Allows what concerns a proposal, also one that is about to be made.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for the key of an agent that has no such part in it.
    pub fn for_proposal(&self, proposal: &Proposal) -> Result<(), Refusal> {
        let Proposal { organizer, participants, .. } = proposal;
        Ok(self.passage.covers(Subject::Proposal { organizer: *organizer, participants })?)
    }

    /// Allows a response of `by` to a proposal.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for another agent's key.
    pub fn for_response(&self, by: AgentId, proposal: &Proposal) -> Result<(), Refusal> {
        Ok(self.passage.covers(Subject::Response { by, participants: &proposal.participants })?)
    }

    /// The agent to which lists are narrowed; `None` shows everything of the organization.
    pub const fn narrowed_to(&self) -> Option<AgentId> {
        self.passage.narrowed_to()
    }

    /// Allows what needs a feature of the plan.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`].
    pub fn needs(&self, feature: Feature) -> Result<(), Refusal> {
        if self.principal.plan.has(feature) { Ok(()) } else { Err(Refusal::PlanRequired(feature)) }
    }

    /// The plan's limit of a metric.
    pub fn limit(&self, metric: Metric) -> Option<u64> {
        self.principal.limits.get(metric)
    }
}

/// What `If-Match` demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// Nothing: the header was absent or `*`.
    Any,
    /// One of these versions.
    OneOf(Vec<Version>),
}

impl IfMatch {
    /// Allows a change of the row of that version.
    ///
    /// # Errors
    /// [`Refusal::Stale`] with the present `ETag`.
    pub fn check(&self, version: Version) -> Result<(), Refusal> {
        match self {
            Self::Any => Ok(()),
            Self::OneOf(versions) if versions.contains(&version) => Ok(()),
            Self::OneOf(_) => Err(Refusal::Stale { current: etag(version) }),
        }
    }

    /// Allows the creation of a row that does not exist.
    ///
    /// # Errors
    /// [`Refusal::Stale`] where any version of it is named.
    pub fn check_absent(&self) -> Result<(), Refusal> {
        match self {
            Self::Any => Ok(()),
            Self::OneOf(_) => Err(Refusal::Stale { current: "(there is none)".to_owned() }),
        }
    }
}

/// A row's version as an entity tag.
pub fn etag(version: Version) -> String {
    format!("\"{}\"", version.0)
}
