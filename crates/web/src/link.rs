//! Addresses that may be used in a link or a form.

use std::fmt;

use kalends_kernel::app_scheme;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The path of a page on this server, such as `/book/kq7d`. It begins with exactly one slash, and has neither a query
/// nor a fragment, so a page can add its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(String);

/// An address that a link may lead to: a path on this server, with or without a query, an `https:` or `http:` URL, or
/// the address of an app ([`Href::of_program`]). It is never a `javascript:` or `data:` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Href(String);

/// The characters that a query value keeps as they are. Colons and slashes are allowed there, and keep times and zones
/// readable.
const QUERY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':').remove(b'/');

impl Path {
    /// The path, if the text is one.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (is_local(&text) && !text.contains(['?', '#'])).then_some(Self(text))
    }

    /// The path with these parameters.
    pub(crate) fn with(&self, parameters: &[(&str, &dyn fmt::Display)]) -> String {
        with(&self.0, parameters)
    }
}

/// An address without a query, with these parameters.
pub(crate) fn with(address: &str, parameters: &[(&str, &dyn fmt::Display)]) -> String {
    let mut address = address.to_owned();
    for (index, (name, value)) in parameters.iter().enumerate() {
        address.push(if index == 0 { '?' } else { '&' });
        address.push_str(name);
        address.push('=');
        address.extend(utf8_percent_encode(&value.to_string(), QUERY));
    }
    address
}

impl Href {
    /// The address, if a link may lead to it.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let elsewhere = ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme));
        (is_local(&text) || elsewhere && is_printable(&text)).then_some(Self(text))
    }

    /// The address of a program that a person connects: one that [`Self::new`] accepts, or one that an app on the
    /// person's device opens ([`app_scheme`]).
    pub fn of_program(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        if app_scheme(&text).is_some() { is_printable(&text).then_some(Self(text)) } else { Self::new(text) }
    }

    /// The address.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a browser resolves the text to an address on this server. Browsers read a backslash as a slash, and ignore
/// line breaks and tabs anywhere.
fn is_local(text: &str) -> bool {
    text.starts_with('/') && !text.starts_with("//") && is_printable(text)
}

/// Whether browsers read every character as it is written.
fn is_printable(text: &str) -> bool {
    text.chars().all(|char| char.is_ascii_graphic() && char != '\\')
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Href {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Path> for Href {
    fn from(path: Path) -> Self {
        Self(path.0)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/book/kq7d", true, true)]
    #[case("/book/kq7d?month=2026-03", false, true)]
    #[case("/book/kq7d#top", false, true)]
    #[case("https://cal.example/book/kq7d", false, true)]
    #[case("http://localhost:8080/x", false, true)]
    #[case("javascript:alert(1)", false, false)]
    #[case("JavaScript:alert(1)", false, false)]
    #[case("data:text/html,x", false, false)]
    #[case("//evil.example/", false, false)]
    #[case("/\\evil.example/", false, false)]
    #[case("/\t/evil.example/", false, false)]
    #[case("\tjavascript:alert(1)", false, false)]
    #[case("https://cal.example/\nx", false, false)]
    #[case("book", false, false)]
    #[case("", false, false)]
    fn links_lead_to_this_server_or_to_http_urls(#[case] text: &str, #[case] path: bool, #[case] href: bool) {
        assert_eq!(Path::new(text).is_some(), path);
        assert_eq!(Href::new(text).is_some(), href);
    }

    #[rstest]
    #[case("cursor://anysphere.cursor-mcp/oauth/callback?code=x", true)]
    #[case("com.example.app:/callback?code=x", true)]
    #[case("https://cal.example/callback?code=x", true)]
    #[case("cursor://callback/\nx", false)]
    #[case("cursor:\\callback", false)]
    #[case("client://callback", false)]
    #[case("javascript:/alert(1)", false)]
    #[case("data:/text/html,x", false)]
    fn links_lead_to_the_apps_of_programs_only_if_asked(#[case] text: &str, #[case] leads: bool) {
        assert_eq!(Href::of_program(text).is_some(), leads);
        assert_eq!(Href::new(text).is_some(), text.starts_with("https://"));
    }

    #[test]
    fn parameters_are_encoded() {
        let path = Path::new("/book/kq7d").unwrap();
        assert_eq!(path.with(&[]), "/book/kq7d");
        assert_eq!(
            path.with(&[("slot", &"2026-03-05T09:00:00Z"), ("tz", &"Etc/GMT+3"), ("x", &"a&b=\"c")]),
            "/book/kq7d?slot=2026-03-05T09:00:00Z&tz=Etc/GMT%2B3&x=a%26b%3D%22c"
        );
    }
}
