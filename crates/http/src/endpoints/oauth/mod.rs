//! Sign-in with a provider.

mod callback;
mod start;

use kalends_accounts::oauth::ReturnTo;
use kalends_app::{OauthFailure, Settings};
use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(start::start)).routes(routes!(callback::callback))
}

/// The address of the page that a sign-in returns to: the console, unless it began on another page.
fn returns_to(settings: &Settings, page: Option<ReturnTo>) -> String {
    let console = &settings.console_url;
    page.map_or_else(|| console.clone(), |page| format!("{console}/{}", page.as_str()))
}

/// The address of the page that explains why nobody is signed in. A sign-in that began on another page than the console
/// can be repeated there, and still returns to that page.
fn returns_without(settings: &Settings, page: Option<ReturnTo>, failure: OauthFailure) -> String {
    let (console, error) = (&settings.console_url, failure.as_str());
    match page {
        Some(page) => format!("{console}/sign-in?next=/console/{}&error={error}", page.as_str()),
        None => format!("{console}?error={error}"),
    }
}
