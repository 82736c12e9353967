//! The page to which a sign-in with a provider leads back.

use kalends_kernel::{FieldError, base64url, from_base64url};

/// A page that a user returns to after signing in with a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReturnTo {
    /// The page of a connection link.
    Connect,
    /// The page of connected calendars.
    Connections,
    /// The page on which a user joins an organization.
    Join,
    /// Another page of the console.
    Page(ConsolePage),
}

/// The path and query of a page of the console, such as `/console/agents?offset=50`: visible ASCII characters, at most
/// [`ConsolePage::MAX`]. Which of these paths are pages is for the console to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsolePage(String);

impl ConsolePage {
    /// The maximum length, in characters. The state of an attempt contains the path, and providers and browsers limit
    /// the length of a state.
    pub const MAX: usize = 512;
    /// What the paths begin with.
    const BELOW: &'static str = "/console/";

    /// The page, if the text can be its path and query.
    fn of(text: &str) -> Option<Self> {
        let is_path = text.len() > Self::BELOW.len() && text.len() <= Self::MAX && text.starts_with(Self::BELOW);
        (is_path && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// The page in the name that [`ConsolePage::name`] made.
    fn of_name(name: &str) -> Option<Self> {
        let path = from_base64url(name.strip_prefix(PAGE)?)?;
        Self::of(std::str::from_utf8(&path).ok()?)
    }

    /// The name in the state of an attempt, which contains no dot.
    fn name(&self) -> String {
        format!("{PAGE}{}", base64url(self.0.as_bytes()))
    }

    /// The path and query below the console.
    fn below(&self) -> &str {
        self.0.strip_prefix(Self::BELOW).unwrap_or_default()
    }
}

/// What the name of a [`ConsolePage`] begins with.
const PAGE: &str = "page-";

impl ReturnTo {
    /// The pages with names of their own.
    const NAMED: [(&'static str, Self); 3] =
        [("connect", Self::Connect), ("connections", Self::Connections), ("join", Self::Join)];

    /// The page's path, with its query, below the console.
    pub fn path(&self) -> &str {
        match self {
            Self::Connect => "connect/offer",
            Self::Connections => "connections",
            Self::Join => "join",
            Self::Page(page) => page.below(),
        }
    }

    /// The name in the state of an attempt.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Page(page) => page.name(),
            named => Self::NAMED.into_iter().find(|(_, page)| page == named).map_or("", |(name, _)| name).to_owned(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, page)| page)
    }

    /// The page with that name, or with that path in the console.
    ///
    /// # Errors
    /// There is no such page.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let found = Self::named(text).or_else(|| ConsolePage::of(text).map(Self::Page));
        found.ok_or_else(|| {
            let message = "must be connect, connections, join, or the path of a page below /console/";
            FieldError::new(param, message)
        })
    }

    /// The page in the state of an attempt, if it has one. Anybody can write a state; only that of a stored attempt is
    /// known to be unchanged.
    pub fn of_state(state: &str) -> Option<Self> {
        let (name, _) = state.split_once('.')?;
        Self::named(name).or_else(|| ConsolePage::of_name(name).map(Self::Page))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{
        super::{BegunAttempt, VALUE_MAX, tests::attempt},
        *,
    };
    use crate::TokenHash;

    #[rstest]
    #[case::named("connections", Some("connections"))]
    #[case::page_of_a_link("connect", Some("connect/offer"))]
    #[case::page("/console/agents?offset=50&kind=a%26b", Some("agents?offset=50&kind=a%26b"))]
    #[case::the_first_page("/console", None)]
    #[case::nothing_below("/console/", None)]
    #[case::beside("/consoles/x", None)]
    #[case::elsewhere("https://evil.example/console/", None)]
    #[case::other_host("//evil.example/console/", None)]
    #[case::line("/console/a\r\nset-cookie: a=b", None)]
    #[case::other_letters("/console/\u{e4}", None)]
    #[case::unknown_name("plans", None)]
    #[case::nothing("", None)]
    fn a_sign_in_returns_to_pages_of_the_console(#[case] text: &str, #[case] path: Option<&str>) {
        let page = ReturnTo::parse("return_to", text).ok();
        assert_eq!(page.as_ref().map(ReturnTo::path), path);
        // The state brings the page back.
        if let Some(page) = page {
            let begun = BegunAttempt { attempt: attempt(), state: "secret".to_owned() }.returning_to(&page);
            assert_eq!(ReturnTo::of_state(&begun.state), Some(page));
            assert!(begun.attempt.key == TokenHash::of(&begun.state));
            assert!(begun.state.ends_with(".secret"));
        }
    }

    #[test]
    fn a_long_path_is_refused_and_a_state_is_read_with_care() {
        let path = |length: usize| format!("/console/{}", "a".repeat(length - "/console/".len()));
        let longest = ReturnTo::parse("return_to", &path(ConsolePage::MAX)).unwrap();
        assert!(longest.name().len() < VALUE_MAX / 2);
        assert!(ReturnTo::parse("return_to", &path(ConsolePage::MAX + 1)).is_err());
        let written = |path: &str| format!("page-{}.secret", base64url(path.as_bytes()));
        for state in ["secret", "page-.secret", "page-*.secret", "other.secret", &written("https://evil.example/")] {
            assert_eq!(ReturnTo::of_state(state), None, "{state}");
        }
    }
}
