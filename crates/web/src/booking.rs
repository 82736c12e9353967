//! Pages about a booking: after it was made, before and after it is moved, and before and after it is cancelled.

use std::fmt::Display;

use askama::Template;
use kalends_i18n::{Sentence, Translator};
use kalends_time::{Span, Timestamp};

use crate::form::back;
use crate::link::{Href, Path, with};
use crate::page::{DisplaySettings, Page};

/// The answer to a form that booked a slot (201) or moved a booking.
#[derive(Debug, Clone, Template)]
#[template(path = "booked.html")]
pub struct Booked<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings<'a>,
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
    /// Only its events on other calendars than that of the page are left. It can be cancelled, but not moved.
    Unmovable,
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
    pub shown: DisplaySettings<'a>,
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
    pub shown: DisplaySettings<'a>,
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

    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }
}

impl<'a> Booked<'a> {
    /// The address at which Google Calendar adds the booking.
    fn google(&self) -> String {
        // RFC 5545 section 3.3.5, in UTC.
        let basic = |at: Timestamp| at.to_string().replace(['-', ':'], "");
        let dates = format!("{}/{}", basic(self.slot.start()), basic(self.slot.end()));
        let (place, details) = self.place_and_details();
        let parameters: [(&str, &dyn Display); 5] = [
            ("action", &"TEMPLATE"),
            ("text", &self.page.title),
            ("dates", &dates),
            ("location", &place),
            ("details", &details),
        ];
        with("https://calendar.google.com/calendar/render", &parameters)
    }

    /// The address at which Outlook adds the booking.
    fn outlook(&self) -> String {
        let (place, details) = self.place_and_details();
        let parameters: [(&str, &dyn Display); 7] = [
            ("path", &"/calendar/action/compose"),
            ("rru", &"addevent"),
            ("subject", &self.page.title),
            ("startdt", &self.slot.start()),
            ("enddt", &self.slot.end()),
            ("location", &place),
            ("body", &details),
        ];
        with("https://outlook.live.com/calendar/0/deeplink/compose", &parameters)
    }

    /// The place, or the call if there is no place, and what else there is to say.
    fn place_and_details(&self) -> (&'a str, String) {
        let call = self.call.map(Href::as_str);
        let place = self.location.or(call).unwrap_or_default();
        (place, call.map(|call| format!("{} {call}", self.shown.say("call-label"))).unwrap_or_default())
    }
}

impl Booking<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }

    fn title(&self) -> Sentence {
        self.shown.say(match self.state {
            BookingState::Upcoming => "cancel-question",
            BookingState::Unmovable => "not-moved",
            BookingState::Cancelled => "cancelled-now",
            BookingState::CancelledBefore => "cancelled-before",
            BookingState::Past => "past",
        })
    }

    fn is_upcoming(&self) -> bool {
        matches!(self.state, BookingState::Upcoming | BookingState::Unmovable)
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

    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }

    fn back(&self) -> String {
        back(&self.page, self.shown, self.slot)
    }
}
