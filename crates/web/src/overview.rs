//! The first page of the console: who is signed in, where, and what else there is. It is in English and works without
//! scripts.

use askama::Template;

use crate::{
    english::in_english,
    join::with_article,
    shell::{Place, Shell},
};

/// The places to which the page leads, with what they are for.
const WAYS: [(Place, &str); 4] = [
    (Place::Waiting, "Waiting for you: holds, proposals and claims to decide"),
    (Place::Calendar, "Calendar: events, holds and busy times"),
    (Place::Agents, "Agents and their calendars"),
    (Place::Keys, "Keys: connect an agent"),
];

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
    /// The places that the user may open.
    fn ways(&self) -> Vec<(Place, &'static str)> {
        WAYS.into_iter().filter(|(place, _)| self.shell.places.contains(place)).collect()
    }

    fn role_text(&self) -> String {
        with_article(self.role)
    }
}

in_english!(Overview<'_>);
