//! Pages about a booking: after it was made, before and after it is moved, and before and after it is cancelled.

use askama::Template;
use kalends_time::Span;

use crate::form::back;
use crate::link::{Href, Path};
use crate::page::{DisplaySettings, Page};

/// The answer to a form that booked a slot (201) or moved a booking.
#[derive(Debug, Clone, Template)]
#[template(path = "booked.html")]
pub struct Booked<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings,
    /// The booked slot.
    pub slot: Span,
    /// The previous slot, if the booking was moved.
    pub before: Option<Span>,
    /// The email address to which the confirmation was sent.
    pub mailed_to: Option<&'a str>,
    /// The link that cancels the booking.
    pub cancel: Option<&'a Href>,
    /// The link that moves the booking.
    pub reschedule: Option<&'a Href>,
    /// The booking as an iCalendar file.
    pub file: Option<&'a Href>,
    /// Where the booking takes place.
    pub location: Option<&'a str>,
    /// The call in which it takes place.
    pub call: Option<&'a Href>,
}

/// The state of a booking, as shown to a visitor with its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookingState {
    /// It is still to come, and can be cancelled.
    Upcoming,
    /// It has just been cancelled.
    Cancelled,
    /// It was already cancelled.
    CancelledBefore,
    /// It has begun or is over, and can no longer be changed.
    Past,
}

/// A booking in one of its states. If it is upcoming, the page has the form that cancels it.
#[derive(Debug, Clone, Template)]
#[template(path = "booking.html")]
pub struct Booking<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings,
    /// The booked slot. `None` if the event is gone.
    pub slot: Option<Span>,
    /// Where the booking takes place.
    pub location: Option<&'a str>,
    /// The call in which it takes place.
    pub call: Option<&'a Href>,
    /// The guest's name.
    pub name: &'a str,
    /// The state of the booking.
    pub state: BookingState,
    /// The path to which the form that cancels the booking is sent.
    pub cancel: &'a Path,
    /// The link that moves the booking instead.
    pub reschedule: Option<&'a Href>,
    /// The booking page, if it is open, to book another time.
    pub again: Option<&'a Path>,
}

/// A booking and its new time, to be confirmed.
#[derive(Debug, Clone, Template)]
#[template(path = "moving.html")]
pub struct Moving<'a> {
    /// The booking page, whose path is the one that moves the booking.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings,
    /// The current slot.
    pub before: Span,
    /// The chosen slot.
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
