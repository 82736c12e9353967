//! `GET /v1/auth/oauth/{provider}`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{PathOf, QueryOf},
    reply::{Elsewhere, cookies},
};

/// Sends a browser to a provider to sign in, or up.
///
/// `google` or `microsoft`, as far as the operator configured them; 404 for any other. A cookie binds the attempt to
/// the browser for 10 minutes. `tos_version` is what somebody new accepts; who is known needs none.
/// `return_to` names the page that follows; without it, it is the console.
#[utoipa::path(
    get,
    path = "/v1/auth/oauth/{provider}",
    operation_id = "startSignInWith",
    tag = "Console",
    params(("provider" = String, Path, description = "`google` or `microsoft`."), wire::SignInWith),
    responses((status = 302, description = "On to the provider."))
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
