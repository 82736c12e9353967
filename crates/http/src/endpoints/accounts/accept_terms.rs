//! `POST /v1/terms/accept`

use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Caller, JsonBody},
    reply::Changed,
};

/// Accepts the current terms for the organization.
///
/// Only for keys of the organization. Call it if an answer has the header `Service-Terms-Upgrade-Required`. If
/// `tos_version` is not the current version, the answer is 409 `tos_version_stale`. Every acceptance is recorded.
#[utoipa::path(
    post,
    path = "/v1/terms/accept",
    operation_id = "acceptTerms",
    tag = "Accounts",
    request_body = wire::AcceptTerms,
    responses((status = 200, description = "The terms are accepted.", body = wire::TermsAccepted))
)]
pub(crate) async fn accept_terms(
    app: Service,
    caller: Caller,
    body: JsonBody<wire::AcceptTerms>,
) -> Result<Changed<wire::TermsAccepted>, ApiError> {
    Ok(Changed(app.accept_terms(&caller.0, &body.0.parse()?).await?))
}
