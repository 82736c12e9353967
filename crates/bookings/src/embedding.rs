//! The sites that may show a page in a frame.

use std::fmt;

use kalends_kernel::{FieldError, FieldErrors};
use url::{ParseError, Url};

/// The maximum number of sites that may show one page in a frame.
pub const EMBED_ORIGINS_MAX: usize = 10;
/// The maximum number of characters of an origin.
pub const ORIGIN_MAX: usize = 255;

/// The origin of a site: its scheme, host and port, such as `https://www.example.com` (RFC 6454). It contains no
/// character that separates the values of a `Content-Security-Policy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Checks an origin, and writes it as browsers do: in ASCII, in lower case, without the usual port of its scheme.
    ///
    /// # Errors
    /// Names the field and what is wrong.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let wrong = |reason: &str| {
            FieldError::new(param, format!("must be the origin of a site, such as https://www.example.com; {reason}"))
        };
        let length = text.chars().count();
        if length > ORIGIN_MAX {
            return Err(FieldError::new(param, format!("must be at most {ORIGIN_MAX} characters long, got {length}")));
        }
        let url = match Url::parse(text) {
            Ok(url) if ["https", "http"].contains(&url.scheme()) => url,
            Ok(_) | Err(ParseError::RelativeUrlWithoutBase) => {
                return Err(wrong("it must begin with https:// or http://"));
            }
            Err(error) => return Err(wrong(&error.to_string())),
        };
        let host = url.host_str().unwrap_or_default();
        // A `Content-Security-Policy` cannot name an IPv6 address.
        let plain = |letter: char| letter.is_ascii_alphanumeric() || ['.', '-'].contains(&letter);
        if host.is_empty() || !host.chars().all(plain) {
            return Err(wrong("its host may consist of letters, digits, dots and hyphens only"));
        }
        // A URL may have more parts than an origin, and the parser drops spaces around it.
        let Some((_, rest)) = text.split_once("://") else {
            return Err(wrong("it must begin with https:// or http://"));
        };
        let alone = rest.chars().all(|letter| letter.is_alphanumeric() || ['.', '-', ':'].contains(&letter));
        if !alone || text.trim() != text {
            return Err(wrong("it must have no path, user name or spaces"));
        }
        let origin = url.origin().ascii_serialization();
        if origin.len() > ORIGIN_MAX {
            return Err(wrong("its host is too long in ASCII"));
        }
        Ok(Self(origin))
    }

    /// An origin that was checked before it was stored.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The origin, in ASCII.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks a list of origins. Repeated ones count once.
///
/// # Errors
/// Every invalid origin, such as `embed_origins[2]`; `embed_origins` if there are more than [`EMBED_ORIGINS_MAX`].
pub fn embed_origins(given: &[String]) -> Result<Vec<Origin>, FieldErrors> {
    if given.len() > EMBED_ORIGINS_MAX {
        let message = format!("must hold at most {EMBED_ORIGINS_MAX} origins, got {}", given.len());
        return Err(FieldError::new("embed_origins", message).into());
    }
    let mut errors = FieldErrors::default();
    let mut origins = Vec::with_capacity(given.len());
    for (index, text) in given.iter().enumerate() {
        let origin = errors.take(Origin::parse(&format!("embed_origins[{index}]"), text));
        origins.extend(origin.filter(|origin| !origins.contains(origin)));
    }
    errors.finish()?;
    Ok(origins)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://www.example.com", "https://www.example.com")]
    #[case("HTTPS://WWW.Example.com:443", "https://www.example.com")]
    #[case("http://localhost:8080", "http://localhost:8080")]
    #[case("https://bücher.example", "https://xn--bcher-kva.example")]
    fn origins_are_kept_as_browsers_write_them(#[case] text: &str, #[case] kept: &str) {
        let origin = Origin::parse("embed_origins[0]", text).unwrap();
        assert_eq!(origin.as_str(), kept);
        assert_eq!(Origin::parse("embed_origins[0]", kept), Ok(origin));
    }

    #[rstest]
    #[case("")]
    #[case("*")]
    #[case("https:")]
    #[case("example.com")]
    #[case("https://*.example.com")]
    #[case("https://example.com/")]
    #[case("https://example.com/path")]
    #[case("https://example.com?x")]
    #[case("https://example.com#x")]
    #[case("https://user@example.com")]
    #[case("https://example.com:99999")]
    #[case("https://a.example https://b.example")]
    #[case(" https://a.example")]
    #[case("https://a.example;sandbox")]
    #[case("https://a.example,b.example")]
    #[case("https://a.example'self'")]
    #[case("https://a.example\r\nX: y")]
    #[case("https:a.example")]
    #[case("ftp://a.example")]
    #[case("javascript:alert(1)")]
    #[case("data:text/html,x")]
    #[case("null")]
    #[case("https://[2001:db8::1]:8443")]
    fn other_texts_are_refused(#[case] text: &str) {
        assert_eq!(Origin::parse("embed_origins[0]", text).unwrap_err().param, "embed_origins[0]", "{text:?}");
    }

    #[test]
    fn lists_are_bounded_and_name_what_is_wrong() {
        let site = |index: usize| format!("https://s{index}.example");
        let most: Vec<String> = (0..EMBED_ORIGINS_MAX).map(site).collect();
        assert_eq!(embed_origins(&most).unwrap().len(), EMBED_ORIGINS_MAX);
        let more: Vec<String> = (0..=EMBED_ORIGINS_MAX).map(site).collect();
        assert_eq!(embed_origins(&more).unwrap_err().first().param, "embed_origins");
        let same = [site(1), "https://S1.example:443".to_owned()];
        assert_eq!(embed_origins(&same).unwrap().len(), 1);
        assert_eq!(embed_origins(&[site(1), "x".into()]).unwrap_err().first().param, "embed_origins[1]");
        let long = format!("https://{}.example", "a".repeat(ORIGIN_MAX));
        assert!(embed_origins(&[long]).unwrap_err().first().message.contains("at most 255 characters"));
    }
}
