//! Emails to guests. Each carries an invitation that calendar programs understand.

use kalends_bookings::{BookingPage, BookingToken, Guest};
use kalends_calendars::Event;
use kalends_feeds::write::{Invitation, Method, invitation};
use kalends_kernel::Foreign;
use kalends_time::{CivilDateTime, Span, Zone};
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
        let when = when(event.times.span, page.timetable.zone);
        let links = match &about {
            Letter::Booked(token) | Letter::Moved(token) => Some(self.links(page, token)),
            Letter::Cancelled => None,
        };
        let sender = self.parts.mailer.sender();
        let text = invitation(&Invitation {
            method,
            event,
            // The guest's own words are not repeated: an email must not carry text of third parties.
            title: &title,
            organizer: (&title, &sender),
            attendee: guest.email.as_str(),
            link: links.as_ref().and_then(|links| links.reschedule_url.as_deref()),
            written: now,
        });
        let mut mail = match (&about, &links) {
            (Letter::Booked(_), Some(links)) => letters::booked(&guest.email, &title, &when, links),
            (Letter::Moved(_), Some(links)) => letters::booking_moved(&guest.email, &title, &when, links),
            (Letter::Cancelled, _) | (_, None) => letters::booking_cancelled(&guest.email, &title, &when),
        };
        mail.calendar = Some(CalendarPart { method, text });
        self.write_letter(&mail, event.id, now, changes);
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

/// A time as an email shows it, in the zone of the page.
fn when(span: Span, zone: Zone) -> When {
    const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let clock = |at: CivilDateTime| {
        let minutes = at.time.as_micros() / 60_000_000;
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    };
    let (start, end) = (zone.to_civil(span.start()), zone.to_civil(span.end()));
    let day = DAYS.get(usize::from(start.date.weekday())).copied().unwrap_or_default();
    When(format!("{day}, {}, {} to {} ({zone})", start.date, clock(start), clock(end)))
}
