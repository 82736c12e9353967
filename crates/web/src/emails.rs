//! The page on which a person decides whether to get emails about the bookings of a page.

use askama::Template;
use kalends_i18n::{Sentence, Translator};

use crate::link::Path;
use crate::page::Reader;

/// Whether the emails are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmailsState {
    /// Not yet: the person has not answered.
    Asked,
    /// They are sent.
    Sent,
    /// They are not sent.
    Stopped,
}

/// The question to one address.
#[derive(Debug, Clone, Template)]
#[template(path = "emails.html")]
pub struct BookingEmails<'a> {
    /// The address of the page, to which the answer is sent.
    pub path: &'a Path,
    /// The title of the booking page.
    pub title: &'a str,
    /// The name of the organization.
    pub organization: &'a str,
    /// The address that gets the emails.
    pub email: &'a str,
    /// Whether the emails are sent.
    pub state: EmailsState,
    /// Whether this has just been decided.
    pub recorded: bool,
    /// Who reads the page.
    pub reader: &'a Reader,
}

impl BookingEmails<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    fn words(&self) -> &Translator {
        self.reader.words()
    }

    fn say(&self, id: &'static str) -> Sentence {
        self.words().say(id)
    }
}
