//! The form that creates or edits a booking page, beside a preview of the page.

use askama::Template;
use kalends_time::Timestamp;

use super::fields::{BookingPageGiven, OPENING_HOURS, PageZone};
use crate::{
    english::in_english,
    field::{Choice, Field},
    problems::Problems,
    shell::Shell,
};

/// The page that a form edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditedBookingPage<'a> {
    /// The identifier.
    pub id: &'a str,
    /// The title.
    pub title: &'a str,
    /// The name of the calendar, which stays.
    pub calendar: &'a str,
    /// The version that the form changes.
    pub version: &'a str,
    /// What the form contained before anything was typed.
    pub was: &'a BookingPageGiven,
}

/// The form that creates or edits a booking page.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "booking_page_form.html")]
pub struct BookingPageForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The page that it edits; `None` if it creates one.
    pub edits: Option<EditedBookingPage<'a>>,
    /// The calendars to choose from.
    pub calendars: &'a [Choice<'a>],
    /// Whether there are more calendars than these.
    pub has_more_calendars: bool,
    /// What the form contains.
    pub given: &'a BookingPageGiven,
    /// When the page is shown, for the offsets of the zones.
    pub now: Timestamp,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

/// A calendar that can be booked together with that of the page.
struct OtherCalendar<'a> {
    id: &'a str,
    name: &'a str,
    is_chosen: bool,
}

impl<'a> BookingPageForm<'a> {
    fn title(&self) -> String {
        self.edits.map_or_else(|| "New booking page".to_owned(), |page| format!("Edit {}", page.title))
    }

    fn action(&self) -> String {
        let edit = |page: EditedBookingPage<'_>| format!("/console/booking-pages/{}/edit", page.id);
        self.edits.map_or_else(|| "/console/booking-pages".to_owned(), edit)
    }

    /// The page to return to.
    fn back(&self) -> String {
        let page = |page: EditedBookingPage<'_>| format!("/console/booking-pages/{}", page.id);
        self.edits.map_or_else(|| "/console/booking-pages".to_owned(), page)
    }

    fn is_new(&self) -> bool {
        self.edits.is_none()
    }

    /// Without a calendar, there is nothing to book.
    fn has_calendar(&self) -> bool {
        self.edits.is_some() || !self.calendars.is_empty()
    }

    /// What the form contained before anything was typed, by the names of its fields.
    fn before(&self) -> &'a [(&'static str, String)] {
        self.edits.map(|page| page.was.texts()).unwrap_or_default()
    }

    /// The calendars of a team. A form that edits a page leaves the page's own out.
    fn others(&self) -> Vec<OtherCalendar<'a>> {
        let own = self.edits.map(|_| self.given.get("calendar_id"));
        let others = self.calendars.iter().filter(|calendar| Some(calendar.value) != own);
        let other = |calendar: &Choice<'a>| OtherCalendar {
            id: calendar.value,
            name: calendar.title,
            is_chosen: self.given.entries("calendars").any(|chosen| chosen == calendar.value),
        };
        others.map(other).collect()
    }

    fn zone(&self) -> PageZone<'_> {
        self.given.zone(self.is_new(), self.now, self.problems)
    }

    fn slug(&self) -> Field<'_> {
        self.given.slug(self.is_new(), self.problems)
    }

    fn others_problem(&self) -> Option<&'a str> {
        self.problems.of("calendars")
    }

    fn questions_problem(&self) -> Option<&'a str> {
        self.problems.of("questions")
    }

    /// Whether something is wrong with one of these fields, so that they must not be hidden.
    fn is_wrong(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.problems.of(name).is_some())
    }

    fn opens_hours(&self) -> bool {
        OPENING_HOURS.iter().any(|hours| self.is_wrong(&[hours.start, hours.end]))
            || self.is_wrong(&["hours", "timezone"])
    }

    fn opens_limits(&self) -> bool {
        self.is_wrong(&["buffer_minutes", "min_notice_minutes", "window_days", "max_per_day", "seats"])
    }

    fn opens_team(&self) -> bool {
        self.is_wrong(&["calendars", "assignment"])
    }

    fn opens_questions(&self) -> bool {
        let rows = &self.given.questions;
        let is_used = rows.iter().any(|row| !row.is_empty()) || rows.len() + self.given.empty > 1;
        is_used || self.questions_problem().is_some()
    }

    fn opens_emails(&self) -> bool {
        self.is_wrong(&["notify_emails", "guest_reminders"])
    }

    fn opens_looks(&self) -> bool {
        self.is_wrong(&["host_name", "slug", "accent_color", "embed_origins"])
    }
}

/// The page in place of a preview that cannot be shown.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "no_preview.html")]
pub struct NoPreview<'a> {
    /// Why it cannot be shown, as a sentence.
    pub reason: &'a str,
}

in_english!(BookingPageForm<'_>, NoPreview<'_>);
