//! Builds the answers from values of the domain.

use kalends_accounts::{Acceptance, KeyView};

use super::{ExportedAcceptance, ExportedKey, ExportedResponse, ExportedSlot};
use crate::keys::{Shown, listed};

impl ExportedSlot {
    /// Builds the exported form of a slot.
    pub fn of(proposal: &kalends_proposals::Proposal, slot: &kalends_proposals::Slot) -> Self {
        Self { proposal_id: proposal.id(), slot: slot.into() }
    }
}

impl ExportedResponse {
    /// Builds the exported form of a response.
    pub fn of(proposal: &kalends_proposals::Proposal, response: &kalends_proposals::Response) -> Self {
        Self { proposal_id: proposal.id(), response: response.into() }
    }
}

impl From<KeyView> for ExportedKey {
    fn from(key: KeyView) -> Self {
        let Shown { requires_approval, approval_expires_in_minutes } = Shown::of(key.approval);
        Self {
            id: key.id,
            key_prefix: key.prefix,
            agent_id: key.agent,
            label: key.label.map(|label| label.as_str().to_owned()),
            scopes: listed(key.scopes),
            requires_approval,
            approval_expires_in_minutes,
            created_at: key.created_at,
            created_by: key.created_by,
            last_used_on: key.last_used_on,
        }
    }
}

impl From<Acceptance> for ExportedAcceptance {
    fn from(acceptance: Acceptance) -> Self {
        Self { version: acceptance.version, accepted_at: acceptance.at }
    }
}
