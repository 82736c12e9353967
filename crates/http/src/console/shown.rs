//! What the console's pages have in common.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use kalends_app::App;
use kalends_web::{Next, ProviderChoice};

use crate::{error::ApiError, pages::html};

/// Why an address cannot be proved.
pub(crate) const TAKEN: &str = "Another account has confirmed this address. Sign in to that account instead.";

/// A page of the console. A form on it states its origin, which a browser hides from forms of pages that send no
/// referrer.
pub(crate) fn page(status: StatusCode, text: String) -> Response {
    let mut response = html(status, text);
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

pub(crate) fn providers(app: &App) -> Vec<ProviderChoice<'_>> {
    let offered = app.sign_in_providers().iter();
    offered.map(|offered| ProviderChoice { name: offered.provider.as_str(), title: &offered.title }).collect()
}

/// Whether the page at which a user signs in or up offers to sign up. `invitation` is the token of the invitation that
/// the user has opened, which may or may not be valid.
pub(crate) fn admits(app: &App, next: Next, invitation: Option<&str>) -> bool {
    let sign_ups = app.settings().sign_ups;
    sign_ups.admits(false) || sign_ups.admits(next == Next::Join && invitation.is_some())
}

/// The page that shows why a form was refused. Like any refusal, it can be in the audit log, and says when to try again.
pub(crate) fn because_of(error: impl Into<Arc<ApiError>>, mut page: Response) -> Response {
    let error = error.into();
    error.add_retry_after(page.headers_mut());
    page.extensions_mut().insert(error);
    page
}

/// How long to wait, in words.
pub(crate) fn wait(seconds: i64) -> String {
    match seconds {
        ..=90 => format!("{} seconds", seconds.max(2)),
        _ => format!("{} minutes", seconds.saturating_add(59) / 60),
    }
}
