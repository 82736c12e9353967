//! The forms that create, change and delete a calendar. They are in English, like the console, and work without
//! scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    agents::NAME,
    destinations::policy_text,
    english::in_english,
    field::Field,
    numbers::grouped,
    problems::Problems,
    shell::{Done, Shell},
    zones::ZoneField,
};

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

/// One calendar, with the form that changes it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "calendar_settings.html")]
pub struct CalendarSettings<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The random key of the form.
    pub once: &'a str,
    /// When the page is shown, for the offsets of the zones.
    pub now: Timestamp,
    /// The identifier.
    pub id: &'a str,
    /// The current name.
    pub name: &'a str,
    /// The identifier and the name of the agent that owns it; `None` if the organization shares it.
    pub agent: Option<(&'a str, &'a str)>,
    /// The version that the form changes.
    pub version: &'a str,
    /// Which of its events are copied to a connected calendar, as the API names it; `None` if it has no destination.
    pub publication: Option<&'a str>,
    /// Whether the user may delete calendars.
    pub may_delete: bool,
    /// What the form contains: the calendar's fields, or what was typed.
    pub given: CalendarGiven<'a>,
    /// What the form contained before anything was typed.
    pub was: CalendarGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl<'a> CalendarSettings<'a> {
    fn name_field(&self) -> Field<'a> {
        Field::text("name", "Name", self.given.name, NAME).checked(self.problems)
    }

    fn zone(&self) -> ZoneField<'a> {
        ZoneField::new(self.given.zone, self.now, self.problems.of("timezone"))
    }

    fn copied(&self) -> Option<&'a str> {
        self.publication.map(policy_text)
    }

    fn zone_before(&self) -> &'a str {
        self.was.zone.unwrap_or_default()
    }
}

/// The question whether to delete a calendar.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "delete_calendar.html")]
pub struct DeleteCalendar<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The identifier.
    pub id: &'a str,
    /// The name.
    pub name: &'a str,
    /// The identifier and the name of the agent that owns it; `None` if the organization shares it.
    pub agent: Option<(&'a str, &'a str)>,
    /// The version that the page shows.
    pub version: i64,
    /// The number of its events. A series is one.
    pub events: u64,
    /// The number of booking pages that book it.
    pub booking_pages: usize,
    /// Whether not all booking pages were counted.
    pub has_more_pages: bool,
    /// Why the question is asked again.
    pub problem: Option<&'a str>,
}

impl<'a> DeleteCalendar<'a> {
    fn events_text(&self) -> String {
        grouped(self.events)
    }

    fn agent_text(&self) -> &'a str {
        self.agent.map_or("None: the organization shares it", |(_, name)| name)
    }

    fn agent_id(&self) -> &'a str {
        self.agent.map_or("", |(id, _)| id)
    }
}

in_english!(NewCalendarForm<'_>, CalendarSettings<'_>, DeleteCalendar<'_>);
