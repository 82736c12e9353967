//! The caller that [`crate::enter`] attached to the request.

use axum::extract::FromRequestParts;
use http::request::Parts;
use kalends_app::{Actor, Request};

use crate::error::ApiError;

/// An authenticated caller.
pub(crate) struct Caller(pub Actor);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // The actor is missing only on a route that is not in the table of operations. That is a bug, which a test
        // finds.
        parts.extensions.remove::<Actor>().map(Self).ok_or(ApiError::Internal)
    }
}

/// A caller without a credential.
pub(crate) struct Anonymous(pub Request);

impl<S: Sync> FromRequestParts<S> for Anonymous {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.remove::<Request>().map(Self).ok_or(ApiError::Internal)
    }
}
