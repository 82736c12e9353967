//! The approvals: the list, and the page on which a person decides. They are in English, like the console, and work
//! without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Area, Choice, Select},
    json::{Beginning, beginning, pretty_json},
    link::Href,
    paging::Paging,
    problems::Problems,
    proposals::AgentNamed,
    shell::{Done, Shell},
    time::in_utc,
    waiting::ApprovalWaiting,
};

/// The fields of the form that denies.
pub const DENIAL_FIELDS: [&str; 1] = ["reason"];
/// The maximum length of a reason, in characters.
const REASON: usize = 1_000;
/// The most lines of a request that its page shows.
const LINES_MAX: usize = 1_000;
/// The most bytes of a request that its page shows.
const BYTES_MAX: usize = 64 << 10;

/// The statuses to choose from, as the API names them.
const STATUSES: [Choice<'static>; 7] = [
    Choice { value: "", title: "All" },
    Choice { value: "pending", title: "Pending" },
    Choice { value: "approved", title: "Approved" },
    Choice { value: "failed", title: "Failed" },
    Choice { value: "denied", title: "Denied" },
    Choice { value: "cancelled", title: "Cancelled" },
    Choice { value: "expired", title: "Expired" },
];

/// The state of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalState {
    /// It waits for a decision.
    Pending,
    /// It was approved, and done.
    Approved,
    /// It was approved, and the request was refused.
    Failed,
    /// It was denied.
    Denied,
    /// It was cancelled.
    Cancelled,
    /// Nobody decided it in time.
    Expired,
}

impl ApprovalState {
    /// What became of it, in a few words.
    const fn title(self) -> &'static str {
        match self {
            Self::Pending => "Waits for a decision",
            Self::Approved => "Approved and done",
            Self::Failed => "Approved, but then refused",
            Self::Denied => "Denied",
            Self::Cancelled => "Cancelled",
            Self::Expired => "Expired: nobody decided in time",
        }
    }

    /// What the time of its expiry means.
    const fn end_label(self) -> &'static str {
        match self {
            Self::Pending => "Waits until",
            Self::Expired => "Expired",
            _ => "Would have expired",
        }
    }
}

/// The list of approvals.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "approvals.html")]
pub struct Approvals<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The status of the approvals, as the API names it; empty for all of them.
    pub status: &'a str,
    /// The approvals of this page of the list.
    pub approvals: &'a [ApprovalListed],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

/// An approval of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalListed {
    /// The state.
    pub state: ApprovalState,
    /// What a list shows of an approval in any state.
    pub facts: ApprovalWaiting,
}

impl ApprovalListed {
    const fn facts(&self) -> &ApprovalWaiting {
        &self.facts
    }

    const fn end_label(&self) -> &'static str {
        self.state.end_label()
    }
}

impl<'a> Approvals<'a> {
    fn statuses(&self) -> Select<'a> {
        Select { name: "status", label: "Status", options: &STATUSES, chosen: self.status, problem: None }
    }

    fn is_filtered(&self) -> bool {
        !self.status.is_empty()
    }
}

/// A request that waits, as its sender sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The method, the path and the query.
    pub line: String,
    /// The run that it belongs to; empty if there is none.
    pub run: String,
    /// The body; empty if there is none.
    pub body: String,
}

impl ApprovalRequest {
    /// The body on several lines, as far as the page shows it.
    fn shown(&self) -> Beginning {
        beginning(&pretty_json(&self.body), LINES_MAX, BYTES_MAX)
    }
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// Who decided: an address, or the first characters of a key.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// An approval with everything that its page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalShown {
    /// The identifier.
    pub id: String,
    /// What would happen, in one sentence.
    pub summary: String,
    /// The state.
    pub state: ApprovalState,
    /// The operation, by the name in the API's description.
    pub operation: String,
    /// The agent whose key asks.
    pub agent: AgentNamed,
    /// The first characters of the key.
    pub key_prefix: String,
    /// The label of the key; empty if it has none, or is revoked.
    pub key_label: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it expires, or would have expired.
    pub expires_at: Timestamp,
    /// The decision; `None` as long as there is none.
    pub decision: Option<ApprovalDecision>,
    /// Why it was denied, or why the request was refused; empty if nobody said so.
    pub reason: String,
    /// What it is about, with the pages of these things.
    pub links: Vec<(&'static str, Href)>,
    /// The request; `None` if the user may not decide, or if it is no longer stored.
    pub request: Option<ApprovalRequest>,
}

impl ApprovalShown {
    const fn state_text(&self) -> &'static str {
        self.state.title()
    }

    fn is_pending(&self) -> bool {
        self.state == ApprovalState::Pending
    }

    /// Whether the request was not made, and will not be. Its body is no longer kept then.
    const fn is_without_effect(&self) -> bool {
        matches!(self.state, ApprovalState::Denied | ApprovalState::Cancelled | ApprovalState::Expired)
    }

    fn has_failed(&self) -> bool {
        self.state == ApprovalState::Failed
    }

    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn expires(&self) -> String {
        in_utc(self.expires_at)
    }

    const fn end_label(&self) -> &'static str {
        self.state.end_label()
    }

    const fn decision(&self) -> Option<&ApprovalDecision> {
        self.decision.as_ref()
    }

    fn decision_label(&self) -> &'static str {
        match self.state {
            ApprovalState::Denied => "Denied by",
            ApprovalState::Cancelled => "Cancelled by",
            _ => "Approved by",
        }
    }

    const fn request(&self) -> Option<&ApprovalRequest> {
        self.request.as_ref()
    }
}

impl ApprovalDecision {
    fn when(&self) -> String {
        in_utc(self.at)
    }
}

/// The page of an approval.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "approval.html")]
pub struct ApprovalPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The approval.
    pub approval: &'a ApprovalShown,
    /// Whether the user may decide.
    pub may_decide: bool,
    /// The reason that was given in the form.
    pub reason: &'a str,
    /// What is wrong with a form.
    pub problems: &'a Problems,
}

impl<'a> ApprovalPage<'a> {
    fn is_decidable(&self) -> bool {
        self.may_decide && self.approval.is_pending()
    }

    fn reason(&self) -> Area<'a> {
        let (name, label) = ("reason", "Reason, if you deny it");
        let hint = Some("The program that asked can read it.");
        Area { name, label, value: self.reason, max: REASON, problem: self.problems.of(name), hint }
    }
}

in_english!(Approvals<'_>, ApprovalPage<'_>);
