//! Guests: the people who book.

use kalends_accounts::Email;
use kalends_kernel::{FieldErrors, bounded_text, optional_text};
use serde::{Deserialize, Serialize};

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
}

/// The plain form of a guest in a store.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    name: String,
    email: String,
    notes: Option<String>,
}

/// The document does not contain the fields of a guest. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of a guest")]
pub struct GuestDocumentError;

impl Guest {
    /// Checks every field. Blank notes become `None`.
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
                Ok(Self { name, email, notes: notes.filter(|notes| !notes.trim().is_empty()) })
            }
            _ => Err(errors),
        }
    }

    /// The document that stores seal.
    pub fn write(&self) -> Vec<u8> {
        let plain = Plain { name: self.name.clone(), email: self.email.as_str().to_owned(), notes: self.notes.clone() };
        // Serializing three strings cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`GuestDocumentError`].
    pub fn read(document: &[u8]) -> Result<Self, GuestDocumentError> {
        let Plain { name, email, notes } = serde_json::from_slice(document).map_err(|_| GuestDocumentError)?;
        Ok(Self { name, email: Email::from_stored(email), notes })
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

    #[test]
    fn documents_round_trip() {
        let guest = Guest::parse("Ada \"the\" Countess", "ada@example.com", Some("line\nbreak")).unwrap();
        assert_eq!(Guest::read(&guest.write()), Ok(guest));
        assert_eq!(Guest::parse("Ada", "ada@example.com", Some(" \n")).unwrap().notes, None);
        for broken in ["", "{}", r#"{"name":"Ada","email":"a@b.example","notes":null,"phone":"1"}"#] {
            assert_eq!(Guest::read(broken.as_bytes()), Err(GuestDocumentError), "{broken}");
        }
    }
}
