//! The list of all proposals. It is in English, like the console, and works without scripts.

use askama::Template;

use crate::{
    english::in_english,
    field::{Choice, Select},
    paging::Paging,
    proposals::ProposalState,
    shell::Shell,
    waiting::ProposalWaiting,
};

/// The statuses to choose from, as the API names them.
const STATUSES: [Choice<'static>; 5] = [
    Choice { value: "", title: "All" },
    Choice { value: "pending", title: "Pending" },
    Choice { value: "confirmed", title: "Confirmed" },
    Choice { value: "cancelled", title: "Cancelled" },
    Choice { value: "expired", title: "Expired" },
];

/// The list of proposals.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "proposals.html")]
pub struct Proposals<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The status of the proposals, as the API names it; empty for all of them.
    pub status: &'a str,
    /// The proposals of this page of the list.
    pub proposals: &'a [ProposalListed],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

/// A proposal of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalListed {
    /// The state.
    pub state: ProposalState,
    /// What a list shows of a proposal in any state.
    pub facts: ProposalWaiting,
}

impl ProposalListed {
    const fn facts(&self) -> &ProposalWaiting {
        &self.facts
    }

    fn end_label(&self) -> &'static str {
        if self.state == ProposalState::Pending { "Open until" } else { "Was open until, at most" }
    }
}

impl<'a> Proposals<'a> {
    fn statuses(&self) -> Select<'a> {
        Select { name: "status", label: "Status", options: &STATUSES, chosen: self.status, problem: None }
    }

    fn is_filtered(&self) -> bool {
        !self.status.is_empty()
    }
}

in_english!(Proposals<'_>);
