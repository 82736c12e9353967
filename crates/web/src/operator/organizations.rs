//! The organizations of the server, and the waiting list.

use askama::Template;
use kalends_time::Timestamp;

use super::frame::OperatorShell;
use crate::{
    english::in_english,
    field::{Choice, Field, ORG_NAME, Select},
    numbers::counted,
    paging::Paging,
    shell::Done,
    time::in_utc,
};

/// An organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorOrganization {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// The address, if it has one.
    pub email: Option<String>,
    /// The plan, as the operator's commands name it.
    pub plan: &'static str,
    /// Whether it has limits of its own.
    pub has_own_limits: bool,
    /// Whether its keys are for tests.
    pub test: bool,
    /// When it joined the waiting list, if it waits.
    pub waiting_since: Option<Timestamp>,
    /// The API calls and the events created in this month, where they are shown.
    pub used: Option<(u64, u64)>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl OperatorOrganization {
    fn title(&self) -> &str {
        &self.name
    }

    pub(super) fn plan_text(&self) -> String {
        let limits = if self.has_own_limits { ", with limits of its own" } else { "" };
        format!("{}{limits}", self.plan)
    }

    pub(super) fn state(&self) -> String {
        let state = match self.waiting_since {
            Some(since) => format!("On the waiting list since {}", in_utc(since)),
            None => "Active".to_owned(),
        };
        if self.test { format!("{state}; its keys are for tests") } else { state }
    }

    pub(super) fn address(&self) -> Option<&str> {
        self.email.as_deref()
    }

    fn used_text(&self) -> Option<String> {
        let (calls, events) = self.used?;
        Some(format!("{}, {} created", counted(calls, "API call", "API calls"), counted(events, "event", "events")))
    }

    pub(super) fn created(&self) -> String {
        in_utc(self.created_at)
    }
}

/// A state by which the list of organizations can be filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorState {
    /// Not on the waiting list.
    Active,
    /// On the waiting list.
    Waiting,
}

impl OperatorState {
    const ALL: [Self; 2] = [Self::Active, Self::Waiting];

    /// The state with that name in the query of the list.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The name in the query of the list.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting => "waiting",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Waiting => "On the waiting list",
        }
    }
}

/// The list of organizations.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_organizations.html")]
pub struct OperatorOrganizations<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// What was searched for; empty if nothing was.
    pub search: &'a str,
    /// The plan of the organizations that are shown; empty for every plan.
    pub plan: &'a str,
    /// The plans to choose from. An empty one is every plan.
    pub plans: &'a [Choice<'a>],
    /// The state of the organizations that are shown; `None` for every state.
    pub state: Option<OperatorState>,
    /// The organizations of this page of the list.
    pub organizations: &'a [OperatorOrganization],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

impl OperatorOrganizations<'_> {
    const fn is_filtered(&self) -> bool {
        !self.search.is_empty() || !self.plan.is_empty() || self.state.is_some()
    }

    const fn plan_field(&self) -> Select<'_> {
        Select { name: "plan", label: "Plan", options: self.plans, chosen: self.plan, problem: None }
    }

    fn state_field(&self) -> Select<'static> {
        const OPTIONS: [Choice<'static>; 3] = [
            Choice { value: "", title: "Any" },
            Choice { value: OperatorState::Active.as_str(), title: OperatorState::Active.title() },
            Choice { value: OperatorState::Waiting.as_str(), title: OperatorState::Waiting.title() },
        ];
        let chosen = self.state.map_or("", OperatorState::as_str);
        Select { name: "state", label: "State", options: &OPTIONS, chosen, problem: None }
    }

    fn search_field(&self) -> Field<'_> {
        let field = Field::text("q", "Identifier, name or email address", self.search, ORG_NAME);
        Field { kind: "search", required: false, ..field }
    }
}

/// The waiting list.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_waiting.html")]
pub struct OperatorWaiting<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// What a form did.
    pub done: Done,
    /// The organizations of this page of the list, the one that waits longest first.
    pub organizations: &'a [OperatorOrganization],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

in_english!(OperatorOrganizations<'_>, OperatorWaiting<'_>);
