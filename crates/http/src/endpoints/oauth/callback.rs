//! `GET /v1/auth/oauth/{provider}/callback`

use kalends_accounts::oauth::ReturnTo;
use kalends_app::OauthEnded;
use kalends_wire as wire;

use super::returning::{returns_to, returns_without};
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, FromProvider, PathOf},
    reply::{Elsewhere, cookies},
};

/// Receives a browser that returns from a sign-in provider.
///
/// Redirects the browser to the console. On success, the answer sets a session cookie. On failure, the address has
/// `?error=` with one of `oauth_state` (the attempt is unknown, used, expired or of another browser: start again),
/// `oauth_declined`, `oauth_failed`, `provider_unavailable`, `email_not_verified` (the address is known, but the
/// provider does not vouch for it: sign in as before), `tos_version_required`, `tos_version_stale`,
/// `account_waitlisted`, `rate_limited` or `signup_closed` (this server does not let everybody sign up). If the sign-in
/// started with `return_to`, the redirect leads to that page or, on failure, to the sign-in that continues there.
/// Additional parameters of the provider are ignored.
#[utoipa::path(
    get,
    path = "/v1/auth/oauth/{provider}/callback",
    operation_id = "endSignInWith",
    tag = "Console",
    params(
        ("provider" = String, Path, description = "The provider: `google`, `microsoft` or `oidc`."),
        wire::SignInAnswer
    ),
    responses((status = 302, description = "A redirect to the console."))
)]
pub(crate) async fn callback(
    app: Service,
    request: Anonymous,
    provider: PathOf<String>,
    answer: FromProvider,
) -> Result<Elsewhere, ApiError> {
    let page = answer.callback().state.and_then(ReturnTo::of_state);
    let (location, session) = match app.end_oauth(&request.0, &provider.0, answer.callback()).await? {
        OauthEnded::SignedIn { token } => (returns_to(app.settings(), page.as_ref()), Some(cookies(&app).set(&token))),
        OauthEnded::Failed(failure) => (returns_without(app.settings(), page.as_ref(), failure), None),
    };
    let state = answer.is_ours().then(|| cookies(&app).clear_state());
    let cookies = session.into_iter().chain(state).collect();
    Ok(Elsewhere { location, cookies })
}
