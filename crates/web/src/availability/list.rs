//! The calendars, each with its rules in a sentence.

use askama::Template;
use kalends_time::Zone;

use super::rules::RulesShown;
use crate::{english::in_english, paging::Paging, shell::Shell};

/// A calendar in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuledCalendar {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// The identifier and the name of its agent; `None` if the organization shares it.
    pub agent: Option<(String, String)>,
    /// The zone of the calendar.
    pub zone: Zone,
    /// Its rules, if it has any.
    pub rules: Option<RulesShown>,
}

impl RuledCalendar {
    /// The zone of the hours: the rules may have another one than the calendar.
    fn zone(&self) -> Zone {
        self.rules.as_ref().map_or(self.zone, |rules| rules.zone)
    }

    fn sentence(&self) -> String {
        RulesShown::sentence_of(self.rules.as_ref())
    }
}

/// The list of calendars.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "availability.html")]
pub struct AvailabilityList<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The calendars of this page of the list.
    pub calendars: &'a [RuledCalendar],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

in_english!(AvailabilityList<'_>);
