//! The form that moves an event to another calendar.

use askama::Template;

use super::{detail::EventDetail, fields::EventGiven};
use crate::{english::in_english, field::Choice, problems::Problems, shell::Shell};

/// The form that moves an event, or a whole series, to another calendar.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "move_event.html")]
pub struct MoveEvent<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The event.
    pub event: &'a EventDetail,
    /// The version that the form moves.
    pub version: &'a str,
    /// The other calendars to choose from.
    pub calendars: &'a [Choice<'a>],
    /// Whether there are more calendars than these.
    pub has_more: bool,
    /// What was chosen: the calendar, and what to do if something else is at that time.
    pub given: EventGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

in_english!(MoveEvent<'_>);
