//! The port of proposals, which stores implement.

use async_trait::async_trait;
use kalends_kernel::{AgentId, Listed, OrgId, Page, ProposalId, StoreError};
use kalends_time::Timestamp;

use crate::{Proposal, Status};

/// A status at an instant. A pending proposal whose expiry has passed by then counts as expired
/// ([`Proposal::state_at`]).
///
/// ```
/// use kalends_proposals::{Status, ports::{ProposalFilter, StatusAt}};
///
/// let open = StatusAt { status: Status::Pending, now: "2027-03-01T08:00:00Z".parse()? };
/// let filter = ProposalFilter { status: Some(open), ..ProposalFilter::default() };
/// assert_eq!(filter.organizer, None);
/// # Ok::<(), kalends_time::ParseTimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusAt {
    /// The status.
    pub status: Status,
    /// The instant.
    pub now: Timestamp,
}

/// Selects the proposals of a list. By default, it selects all. [`StatusAt`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProposalFilter {
    /// Only proposals with this status.
    pub status: Option<StatusAt>,
    /// Only proposals that this agent organizes.
    pub organizer: Option<AgentId>,
    /// Only proposals that this agent organizes or takes part in.
    pub party: Option<AgentId>,
}

/// Reads proposals, each with its slots, participants and responses.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use std::{pin::pin, task::{Context, Poll, Waker}};
///
/// use kalends_proposals::{
///     Listed, OrgId, Page, Proposal, ProposalId, State, StoreError, Timestamp, async_trait,
///     ports::{ProposalFilter, Proposals},
/// };
///
/// /// A store in memory, without reservations.
/// struct Memory(Vec<Proposal>);
///
/// #[async_trait]
/// impl Proposals for Memory {
///     async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
///         Ok(self.0.iter().find(|one| one.org() == org && one.id() == id).cloned())
///     }
///
///     async fn list_proposals(
///         &self,
///         org: OrgId,
///         filter: ProposalFilter,
///         page: Page,
///     ) -> Result<Listed<Proposal>, StoreError> {
///         let selects = |one: &&Proposal| {
///             one.org() == org
///                 && filter.organizer.is_none_or(|agent| one.organizer() == agent)
///                 && filter.party.is_none_or(|agent| one.organizer() == agent || one.participants().contains(&agent))
///                 && filter.status.is_none_or(|at| one.state_at(at.now).status() == at.status)
///         };
///         let found: Vec<&Proposal> = self.0.iter().filter(selects).collect();
///         let (skipped, most) = (page.offset as usize, page.limit as usize);
///         let data = found.iter().skip(skipped).take(most).map(|one| Proposal::clone(one)).collect();
///         Ok(Listed { data, total: found.len() as u64 })
///     }
///
///     async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError> {
///         let overdue = |one: &&Proposal| one.state() == State::Pending && one.state_at(now) == State::Expired;
///         Ok(self.0.iter().filter(overdue).take(limit as usize).cloned().collect())
///     }
///
///     async fn forget_reservations(&self, _now: Timestamp, _limit: u32) -> Result<u64, StoreError> {
///         Ok(0)
///     }
/// }
///
/// let (id, expires_at) = (proposal.id(), proposal.expires_at());
/// let store = Memory(vec![proposal]);
/// let found = pin!(store.find_proposal(org, id)).poll_once();
/// assert!(matches!(found, Poll::Ready(Ok(Some(found))) if found.id() == id));
/// let overdue = pin!(store.overdue_proposals(expires_at, 10)).poll_once();
/// assert!(matches!(overdue, Poll::Ready(Ok(overdue)) if overdue.len() == 1));
/// #
/// # // Nothing here waits, so one poll is enough.
/// # trait PollOnce: Future {
/// #     fn poll_once(self: std::pin::Pin<&mut Self>) -> Poll<Self::Output> {
/// #         self.poll(&mut Context::from_waker(Waker::noop()))
/// #     }
/// # }
/// # impl<F: Future + ?Sized> PollOnce for F {}
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[async_trait]
pub trait Proposals: Send + Sync {
    /// The proposal, or `None` if the organization has none with that id. [`Proposals`] has an example.
    async fn find_proposal(&self, org: OrgId, id: ProposalId) -> Result<Option<Proposal>, StoreError>;

    /// Proposals by creation and then identifier, oldest first. [`Proposals`] has an example.
    async fn list_proposals(
        &self,
        org: OrgId,
        filter: ProposalFilter,
        page: Page,
    ) -> Result<Listed<Proposal>, StoreError>;

    /// Up to `limit` pending proposals of any organization whose expiry has passed at `now`, earliest expiry first. A
    /// row that cannot be read is logged and left out. [`Proposals`] has an example.
    async fn overdue_proposals(&self, now: Timestamp, limit: u32) -> Result<Vec<Proposal>, StoreError>;

    /// Removes up to `limit` reservations of any organization that have expired at `now`, and returns their number. An
    /// expired reservation blocks nothing. [`Proposals`] has an example.
    async fn forget_reservations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
