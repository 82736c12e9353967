//! The first page of the console: who is signed in, where, and what else there is. It is in English and works without
//! scripts.

use askama::Template;

use crate::{english::in_english, join::with_article, shell::Shell};

/// The first page of the console.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "overview.html")]
pub struct Overview<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// Whether the organization is on the waiting list.
    pub waits: bool,
    /// The user's name.
    pub name: &'a str,
    /// The user's role in the organization.
    pub role: &'a str,
    /// Whether the page leads to the form that creates the first agent.
    pub offers_first_agent: bool,
    /// Whether the user is asked to prove the address.
    pub asks_for_proof: bool,
    /// Whether another email has just been sent.
    pub resent: bool,
    /// Why a form had no effect.
    pub problem: Option<&'a str>,
    /// The user's other organizations.
    pub others: &'a [OtherOrganization],
}

/// Another organization of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherOrganization {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
}

impl Overview<'_> {
    fn role_text(&self) -> String {
        with_article(self.role)
    }
}

in_english!(Overview<'_>);
