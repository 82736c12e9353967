//! Guests: the people who book.

use kalends_accounts::Email;
use kalends_calendars::Event;
use kalends_kernel::{FieldErrors, Locale, bounded_text, optional_text};
use kalends_time::Zone;

use crate::questions::Answers;

/// The maximum number of characters of a guest's name.
pub const NAME_MAX: usize = 200;
/// The maximum number of characters of a guest's notes.
pub const NOTES_MAX: usize = 2_000;

/// A guest, as given in the booking form. Personal data: sealed at rest, never logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// The name, 1-200 characters.
    pub name: String,
    /// The address for mail about the booking.
    pub email: Email,
    /// Notes of the guest, up to 2,000 characters.
    pub notes: Option<String>,
    /// The answers to the questions of the page.
    pub answers: Answers,
    /// The zone in which emails show times to the guest; `None` is that of the page.
    pub zone: Option<Zone>,
    /// The language of emails to the guest, and the conventions by which they write times.
    pub locale: Locale,
    /// Whether the page had a place and a call when the guest booked: the guest sees those of the event.
    pub sees: Sees,
}

/// What a guest sees of an event, besides its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sees {
    /// The place.
    pub place: bool,
    /// The call.
    pub call: bool,
}

impl Guest {
    /// Checks every field. Blank notes become `None`. The questions of a page check the answers ([`Questions::read`]).
    ///
    /// [`Questions::read`]: crate::Questions::read
    ///
    /// # Errors
    /// Every invalid field.
    pub fn parse(name: &str, email: &str, notes: Option<&str>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let name = errors.take(bounded_text("name", name, 1, NAME_MAX));
        let email = errors.take(Email::parse("email", email));
        let notes = errors.take(optional_text("notes", notes, NOTES_MAX));
        match (name, email, notes) {
            (Some(name), Some(email), Some(notes)) => {
                let notes = notes.filter(|notes| !notes.trim().is_empty());
                let (answers, sees) = (Answers::default(), Sees::default());
                Ok(Self { name, email, notes, answers, zone: None, locale: Locale::DEFAULT, sees })
            }
            _ => Err(errors),
        }
    }

    /// The event of a booking as its guest sees it: without what the owner has written into it, and with its place and its
    /// call if the page had them when the guest booked.
    #[must_use]
    pub fn view_of(&self, event: &Event) -> Event {
        let mut shown = Event { description: None, ..event.clone() };
        if !self.sees.place {
            shown.location = None;
        }
        if !self.sees.call {
            shown.conference_url = None;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::all(("Ada", "Ada@Example.com", Some("bring tea")), &[])]
    #[case::no_name(("", "a@example.com", None), &["name"])]
    #[case::a_blank_name(("  ", "a@example.com", None), &["name"])]
    #[case::no_address(("Ada", "ada", None), &["email"])]
    #[case::a_line_break(("Ada", "ada@example.com\r\nBcc: eve@example.com", None), &["email"])]
    #[case::two_addresses(("Ada", "ada@example.com,eve@example.com", None), &["email"])]
    #[case::all_at_once(("", "x", Some("\0")), &["name", "email", "notes"])]
    fn fields(#[case] (name, email, notes): (&str, &str, Option<&str>), #[case] wrong: &[&str]) {
        let parsed = Guest::parse(name, email, notes);
        let at_fault: Vec<String> = parsed.err().iter().flat_map(FieldErrors::iter).map(|e| e.param.clone()).collect();
        assert_eq!(at_fault, wrong);
    }

    #[test]
    fn texts_are_bounded() {
        let fault = |name: usize, domain: usize, notes: usize| {
            let (name, email) = ("é".repeat(name), format!("a@{}.com", "b.".repeat(domain)));
            let email = if domain == 0 { "a@example.com" } else { &email };
            let parsed = Guest::parse(&name, email, Some(&"é".repeat(notes)));
            parsed.err().map(|errors| errors.first().param)
        };
        assert_eq!(fault(200, 0, 2_000), None);
        assert_eq!(fault(201, 0, 0).as_deref(), Some("name"));
        assert_eq!(fault(1, 160, 0).as_deref(), Some("email"));
        assert_eq!(fault(1, 0, 2_001).as_deref(), Some("notes"));
    }
}
