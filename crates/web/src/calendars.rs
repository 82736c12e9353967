//! The page on which a user chooses the calendars that count. It is in English, like the console, and works without
//! scripts.

use askama::Template;

use crate::{destinations::CopyOffer, english::in_english};

/// The page on which a user chooses which calendars of an account count, and for whom.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "calendars.html")]
pub struct ChooseCalendars<'a> {
    /// The organization's identifier.
    pub org: &'a str,
    /// The random key of the form. If the form is sent twice, it still makes one grant.
    pub once: &'a str,
    /// The identifier of the connection.
    pub connection: &'a str,
    /// The provider's name, and the account's label.
    pub account: &'a str,
    /// The account's calendars.
    pub calendars: &'a [CalendarChoice],
    /// For whom the calendars can count.
    pub audiences: &'a [AudienceChoice],
    /// The identifier of the connection link that asked; empty if none did.
    pub link: &'a str,
    /// The identifier of the agent that asked; empty if none did.
    pub agent: &'a str,
    /// The agent's name; empty if none asked.
    pub agent_name: &'a str,
    /// The offer to copy events, if the link asks for that.
    pub copies: Option<CopyOffer<'a>>,
    /// Why the form had no effect.
    pub problem: Option<&'a str>,
}

/// A calendar to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarChoice {
    /// The identifier.
    pub id: String,
    /// The name at the provider.
    pub name: String,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// An audience to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudienceChoice {
    /// The audience, as the API names it.
    pub name: &'static str,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

impl ChooseCalendars<'_> {
    fn label(&self, audience: &AudienceChoice) -> String {
        match audience.name {
            "selected" => format!("This agent only: {}", self.agent_name),
            "all_current" => "All current agents".to_owned(),
            _ => "All agents, including future ones".to_owned(),
        }
    }
}

/// The page that a user sees when the choice is stored.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "chosen.html")]
pub struct CalendarsChosen;

in_english!(ChooseCalendars<'_>, CalendarsChosen);
