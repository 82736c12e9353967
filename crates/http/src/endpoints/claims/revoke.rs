//! `POST /v1/auth/claim/{id}/revoke`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf},
    reply::Changed,
};

/// Revokes a held claim.
///
/// Anyone who has the token from the email can revoke the claim, without a credential. Repeating the request changes
/// nothing and returns the same answer. After the hold, the answer is 410 `conflict`, code `claim_over`. An unknown
/// claim and a wrong token get the same 404.
#[utoipa::path(
    post,
    path = "/v1/auth/claim/{id}/revoke",
    operation_id = "revokeClaim",
    tag = "Claims",
    params(("id" = String, Path, description = "The claim, `clm_…`.")),
    request_body = wire::RevokeClaim,
    responses((status = 200, description = "The claim was revoked.", body = wire::ClaimRevoked))
)]
pub(crate) async fn revoke(
    app: Service,
    request: Anonymous,
    id: PathOf<String>,
    body: JsonBody<wire::RevokeClaim>,
) -> Result<Changed<wire::ClaimRevoked>, ApiError> {
    Ok(Changed(app.revoke_claim(&request.0, &id.0, &body.0.parse()?).await?))
}
