//! The page on which a person agrees that replies to an organization's emails go to their address.

use askama::Template;
use kalends_i18n::{Sentence, Translator};

use crate::link::Path;
use crate::page::Reader;

/// The question to one address.
#[derive(Debug, Clone, Template)]
#[template(path = "replies.html")]
pub struct Replies<'a> {
    /// The address of the page, to which the answer is sent.
    pub path: &'a Path,
    /// The name of the organization.
    pub organization: &'a str,
    /// The address that replies may go to.
    pub email: &'a str,
    /// Whether the person has just agreed.
    pub agreed: bool,
    /// Who reads the page.
    pub reader: &'a Reader,
}

impl Replies<'_> {
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
