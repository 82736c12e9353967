//! What the console's pages have in common.

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use kalends_accounts::oauth::Provider;
use kalends_app::App;
use kalends_web::ProviderChoice;

use crate::pages::html;

/// A page of the console. A form on it states its origin, which a browser hides from forms of pages that send no
/// referrer.
pub(crate) fn page(status: StatusCode, text: String) -> Response {
    let mut response = html(status, text);
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

pub(crate) fn providers(app: &App) -> Vec<ProviderChoice> {
    let choice = |provider: Provider| ProviderChoice { name: provider.as_str(), title: provider.title() };
    app.sign_in_providers().into_iter().map(choice).collect()
}

/// How long to wait, in words.
pub(crate) fn wait(seconds: i64) -> String {
    match seconds {
        ..=90 => format!("{} seconds", seconds.max(2)),
        _ => format!("{} minutes", seconds.saturating_add(59) / 60),
    }
}
