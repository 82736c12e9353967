//! The page on which a person decides whether replies to an organization's emails go to their address.

use askama::Template;
use kalends_i18n::{Sentence, Translator};

use crate::link::Path;
use crate::page::Reader;

/// Whether replies go to the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepliesState {
    /// Not yet: the person has not answered.
    Asked,
    /// They do.
    Agreed,
    /// The person has just decided that they do not.
    Stopped,
}

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
    /// Whether replies go to the address.
    pub state: RepliesState,
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
