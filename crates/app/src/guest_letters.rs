//! Emails to guests. Each carries an invitation that calendar programs understand.

use kalends_bookings::{BookingPage, BookingToken, Guest};
use kalends_calendars::{Attendee, AttendeeRole, AttendeeStatus, Event, Repeats};
use kalends_feeds::write::{Meeting, Method, Party};
use kalends_kernel::Foreign;
use kalends_notifications::About;
use kalends_wire::BookingLinks;

use crate::{
    App, ChangeSet,
    bookings::Letter,
    letters::{self, When},
    ports::CalendarPart,
};

impl App {
    /// Adds an email to the guest about their booking to `changes`. The email counts against the organization's email
    /// allowance.
    pub(crate) fn write_to_guest(
        &self,
        page: &BookingPage,
        guest: &Guest,
        event: &Event,
        about: Letter<'_>,
        changes: &mut ChangeSet,
    ) {
        let (now, title) = (self.now(), Foreign::new(&page.title));
        let method = if matches!(about, Letter::Cancelled) { Method::Cancel } else { Method::Request };
        let when = When::of(event.times, page.timetable.zone);
        let links = match &about {
            Letter::Booked(token) | Letter::Moved(token) => Some(self.links(page, token)),
            Letter::Cancelled => None,
        };
        let sender = self.parts.mailer.sender();
        // Only the page's title and the times: the guest's own words are not repeated, and what the host has added to the
        // event is not meant for the guest.
        let shown = Event {
            title: page.title.clone(),
            description: None,
            location: None,
            conference_url: None,
            repeats: Repeats::Once,
            ..event.clone()
        };
        let attendee = Attendee {
            email: guest.email.clone(),
            name: None,
            role: AttendeeRole::Required,
            agent: None,
            status: AttendeeStatus::Accepted,
            responded_at: None,
            secret: None,
        };
        let moves = links.as_ref().and_then(|links| links.reschedule_url.as_deref());
        let text = Meeting::new(page.timetable.zone, &shown, None, &[]).to(&Party {
            method,
            organizer: (&title, &sender),
            attendee: &attendee,
            link: moves.map(|link| ("To take another time:", link)),
            takes_place: method == Method::Request,
            written: now,
        });
        let mut mail = match (&about, &links) {
            (Letter::Booked(_), Some(links)) => letters::booked(&guest.email, &title, &when, links),
            (Letter::Moved(_), Some(links)) => letters::booking_moved(&guest.email, &title, &when, links),
            (Letter::Cancelled, _) | (_, None) => letters::booking_cancelled(&guest.email, &title, &when),
        };
        mail.calendar = Some(CalendarPart { method, text });
        self.write_letter(&mail, About::event(event.id), now, changes);
    }

    /// The links at which a guest cancels and moves a booking.
    pub(crate) fn links(&self, page: &BookingPage, token: &BookingToken) -> BookingLinks {
        BookingLinks {
            cancel_url: self.link(page, &token.to_cancel(), "cancel"),
            reschedule_url: Some(self.link(page, token, "move")),
        }
    }

    /// The URL at which a booking's token is used.
    pub(crate) fn link(&self, page: &BookingPage, token: &BookingToken, what: &str) -> String {
        let (base, slug) = (&self.parts.settings.base_url, page.slug.reveal());
        format!("{base}/book/{slug}/bookings/{}/{what}", token.reveal())
    }
}
