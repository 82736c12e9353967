//! `GET /v1/auth/oauth/{provider}/callback`

use std::borrow::Cow;

use axum::extract::RawQuery;
use http::{HeaderMap, header};
use kalends_accounts::{oauth::Callback, state_cookie};
use kalends_app::OauthEnded;
use kalends_wire as wire;
use url::form_urlencoded;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, PathOf},
    reply::{Elsewhere, cookies},
};

/// The most parameters that are looked at; providers add some of their own.
const PARAMETERS_MAX: usize = 64;

/// Takes a browser back from a provider.
///
/// Sends it to the console with the cookie of a session, or with `?error=` and one of `oauth_state` (the attempt is
/// unknown, used, expired or another browser's: begin again), `oauth_declined`, `oauth_failed`, `provider_unavailable`,
/// `email_not_verified` (the address is known, and the provider does not vouch for it: sign in as before),
/// `tos_version_required`, `tos_version_stale`, `account_waitlisted`, `rate_limited`. Parameters that the provider adds
/// are ignored.
#[utoipa::path(
    get,
    path = "/v1/auth/oauth/{provider}/callback",
    operation_id = "endSignInWith",
    tag = "Console",
    params(("provider" = String, Path, description = "`google` or `microsoft`."), wire::SignInAnswer),
    responses((status = 302, description = "On to the console."))
)]
pub(crate) async fn callback(
    app: Service,
    request: Anonymous,
    provider: PathOf<String>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Elsewhere, ApiError> {
    let query = query.0.unwrap_or_default();
    let parameters: Vec<_> = form_urlencoded::parse(query.as_bytes()).take(PARAMETERS_MAX).collect();
    let cookie_lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let callback = Callback {
        state: only(&parameters, "state"),
        code: only(&parameters, "code"),
        error: only(&parameters, "error"),
        issuer: only(&parameters, "iss"),
        cookie: state_cookie(cookie_lines),
    };
    // Another attempt of this browser may be under way: only what came back with its own cookie ends it.
    let ours = callback.cookie.is_some() && callback.cookie == callback.state;
    let console = &app.settings().console_url;
    let (location, session) = match app.end_oauth(&request.0, &provider.0, callback).await? {
        OauthEnded::SignedIn { token } => (console.clone(), Some(cookies(&app).set(&token))),
        OauthEnded::Failed(failure) => (format!("{console}?error={}", failure.as_str()), None),
    };
    let state = ours.then(|| cookies(&app).clear_state());
    let cookies = session.into_iter().chain(state).collect();
    Ok(Elsewhere { location, cookies })
}

/// The value of a parameter that comes once; one that comes twice says nothing.
fn only<'a>(parameters: &'a [(Cow<'_, str>, Cow<'_, str>)], name: &str) -> Option<&'a str> {
    let mut values = parameters.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_ref());
    let first = values.next()?;
    values.next().is_none().then_some(first)
}
