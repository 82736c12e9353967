//! Pages that explain why nothing else can be shown.

use askama::Template;
use kalends_i18n::{Sentence, Translator};

use crate::link::Path;
use crate::next::Next;
use crate::page::Reader;

/// Why a page cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The page does not exist, or no longer exists (404).
    NotFound,
    /// The host cannot take bookings at the moment (429).
    Closed,
    /// The console has no such page (404).
    NoConsolePage,
    /// The console did not accept a form (4xx).
    NotAccepted,
    /// A form comes from a page at another address than the server's (403).
    OtherAddress {
        /// The server's address.
        address: &'a str,
    },
    /// The link of a booking is cut short, or its booking is gone (404).
    NoBooking,
    /// A booking cannot be moved, because its page takes no bookings (404).
    NotMoved,
    /// The link of an invitation is cut short, or its event is gone (404).
    NoInvitation,
    /// The link of a question about replies is cut short, replaced or expired (4xx).
    NoReplyLink,
    /// A reply to an invitation could not be recorded (4xx).
    NoReply,
    /// Too many requests came from the visitor's address (429).
    TooMany {
        /// The seconds until the next request is answered.
        retry_after_seconds: u32,
    },
    /// The address contains something that is not a time, or a time that the page never offers (400).
    Nonsense,
    /// Something failed on our side (500 or 503).
    Failed {
        /// The identifier to find the failure in the log.
        request_id: &'a str,
    },
}

#[derive(Template)]
#[template(path = "notice.html")]
struct Shape<'a> {
    title: Sentence,
    paragraphs: Vec<Sentence>,
    /// The address that the page leads to, and the label of the link.
    back: Option<(String, &'static str)>,
    footer: &'static str,
    reader: &'a Reader,
}

impl Shape<'_> {
    fn words(&self) -> &Translator {
        self.reader.words()
    }

    fn say(&self, id: &'static str) -> Sentence {
        self.words().say(id)
    }
}

impl Notice<'_> {
    /// The page. It links to the booking page `back`, if there is one.
    pub fn html(&self, reader: &Reader, back: Option<&Path>) -> String {
        self.render(reader, back.map(|path| (reader.keeps(path), "see-free-times")), "footer-booking")
    }

    /// The page, as a page of the console. It leads to the first page, unless that is at another address.
    pub fn in_console(&self, reader: &Reader) -> String {
        let is_elsewhere = matches!(self, Self::OtherAddress { .. });
        let back = (!is_elsewhere).then(|| (Next::Home.path().to_owned(), "go-to-console"));
        self.render(reader, back, "footer-console")
    }

    fn render(&self, reader: &Reader, back: Option<(String, &'static str)>, footer: &'static str) -> String {
        let words = reader.words();
        let (title, paragraphs) = (words.say(self.title()), self.paragraphs(words));
        crate::render(&Shape { title, paragraphs, back, footer, reader })
    }

    fn title(&self) -> &'static str {
        match self {
            Self::NotFound => "no-page",
            Self::Closed => "closed",
            Self::NoConsolePage => "no-console-page",
            Self::NotAccepted => "not-accepted",
            Self::OtherAddress { .. } => "other-address",
            Self::NoBooking => "no-booking",
            Self::NotMoved => "not-moved",
            Self::NoInvitation => "no-invitation",
            Self::NoReplyLink => "no-reply-link",
            Self::NoReply => "no-reply",
            Self::TooMany { .. } => "too-many",
            Self::Nonsense => "not-offered",
            Self::Failed { .. } => "failed",
        }
    }

    fn paragraphs<'a>(&'a self, words: &'a Translator) -> Vec<Sentence> {
        let texts: &[&'static str] = match self {
            Self::NotFound => &["no-page-text", "no-page-advice"],
            Self::Closed => &["closed-text", "closed-advice"],
            Self::NoConsolePage => &["no-console-page-text"],
            Self::NotAccepted => &["not-accepted-text"],
            Self::NoBooking => &["no-booking-text"],
            Self::NotMoved => &["not-moved-text"],
            Self::NoInvitation => &["no-invitation-text", "no-invitation-advice"],
            Self::NoReplyLink => &["no-reply-link-text"],
            Self::NoReply => &["no-reply-text"],
            Self::TooMany { retry_after_seconds } => {
                let wait = match *retry_after_seconds {
                    seconds @ ..=90 => words.say("too-many-seconds").count(seconds.max(1)),
                    seconds => words.say("too-many-minutes").count(seconds.div_ceil(60)),
                };
                return vec![words.say("too-many-text"), wait];
            }
            Self::Nonsense => &["not-offered-text"],
            Self::OtherAddress { address } => {
                return vec![words.say("other-address-text").with("address", *address)];
            }
            Self::Failed { request_id } => {
                return vec![words.say("failed-text"), words.say("failed-number").with("number", *request_id)];
            }
        };
        texts.iter().map(|text| words.say(text)).collect()
    }
}
