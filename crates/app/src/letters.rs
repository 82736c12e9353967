//! The emails that Kalends sends: the text of each, rendered as plain text and as HTML.
//!
//! An email consists of our own words and of [`Foreign`] text, which never becomes a link. There is no other way to
//! put text into an email: [`Words`] accepts only words from this module, [`Own`] values, our tokens and foreign text. The
//! only address of others that is a link is that of an event's call.

use std::fmt::Display;

use kalends_accounts::{Email, MailedToken};
use kalends_calendars::{ConferenceUrl, Times};
use kalends_i18n::{Sentence, Translator};
use kalends_kernel::{Foreign, WebhookId};
use kalends_time::{SignedDuration, Timestamp, Zone};

use crate::ports::Mail;

mod accounts;
mod approvals;
mod bookings;
mod claims;
mod events;
mod operator;
mod second_factor;
mod sign_ups;
#[cfg(test)]
mod tests;
mod webhooks;

pub(crate) use accounts::{
    invites_member, password_reset, password_was_reset, provider_added, provider_took_over, reset_page,
};
pub(crate) use approvals::{Asked, asks_for_approval};
pub(crate) use bookings::{
    Appointment, HostLetter, Visit, asks_for_consent, asks_for_replies, booked, booking_cancelled, booking_moved,
    booking_reminder, called_off, for_host,
};
pub(crate) use claims::{Revocation, claim_code, claim_held};
pub(crate) use events::{Gathering, invited, uninvited};
pub(crate) use operator::test_mail;
pub(crate) use second_factor::{
    recovery_code_used, recovery_codes_renewed, second_factor_off, second_factor_on, wrong_codes_used_up,
};
pub(crate) use sign_ups::{activated, already_known, asks_for_proof, joined_waitlist, verification_code};
pub(crate) use webhooks::webhook_deactivated;

/// The frame of the HTML.
const FRAME: &str = include_str!("../templates/letter.html");
/// Begins the signature of a plain text (RFC 3676 section 4.3).
const SIGNATURE: &str = "-- ";

/// A value of ours that may appear in an email as it is: nobody else chooses its text.
pub(crate) trait Own: Display {}

impl Own for Timestamp {}
impl Own for usize {}
impl Own for WebhookId {}
impl Own for When {}

/// The times of an event, as an email shows them.
#[derive(Debug)]
pub(crate) struct When(pub(crate) String);

impl When {
    /// The times of an event, by the clocks of `zone`.
    pub(crate) fn of(times: Times, zone: Zone, words: &Translator) -> Self {
        let start = zone.to_civil(times.span.start());
        // Whole days are named by the first and the last of them.
        let end = if times.all_day { times.span.end() - SignedDuration::micros(1) } else { times.span.end() };
        let end = zone.to_civil(end);
        let sentence = words.say(match (times.all_day, start.date == end.date) {
            (true, true) => "when-all-day",
            (true, false) => "when-all-days",
            (false, true) => "when-times",
            (false, false) => "when-days",
        });
        let sentence = sentence.with("date", words.date(start.date)).with("last", words.date(end.date));
        let sentence = sentence.with("start", words.time(start.time)).with("end", words.time(end.time));
        Self(sentence.with("zone", zone).to_string())
    }
}

impl Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One or more sentences, in which third-party text is never a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words(String);

impl Words {
    /// Words from this module.
    fn new(words: &'static str) -> Self {
        Self(words.to_owned())
    }

    /// Appends words from this module.
    fn and(mut self, words: &'static str) -> Self {
        self.0.push_str(words);
        self
    }

    /// Appends third-party text.
    fn foreign(mut self, text: &Foreign) -> Self {
        self.0.push_str(text.as_str());
        self
    }

    /// Appends a value of ours.
    fn own(mut self, value: &impl Own) -> Self {
        self.0.push_str(&value.to_string());
        self
    }

    /// Appends a secret of ours.
    fn token(mut self, token: &MailedToken) -> Self {
        self.0.push_str(token.reveal());
        self
    }
}

impl From<&'static str> for Words {
    fn from(words: &'static str) -> Self {
        Self::new(words)
    }
}

/// A message of ours in the reader's language, in which only the texts of an email are filled in.
struct Message(Sentence);

impl Message {
    fn new(words: &Translator, id: &'static str) -> Self {
        Self(words.say(id))
    }

    /// Fills third-party text in.
    fn foreign(self, name: &'static str, text: &Foreign) -> Self {
        Self(self.0.with(name, text))
    }

    /// Fills a value of ours in.
    fn own(self, name: &'static str, value: &impl Own) -> Self {
        Self(self.0.with(name, value))
    }

    /// Fills another message in.
    fn message(self, name: &'static str, message: Self) -> Self {
        Self(self.0.with(name, message.0))
    }
}

impl From<Message> for Words {
    fn from(Message(sentence): Message) -> Self {
        Self(sentence.to_string())
    }
}

/// A part of an email.
enum Part {
    /// A paragraph.
    Says(Words),
    /// A code to copy.
    Code(String),
    /// A link to one of our pages, or to the call of an event.
    Link(String),
}

/// An email before it is rendered.
struct Letter {
    subject: Words,
    parts: Vec<Part>,
}

impl Letter {
    /// The email in English.
    fn to(self, to: &Email) -> Mail {
        self.written(to, Translator::english())
    }

    /// The email in the language of its parts.
    fn written(self, to: &Email, words: &Translator) -> Mail {
        let [greeting, signature] = ["mail-greeting", "mail-signature"].map(|id| words.say(id).to_string());
        let mut text = format!("{greeting}\n\n");
        let mut body = format!("<p>{}</p>\n", escaped(&greeting));
        for part in &self.parts {
            match part {
                Part::Says(Words(words)) => {
                    text.push_str(words);
                    body.push_str(&format!("<p>{}</p>\n", escaped(words)));
                }
                Part::Code(code) => {
                    text.push_str(&format!("    {code}"));
                    let style = "font:600 28px/1.2 ui-monospace,monospace;letter-spacing:.15em";
                    body.push_str(&format!("<p style=\"{style}\">{}</p>\n", escaped(code)));
                }
                Part::Link(address) => {
                    text.push_str(address);
                    let address = escaped(address);
                    body.push_str(&format!("<p><a href=\"{address}\">{address}</a></p>\n"));
                }
            }
            text.push_str("\n\n");
        }
        text.push_str(&format!("{SIGNATURE}\n{signature}\n"));
        let Words(subject) = self.subject;
        // The frame is ours. What is filled in is not scanned for placeholders.
        let html = FRAME.split("{{").map(|piece| match piece.split_once("}}") {
            Some(("language", rest)) => format!("{}{rest}", words.language().code()),
            Some(("signature", rest)) => format!("{}{rest}", escaped(&signature)),
            Some(("subject", rest)) => format!("{}{rest}", escaped(&subject)),
            Some(("body", rest)) => format!("{body}{rest}"),
            _ => piece.to_owned(),
        });
        Mail {
            to: to.clone(),
            html: html.collect(),
            subject,
            text,
            calendar: None,
            agreed: false,
            until: None,
            reply_to: None,
        }
    }
}

/// Where an event takes place. Only the address of the call is a link.
fn places(words: &Translator, location: Option<&Foreign>, call: Option<&ConferenceUrl>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(location) = location {
        parts.push(Part::Says(Message::new(words, "mail-place").foreign("place", location).into()));
    }
    if let Some(call) = call {
        parts.extend([Part::Says(Message::new(words, "mail-call").into()), Part::Link(call.as_str().to_owned())]);
    }
    parts
}

/// Escapes text for HTML, both between tags and in attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
