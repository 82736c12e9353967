//! The bookings of a page, and the question whether to cancel one.

use std::fmt;

use askama::Template;
use kalends_bookings::REASON_MAX;
use kalends_time::{Span, Timestamp, Zone};

use crate::{
    calendar::event_time,
    english::in_english,
    field::{Area, Choice, Field, Select},
    link::with,
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the form that filters the bookings.
pub const BOOKING_FILTER_FIELDS: [&str; 2] = ["status", "from"];
/// The fields of the form that cancels a booking.
pub const CANCELLATION_FIELDS: [&str; 1] = ["reason"];

const STATUSES: [Choice<'static>; 3] = [
    Choice { value: "", title: "All" },
    Choice { value: "confirmed", title: "Confirmed" },
    Choice { value: "cancelled", title: "Cancelled" },
];

/// A booking, as the host of its page sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingShown {
    /// The identifier.
    pub id: String,
    /// The identifier of its event; empty if it is gone.
    pub event: String,
    /// The guest's name.
    pub name: String,
    /// The guest's address.
    pub email: String,
    /// When it takes place.
    pub span: Span,
    /// Who cancelled it: `guest` or `host`; `None` if it takes place.
    pub cancelled_by: Option<String>,
    /// Whether it has begun.
    pub has_begun: bool,
    /// The guest's notes; empty if there are none.
    pub notes: String,
    /// The questions and the guest's answers.
    pub answers: Vec<(String, String)>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl BookingShown {
    pub(crate) fn time(&self, zone: &Zone) -> String {
        event_time(self.span, None, *zone)
    }

    pub(crate) fn status_text(&self) -> &'static str {
        match self.cancelled_by.as_deref() {
            None if self.has_begun => "Has begun or is over",
            None => "Confirmed",
            Some("guest") => "Cancelled by the guest",
            Some(_) => "Cancelled by the host",
        }
    }

    pub(crate) fn can_be_cancelled(&self) -> bool {
        self.cancelled_by.is_none() && !self.has_begun
    }

    pub(crate) fn made(&self) -> String {
        in_utc(self.created_at)
    }
}

/// The bookings of a page.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "page_bookings.html")]
pub struct PageBookings<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may cancel bookings.
    pub may_cancel: bool,
    /// The identifier of the page.
    pub id: &'a str,
    /// The title of the page.
    pub title: &'a str,
    /// The zone of the page.
    pub zone: Zone,
    /// The status by which the list is filtered, as the API names it; empty for all of them.
    pub status: &'a str,
    /// The first day, as it was typed.
    pub from: &'a str,
    /// What is wrong with the filter.
    pub problems: &'a Problems,
    /// The bookings of this page of the list.
    pub bookings: &'a [BookingShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

impl PageBookings<'_> {
    fn statuses(&self) -> Select<'_> {
        let (name, label) = ("status", "Status");
        Select { name, label, options: &STATUSES, chosen: self.status, problem: self.problems.of(name) }
    }

    fn first_day(&self) -> Field<'_> {
        let field = Field::text("from", "First day", self.from, 0).checked(self.problems);
        Field { kind: "date", max: None, required: false, ..field }
    }

    fn is_filtered(&self) -> bool {
        !self.status.is_empty() || !self.from.is_empty()
    }
}

/// The question whether to cancel a booking, with the form that does it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "cancel_page_booking.html")]
pub struct CancelBookingForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The identifier of the page.
    pub page: &'a str,
    /// The title of the page.
    pub title: &'a str,
    /// Where in the list of bookings the user was, as names and values of its query.
    pub place: &'a [(&'static str, String)],
    /// The zone of the page.
    pub zone: Zone,
    /// The booking.
    pub booking: &'a BookingShown,
    /// Whether other guests can share its event.
    pub is_shared: bool,
    /// The reason that was typed.
    pub reason: &'a str,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl CancelBookingForm<'_> {
    /// The list of bookings, where the user was.
    fn back(&self) -> String {
        let place: Vec<_> = self.place.iter().map(|(name, value)| (*name, value as &dyn fmt::Display)).collect();
        with(&format!("/console/booking-pages/{}/bookings", self.page), &place)
    }

    fn reason_field(&self) -> Area<'_> {
        let (name, label) = ("reason", "Reason, which the guest reads");
        Area { name, label, value: self.reason, max: REASON_MAX, problem: self.problems.of(name), hint: None }
    }
}

in_english!(PageBookings<'_>, CancelBookingForm<'_>);
