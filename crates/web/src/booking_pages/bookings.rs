//! The bookings of one page or of all, and the question whether to cancel one.

use std::fmt;

use askama::Template;
use kalends_bookings::{BOOKINGS_COUNTED_MAX, REASON_MAX};
use kalends_time::{Span, Timestamp, Zone};

use crate::{
    calendar::event_time,
    english::in_english,
    field::{Area, Choice, Field, Select},
    link::with,
    numbers::grouped,
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the form that filters the bookings.
pub const BOOKING_FILTER_FIELDS: [&str; 2] = ["status", "from"];
/// The fields of the form that filters the bookings of all pages.
pub const ALL_BOOKINGS_FILTER_FIELDS: [&str; 3] = ["page", "status", "time"];
/// Stands for all deleted pages among the pages to choose from.
pub const DELETED_PAGES: &str = "deleted";
/// The fields of the form that cancels a booking.
pub const CANCELLATION_FIELDS: [&str; 1] = ["reason"];

const STATUSES: [Choice<'static>; 3] = [
    Choice { value: "", title: "All" },
    Choice { value: "confirmed", title: "Confirmed" },
    Choice { value: "cancelled", title: "Cancelled" },
];

/// The choice in the list of all pages, whose bookings to come are those that take place.
const STATUSES_OF_ALL: [Choice<'static>; 3] = [
    Choice { value: "", title: "Confirmed" },
    Choice { value: "cancelled", title: "Cancelled" },
    Choice { value: "all", title: "All" },
];

const TIMES: [Choice<'static>; 3] = [
    Choice { value: "", title: "To come" },
    Choice { value: "past", title: "Has begun or is over" },
    Choice { value: "all", title: "All" },
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
    /// The page on which it was made; empty if that is deleted, or if the list has the bookings of one page.
    pub page: String,
    /// The title of that page; empty if the list has the bookings of one page.
    pub page_title: String,
    /// When it takes place.
    pub span: Span,
    /// The zone of the page.
    pub zone: Zone,
    /// Who cancelled it: `guest` or `host`; `None` if it takes place.
    pub cancelled_by: Option<String>,
    /// Whether its event on the calendar of the page is gone, but others are left. It can be cancelled.
    pub is_rest: bool,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
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
    pub(crate) fn time(&self) -> String {
        event_time(self.span, None, self.zone)
    }

    pub(crate) fn status_text(&self) -> &'static str {
        match self.cancelled_by.as_deref() {
            None if self.has_begun => "Has begun or is over",
            None if self.is_rest => "Partly cancelled",
            None => "Confirmed",
            Some("guest") => "Cancelled by the guest",
            Some(_) => "Cancelled by the host",
        }
    }

    pub(crate) fn can_be_cancelled(&self) -> bool {
        self.cancelled_by.is_none() && !self.has_begun
    }

    pub(crate) fn cancelled(&self) -> String {
        self.cancelled_at.map(in_utc).unwrap_or_default()
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

/// The choice of a status.
fn statuses<'a>(options: &'a [Choice<'a>], chosen: &'a str, problems: &'a Problems) -> Select<'a> {
    let (name, label) = ("status", "Status");
    Select { name, label, options, chosen, problem: problems.of(name) }
}

impl PageBookings<'_> {
    fn statuses(&self) -> Select<'_> {
        statuses(&STATUSES, self.status, self.problems)
    }

    fn first_day(&self) -> Field<'_> {
        let field = Field::text("from", "First day", self.from, 0).checked(self.problems);
        Field { kind: "date", max: None, required: false, ..field }
    }

    fn is_filtered(&self) -> bool {
        !self.status.is_empty() || !self.from.is_empty()
    }
}

/// The bookings of all pages.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "bookings.html")]
pub struct AllBookings<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may cancel bookings.
    pub may_cancel: bool,
    /// The pages by which the list can be filtered; the first choice is all of them.
    pub pages: &'a [Choice<'a>],
    /// The page by which it is filtered; empty for all of them.
    pub page: &'a str,
    /// The status by which it is filtered: `cancelled` or `all`; empty for the confirmed ones.
    pub status: &'a str,
    /// The time by which it is filtered: `past` or `all`; empty for the bookings to come.
    pub time: &'a str,
    /// What is wrong with the filter.
    pub problems: &'a Problems,
    /// The bookings of this page of the list.
    pub bookings: &'a [BookingShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

impl AllBookings<'_> {
    fn page_choice(&self) -> Select<'_> {
        let (name, label) = ("page", "Booking page");
        Select { name, label, options: self.pages, chosen: self.page, problem: self.problems.of(name) }
    }

    fn statuses(&self) -> Select<'_> {
        statuses(&STATUSES_OF_ALL, self.status, self.problems)
    }

    fn times(&self) -> Select<'_> {
        let (name, label) = ("time", "Time");
        Select { name, label, options: &TIMES, chosen: self.time, problem: self.problems.of(name) }
    }

    fn is_filtered(&self) -> bool {
        [self.page, self.status, self.time].iter().any(|text| !text.is_empty())
    }

    fn title(&self) -> String {
        match self.page {
            "" => "Bookings of all pages".to_owned(),
            DELETED_PAGES => "Bookings of deleted pages".to_owned(),
            page => match self.pages.iter().find(|choice| choice.value == page) {
                Some(choice) => format!("Bookings: {}", choice.title),
                None => "Bookings".to_owned(),
            },
        }
    }

    fn lead(&self) -> String {
        let of = match self.page {
            "" => {
                "The bookings of all booking pages, also of deleted ones, but not of pages whose calendar is deleted. "
            }
            DELETED_PAGES => "Not of pages whose calendar is deleted. ",
            _ => "",
        };
        let first = if self.time.is_empty() { "The next one is first." } else { "The latest one is first." };
        format!("{of}{first}")
    }

    /// Whether there are more bookings than are counted.
    fn has_uncounted(&self) -> bool {
        self.paging.total > u64::from(BOOKINGS_COUNTED_MAX)
    }

    fn found(&self) -> String {
        if self.has_uncounted() {
            return format!("More than {} found", grouped(BOOKINGS_COUNTED_MAX.into()));
        }
        format!("{} found", grouped(self.paging.total))
    }

    fn range(&self) -> String {
        if !self.has_uncounted() || self.bookings.is_empty() {
            return self.paging.range();
        }
        let before = u64::from(self.paging.page.offset);
        let last = before.saturating_add(self.bookings.len() as u64);
        format!("{}–{last} of more than {}", before + 1, grouped(BOOKINGS_COUNTED_MAX.into()))
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
    /// The path of the list of bookings from which the user came.
    pub list: &'a str,
    /// The title of the page.
    pub title: &'a str,
    /// Where in that list the user was, as names and values of its query.
    pub place: &'a [(&'static str, String)],
    /// The booking.
    pub booking: &'a BookingShown,
    /// Whether other guests can share its event.
    pub is_shared: bool,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
    /// The reason that was typed.
    pub reason: &'a str,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl CancelBookingForm<'_> {
    /// The list of bookings, where the user was.
    fn back(&self) -> String {
        let place: Vec<_> = self.place.iter().map(|(name, value)| (*name, value as &dyn fmt::Display)).collect();
        with(self.list, &place)
    }

    fn reason_field(&self) -> Area<'_> {
        let (name, label) = ("reason", "Reason, which the guest reads");
        Area { name, label, value: self.reason, max: REASON_MAX, problem: self.problems.of(name), hint: None }
    }
}

in_english!(PageBookings<'_>, AllBookings<'_>, CancelBookingForm<'_>);
