//! Why a calendar is not free at a time.

use askama::Template;
use kalends_time::{Span, Zone};

use super::{
    event::event_time,
    fields::{EventGiven, time},
};
use crate::{
    english::in_english,
    field::{Choice, Field, Select},
    problems::Problems,
    shell::Shell,
};

/// The parameter of the page's address that names the calendars to which it leads back. Its parameter `cal` is the
/// calendar to explain.
pub const SHOWN_CALENDARS: &str = "shown";

/// What keeps a time from being offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// An event.
    Event,
    /// A hold.
    Hold,
    /// An imported event.
    Imported,
    /// A connected calendar is busy, or not known to be free.
    Busy,
    /// A pending proposal.
    Reserved,
    /// The buffer before or after something else.
    Buffer,
    /// It is outside the working hours.
    ClosedHours,
    /// A date override closes the time.
    ClosedDate,
    /// It is too soon or too far ahead.
    OutOfRange,
}

/// A reason why a time is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhyNot {
    /// What it is.
    pub obstacle: Obstacle,
    /// Its time.
    pub span: Span,
}

impl WhyNot {
    /// The reason as a sentence.
    pub(crate) fn sentence(self, zone: Zone) -> String {
        let when = event_time(self.span, None, zone);
        match self.obstacle {
            Obstacle::Event => format!("An event takes the time: {when}."),
            Obstacle::Hold => format!("A hold keeps the time: {when}."),
            Obstacle::Imported => format!("An imported event takes the time: {when}."),
            Obstacle::Busy => format!("A connected calendar is busy, or not known to be free: {when}."),
            Obstacle::Reserved => format!("A pending proposal reserves the time: {when}."),
            Obstacle::Buffer => format!("The time is a buffer before or after something else: {when}."),
            Obstacle::ClosedHours => format!("The time is outside the working hours: {when}."),
            Obstacle::ClosedDate => format!("The hours of this date close the time: {when}."),
            Obstacle::OutOfRange => format!("The time is too soon or too far ahead to be offered: {when}."),
        }
    }
}

/// Why a time is offered or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The time.
    pub span: Span,
    /// Whether all of it is free.
    pub is_offered: bool,
    /// Why not, by start.
    pub reasons: Vec<WhyNot>,
    /// Whether there are more reasons.
    pub has_more: bool,
    /// What is not known, as sentences.
    pub warnings: Vec<String>,
}

/// The page that answers why a calendar is not free.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "explain.html")]
pub struct ExplainPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The calendars to choose from.
    pub calendars: &'a [Choice<'a>],
    /// The zone of the times.
    pub zone: Zone,
    /// What was typed.
    pub given: EventGiven<'a>,
    /// The identifiers of the calendars that the calendar showed: the parameter [`SHOWN_CALENDARS`].
    pub shown: &'a [&'a str],
    /// The address of the calendar on that day.
    pub back: &'a str,
    /// What is wrong with it.
    pub problems: &'a Problems,
    /// The answer, if something was asked.
    pub answer: Option<&'a Answer>,
}

impl<'a> ExplainPage<'a> {
    /// The calendar, under the name that the address of this page has for it.
    fn calendar(&self) -> Select<'a> {
        Select { name: "cal", ..self.given.calendar(self.calendars, self.problems) }
    }

    fn start(&self) -> Field<'a> {
        time("start_time", "Start", self.given.start, self.problems)
    }

    fn end(&self) -> Field<'a> {
        time("end_time", "End", self.given.end, self.problems)
    }

    fn when(&self, answer: &Answer) -> String {
        event_time(answer.span, None, self.zone)
    }

    fn sentences(&self, answer: &Answer) -> Vec<String> {
        answer.reasons.iter().map(|reason| reason.sentence(self.zone)).collect()
    }
}

in_english!(ExplainPage<'_>);
