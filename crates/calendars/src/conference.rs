//! The address of a call.

use std::fmt;

use kalends_kernel::FieldError;
use url::{ParseError, Url};

/// Where an event's call takes place: an https URL that people open, such as `https://meet.example.com/standup`.
///
/// Kalends never requests it. Answers and feeds (`CONFERENCE`, RFC 7986 section 5.11) show it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConferenceUrl(String);

impl ConferenceUrl {
    /// The maximum number of characters, as it is sent and as it is stored.
    pub const MAX: usize = 2_000;

    /// Checks a URL. It must be https, have a host and no credentials, and be at most [`Self::MAX`] characters long.
    /// It is kept in the form of the URL standard: in ASCII, with `/` as its shortest path.
    ///
    /// # Errors
    /// Names the field and what is wrong.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let wrong = |reason: &str| {
            FieldError::new(param, format!("must be an https URL, such as https://meet.example.com/standup; {reason}"))
        };
        let length = text.chars().count();
        if length > Self::MAX {
            return Err(FieldError::new(param, format!("must be at most {} characters long, got {length}", Self::MAX)));
        }
        // The parser removes these instead of refusing them.
        if text.chars().any(|character| character.is_whitespace() || character.is_control()) {
            return Err(wrong("it must not contain spaces or control characters"));
        }
        let url = match Url::parse(text) {
            Ok(url) if url.scheme() == "https" => url,
            Ok(_) | Err(ParseError::RelativeUrlWithoutBase) => return Err(wrong("it must begin with https://")),
            Err(error) => return Err(wrong(&error.to_string())),
        };
        // `https://bank.example@evil.example` looks like an address of the bank.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it must not contain a user name or a password"));
        }
        let length = url.as_str().len();
        if length > Self::MAX {
            let message = format!("must be at most {} characters long in ASCII, got {length}", Self::MAX);
            return Err(FieldError::new(param, message));
        }
        Ok(Self(url.into()))
    }

    /// A URL that was checked before it was stored.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The URL, in ASCII.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConferenceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ConferenceUrl> for String {
    fn from(url: ConferenceUrl) -> Self {
        url.0
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        ConferenceUrl::parse("conference_url", text).map(String::from).map_err(|error| error.to_string())
    }

    #[rstest]
    #[case("https://meet.example.com/standup?pwd=1#a", "https://meet.example.com/standup?pwd=1#a")]
    #[case("HTTPS://Meet.Example.com", "https://meet.example.com/")]
    #[case("https://treffen.example/büro", "https://treffen.example/b%C3%BCro")]
    #[case("https://bücher.example:8443/a", "https://xn--bcher-kva.example:8443/a")]
    #[case("https://[2001:db8::1]/a", "https://[2001:db8::1]/a")]
    fn urls_are_kept_in_ascii(#[case] text: &str, #[case] kept: &str) {
        assert_eq!(parse(text).as_deref(), Ok(kept));
        assert_eq!(parse(kept).as_deref(), Ok(kept), "the form is stable");
    }

    #[rstest]
    #[case("", "must begin with https://")]
    #[case("meet.example.com/standup", "must begin with https://")]
    #[case("http://meet.example.com/", "must begin with https://")]
    #[case("javascript:alert(1)", "must begin with https://")]
    #[case("tel:+4930123456", "must begin with https://")]
    #[case("https://", "empty host")]
    #[case("https://bank.example@evil.example/", "must not contain a user name")]
    #[case("https://:secret@evil.example/", "must not contain a user name")]
    #[case("https://meet.example.com/a b", "must not contain spaces")]
    #[case(" https://meet.example.com/", "must not contain spaces")]
    #[case("https://meet.example.com/\r\nATTENDEE:x", "must not contain spaces")]
    #[case("https://meet.example.com/\u{0}", "must not contain spaces")]
    fn other_texts_are_refused(#[case] text: &str, #[case] reason: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with("conference_url: must be an https URL") && error.contains(reason), "{error}");
    }

    #[test]
    fn the_length_is_bounded_before_and_after_encoding() {
        let url = |letter: &str, count: usize| format!("https://a.example/{}", letter.repeat(count));
        let fits = ConferenceUrl::MAX - url("", 0).len();
        assert!(parse(&url("a", fits)).is_ok());
        assert!(parse(&url("a", fits + 1)).unwrap_err().contains("at most 2000 characters long, got 2001"));
        assert!(parse(&url("ü", 400)).unwrap_err().contains("in ASCII, got 2418"));
    }
}
