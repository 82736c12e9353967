//! Emails to guests. Each carries an invitation that calendar programs understand.

use kalends_bookings::{Booking, BookingPage, BookingToken, Guest};
use kalends_calendars::{Attendee, AttendeeRole, AttendeeStatus, Event, Repeats};
use kalends_feeds::write::{Meeting, Method, Party};
use kalends_i18n::Translator;
use kalends_kernel::{Email, Foreign, Locale};
use kalends_notifications::{About, Letter as QueuedLetter};
use kalends_time::Timestamp;
use kalends_wire::BookingLinks;

use crate::{
    App, BookingSeen, ChangeSet,
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
        booking: &Booking,
        event: &Event,
        about: Letter<'_>,
        changes: &mut ChangeSet,
    ) {
        let now = self.now();
        let cancels = matches!(about, Letter::Cancelled | Letter::CancelledByHost(_));
        let method = if cancels { Method::Cancel } else { Method::Request };
        let links = match &about {
            Letter::Booked(token) | Letter::Moved(token) => Some(self.links_for(&booking.guest, page, token)),
            Letter::Cancelled | Letter::CancelledByHost(_) => None,
        };
        let sender = self.parts.mailer.sender();
        let (guest, shown) = (&booking.guest, as_added(page, booking, event));
        let words = &Translator::new(guest.locale);
        let appointment = appointment(page, guest, &shown, words);
        let attendee = accepted(&guest.email);
        let move_label = words.say("calendar-move").to_string();
        let moves = links.as_ref().and_then(|links| links.reschedule_url.as_deref());
        let text = Meeting::new(page.timetable.zone, &shown, None, &[]).to(&Party {
            method,
            organizer: (appointment.host.as_ref().unwrap_or(&appointment.title), &sender),
            attendee: &attendee,
            link: moves.map(|link| (move_label.as_str(), link)),
            takes_place: method == Method::Request,
            written: now,
        });
        let mut mail = match (&about, &links) {
            (Letter::Booked(_), Some(links)) => letters::booked(&guest.email, &appointment, links),
            (Letter::Moved(_), Some(links)) => letters::booking_moved(&guest.email, &appointment, links),
            (Letter::CancelledByHost(reason), _) => {
                let again = page.is_open().then(|| in_language(guest, self.address(page)));
                letters::called_off(&guest.email, &appointment, *reason, again)
            }
            (Letter::Cancelled, _) | (_, None) => letters::booking_cancelled(&guest.email, &appointment),
        };
        mail.calendar = Some(CalendarPart { method, text });
        self.write_letter(&mail, About::event(shown.id), now, changes);
    }

    /// The email that reminds the guest of a booking, whose event takes place later than `now`. `None` if the booking does
    /// not keep the token that its links need.
    pub(crate) fn guest_reminder(
        &self,
        page: &BookingPage,
        booking: &Booking,
        event: &Event,
        now: Timestamp,
    ) -> Option<QueuedLetter> {
        let links = self.links_for(&booking.guest, page, booking.kept_token.as_ref()?);
        let (guest, shown) = (&booking.guest, as_added(page, booking, event));
        let words = &Translator::new(guest.locale);
        let mut mail = letters::booking_reminder(&guest.email, &appointment(page, guest, &shown, words), &links);
        let start = event.times.span.start();
        mail.until = Some(start);
        // It does not replace the email that confirms or moves the booking, but such an email replaces it.
        Some(self.letter(event.org, &mail, About { event: shown.id, occurrence: Some(start) }, now))
    }

    /// A booking as an iCalendar file, for the guest's calendar.
    pub fn booking_file(&self, seen: &BookingSeen) -> Option<String> {
        let event = seen.event.as_ref().filter(|_| !seen.is_cancelled())?;
        let shown = as_added(&seen.page, &seen.booking, event);
        Some(Meeting::new(seen.page.timetable.zone, &shown, None, &[]).file())
    }

    /// The links at which a guest cancels and moves a booking.
    pub(crate) fn links(&self, page: &BookingPage, token: &BookingToken) -> BookingLinks {
        BookingLinks {
            cancel_url: self.link(page, &token.to_cancel(), "cancel"),
            ics_url: self.link(page, &token.to_cancel(), "event.ics"),
            reschedule_url: Some(self.link(page, token, "move")),
        }
    }

    /// The links in the emails to a guest, which open pages in the guest's language.
    fn links_for(&self, guest: &Guest, page: &BookingPage, token: &BookingToken) -> BookingLinks {
        let BookingLinks { cancel_url, ics_url, reschedule_url } = self.links(page, token);
        BookingLinks {
            cancel_url: in_language(guest, cancel_url),
            ics_url,
            reschedule_url: reschedule_url.map(|address| in_language(guest, address)),
        }
    }

    /// The URL on which guests book.
    fn address(&self, page: &BookingPage) -> String {
        format!("{}/book/{}", self.parts.settings.base_url, page.slug.reveal())
    }

    /// The URL at which a booking's token is used.
    pub(crate) fn link(&self, page: &BookingPage, token: &BookingToken, what: &str) -> String {
        format!("{}/bookings/{}/{what}", self.address(page), token.reveal())
    }
}

/// The address of a page in the language of the guest, if it is known. The address has no query.
fn in_language(guest: &Guest, address: String) -> String {
    match guest.locale {
        Locale::DEFAULT => address,
        locale => format!("{address}?lang={locale}"),
    }
}

/// A booking as the emails to its guest show it. `shown` is its event as the guest gets it.
fn appointment<'a>(
    page: &BookingPage,
    guest: &Guest,
    shown: &'a Event,
    words: &'a Translator,
) -> letters::Appointment<'a> {
    letters::Appointment {
        words,
        title: Foreign::new(&page.title),
        host: page.details.host_name.as_deref().map(Foreign::new),
        when: When::of(shown.times, guest.zone.unwrap_or(page.timetable.zone), words),
        location: shown.location.as_deref().map(Foreign::new),
        call: shown.conference_url.as_ref(),
    }
}

/// Somebody who takes part in a booking, as an attendee of its event.
pub(crate) fn accepted(email: &Email) -> Attendee {
    Attendee {
        email: email.clone(),
        name: None,
        role: AttendeeRole::Required,
        agent: None,
        status: AttendeeStatus::Accepted,
        responded_at: None,
        secret: None,
    }
}

/// The event of a booking as the guest's calendar gets it. The guest's own words, which are in the title, are not repeated.
fn as_added(page: &BookingPage, booking: &Booking, event: &Event) -> Event {
    let shown = booking.as_known(booking.guest.view_of(event));
    Event { title: page.title.clone(), repeats: Repeats::Once, ..shown }
}
