//! The forms that create and change an event.

use askama::Template;
use kalends_time::{Timestamp, Zone};

use super::{
    detail::{EventDetail, SeriesPart},
    fields::EventGiven,
};
use crate::{english::in_english, field::Choice, problems::Problems, shell::Shell};

/// The form that creates an event.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "new_event.html")]
pub struct NewEventForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The calendars to choose from.
    pub calendars: &'a [Choice<'a>],
    /// The zone of the times.
    pub zone: Zone,
    /// The most minutes for which a hold can be placed; `None` if the plan has no holds.
    pub longest_hold: Option<i64>,
    /// What was typed.
    pub given: EventGiven<'a>,
    /// The identifiers of the calendars that the address names.
    pub cals: &'a [&'a str],
    /// The address of these calendars on the day of the event.
    pub back: &'a str,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

/// The form that changes an event.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "edit_event.html")]
pub struct EditEventForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The event.
    pub event: &'a EventDetail,
    /// The version that the form changes.
    pub version: &'a str,
    /// The version of the series in which it does so, if the event is an occurrence.
    pub series_version: &'a str,
    /// What the form contains: the fields of the event, or what was typed.
    pub given: EventGiven<'a>,
    /// The fields of the event in that version, from which what is typed differs.
    pub was: EventGiven<'a>,
    /// Whether the event has changed since the form was opened, so that its current state is shown too.
    pub is_stale: bool,
    /// The current time.
    pub now: Timestamp,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl EditEventForm<'_> {
    fn is_hold(&self) -> bool {
        self.event.is_hold()
    }

    fn may_repeat(&self) -> bool {
        self.event.may_repeat()
    }

    /// The zone of the repetition.
    fn repeats_in(&self) -> String {
        match &self.event.series {
            SeriesPart::Series(_, zone) | SeriesPart::Occurrence { zone, .. } => {
                format!("the time zone of the series, {zone}")
            }
            SeriesPart::Once => format!("the calendar's time zone, {}", self.event.calendar_zone),
        }
    }

    fn status(&self) -> String {
        self.event.status(self.now)
    }
}

in_english!(NewEventForm<'_>, EditEventForm<'_>);
