//! `POST /oauth/revoke`

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};

use super::{
    failure::{Failure, UNCACHED},
    parameters::Parameters,
};
use crate::{Service, error::ApiError};

/// Ends the access that a token of either kind gives. The answer is the same for a token that is unknown, or that another
/// client was given.
pub(super) async fn revoke(app: Service, request: Request) -> Result<Response, Failure> {
    let (called, sent) = Parameters::of(request).await?;
    let (client, token) = (sent.required("client_id")?, sent.required("token")?);
    app.revoke_token(&called, &client, &token).await.map_err(ApiError::from)?;
    Ok((StatusCode::OK, [(header::CACHE_CONTROL, UNCACHED)]).into_response())
}
