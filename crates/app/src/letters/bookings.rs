//! The emails about bookings, to guests and to hosts.

use kalends_bookings::{Guest, Question};
use kalends_calendars::ConferenceUrl;
use kalends_i18n::Translator;
use kalends_kernel::{Email, Foreign};
use kalends_wire::BookingLinks;
use serde_json::Value;

use super::{Letter, Message, Part, When, Words, places};
use crate::ports::Mail;

/// A booking as the emails to its guest show it.
pub(crate) struct Appointment<'a> {
    /// The language of the emails.
    pub(crate) words: &'a Translator,
    /// The title of the page.
    pub(crate) title: Foreign,
    /// Who receives the guest.
    pub(crate) host: Option<Foreign>,
    /// When, by the clocks of the guest's zone, or of the page's.
    pub(crate) when: When,
    /// Where.
    pub(crate) location: Option<Foreign>,
    /// The call.
    pub(crate) call: Option<&'a ConferenceUrl>,
}

impl Appointment<'_> {
    /// A message in the language of the emails.
    fn message(&self, id: &'static str) -> Message {
        Message::new(self.words, id)
    }

    /// A message that names the booking, such as `your booking "Intro call" with Grace`, and its times.
    fn says(&self, id: &'static str) -> Words {
        let booking = match &self.host {
            Some(host) => self.message("mail-booking-with").foreign("host", host),
            None => self.message("mail-booking"),
        };
        self.message(id).message("booking", booking.foreign("title", &self.title)).own("when", &self.when).into()
    }

    /// The email that says where the booking takes place, and has the links to move and cancel it.
    fn with_links(&self, to: &Email, subject: Message, says: &'static str, links: &BookingLinks) -> Mail {
        let mut parts = vec![Part::Says(self.says(says))];
        parts.extend(places(self.words, self.location.as_ref(), self.call));
        if let Some(reschedule) = &links.reschedule_url {
            parts.extend([Part::Says(self.message("mail-move").into()), Part::Link(reschedule.clone())]);
        }
        parts.extend([Part::Says(self.message("mail-cancel").into()), Part::Link(links.cancel_url.clone())]);
        parts.push(Part::Says(self.message("mail-links-are-secret").into()));
        Letter { subject: subject.into(), parts }.written(to, self.words)
    }
}

/// A booking that a guest made.
pub(crate) fn booked(to: &Email, of: &Appointment<'_>, links: &BookingLinks) -> Mail {
    of.with_links(to, of.message("mail-booked-subject"), "mail-booked", links)
}

/// A booking that a guest moved.
pub(crate) fn booking_moved(to: &Email, of: &Appointment<'_>, links: &BookingLinks) -> Mail {
    of.with_links(to, of.message("mail-moved-subject"), "mail-moved", links)
}

/// A booking that takes place soon.
pub(crate) fn booking_reminder(to: &Email, of: &Appointment<'_>, links: &BookingLinks) -> Mail {
    let subject = of.message("mail-reminder-subject").foreign("title", &of.title);
    of.with_links(to, subject, "mail-reminder", links)
}

/// A booking that a guest cancelled.
pub(crate) fn booking_cancelled(to: &Email, of: &Appointment<'_>) -> Mail {
    let parts = vec![Part::Says(of.says("mail-cancelled"))];
    Letter { subject: of.message("mail-cancelled-subject").into(), parts }.written(to, of.words)
}

/// A booking that the host cancelled. `again` is the page on which the guest can book another time.
pub(crate) fn called_off(to: &Email, of: &Appointment<'_>, reason: Option<&str>, again: Option<String>) -> Mail {
    let mut parts = vec![Part::Says(of.says("mail-called-off"))];
    if let Some(reason) = reason {
        parts.push(Part::Says(of.message("mail-host-writes").into()));
        parts.extend(quoted(reason));
    }
    if let Some(address) = again {
        parts.extend([Part::Says(of.message("mail-book-another").into()), Part::Link(address)]);
    }
    Letter { subject: of.message("mail-called-off-subject").into(), parts }.written(to, of.words)
}

/// What an email to a host is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostLetter {
    /// A guest booked.
    Booked,
    /// The guest moved the booking.
    Moved,
    /// The guest cancelled it.
    Cancelled,
    /// Somebody of the organization cancelled it.
    CalledOff,
}

impl HostLetter {
    /// Whether the booking ends.
    pub(crate) const fn cancels(self) -> bool {
        matches!(self, Self::Cancelled | Self::CalledOff)
    }
}

/// A booking as the emails to its hosts show it.
pub(crate) struct Visit<'a> {
    /// The title of the page.
    pub(crate) title: &'a Foreign,
    /// Who booked.
    pub(crate) guest: &'a Guest,
    /// When, by the clocks of the page's zone.
    pub(crate) when: When,
    /// Where.
    pub(crate) location: Option<Foreign>,
    /// The call.
    pub(crate) call: Option<&'a ConferenceUrl>,
    /// The questions of the page.
    pub(crate) questions: &'a [Question],
}

/// A booking, its move or its end, for a host. `stop` is the page on which the host ends these emails.
pub(crate) fn for_host(to: &Email, of: &Visit<'_>, about: HostLetter, stop: &str) -> Mail {
    let name = Foreign::new(&of.guest.name);
    let titled = |words: Words| words.and("\"").foreign(of.title).and("\"");
    let guest = || Words::new("").foreign(&name);
    let (subject, says) = match about {
        HostLetter::Booked => ("New booking: ", titled(guest().and(" booked ")).and(" for ").own(&of.when).and(".")),
        HostLetter::Moved => {
            let says = titled(guest().and(" moved ")).and(". It takes place on ").own(&of.when).and(".");
            ("Booking moved: ", says)
        }
        HostLetter::Cancelled => {
            ("Booking cancelled: ", titled(guest().and(" cancelled ")).and(" for ").own(&of.when).and("."))
        }
        HostLetter::CalledOff => {
            let says = titled(Words::new("your organization cancelled the booking of ").foreign(&name).and(": "));
            ("Booking cancelled: ", says.and(" for ").own(&of.when).and("."))
        }
    };
    let mut parts = vec![Part::Says(says)];
    parts.push(Part::Says(Words::new("Guest: ").foreign(&Foreign::new(of.guest.email.as_str()))));
    if !about.cancels() {
        parts.extend(places(Translator::english(), of.location.as_ref(), of.call));
        parts.extend(answers(of));
    }
    parts.extend([
        Part::Says(
            "You get this email because the booking page names your address. To stop these emails, go to".into(),
        ),
        Part::Link(stop.to_owned()),
    ]);
    Letter { subject: Words::new(subject).foreign(&name), parts }.to(to)
}

/// What the guest wrote.
fn answers(of: &Visit<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for (id, answer) in of.guest.answers.as_map() {
        // A question that is gone is named by its identifier.
        let label = of.questions.iter().find(|question| question.id == *id).map_or(id.as_str(), |of| of.label.as_str());
        let answer = match answer {
            Value::Bool(true) => "yes",
            Value::Bool(false) => "no",
            answer => answer.as_str().unwrap_or_default(),
        };
        parts.push(Part::Says(Words::new("").foreign(&Foreign::new(label))));
        parts.extend(quoted(answer));
    }
    if let Some(notes) = &of.guest.notes {
        parts.push(Part::Says("Notes:".into()));
        parts.extend(quoted(notes));
    }
    parts
}

/// The lines of a text of somebody else.
fn quoted(text: &str) -> impl Iterator<Item = Part> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Part::Says(Words::new("> ").foreign(&Foreign::new(line))))
}

/// The question whether an address wants an email about each booking of a page. `answer` is the page to answer on.
pub(crate) fn asks_for_consent(to: &Email, organization: &Foreign, title: &Foreign, answer: &str) -> Mail {
    let says = Words::new("the organization \"").foreign(organization);
    let says = says.and("\" wants to send you an email about each booking of its page \"").foreign(title);
    Letter {
        subject: "Do you want emails about bookings?".into(),
        parts: vec![
            Part::Says(says.and("\". To say yes or no, open")),
            Part::Link(answer.to_owned()),
            Part::Says(
                "If you do nothing, you get none. Anyone with this link can answer for you: do not forward this message."
                    .into(),
            ),
        ],
    }
    .to(to)
}

/// The question whether replies to an organization's emails may go to an address. `answer` is the page to answer on.
pub(crate) fn asks_for_replies(to: &Email, organization: &Foreign, answer: &str) -> Mail {
    let says = Words::new("the organization \"").foreign(organization);
    let says = says.and("\" wants replies to its emails (invitations and bookings) to go to your address. ");
    Letter {
        subject: "May replies go to this address?".into(),
        parts: vec![
            Part::Says(says.and("To agree or to refuse, open within 7 days")),
            Part::Link(answer.to_owned()),
            Part::Says(
                "If you do nothing, you get no replies. With the same link you can end them later. Anyone with this \
                 link can answer for you: do not forward this message."
                    .into(),
            ),
        ],
    }
    .to(to)
}
