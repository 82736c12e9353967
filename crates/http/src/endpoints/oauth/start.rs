//! `GET /v1/auth/oauth/{provider}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{PathOf, QueryOf},
    reply::{Elsewhere, cookies},
};

/// Redirects a browser to a provider to sign in or up.
///
/// The provider is `google` or `microsoft`, if the operator configured it. Any other gets 404. A cookie binds the
/// attempt to the browser for 10 minutes. A new user accepts the terms in `tos_version`; a known user does not need it.
/// `return_to` names the page to return to, which is the console by default.
#[utoipa::path(
    get,
    path = "/v1/auth/oauth/{provider}",
    operation_id = "startSignInWith",
    tag = "Console",
    params(("provider" = String, Path, description = "The provider: `google` or `microsoft`."), wire::SignInWith),
    responses((status = 302, description = "A redirect to the provider."))
)]
pub(crate) async fn start(
    app: Service,
    provider: PathOf<String>,
    query: QueryOf<wire::SignInWith>,
) -> Result<Elsewhere, ApiError> {
    let (terms, page) = query.0.parse()?;
    let begun = app.begin_oauth(&provider.0, terms, page).await?;
    Ok(Elsewhere { location: begun.location, cookies: vec![cookies(&app).set_state(&begun.state)] })
}
