//! The pages of the console to which signing in or up leads.

use crate::link::with;

/// A page of the console to which signing in or up leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Next<'a> {
    /// The first page.
    #[default]
    Home,
    /// The page of a connection link.
    Connect,
    /// The connected calendars.
    Connections,
    /// The page on which a user joins an organization.
    Join,
    /// The plans.
    Plans,
    /// Any other page: its path and query, as [`Next::of`] checked them.
    Page(&'a str),
}

/// The path below which the pages of the console are.
const BELOW: &str = "/console/";
/// What the paths begin with on which a user signs in, up and out.
const ENTRY: &str = "/console/sign-";
/// The maximum length of the path and query of a page, in bytes. The calendar names up to 20 calendars in its address, and a
/// connector adds an address and a state of its own.
const MAX: usize = 3_000;
/// The maximum length of the path and query that a provider returns the browser to, in bytes. The sign-in with a provider
/// has the same limit.
const RETURN_MAX: usize = 512;

impl<'a> Next<'a> {
    /// Every page with a text of its own for those who sign in.
    const ALL: [Self; 5] = [Self::Home, Self::Connect, Self::Connections, Self::Join, Self::Plans];

    /// The path, with the query of the page.
    pub const fn path(self) -> &'a str {
        match self {
            Self::Home => "/console",
            Self::Connect => "/console/connect/offer",
            Self::Connections => "/console/connections",
            Self::Join => "/console/join",
            Self::Plans => "/console/plans",
            Self::Page(path) => path,
        }
    }

    /// The page with that path and query; the first page if it is not one of the console. So an address cannot lead the
    /// user elsewhere.
    pub fn of(path: &'a str) -> Self {
        // A provider returns the browser to this page, which leads to the one with the offer.
        if path == "/console/connect" {
            return Self::Connect;
        }
        if let Some(known) = Self::ALL.into_iter().find(|next| next.path() == path) {
            return known;
        }
        if is_page(path) { Self::Page(path) } else { Self::Home }
    }

    /// The address of the sign-in or sign-up at `path` that leads here.
    pub(crate) fn after(self, path: &str) -> String {
        match self {
            Self::Home => path.to_owned(),
            next => with(path, &[("next", &next.path())]),
        }
    }

    /// The name or the path by which a provider returns the browser to the page; `None` for the first page. A long query
    /// is left out.
    pub(crate) fn return_to(self) -> Option<&'a str> {
        match self {
            Self::Home => None,
            Self::Connect => Some("connect"),
            Self::Connections => Some("connections"),
            Self::Join => Some("join"),
            Self::Plans | Self::Page(_) => {
                let whole = self.path();
                let path = whole.split('?').next().unwrap_or_default();
                [whole, path].into_iter().find(|path| path.len() <= RETURN_MAX)
            }
        }
    }
}

/// Whether the path and query are those of a page of the console that a user may continue on. A browser reads `..` and
/// `%2e` in a path as the way up, so a path has no dots and no escapes.
fn is_page(address: &str) -> bool {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    path.starts_with(BELOW)
        && !path.starts_with(ENTRY)
        && path.bytes().all(|byte| is_plain(byte) || byte == b'/')
        && query.bytes().all(|byte| is_plain(byte) || b".~=&%:+/".contains(&byte))
        && address.len() <= MAX
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::home("/console", Next::Home)]
    #[case::nothing("", Next::Home)]
    #[case::known("/console/plans", Next::Plans)]
    #[case::provider("/console/connect", Next::Connect)]
    #[case::page("/console/agents/agt_x", Next::Page("/console/agents/agt_x"))]
    #[case::query("/console/agents?offset=50&kind=a%26b", Next::Page("/console/agents?offset=50&kind=a%26b"))]
    #[case::elsewhere("https://evil.example/console/agents", Next::Home)]
    #[case::other_host("//evil.example/console/", Next::Home)]
    #[case::beside("/consoles", Next::Home)]
    #[case::outside("/console/../v1/agents", Next::Home)]
    #[case::escaped("/console/%2e%2e/v1/agents", Next::Home)]
    #[case::out("/console/sign-out", Next::Home)]
    #[case::backslash("/console/\\evil.example", Next::Home)]
    #[case::line("/console/agents\r\nset-cookie: a=b", Next::Home)]
    #[case::quote("/console/\"><script>", Next::Home)]
    fn only_pages_of_the_console_follow(#[case] path: &str, #[case] next: Next<'_>) {
        assert_eq!(Next::of(path), next);
    }

    #[test]
    fn a_long_address_is_not_kept() {
        assert_eq!(Next::of(&format!("/console/{}", "a".repeat(MAX))), Next::Home);
    }

    #[test]
    fn the_address_of_many_calendars_is_kept() {
        let calendars = "&cal=cal_01jn8r7d2xe9tvn4a6k8m0pqrs".repeat(20);
        let address = format!("/console/calendar?view=week&date=2026-03-02&tz=Europe/Berlin{calendars}");
        assert_eq!(Next::of(&address), Next::Page(&address));
    }

    #[test]
    fn a_provider_leads_back_to_every_page() {
        let names = Next::ALL.map(Next::return_to);
        assert_eq!(names, [None, Some("connect"), Some("connections"), Some("join"), Some("/console/plans")]);
        let page = |address: &str| Next::of(address).return_to().map(str::to_owned);
        assert_eq!(page("/console/agents?offset=50").as_deref(), Some("/console/agents?offset=50"));
        let calendars = "&cal=cal_01jn8r7d2xe9tvn4a6k8m0pqrs".repeat(20);
        assert_eq!(page(&format!("/console/calendar?view=week{calendars}")).as_deref(), Some("/console/calendar"));
        assert_eq!(page(&format!("/console/{}", "a".repeat(RETURN_MAX))), None);
    }

    #[test]
    fn the_page_is_one_parameter() {
        let next = Next::of("/console/agents?offset=50&x=1");
        assert_eq!(next.after("/console/sign-up"), "/console/sign-up?next=/console/agents%3Foffset%3D50%26x%3D1");
        assert_eq!(Next::Home.after("/console/sign-up"), "/console/sign-up");
    }
}
