//! `POST /v1/auth/claim/{id}/revoke`

use axum::{
    extract::{FromRequest as _, Request},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use kalends_app::Refusal;
use kalends_kernel::ClaimId;
use kalends_web::RevocationState;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf, read_body},
    pages::{Fields, is_form, mailed_code, revocation},
    reply::Changed,
};

/// Revokes a held claim.
///
/// Anyone who has the token from the email can revoke the claim, without a credential. Repeating the request changes
/// nothing and returns the same answer. After the hold, the answer is 410 `conflict`, code `claim_over`. An unknown
/// claim and a wrong token get the same 404. If the request is a form, the answer is HTML.
#[utoipa::path(
    post,
    path = "/v1/auth/claim/{id}/revoke",
    operation_id = "revokeClaim",
    tag = "Claims",
    params(("id" = String, Path, description = "The claim, `clm_…`.")),
    request_body(content(
        (wire::RevokeClaim = "application/json"),
        (wire::RevokeClaim = "application/x-www-form-urlencoded")
    )),
    responses((status = 200, description = "The claim was revoked.", body = wire::ClaimRevoked))
)]
pub(crate) async fn revoke(
    app: Service,
    called: Anonymous,
    id: PathOf<String>,
    request: Request,
) -> Result<Response, ApiError> {
    if !is_form(request.headers()) {
        let body = JsonBody::<wire::RevokeClaim>::from_request(request, &()).await?;
        return Ok(Changed(app.revoke_claim(&called.0, &id.0, &body.0.parse()?).await?).into_response());
    }
    let claim: ClaimId = id.0.parse().map_err(|_| ApiError::NoRoute)?;
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    let typed = fields.get("revocation_token").trim();
    let wrong = RevocationState::Asks { is_wrong: true };
    let Ok(token) = (wire::RevokeClaim { revocation_token: mailed_code(typed) }).parse() else {
        return Ok(revocation(StatusCode::BAD_REQUEST, claim, wrong));
    };
    match app.revoke_claim(&called.0, &id.0, &token).await {
        Ok(_) => Ok(revocation(StatusCode::OK, claim, RevocationState::Revoked)),
        Err(Refusal::NotFound { .. }) => Ok(revocation(StatusCode::NOT_FOUND, claim, wrong)),
        Err(Refusal::ClaimOver) => Ok(revocation(StatusCode::GONE, claim, RevocationState::Over)),
        Err(error) => Err(error.into()),
    }
}
