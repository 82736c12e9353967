//! The common parts of every message, and how an email becomes a message.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use kalends_app::ports::{Mail, MailError};
use kalends_kernel::{Entropy, base64url, random_bytes};
use kalends_time::{Clock, Timestamp};
use lettre::{
    Address, Message,
    message::{
        Attachment, Mailbox, MultiPart, SinglePart,
        header::{ContentType, HeaderName, HeaderValue},
    },
};

/// The sender's display name.
const NAME: &str = "Kalends";
/// The mailbox, which nobody reads.
const MAILBOX: &str = "no-reply";

/// A sender: an address, with or without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender(Mailbox);

impl Sender {
    /// Reads `bookings@example.com` or `Example Bookings <bookings@example.com>`. An address without a name gets the usual
    /// one.
    ///
    /// # Errors
    /// Says what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("must be an address such as \"Bookings <bookings@example.com>\", got {text:?}");
        if text.contains(char::is_control) {
            return Err(wrong());
        }
        let Mailbox { name, email } = text.parse().map_err(|_| wrong())?;
        Ok(Self(Mailbox::new(Some(name.unwrap_or_else(|| NAME.to_owned())), email)))
    }
}

/// The sender, and the clock and entropy for the headers `Date` and `Message-ID`.
#[derive(Clone)]
pub struct Letterhead {
    from: Mailbox,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Letterhead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Letterhead").field("from", &self.from.to_string()).finish_non_exhaustive()
    }
}

impl Letterhead {
    /// Sends as `Kalends <no-reply@host>`. If the host is not a valid sender domain (for example, the IP address of a
    /// local machine), the domain is `localhost`.
    pub fn new(host: &str, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let address = Some(host)
            .filter(|host| host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_err())
            .and_then(|host| Address::new(MAILBOX, host).ok())
            .unwrap_or_else(|| Address::new_dangerous(MAILBOX, "localhost"));
        Self { from: Mailbox::new(Some(NAME.to_owned()), address), clock, entropy }
    }

    /// Sends as another sender.
    #[must_use]
    pub fn sent_by(self, sender: Sender) -> Self {
        Self { from: sender.0, ..self }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// The sender's address.
    pub(crate) fn sender(&self) -> String {
        self.from.email.to_string()
    }

    /// The message of an email: one recipient, and alternatives in plain text and HTML.
    pub(crate) fn message(&self, mail: &Mail) -> Result<Message, MailError> {
        let to = mail.to.as_str().parse::<Address>().map_err(MailError::lasting)?;
        let subject = subject(&mail.subject);
        let id = base64url(&random_bytes::<16>(&*self.entropy));
        let mut builder = Message::builder();
        if let Some(reply_to) = &mail.reply_to {
            let address = reply_to.as_str().parse::<Address>().map_err(MailError::new)?;
            builder = builder.reply_to(Mailbox::new(None, address));
        }
        builder
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(subject)
            .date(self.date())
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            // Automatic replies ignore such messages (RFC 3834).
            .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned()))
            .multipart(body(mail)?)
            .map_err(MailError::lasting)
    }

    fn date(&self) -> SystemTime {
        let micros = u64::try_from(self.now().as_micros()).unwrap_or(0);
        SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
    }
}

/// The subject as a header. Control characters, including line breaks, become spaces, so that it stays one header. Spaces
/// stand alone, because readers drop those between two encoded words (RFC 2047 section 6.2). A text that looks like an
/// encoded word is broken up, so that readers show it as it is instead of decoding it.
fn subject(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    line.replace("=?", "=\u{200b}?")
}

/// Alternatives in plain text and HTML. An invitation is added twice: as another alternative, by which some mail
/// clients recognize it, and as an attachment for the others.
fn body(mail: &Mail) -> Result<MultiPart, MailError> {
    let texts = MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone());
    let Some(calendar) = &mail.calendar else { return Ok(texts) };
    let kind = format!("text/calendar; charset=utf-8; method={}", calendar.method.as_str());
    let kind = ContentType::parse(&kind).map_err(MailError::lasting)?;
    let form = SinglePart::builder().header(kind).body(calendar.text.clone());
    let file_kind = ContentType::parse("application/ics").map_err(MailError::lasting)?;
    let file = Attachment::new("invite.ics".to_owned()).body(calendar.text.clone(), file_kind);
    Ok(MultiPart::mixed().multipart(texts.singlepart(form)).singlepart(file))
}

#[cfg(test)]
mod tests {
    use kalends_accounts::Email;
    use kalends_app::ports::{CalendarMethod, CalendarPart};
    use mail_parser::{MessageParser, MimeHeaders as _};
    use rstest::rstest;

    use super::*;
    use crate::stand_ins::{letterhead, mail};

    #[rstest]
    #[case("kalends.example", "no-reply@kalends.example")]
    #[case("127.0.0.1", "no-reply@localhost")]
    #[case("[::1]", "no-reply@localhost")]
    #[case("localhost", "no-reply@localhost")]
    #[case("x\r\nBcc: y@example.com", "no-reply@localhost")]
    fn the_sender_is_at_the_host(#[case] host: &str, #[case] address: &str) {
        let letterhead = letterhead(host);
        assert_eq!(letterhead.from.to_string(), format!("Kalends <{address}>"));
    }

    #[rstest]
    #[case("bookings@example.com", Ok("Kalends <bookings@example.com>"))]
    #[case("Example Bookings <bookings@example.com>", Ok("Example Bookings <bookings@example.com>"))]
    #[case("", Err(()))]
    #[case("bookings", Err(()))]
    #[case("a@example.com, b@example.com", Err(()))]
    #[case("a@example.com\r\nBcc: b@example.com", Err(()))]
    #[case("A\nBcc: b@example.com <a@example.com>", Err(()))]
    fn a_configured_sender(#[case] text: &str, #[case] shown: Result<&str, ()>) {
        let sender = Sender::parse(text).map_err(drop);
        let from = sender.map(|sender| letterhead("kalends.example").sent_by(sender).from.to_string());
        assert_eq!(from, shown.map(str::to_owned));
    }

    #[rstest]
    #[case("Your code\r\nBcc: eve@example.com")]
    #[case("Your code\nBcc: eve@example.com")]
    #[case("Your code\rBcc: eve@example.com\r\n\r\nAnother body")]
    #[case("Grüße\r\n\r\nBcc: eve@example.com")]
    #[case("a\u{85}b\u{0}c\u{7f}")]
    fn a_subject_stays_one_header(#[case] subject: &str) {
        let message = letterhead("kalends.example").message(&Mail { subject: subject.to_owned(), ..mail() }).unwrap();
        let bytes = message.formatted();
        let parsed = MessageParser::new().parse(&bytes).unwrap();
        assert!(parsed.bcc().is_none());
        assert_eq!(parsed.body_text(0).unwrap().trim_end(), mail().text.replace('\n', "\r\n").trim_end());
        let words = subject.split(|letter: char| letter.is_whitespace() || letter.is_control());
        let given = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        assert_eq!(parsed.subject().unwrap(), given);
    }

    #[rstest]
    #[case::spaces_between_encoded_words("Grüße\r\n für  Köln", "Grüße für Köln")]
    #[case::spaces_at_the_ends("  Grüße ", "Grüße")]
    #[case::an_encoded_word(
        "see =?utf-8?q?https=3A=2F=2Fexample=2Ecom?=",
        "see =\u{200b}?utf-8?q?https=3A=2F=2Fexample=2Ecom?="
    )]
    #[case::a_broken_encoded_word("=\u{7f}?utf-8?b?aHR0cA==?=", "= ?utf-8?b?aHR0cA==\u{200b}?=")]
    fn a_subject_is_read_as_written(#[case] subject: &str, #[case] read: &str) {
        let message = letterhead("kalends.example").message(&Mail { subject: subject.to_owned(), ..mail() }).unwrap();
        let bytes = message.formatted();
        assert_eq!(MessageParser::new().parse(&bytes).unwrap().subject(), Some(read));
    }

    #[test]
    fn an_invitation_is_an_alternative_and_an_attachment() {
        let text = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n".to_owned();
        let calendar = Some(CalendarPart { method: CalendarMethod::Request, text: text.clone() });
        let letterhead = letterhead("kalends.example");
        assert_eq!(letterhead.sender(), "no-reply@kalends.example");
        let bytes = letterhead.message(&Mail { calendar, ..mail() }).unwrap().formatted();
        let parsed = MessageParser::new().parse(&bytes).unwrap();
        let kinds: Vec<String> = parsed
            .parts
            .iter()
            .filter_map(|part| part.content_type())
            .map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("")))
            .collect();
        let expected =
            ["multipart/mixed", "multipart/alternative", "text/plain", "text/html", "text/calendar", "application/ics"];
        assert_eq!(kinds, expected);
        let of = |subtype: &str| {
            let is = |part: &&mail_parser::MessagePart<'_>| {
                part.content_type().and_then(|kind| kind.subtype()).is_some_and(|found| found == subtype)
            };
            parsed.parts.iter().find(is).unwrap()
        };
        assert_eq!(of("calendar").content_type().unwrap().attribute("method"), Some("REQUEST"));
        assert_eq!(of("calendar").contents(), text.as_bytes());
        assert_eq!(of("ics").contents(), text.as_bytes());
    }

    #[test]
    fn replies_go_where_the_organization_wants_them() {
        let reply_to = Some(Email::from_stored("team@example.com".to_owned()));
        for (reply_to, read) in [(reply_to, Some("team@example.com")), (None, None)] {
            let bytes = letterhead("kalends.example").message(&Mail { reply_to, ..mail() }).unwrap().formatted();
            let parsed = MessageParser::new().parse(&bytes).unwrap();
            let address = parsed.reply_to().and_then(|to| to.first()).and_then(|address| address.address());
            assert_eq!(address, read);
        }
    }

    #[test]
    fn an_invalid_stored_address_is_refused() {
        for address in ["ada@example.com\r\nBcc: eve@example.com", "ada", "ada@example.com, eve@example.com"] {
            let mail = Mail { to: Email::from_stored(address.to_owned()), ..mail() };
            assert!(letterhead("kalends.example").message(&mail).is_err(), "{address}");
        }
    }
}
