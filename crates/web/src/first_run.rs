//! The pages of the first run: the form that creates an agent with a calendar and a key, and what follows it. They are in
//! English, like the console, and work without scripts.

use askama::Template;
use kalends_time::{Span, Timestamp, Zone};

use crate::{
    agents::{CalendarShown, NAME},
    calendar::event_time,
    english::in_english,
    field::Field,
    problems::Problems,
    shell::Shell,
    snippets::{event_command, mcp_configuration},
    zones::ZoneField,
};

/// The fields of the form.
pub const FIRST_RUN_FIELDS: [&str; 3] = ["agent", "calendar", "timezone"];
/// Stands for a key that the page does not know.
const UNKNOWN_KEY: &str = "YOUR_KEY";

/// What was typed into the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstRunGiven<'a> {
    /// The name of the agent.
    pub agent: &'a str,
    /// The name of the calendar.
    pub calendar: &'a str,
    /// The zone of the calendar; `None` for a form that was not sent yet.
    pub zone: Option<&'a str>,
}

/// How far the form got before it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum FirstRunMade {
    /// It created nothing.
    #[default]
    Nothing,
    /// It created the agent.
    Agent,
    /// It created the agent and its calendar.
    Calendar,
}

/// The form that creates an agent with a calendar and a key.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "first_run.html")]
pub struct FirstRunForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form. A form that got only part of the way continues with the same key.
    pub once: &'a str,
    /// When the page is shown, for the offsets of the zones.
    pub now: Timestamp,
    /// Whether the organization has agents that this form did not create.
    pub has_agents: bool,
    /// Whether the form creates a key too. Not every plan has keys of single agents.
    pub makes_key: bool,
    /// What was typed.
    pub given: FirstRunGiven<'a>,
    /// What the form created already.
    pub made: FirstRunMade,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl FirstRunForm<'_> {
    fn agent(&self) -> Field<'_> {
        Field::text("agent", "Name of the agent", self.given.agent, NAME).checked(self.problems)
    }

    fn calendar(&self) -> Field<'_> {
        Field::text("calendar", "Name of its calendar", self.given.calendar, NAME).checked(self.problems)
    }

    fn zone(&self) -> ZoneField<'_> {
        ZoneField::new(self.given.zone, self.now, self.problems.of("timezone"))
    }

    fn zone_name(&self) -> &str {
        self.given.zone.unwrap_or("UTC")
    }

    fn has_agent(&self) -> bool {
        self.made >= FirstRunMade::Agent
    }

    fn has_calendar(&self) -> bool {
        self.made >= FirstRunMade::Calendar
    }

    /// What the form created, and what it did not.
    fn so_far(&self) -> String {
        let FirstRunGiven { agent, calendar, .. } = self.given;
        match (self.made, self.makes_key) {
            (FirstRunMade::Nothing, _) => String::new(),
            (FirstRunMade::Agent, true) => {
                format!("The agent {agent} was created. Its calendar and its key were not.")
            }
            (FirstRunMade::Agent, false) => format!("The agent {agent} was created. Its calendar was not."),
            (FirstRunMade::Calendar, _) => {
                format!("The agent {agent} and its calendar {calendar} were created. The key was not.")
            }
        }
    }
}

/// The page that follows: how to connect the agent.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "first_agent.html")]
pub struct FirstAgent<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form that creates a test event.
    pub once: &'a str,
    /// The agent's identifier.
    pub agent: &'a str,
    /// The agent's name.
    pub agent_name: &'a str,
    /// Its calendar.
    pub calendar: &'a CalendarShown,
    /// Its key, which is shown only here; `None` if the plan has no keys of single agents.
    pub key: Option<&'a str>,
    /// The address of the server, without a trailing slash.
    pub base_url: &'a str,
    /// The start and the end of the event that the command creates.
    pub event: (Timestamp, Timestamp),
}

impl FirstAgent<'_> {
    fn written_key(&self) -> &str {
        self.key.unwrap_or(UNKNOWN_KEY)
    }

    fn unknown_key(&self) -> &'static str {
        UNKNOWN_KEY
    }

    fn configuration(&self) -> String {
        mcp_configuration(self.base_url, self.written_key())
    }

    /// When the event of the command takes place.
    fn when(&self) -> String {
        let (start, end) = self.event;
        let zone = self.calendar.zone.parse().unwrap_or(Zone::UTC);
        Span::new(start, end).map(|span| event_time(span, None, zone)).unwrap_or_default()
    }

    fn command(&self) -> String {
        event_command(self.base_url, self.written_key(), &self.calendar.id, self.event)
    }
}

/// The page that shows the test event.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "test_event.html")]
pub struct TestEvent<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The name of the calendar.
    pub calendar: &'a str,
    /// The identifier of the agent that owns the calendar; `None` if the organization shares it.
    pub agent: Option<&'a str>,
    /// The address of the calendar in the week of the event.
    pub week: &'a str,
    /// The event as the API answers it, as JSON.
    pub event: &'a str,
}

in_english!(FirstRunForm<'_>, FirstAgent<'_>, TestEvent<'_>);
