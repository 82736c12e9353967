//! `GET /v1/auth/oauth/{provider}`

use kalends_app::OauthBegun;
use kalends_wire as wire;

use super::returning::returns_without;
use crate::{
    Service,
    error::ApiError,
    extract::{PathOf, QueryOf},
    reply::{Elsewhere, cookies},
};

/// Redirects a browser to a provider to sign in or up.
///
/// The provider is `google`, `microsoft` or `oidc` (a provider of the operator's choice), if the operator configured it.
/// Any other gets 404. A cookie binds the attempt to the browser for 10 minutes. A new user accepts the terms in
/// `tos_version`; a known user does not need it. `return_to` is the page to return to: the console by default, and for a
/// path that is no page of it. If the provider does not answer, the redirect leads to the sign-in at once, with
/// `provider_unavailable`, as after a failure at the callback.
#[utoipa::path(
    get,
    path = "/v1/auth/oauth/{provider}",
    operation_id = "startSignInWith",
    tag = "Console",
    params(
        ("provider" = String, Path, description = "The provider: `google`, `microsoft` or `oidc`."),
        wire::SignInWith
    ),
    responses((status = 302, description = "A redirect to the provider, or back."))
)]
pub(crate) async fn start(
    app: Service,
    provider: PathOf<String>,
    query: QueryOf<wire::SignInWith>,
) -> Result<Elsewhere, ApiError> {
    let (terms, page) = query.0.parse()?;
    Ok(match app.begin_oauth(&provider.0, terms, page.as_ref()).await? {
        OauthBegun::AtProvider { location, state } => {
            Elsewhere { location, cookies: vec![cookies(&app).set_state(&state)] }
        }
        OauthBegun::Failed(failure) => {
            Elsewhere { location: returns_without(app.settings(), page.as_ref(), failure), cookies: Vec::new() }
        }
    })
}
