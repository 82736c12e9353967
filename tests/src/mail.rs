//! The file mailbox, as its reader sees it.

use std::{fs, path::Path};

use mail_parser::{MessageParser, MessagePart, MimeHeaders as _};

/// An email.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The address of its recipient.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The address that replies go to, if it is another than the sender's.
    pub reply_to: Option<String>,
    /// The text.
    pub text: String,
    /// The iCalendar invitation, with its lines unfolded, or an empty string if there is none.
    pub invitation: String,
}

impl Mail {
    /// The six-digit code in the text.
    pub fn code(&self) -> &str {
        self.text
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .find(|word| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit()))
            .unwrap_or_else(|| panic!("no code in {self:#?}"))
    }
}

/// The emails in `directory`, sorted by name, which is the order of sending.
pub(crate) fn read_all(directory: &Path) -> Vec<Mail> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable mailbox").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Mail {
    let bytes = fs::read(path).expect("a readable message");
    let message = MessageParser::new().parse(&bytes).expect("a message");
    let is_calendar = |part: &&MessagePart<'_>| {
        part.content_type().is_some_and(|kind| kind.ctype() == "text" && kind.subtype() == Some("calendar"))
    };
    let invitation = message.parts.iter().find(is_calendar).and_then(MessagePart::text_contents).unwrap_or_default();
    let to = message.to().and_then(|to| to.first()).and_then(|address| address.address());
    Mail {
        to: to.expect("a receiver").to_owned(),
        reply_to: message.reply_to().and_then(|to| to.first()).and_then(|to| to.address()).map(str::to_owned),
        subject: message.subject().expect("a subject").to_owned(),
        text: message.body_text(0).expect("a text").replace("\r\n", "\n"),
        invitation: invitation.replace("\r\n ", "").replace("\r\n", "\n"),
    }
}
