//! The form that creates a calendar of an agent. It is in English, like the console, and works without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{agents::NAME, english::in_english, field::Field, problems::Problems, shell::Shell, zones::ZoneField};

/// The fields of the form.
pub const CALENDAR_FIELDS: [&str; 2] = ["name", "timezone"];

/// What was typed into the form of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarGiven<'a> {
    /// The name.
    pub name: &'a str,
    /// The zone; `None` for a form that was not sent yet.
    pub zone: Option<&'a str>,
}

/// The form that creates a calendar.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "new_calendar.html")]
pub struct NewCalendarForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// When the page is shown, for the offsets of the zones.
    pub now: Timestamp,
    /// The identifier of the agent.
    pub agent: &'a str,
    /// The name of the agent.
    pub agent_name: &'a str,
    /// What was typed.
    pub given: CalendarGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl NewCalendarForm<'_> {
    fn name(&self) -> Field<'_> {
        Field::text("name", "Name", self.given.name, NAME).checked(self.problems)
    }

    fn zone(&self) -> ZoneField<'_> {
        ZoneField::new(self.given.zone, self.now, self.problems.of("timezone"))
    }
}

in_english!(NewCalendarForm<'_>);
