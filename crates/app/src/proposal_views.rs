//! What pages show of proposals, beyond what the API returns.

use kalends_kernel::{Listed, Page, SlotId};
use kalends_plans::Feature;
use kalends_proposals::{
    Proposal, Status, Verdict,
    ports::{ProposalFilter, StatusAt},
};
use kalends_time::Timestamp;

use crate::{Actor, App, Refusal, etag};

/// What a page showed that resolving a proposal would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreseen {
    /// It chooses this slot.
    Slot(SlotId),
    /// It cancels the proposal, because all answers decline.
    Cancellation,
    /// The page showed nothing.
    Nothing,
}

impl Foreseen {
    /// Allows to resolve the proposal if that does what is foreseen, or nothing at all.
    ///
    /// # Errors
    /// [`Refusal::Stale`].
    pub(crate) fn check(self, proposal: &Proposal, now: Timestamp) -> Result<(), Refusal> {
        let expected = match proposal.verdict(now) {
            Ok(Verdict::Ranked(ranking)) => Self::Slot(ranking.best().id()),
            Ok(Verdict::AllDeclined) => Self::Cancellation,
            // Resolving it is refused anyway, and says why.
            Err(_) => return Ok(()),
        };
        if self == expected { Ok(()) } else { Err(Refusal::Stale { current: etag(proposal.version()) }) }
    }
}

impl App {
    /// One proposal with what its rules know of it, such as the scores of its slots.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn whole_proposal(&self, actor: &Actor, id: &str) -> Result<Proposal, Refusal> {
        let found = self.found_proposal(actor, id).await?;
        actor.for_proposal(&found)?;
        Ok(found)
    }

    /// The proposals with their responses, the oldest first: those of one status, or all. An agent's key sees those that
    /// its agent organizes or participates in.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`].
    pub async fn whole_proposals(
        &self,
        actor: &Actor,
        status: Option<Status>,
        page: Page,
    ) -> Result<Listed<Proposal>, Refusal> {
        actor.needs(Feature::Scheduling)?;
        let status = status.map(|status| StatusAt { status, now: self.now() });
        let filter = ProposalFilter { status, organizer: None, party: actor.narrowed_to() };
        Ok(self.parts.store.list_proposals(actor.org(), filter, page).await?)
    }
}
