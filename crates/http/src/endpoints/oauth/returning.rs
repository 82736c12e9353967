//! Where a browser returns to from a provider.

use kalends_accounts::oauth::ReturnTo;
use kalends_app::{OauthFailure, Settings};
use kalends_web::Next;
use url::form_urlencoded;

/// Where the pages of the console are, as the paths of [`Next`] have it.
const CONSOLE: &str = "/console";

/// The path and query of the page, as a sign-in with a password continues to it. `None` for the console itself, which
/// also takes the place of a page that a sign-in must not continue to.
fn continues_to(page: Option<&ReturnTo>) -> Option<String> {
    let path = format!("{CONSOLE}/{}", page?.path());
    let next = Next::of(&path);
    (next != Next::Home).then(|| next.path().to_owned())
}

/// The address of the page that a sign-in returns to: the console, unless it began on another page.
pub(super) fn returns_to(settings: &Settings, page: Option<&ReturnTo>) -> String {
    let path = continues_to(page).unwrap_or_default();
    format!("{}{}", settings.console_url, path.strip_prefix(CONSOLE).unwrap_or_default())
}

/// The address of the page that explains why nobody is signed in. A sign-in that began on another page than the console
/// can be repeated there, and still returns to that page.
pub(super) fn returns_without(settings: &Settings, page: Option<&ReturnTo>, failure: OauthFailure) -> String {
    let (console, error) = (&settings.console_url, failure.as_str());
    match continues_to(page) {
        Some(path) => format!("{console}/sign-in?next={}&error={error}", parameter(&path)),
        None => format!("{console}?error={error}"),
    }
}

/// The path and query as the value of a parameter.
fn parameter(path: &str) -> String {
    form_urlencoded::byte_serialize(path.as_bytes()).collect::<String>().replace("%2F", "/")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::named("connect", Some("/console/connect/offer"))]
    #[case::page("/console/agents?offset=50&x=1", Some("/console/agents?offset=50&x=1"))]
    #[case::way_up("/console/../v1/agents", None)]
    #[case::escaped_way_up("/console/%2e%2e/v1/agents", None)]
    #[case::sign_out("/console/sign-out", None)]
    #[case::backslash("/console/\\evil.example", None)]
    #[case::fragment("/console/agents#x", None)]
    #[case::quote("/console/\"><script>", None)]
    fn a_provider_leads_back_only_to_pages_that_a_password_leads_to(#[case] text: &str, #[case] path: Option<&str>) {
        let page = ReturnTo::parse("return_to", text).unwrap();
        assert_eq!(continues_to(Some(&page)).as_deref(), path);
        assert_eq!(continues_to(None), None);
    }

    #[test]
    fn a_page_is_one_parameter() {
        assert_eq!(parameter("/console/connections"), "/console/connections");
        assert_eq!(parameter("/console/agents?a=1&b=%26"), "/console/agents%3Fa%3D1%26b%3D%2526");
    }
}
