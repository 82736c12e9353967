//! The page of an event, and the question whether to cancel it.

use std::fmt::Display;

use askama::Template;
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use super::{
    event::{EventKind, event_time, left},
    fields::{Scopes, reminders_text},
    people::AttendeeShown,
    repeat::rule_words,
};
use crate::{
    english::in_english,
    link::with,
    problems::Problems,
    shell::{Done, Shell},
    time::zone_label,
};

/// An event with everything that its page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDetail {
    /// The identifier of the event, or of the occurrence.
    pub id: String,
    /// The title.
    pub title: String,
    /// The identifier of its calendar.
    pub calendar_id: String,
    /// The name of its calendar.
    pub calendar: String,
    /// The name of the agent that owns the calendar; empty if the organization shares it.
    pub agent: String,
    /// When it takes place.
    pub span: Span,
    /// The first and the last date, if it takes whole days.
    pub dates: Option<(CivilDate, CivilDate)>,
    /// The zone in which times are shown.
    pub zone: Zone,
    /// The zone of its calendar.
    pub calendar_zone: Zone,
    /// What it is; `None` if it is cancelled.
    pub kind: Option<EventKind>,
    /// Whether it is imported from a feed.
    pub is_imported: bool,
    /// The description; empty if there is none.
    pub description: String,
    /// Where it takes place; empty if that is not known.
    pub location: String,
    /// The address of its call; empty if it has none.
    pub call: String,
    /// The attendees.
    pub attendees: Vec<AttendeeShown>,
    /// Its reminders, in minutes before the start; `None` if they are those of the calendar.
    pub reminders: Option<Vec<u16>>,
    /// Its place in a series.
    pub series: SeriesPart,
    /// The version that the page shows.
    pub version: i64,
    /// The version of its series if it is an occurrence, or else the same. A changed occurrence has a version of its
    /// own, which other changes of the series do not raise.
    pub series_version: i64,
    /// The identifiers of the calendars that the address of the page names. Its links and forms lead back to them.
    pub cals: Vec<String>,
}

/// The place of an event in a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeriesPart {
    /// It takes place once.
    Once,
    /// It is an occurrence of a series.
    Occurrence {
        /// The identifier of the series.
        series: String,
        /// Its rule.
        rule: String,
        /// The zone whose clocks it follows.
        zone: Zone,
        /// Whether nothing takes place before this occurrence.
        is_first: bool,
        /// The rule of this occurrence and the following ones alone. It differs if the series ends after a number of
        /// times.
        rest: String,
    },
    /// It is a series with that rule, which follows the clocks of that zone.
    Series(String, Zone),
}

impl EventDetail {
    /// The first day on which the calendar shows it.
    pub fn date(&self) -> CivilDate {
        self.dates.map_or_else(|| self.zone.to_civil(self.span.start()).date, |(first, _)| first)
    }

    pub(super) fn when(&self) -> String {
        event_time(self.span, self.dates, self.zone)
    }

    pub(super) fn zone_text(&self) -> String {
        zone_label(self.zone, self.span.start())
    }

    fn is_changeable(&self) -> bool {
        self.kind.is_some() && !self.is_imported
    }

    pub(crate) fn is_hold(&self) -> bool {
        matches!(self.kind, Some(EventKind::Hold(_)))
    }

    pub(crate) fn status(&self, now: Timestamp) -> String {
        match self.kind {
            None => "Cancelled".to_owned(),
            Some(EventKind::Tentative) => "Tentative".to_owned(),
            Some(EventKind::Hold(expires_at)) => format!("Hold, {}", left(expires_at - now)),
            Some(EventKind::Confirmed | EventKind::Busy) => "Confirmed".to_owned(),
        }
    }

    pub(crate) fn is_occurrence(&self) -> bool {
        matches!(self.series, SeriesPart::Occurrence { .. })
    }

    /// Whether its form says how it repeats. A hold does not repeat.
    pub fn may_repeat(&self) -> bool {
        !self.is_hold()
    }

    /// The reminders in words.
    pub(crate) fn reminders(&self) -> String {
        match reminders_text(self.reminders.as_deref()).as_str() {
            "" => "As its calendar has them".to_owned(),
            "none" => "None".to_owned(),
            "1" => "1 minute before".to_owned(),
            minutes => format!("{minutes} minutes before"),
        }
    }

    /// The address of the series.
    fn series_href(&self) -> Option<String> {
        match &self.series {
            SeriesPart::Occurrence { series, .. } => Some(self.address(series, "")),
            SeriesPart::Once | SeriesPart::Series(..) => None,
        }
    }

    /// The address of the event, or of a form about it.
    pub(crate) fn href(&self, form: &str) -> String {
        self.address(&self.id, form)
    }

    /// The address of an event, or of a form about it, with times in the same zone. It leads back to the same calendars.
    fn address(&self, id: &str, form: &str) -> String {
        let zone: [(&str, &dyn Display); 1] = [("tz", &self.zone)];
        let cals = self.cals.iter().map(|cal| ("cal", cal as &dyn Display));
        let parameters: Vec<_> = zone.into_iter().chain(cals).collect();
        with(&format!("/console/calendar/events/{id}{form}"), &parameters)
    }

    /// The address of the page that moves the event, or the whole series, to another calendar.
    pub fn move_href(&self) -> String {
        match &self.series {
            SeriesPart::Occurrence { series, .. } => self.address(series, "/move"),
            SeriesPart::Once | SeriesPart::Series(..) => self.href("/move"),
        }
    }

    /// The rule, if it is a whole series.
    pub(crate) fn repeats(&self) -> Option<&str> {
        match &self.series {
            SeriesPart::Series(rule, _) => Some(rule),
            SeriesPart::Once | SeriesPart::Occurrence { .. } => None,
        }
    }

    /// The rule of its series, with the zone whose clocks it follows, if it is an occurrence.
    pub(crate) fn series_rule(&self) -> Option<(&str, Zone)> {
        match &self.series {
            SeriesPart::Occurrence { rule, zone, .. } => Some((rule, *zone)),
            SeriesPart::Once | SeriesPart::Series(..) => None,
        }
    }

    /// How it repeats in words, if it is a whole series. Only simple rules have words.
    pub(crate) fn repeats_text(&self) -> String {
        match &self.series {
            SeriesPart::Series(rule, zone) => {
                let words = rule_words(rule, zone.to_civil(self.span.start()).date, *zone);
                format!("{}, in {zone}", words.as_deref().unwrap_or("By the rule below"))
            }
            SeriesPart::Once | SeriesPart::Occurrence { .. } => String::new(),
        }
    }
}

/// The page of an event.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "event.html")]
pub struct EventPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The random key of the form that ends a hold.
    pub once: &'a str,
    /// Whether the user may change events.
    pub may_change: bool,
    /// Whether the user may move events to other calendars.
    pub may_move: bool,
    /// Whether the user may confirm and release holds.
    pub may_end_holds: bool,
    /// The event.
    pub event: &'a EventDetail,
    /// The address of the calendar on the day of the event.
    pub back: &'a str,
    /// The current time.
    pub now: Timestamp,
}

impl EventPage<'_> {
    fn status(&self) -> String {
        self.event.status(self.now)
    }

    fn is_changeable(&self) -> bool {
        self.may_change && self.event.is_changeable()
    }

    fn is_movable(&self) -> bool {
        self.may_move && self.event.is_changeable()
    }

    fn is_endable(&self) -> bool {
        self.may_end_holds && self.event.is_hold()
    }
}

/// The question whether to cancel an event.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "cancel_event.html")]
pub struct CancelEvent<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The event.
    pub event: &'a EventDetail,
    /// Whether the attendees get an email.
    pub sends: bool,
    /// The occurrences that were chosen, as the API names them.
    pub scope: &'a str,
    /// What is wrong with the form.
    pub problems: &'a Problems,
}

impl CancelEvent<'_> {
    fn scopes(&self) -> Scopes<'_> {
        Scopes { chosen: self.scope, problem: self.problems.of("scope") }
    }
}

in_english!(EventPage<'_>, CancelEvent<'_>);
