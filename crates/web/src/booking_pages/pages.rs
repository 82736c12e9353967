//! The list of booking pages, one of them, and the question whether to delete it.

use askama::Template;
use kalends_time::{Timestamp, Zone};

use super::bookings::BookingShown;
use crate::{
    english::in_english,
    link::Path,
    numbers::grouped,
    paging::Paging,
    shell::{Done, Shell},
    snippets::embed_code,
    time::in_utc,
};

/// A booking page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingPageShown {
    /// The identifier.
    pub id: String,
    /// The title.
    pub title: String,
    /// The last part of its address.
    pub slug: String,
    /// The path of the page for guests.
    pub path: Path,
    /// The whole address of the page for guests.
    pub address: String,
    /// Whether it accepts bookings.
    pub active: bool,
    /// The names of its calendars, its own first.
    pub calendars: Vec<String>,
    /// The number of its calendars.
    pub calendars_total: usize,
}

impl BookingPageShown {
    fn title(&self) -> &str {
        &self.title
    }

    fn status_text(&self) -> &'static str {
        if self.active { "Accepts bookings" } else { "Switched off: guests cannot open it" }
    }

    fn calendars_text(&self) -> String {
        let more = self.calendars_total.saturating_sub(self.calendars.len());
        let names = self.calendars.join(", ");
        if more > 0 { format!("{names} and {more} more") } else { names }
    }
}

/// The list of booking pages.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "booking_pages.html")]
pub struct BookingPages<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may create booking pages.
    pub may_create: bool,
    /// The pages of this page of the list.
    pub pages: &'a [BookingPageShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

/// One booking page.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "booking_page.html")]
pub struct BookingPageDetail<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may change the page.
    pub may_change: bool,
    /// Whether the user may delete the page.
    pub may_delete: bool,
    /// Whether the user may cancel bookings.
    pub may_cancel: bool,
    /// The page.
    pub page: &'a BookingPageShown,
    /// The zone of the page.
    pub zone: Zone,
    /// Its other facts: labels and texts.
    pub facts: &'a [(&'static str, String)],
    /// The sites that may show it in a frame.
    pub sites: &'a [String],
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The first bookings to come.
    pub bookings: &'a [BookingShown],
    /// The number of all bookings to come.
    pub upcoming: u64,
    /// The number of bookings that were ever made.
    pub ever: u64,
}

impl BookingPageDetail<'_> {
    fn embed(&self) -> String {
        embed_code(&self.page.address, &self.page.title)
    }

    /// The path of the list of its bookings.
    fn list(&self) -> String {
        format!("/console/booking-pages/{}/bookings", self.page.id)
    }

    fn sites_text(&self) -> String {
        self.sites.join(", ")
    }

    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn updated(&self) -> String {
        in_utc(self.updated_at)
    }

    fn ever_text(&self) -> String {
        grouped(self.ever)
    }

    fn more(&self) -> u64 {
        self.upcoming.saturating_sub(u64::try_from(self.bookings.len()).unwrap_or(u64::MAX))
    }
}

/// The question whether to delete a booking page.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "delete_booking_page.html")]
pub struct DeleteBookingPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The page.
    pub page: &'a BookingPageShown,
    /// The version that the question shows.
    pub version: i64,
    /// The number of bookings to come.
    pub upcoming: u64,
    /// The number of bookings that were ever made.
    pub ever: u64,
    /// Why the question is asked again.
    pub problem: Option<&'a str>,
}

impl DeleteBookingPage<'_> {
    fn numbers(&self) -> String {
        format!("Made: {}. To come: {}.", grouped(self.ever), grouped(self.upcoming))
    }
}

in_english!(BookingPages<'_>, BookingPageDetail<'_>, DeleteBookingPage<'_>);
