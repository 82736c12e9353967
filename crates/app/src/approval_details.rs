//! Approvals with what the pages show on which people decide.

use kalends_accounts::KeyLabel;
use kalends_approvals::WaitingRequest;
use kalends_kernel::CalendarId;
use kalends_time::Span;
use kalends_wire as wire;

use crate::{Actor, App, Refusal, operations};

/// An approval with what its page shows beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalDetails {
    /// The approval.
    pub approval: wire::Approval,
    /// The label of the key that asked, if it has one and is in force.
    pub key_label: Option<KeyLabel>,
    /// The first time that is, or was, reserved for the write, with its calendar.
    pub reserved: Option<(CalendarId, Span)>,
    /// The request; `None` if the caller may not decide.
    pub request: Option<WaitingRequest>,
}

impl App {
    /// An approval with what its page shows. Only those who may decide see the request.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::OutOfReach`] for that of another agent.
    pub async fn approval_details(&self, actor: &Actor, id: &str) -> Result<ApprovalDetails, Refusal> {
        let found = self.found_approval(actor, id).await?;
        let key = self.parts.store.find_scoped_key(found.org, found.key).await?;
        let firsts = found.reserved.iter().filter_map(|times| Some((times.calendar, *times.spans.first()?)));
        Ok(ApprovalDetails {
            key_label: key.and_then(|key| key.label),
            reserved: firsts.min_by_key(|(_, span)| *span),
            request: actor.may(&operations::APPROVE).then(|| found.request.clone()),
            approval: self.shown_approval(found),
        })
    }

    /// The pending approvals that expire first, at most `most`.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key; [`Refusal::Store`].
    pub async fn approvals_to_decide(&self, actor: &Actor, most: u32) -> Result<Vec<wire::Approval>, Refusal> {
        actor.for_organization()?;
        let first = self.parts.store.pending_approvals(actor.org(), self.now(), most).await?;
        Ok(first.into_iter().map(|approval| self.shown_approval(approval)).collect())
    }
}
