//! Where a browser returns to from a provider.

use kalends_accounts::oauth::ReturnTo;
use kalends_app::{OauthFailure, Settings};

/// The address of the page that a sign-in returns to: the console, unless it began on another page.
pub(super) fn returns_to(settings: &Settings, page: Option<ReturnTo>) -> String {
    let console = &settings.console_url;
    page.map_or_else(|| console.clone(), |page| format!("{console}/{}", page.path()))
}

/// The address of the page that explains why nobody is signed in. A sign-in that began on another page than the console
/// can be repeated there, and still returns to that page.
pub(super) fn returns_without(settings: &Settings, page: Option<ReturnTo>, failure: OauthFailure) -> String {
    let (console, error) = (&settings.console_url, failure.as_str());
    match page {
        Some(page) => format!("{console}/sign-in?next=/console/{}&error={error}", page.path()),
        None => format!("{console}?error={error}"),
    }
}
