//! What the console's pages have in common.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use kalends_accounts::oauth::Provider;
use kalends_app::{App, Refusal};
use kalends_web::ProviderChoice;

use crate::{error::ApiError, pages::html};

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

/// The page that shows why a form was refused. Like any refusal, it can be in the audit log, and says when to try again.
pub(crate) fn because_of(refusal: Refusal, mut page: Response) -> Response {
    let error = ApiError::from(refusal);
    error.add_retry_after(page.headers_mut());
    page.extensions_mut().insert(Arc::new(error));
    page
}

/// How long to wait, in words.
pub(crate) fn wait(seconds: i64) -> String {
    match seconds {
        ..=90 => format!("{} seconds", seconds.max(2)),
        _ => format!("{} minutes", seconds.saturating_add(59) / 60),
    }
}
