//! The organizations of the server, and the waiting list.

use askama::Template;
use kalends_time::Timestamp;

use super::frame::OperatorShell;
use crate::{
    english::in_english,
    field::{Field, ORG_NAME},
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

    pub(super) fn created(&self) -> String {
        in_utc(self.created_at)
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
    /// The organizations of this page of the list.
    pub organizations: &'a [OperatorOrganization],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

impl OperatorOrganizations<'_> {
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
