//! What is booked: told after booking or moving, shown before it is cancelled, and after.

use askama::Template;
use kalends_kernel::Span;

use crate::form::back;
use crate::link::{Href, Path};
use crate::page::{DisplaySettings, Page};

/// The answer to a form that booked (201), or moved a booking.
#[derive(Debug, Clone, Template)]
#[template(path = "booked.html")]
pub struct Booked<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How the visitor reads times.
    pub shown: DisplaySettings,
    /// What is booked now.
    pub slot: Span,
    /// What was booked before, where the booking was moved.
    pub before: Option<Span>,
    /// Where a confirmation was sent.
    pub mailed_to: Option<&'a str>,
    /// Where the booking is cancelled.
    pub cancel: Option<&'a Href>,
    /// Where it is moved.
    pub reschedule: Option<&'a Href>,
    /// The booking as an iCalendar file.
    pub file: Option<&'a Href>,
}

/// What can be said of a booking to whoever has its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookingState {
    /// It takes place, and can be cancelled.
    Upcoming,
    /// It was cancelled just now.
    Cancelled,
    /// It had been cancelled before.
    CancelledBefore,
    /// It has begun or is over, and stays as it is.
    Past,
}

/// A booking, to be cancelled.
#[derive(Debug, Clone, Template)]
#[template(path = "booking.html")]
pub struct Booking<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How the visitor reads times.
    pub shown: DisplaySettings,
    /// What is booked; none where the event is gone, and its time with it.
    pub slot: Option<Span>,
    /// In whose name.
    pub name: &'a str,
    /// What has become of it.
    pub state: BookingState,
    /// Where the form that cancels it is sent.
    pub cancel: &'a Path,
    /// Where it is moved instead.
    pub reschedule: Option<&'a Href>,
    /// Where another time is booked: the booking page, while it is open.
    pub again: Option<&'a Path>,
}

/// A booking and where it goes, to be confirmed.
#[derive(Debug, Clone, Template)]
#[template(path = "moving.html")]
pub struct Moving<'a> {
    /// The booking page; its path is where the booking is moved.
    pub page: Page<'a>,
    /// How the visitor reads times.
    pub shown: DisplaySettings,
    /// What is booked.
    pub before: Span,
    /// What was chosen.
    pub slot: Span,
}

impl Booked<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }
}

impl Booking<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    fn title(&self) -> &'static str {
        match self.state {
            BookingState::Upcoming => "Cancel this booking?",
            BookingState::Cancelled => "Your booking is cancelled",
            BookingState::CancelledBefore => "This booking was already cancelled",
            BookingState::Past => "This booking can no longer be changed",
        }
    }

    fn is_upcoming(&self) -> bool {
        self.state == BookingState::Upcoming
    }

    fn is_cancelled(&self) -> bool {
        matches!(self.state, BookingState::Cancelled | BookingState::CancelledBefore)
    }
}

impl Moving<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    fn back(&self) -> String {
        back(&self.page, self.shown, self.slot)
    }
}
